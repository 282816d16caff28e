"""Write tables, their joins, and the arguments of table-valued functions."""

from __future__ import annotations

from dctv.syntax import ast
from dctv.syntax.keywords import OF_EXPRESSIONS
from dctv.syntax.write.writer import Form, NodeWriter


def _alias(w: NodeWriter, node: ast.Alias) -> str:
    return f"{w.name(node.name)}{w.names(node.columns)}"


def _table_name(w: NodeWriter, node: ast.TableName) -> str:
    return w.path(node.path) + w.clause("AS", node.alias)


def _table_file(w: NodeWriter, node: ast.TableFile) -> str:
    table = "" if node.table is None else f".{w.path(node.table)}"
    return w.write(node.file) + table + w.clause("AS", node.alias)


def _table_call(w: NodeWriter, node: ast.TableCall) -> str:
    arguments = [w.write(argument) for argument in node.arguments]
    keywords = [f"{w.name(name)} => {w.write(argument)}" for name, argument in node.keywords]
    # Without quotes, in which its arguments would be those of other functions.
    name = node.path.text if node.path.text.upper() in OF_EXPRESSIONS else w.path(node.path)
    return f"{name}({', '.join([*arguments, *keywords])}){w.clause('AS', node.alias)}"


def _table_select(w: NodeWriter, node: ast.TableSelect) -> str:
    return f"{'LATERAL ' if node.lateral else ''}({w.write(node.select)}){w.clause('AS', node.alias)}"


def _table_sample(w: NodeWriter, node: ast.TableSample) -> str:
    return f"{written(w, node.table)} TABLESAMPLE {w.write(node.sample)}"


def written(w: NodeWriter, table: ast.Table) -> str:
    """Write a table that something is done with, joins in parentheses."""
    text = w.write(table)
    return f"({text})" if isinstance(table, ast.Join | ast.SpanJoin | ast.SpanBroadcast) else text


def _join(w: NodeWriter, node: ast.Join) -> str:
    left, right = w.write(node.left), written(w, node.right)
    if node.comma and node.on is None and not node.using:
        return f"{left}, {right}"
    kind = ("NATURAL " if node.natural else "") + ("" if node.kind == "INNER" else f"{node.kind} ")
    using = f" USING{w.names(node.using)}" if node.using else ""
    nearest = "" if node.nearest is None else f" {w.write(node.nearest)}"
    return f"{left} {kind}JOIN {right}{w.clause('ON', node.on)}{using}{nearest}"


def _nearest(w: NodeWriter, node: ast.Nearest) -> str:
    return f"NEAREST {node.count} BY {'SIMILARITY' if node.largest else 'DISTANCE'} {w.expr(node.by)}"


def _partition(w: NodeWriter, name: ast.Name | None) -> str:
    return "" if name is None else f" PARTITION AS {w.name(name)}"


def _span_join(w: NodeWriter, node: ast.SpanJoin) -> str:
    kind = "" if node.kind == "INNER" else f"{node.kind} "
    return f"{w.write(node.left)} SPAN {kind}JOIN {written(w, node.right)}{_partition(w, node.partition_as)}"


def _span_broadcast(w: NodeWriter, node: ast.SpanBroadcast) -> str:
    kind = "" if node.kind == "INNER" else f"{node.kind} "
    partition = _partition(w, node.partition_as)
    return f"{w.write(node.left)} SPAN {kind}BROADCAST {node.direction} {written(w, node.right)}{partition}"


def _list(w: NodeWriter, node: ast.ListArgument) -> str:
    return f"[{w.list(node.items)}]"


def _dict(w: NodeWriter, node: ast.DictArgument) -> str:
    return "{" + ", ".join(f"{w.name(name)} => {w.write(argument)}" for name, argument in node.items) + "}"


def _table_argument(w: NodeWriter, node: ast.TableArgument) -> str:
    return w.path(node.path)


def _call_argument(w: NodeWriter, node: ast.CallArgument) -> str:
    return w.write(node.call)


def _select_argument(w: NodeWriter, node: ast.SelectArgument) -> str:
    return f"({w.write(node.select)})"


def _value_argument(w: NodeWriter, node: ast.ValueArgument) -> str:
    return w.expr(node.expr)


FORMS: dict[type[ast.Node], Form] = {
    ast.Alias: _alias,
    ast.TableName: _table_name,
    ast.TableFile: _table_file,
    ast.TableCall: _table_call,
    ast.TableSelect: _table_select,
    ast.TableSample: _table_sample,
    ast.Join: _join,
    ast.Nearest: _nearest,
    ast.SpanJoin: _span_join,
    ast.SpanBroadcast: _span_broadcast,
    ast.ListArgument: _list,
    ast.DictArgument: _dict,
    ast.TableArgument: _table_argument,
    ast.CallArgument: _call_argument,
    ast.SelectArgument: _select_argument,
    ast.ValueArgument: _value_argument,
}
