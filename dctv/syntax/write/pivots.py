"""Write pivots, always in the form that follows a table."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.syntax import ast
from dctv.syntax.write.levels import BIT_OR
from dctv.syntax.write.tables import written
from dctv.syntax.write.writer import Form, NodeWriter


def _pivot(w: NodeWriter, node: ast.Pivot) -> str:
    choices = "".join(f" FOR {_choice(w, one)}" for one in node.choices)
    group = "" if not node.group else f" GROUP BY {w.list(node.group)}"
    return f"{written(w, node.table)} PIVOT ({w.list(node.aggregates)}{choices}{group}){w.clause('AS', node.alias)}"


def _choice(w: NodeWriter, node: ast.PivotChoice) -> str:
    expr = w.expr(node.expr, BIT_OR)
    return expr if node.values is None else f"{expr} IN ({_items(w, node.values)})"


def _items(w: NodeWriter, items: Sequence[tuple[ast.Expr, ast.Name | None]]) -> str:
    return ", ".join(w.expr(value) + ("" if name is None else f" AS {w.name(name)}") for value, name in items)


def _unpivot(w: NodeWriter, node: ast.Unpivot) -> str:
    values = w.name(node.values[0]) if len(node.values) == 1 else w.names(node.values).strip()
    nulls = "INCLUDE NULLS " * node.include_nulls
    inside = f"{values} FOR {w.name(node.name)} IN ({w.list(node.columns)})"
    return f"{written(w, node.table)} UNPIVOT {nulls}({inside}){w.clause('AS', node.alias)}"


FORMS: dict[type[ast.Node], Form] = {ast.Pivot: _pivot, ast.Unpivot: _unpivot}
