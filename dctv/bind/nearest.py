"""Bind NEAREST as the first rows of a subquery that reads the row on the left."""

from __future__ import annotations

from dctv.errors import BindError
from dctv.record import replace
from dctv.syntax import ast

_NAMED = (ast.TableName, ast.TableSelect, ast.TableFile, ast.TableCall)


def as_lateral(node: ast.Join, nearest: ast.Nearest) -> ast.Join:
    """Return the join with a lateral subquery: rows by their distance, without those whose distance is NULL.

    Raises:
        BindError: The right side has no name, which the subquery needs.
    """
    right, by, place = node.right, nearest.by, nearest.place
    if not isinstance(right, _NAMED):
        raise BindError(
            "NEAREST reads a table or a subquery on its right",
            right.place,
            hint="put other forms into a subquery: (SELECT * FROM ...) AS t",
        )
    alias = right.alias
    if alias is None and isinstance(right, ast.TableName | ast.TableCall):
        alias = ast.Alias(right.path.parts[-1], place=right.place)
    every = ast.ResultColumn(ast.Star(place=place), place=place)
    known = ast.Binary("<!=>", by, ast.Constant(None, place=place), place=place)
    core = ast.Core((every,), source=right, where=known, place=place)
    order = ast.OrderTerm(by, descending=nearest.largest, place=place)
    first = ast.Select(core, order_by=(order,), limit=ast.Number(str(nearest.count), place=place), place=place)
    beside = ast.TableSelect(
        first, None if alias is None else replace(alias, columns=()), lateral=True, place=right.place
    )
    return replace(node, right=beside, on=ast.Constant(value=True, place=place), nearest=None)
