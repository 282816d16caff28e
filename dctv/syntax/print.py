"""Print a syntax tree as text."""

from __future__ import annotations

from dctv.syntax import ast
from dctv.syntax.write import commands, expressions, nested, pivots, selects, statements, tables
from dctv.syntax.write.writer import Form, NodeWriter


def _name(w: NodeWriter, node: ast.Name) -> str:
    return w.name(node)


def _path(w: NodeWriter, node: ast.Path) -> str:
    return w.path(node)


FORMS: dict[type[ast.Node], Form] = {
    ast.Name: _name,
    ast.Path: _path,
    **expressions.FORMS,
    **nested.FORMS,
    **tables.FORMS,
    **pivots.FORMS,
    **selects.FORMS,
    **statements.FORMS,
    **commands.FORMS,
}
"""The function that writes each class of node."""

_SQL = NodeWriter(FORMS)
_HEADER = NodeWriter(FORMS, header=True)


def to_sql(node: ast.Node) -> str:
    """Return text that parses to an equal tree, with only the necessary parentheses."""
    return _SQL.write(node)


def header(expr: ast.Expr) -> str:
    """Return the header of an unnamed column: its expression, without the units of literals.

    A column is its own last name; an infix operator is in parentheses; COUNT(*) is `COUNT()`.
    """
    if isinstance(expr, ast.Column):
        return expr.path.parts[-1].text
    return _HEADER.expr(expr)
