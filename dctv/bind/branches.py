"""Bind ORDER BY of a UNION, INTERSECT or EXCEPT to what one of its selects calls a column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dctv.bind.select_cores import OutputColumn
from dctv.bind.spellings import fitting
from dctv.record import replace
from dctv.syntax import ast


def of_branches(term: ast.OrderTerm, body: ast.Body, items: Sequence[OutputColumn]) -> ast.OrderTerm:
    """Return a term of ORDER BY with the position of the column that it is in one of the combined selects.

    Names of the result come first; a term that no select has as a column stays as it is.
    """
    expr = term.expr
    if not isinstance(body, ast.Compound) or isinstance(expr, ast.Number | ast.Star):
        return term
    name = expr.path.parts[0].text if isinstance(expr, ast.Column) and len(expr.path.parts) == 1 else None
    if name is not None and fitting([item.name for item in items], name):
        return term
    if _is_by_name(body):
        return term  # The positions in a select are not those in the result.
    for core in _cores(body):
        given = ["" if one.name is None else one.name.text for one in core.columns]
        called = [] if name is None else fitting(given, name)
        for position, column in enumerate(core.columns):
            if isinstance(column.expr, ast.Star):
                break  # The positions behind it are not known from the text.
            if column.expr == expr or position in called:
                return replace(term, expr=ast.Number(str(position + 1), place=expr.place))
    return term


def _is_by_name(body: ast.Body) -> bool:
    return isinstance(body, ast.Compound) and (body.by_name or any(map(_is_by_name, body.parts)))


def _cores(body: ast.Body) -> Iterator[ast.Core]:
    """Yield the selects that are combined, from left to right."""
    if isinstance(body, ast.Compound):
        for part in body.parts:
            yield from _cores(part)
    elif isinstance(body, ast.Core):
        yield body
