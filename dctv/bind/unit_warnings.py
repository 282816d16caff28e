"""Warn of result columns that were divided by hand, as if they had no unit: `_duration / 1e6 AS ms`."""

from __future__ import annotations

import re

from dctv.bind.bound import Bound
from dctv.bind.context import ClauseContext
from dctv.errors import DctvError
from dctv.syntax import ast
from dctv.syntax.print import to_sql
from dctv.types.unit import NO_UNIT, Unit
from dctv.types.units import compatible, parse_unit


def warn_of_division(expr: ast.Expr, name: str, bound: Bound, context: ClauseContext) -> None:
    """Warn where a column named after a unit is in another one, because it was divided by a power of ten."""
    division = _division(expr)
    if division is None or bound.unit == NO_UNIT:
        return
    # Last, since most names are no units, and an unknown unit is compared with all that there are.
    target_unit = _unit(name)
    if target_unit is None:
        return
    unit, word = target_unit
    if unit == bound.unit or not compatible(unit, bound.unit):
        return
    divided, by = to_sql(division.left), to_sql(division.right)
    message = f"`{name}` is in {bound.unit}: dividing by {by} keeps the unit, `{divided} IN {word}` converts"
    context.env.warnings.entries[message] = 1


def _division(expr: ast.Expr) -> ast.Binary | None:
    """Return an expression as a division by a power of ten, optionally rounded; None if it is none."""
    while isinstance(expr, ast.Call) and expr.function.text.lower() in ("round", "floor", "ceil") and expr.arguments:
        expr = expr.arguments[0]
    if not isinstance(expr, ast.Binary) or expr.op not in ("/", "//") or not isinstance(expr.right, ast.Number):
        return None
    right = expr.right
    powers = right.unit is None and right.value > 1 and re.fullmatch("10+", str(right.value)) is not None
    return expr if powers else None


def _unit(name: str) -> tuple[Unit, str] | None:
    """Return the unit that a name is, or ends with: `ms`, `took_ms`."""
    word = name.rpartition("_")[2]
    try:
        return parse_unit(word), word
    except DctvError:
        return None
