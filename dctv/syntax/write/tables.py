"""Tables, their joins, and the arguments of table-valued functions to text."""

from __future__ import annotations

from dctv.syntax import ast
from dctv.syntax.keywords import LISTINGS
from dctv.syntax.write.writer import Form, Writer


def _alias(w: Writer, node: ast.Alias) -> str:
    return f"{w.name(node.name)}{w.names(node.columns)}"


def _table_name(w: Writer, node: ast.TableName) -> str:
    return w.path(node.path) + w.clause("AS", node.alias)


def _table_file(w: Writer, node: ast.TableFile) -> str:
    return w.write(node.file) + w.clause("AS", node.alias)


def _table_call(w: Writer, node: ast.TableCall) -> str:
    arguments = [w.write(argument) for argument in node.arguments]
    keywords = [f"{w.name(name)} => {w.write(argument)}" for name, argument in node.keywords]
    # Without quotes, in which its arguments would be those of other functions.
    name = node.path.text if node.path.text.upper() in LISTINGS else w.path(node.path)
    return f"{name}({', '.join([*arguments, *keywords])}){w.clause('AS', node.alias)}"


def _table_select(w: Writer, node: ast.TableSelect) -> str:
    return f"{'LATERAL ' * node.lateral}({w.write(node.select)}){w.clause('AS', node.alias)}"


def _table_sample(w: Writer, node: ast.TableSample) -> str:
    return f"{written(w, node.table)} TABLESAMPLE {w.write(node.sample)}"


def written(w: Writer, table: ast.Table) -> str:
    """Write a table that something is done with, joins in parentheses."""
    text = w.write(table)
    return f"({text})" if isinstance(table, ast.Join | ast.SpanJoin | ast.SpanBroadcast) else text


def _join(w: Writer, node: ast.Join) -> str:
    left, right = w.write(node.left), written(w, node.right)
    if node.comma and node.on is None and not node.using:
        return f"{left}, {right}"
    kind = "" if node.kind == "INNER" else f"{node.kind} "
    using = f" USING{w.names(node.using)}" if node.using else ""
    kind = f"NATURAL {kind}" if node.natural else kind
    return f"{left} {kind}JOIN {right}{w.clause('ON', node.on)}{using}"


def _partition(w: Writer, name: ast.Name | None) -> str:
    return "" if name is None else f" PARTITION AS {w.name(name)}"


def _span_join(w: Writer, node: ast.SpanJoin) -> str:
    kind = "" if node.kind == "INNER" else f"{node.kind} "
    return f"{w.write(node.left)} SPAN {kind}JOIN {written(w, node.right)}{_partition(w, node.partition_as)}"


def _span_broadcast(w: Writer, node: ast.SpanBroadcast) -> str:
    kind = "" if node.kind == "INNER" else f"{node.kind} "
    partition = _partition(w, node.partition_as)
    return f"{w.write(node.left)} SPAN {kind}BROADCAST {node.direction} {written(w, node.right)}{partition}"


def _list(w: Writer, node: ast.ListArgument) -> str:
    return f"[{w.list(node.items)}]"


def _dict(w: Writer, node: ast.DictArgument) -> str:
    return "{" + ", ".join(f"{w.name(name)} => {w.write(argument)}" for name, argument in node.items) + "}"


def _table_argument(w: Writer, node: ast.TableArgument) -> str:
    return w.path(node.path)


def _call_argument(w: Writer, node: ast.CallArgument) -> str:
    return w.write(node.call)


def _select_argument(w: Writer, node: ast.SelectArgument) -> str:
    return f"({w.write(node.select)})"


def _value_argument(w: Writer, node: ast.ValueArgument) -> str:
    return w.expr(node.expr)


FORMS: dict[type[ast.Node], Form] = {
    ast.Alias: _alias,
    ast.TableName: _table_name,
    ast.TableFile: _table_file,
    ast.TableCall: _table_call,
    ast.TableSelect: _table_select,
    ast.TableSample: _table_sample,
    ast.Join: _join,
    ast.SpanJoin: _span_join,
    ast.SpanBroadcast: _span_broadcast,
    ast.ListArgument: _list,
    ast.DictArgument: _dict,
    ast.TableArgument: _table_argument,
    ast.CallArgument: _call_argument,
    ast.SelectArgument: _select_argument,
    ast.ValueArgument: _value_argument,
}
