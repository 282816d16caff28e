"""Write selects and their clauses."""

from __future__ import annotations

from dctv.syntax import ast
from dctv.syntax.write.writer import Form, NodeWriter

_UNION, _INTERSECT, _PRIMARY = range(3)


def _select(w: NodeWriter, node: ast.Select) -> str:
    ctes = ""
    if node.ctes:
        ctes = f"WITH {'RECURSIVE ' if node.recursive else ''}{w.list(node.ctes)} "
    order, limit, offset = w.clauses("ORDER BY", node.order_by), w.clause("LIMIT", node.limit), ""
    if node.offset is not None:
        offset = w.clause("OFFSET", node.offset)
    return f"{ctes}{_body(w, node.body, _UNION)}{order}{limit}{offset}"


def _body(w: NodeWriter, body: ast.Body, least: int) -> str:
    if isinstance(body, ast.Select):
        return f"({w.write(body)})"
    text = w.write(body)
    return f"({text})" if isinstance(body, ast.Compound) and _level(body) < least else text


def _level(node: ast.Compound) -> int:
    return _INTERSECT if node.op == "INTERSECT" else _UNION


def _compound(w: NodeWriter, node: ast.Compound) -> str:
    least = _level(node)
    how = f"{' ALL' if node.all else ''}{' BY NAME' if node.by_name else ''}"
    first, *rest = node.parts
    return f" {node.op}{how} ".join((_body(w, first, least), *(_body(w, one, least + 1) for one in rest)))


def _common_table(w: NodeWriter, node: ast.CommonTable) -> str:
    kept = "" if node.materialized is None else "MATERIALIZED " if node.materialized else "NOT MATERIALIZED "
    keys = f" USING KEY ({w.list(node.keys)})" if node.keys else ""
    return f"{w.name(node.name)}{w.names(node.columns)}{keys} AS {kept}({w.write(node.select)})"


def _values(w: NodeWriter, node: ast.Values) -> str:
    return "VALUES " + ", ".join(f"({w.list(row)})" for row in node.rows)


def _core(w: NodeWriter, node: ast.Core) -> str:
    kind = "" if node.kind == "REGULAR" else f" {node.kind}"
    distinct = " DISTINCT" if node.distinct else ""
    if node.distinct_on:
        distinct = f" DISTINCT ON ({w.list(node.distinct_on)})"
    columns = f" {w.list(node.columns)}" if node.columns else ""
    group = "" if node.group is None else f" {w.write(node.group)}"
    windows = ", ".join(f"{w.name(name)} AS {w.write(window)}" for name, window in node.windows)
    return (
        f"SELECT{kind}{distinct}{columns}{w.clause('FROM', node.source)}{w.clause('WHERE', node.where)}{group}"
        f"{w.clause('HAVING', node.having)}{w.clause('QUALIFY', node.qualify)}{' WINDOW ' if windows else ''}{windows}"
        f"{w.clause('USING SAMPLE', node.sample)}"
    )


def _sample(_w: NodeWriter, node: ast.Sample) -> str:
    size = f"{node.size.numerator if node.size.denominator == 1 else float(node.size)}{' PERCENT' * node.share}"
    method = "" if node.method is None else f" ({node.method})"
    return f"{size}{method}{f' REPEATABLE ({node.seed})' if node.seed else ''}"


def _result_column(w: NodeWriter, node: ast.ResultColumn) -> str:
    return w.expr(node.expr) + ("" if node.name is None else f" AS {w.name(node.name)}")


def _group_by(w: NodeWriter, node: ast.GroupBy) -> str:
    return "GROUP BY ALL" if node.all else f"GROUP BY {w.list(node.items)}"


def _grouping_sets(w: NodeWriter, node: ast.GroupingSets) -> str:
    return f"{node.kind} ({', '.join(_grouping_set(w, items) for items in node.sets)})"


def _grouping_set(w: NodeWriter, items: tuple[ast.Expr, ...] | ast.GroupingSets) -> str:
    if isinstance(items, ast.GroupingSets):
        return _grouping_sets(w, items)
    if len(items) != 1:
        return f"({w.list(items)})"
    return f"({w.expr(items[0])},)" if isinstance(items[0], ast.Row) else w.expr(items[0])


def _group_using_partition(w: NodeWriter, node: ast.GroupUsingPartition) -> str:
    return f"GROUP{' AND INTERSECT' if node.intersect else ''} USING PARTITION{w.names(node.names)}"


def _group_using_spans(w: NodeWriter, node: ast.GroupUsingSpans) -> str:
    table = w.write(node.table)
    joined = isinstance(node.table, ast.Join | ast.SpanJoin | ast.SpanBroadcast)
    return f"GROUP{' AND INTERSECT' if node.intersect else ''} USING SPANS FROM {f'({table})' if joined else table}"


FORMS: dict[type[ast.Node], Form] = {
    ast.Select: _select,
    ast.Compound: _compound,
    ast.CommonTable: _common_table,
    ast.Values: _values,
    ast.Core: _core,
    ast.Sample: _sample,
    ast.ResultColumn: _result_column,
    ast.GroupBy: _group_by,
    ast.GroupingSets: _grouping_sets,
    ast.GroupUsingPartition: _group_using_partition,
    ast.GroupUsingSpans: _group_using_spans,
}
