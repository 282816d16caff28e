"""Bind DISTINCT ON: number rows that agree in the order of the select, and keep the first of each group."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.bind.spellings import fitting
from dctv.errors import BindError
from dctv.record import replace
from dctv.syntax import ast
from dctv.syntax.node import nodes


def first_of_each(core: ast.Core, order_by: Sequence[ast.OrderTerm]) -> ast.Core:
    """Return a core that keeps the first row of those that agree; one without DISTINCT ON as it is."""
    if not core.distinct_on:
        return core
    place = core.distinct_on[0].place
    if core.qualify is not None:
        raise BindError("DISTINCT ON and QUALIFY both choose rows", place, hint="put one of them into a subquery")
    terms = tuple(_term(one, core) for one in order_by if not isinstance(one.expr, ast.Star))
    keys = tuple(_meant(one, core) for one in core.distinct_on)
    over = next((one for one in nodes((keys, terms)) if isinstance(one, ast.Call) and one.over is not None), None)
    if over is not None:
        hint = "compute it in a subquery: SELECT DISTINCT ON (a) a, b FROM (SELECT ..., rank() OVER (...) AS b FROM t)"
        raise BindError("DISTINCT ON and its ORDER BY take no window functions", over.place, hint=hint)
    window = ast.Window(None, keys, terms, place=place)
    number = ast.Call(ast.Path((ast.Name("row_number", place=place),), place=place), over=window, place=place)
    first = ast.Binary("=", number, ast.Number("1", place=place), place=place)
    return replace(core, distinct_on=(), qualify=first)


def _term(term: ast.OrderTerm, core: ast.Core) -> ast.OrderTerm:
    if any(isinstance(one, ast.Columns) for one in nodes(term.expr)):
        raise BindError("with DISTINCT ON, ORDER BY names its columns one by one", term.expr.place)
    return replace(term, expr=_meant(term.expr, core))


def _meant(expr: ast.Expr, core: ast.Core) -> ast.Expr:
    """Resolve a position to the result column there, and a name to a result column first."""
    if isinstance(expr, ast.Columns):
        return replace(expr, spread=True)
    if isinstance(expr, ast.Column) and len(expr.path.parts) == 1:
        given = [(one.name.text, one.expr) for one in core.columns if one.name is not None]
        found = fitting([name for name, _ in given], expr.path.parts[0].text)
        return given[found[0]][1] if len(found) == 1 else expr
    if not isinstance(expr, ast.Number) or not expr.is_integer or expr.unit is not None:
        return expr
    before = core.columns[: int(expr.value)]
    if any(isinstance(one.expr, ast.Star | ast.Columns) for one in before) or not 1 <= expr.value <= len(core.columns):
        raise BindError(f"`{expr.text}` is not the number of a listed column", expr.place)
    return before[-1].expr
