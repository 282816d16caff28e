"""Forms of comparisons: with all rows or elements of something, and by operators that are functions of another name."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from dctv.errors import Place
from dctv.record import replace
from dctv.syntax import ast
from dctv.syntax.lexer import Raw
from dctv.syntax.logical import logical
from dctv.syntax.node import WrittenForm

_FUNCTIONS = {
    "~": "regexp_matches",
    "!~": "regexp_matches",
    "^@": "starts_with",
    "&&": "list_has_any",
    "@>": "list_has_all",
    "<@": "list_has_all",
}
_LIKES = {"~~": "LIKE", "!~~": "LIKE", "~~*": "ILIKE", "!~~*": "ILIKE", "~~~": "GLOB"}

_SAME = {"==": "=", "<>": "!="}


def matched(at: Place, left: ast.Expr, op: str, right: ast.Expr) -> ast.Expr:
    """Make the expression that an operator of texts or lists is short for."""
    negated = op.startswith("!")
    if op in _LIKES:
        return ast.Like(cast("ast.LikeOp", _LIKES[op]), left, right, negated=negated, place=at)
    sides = [right, left] if op == "<@" else [left, right]
    if op.endswith("*"):
        sides.append(ast.String("i", place=at))
    found = _called(at, _FUNCTIONS[op.removesuffix("*")], *sides)
    return ast.Unary("NOT", found, place=at) if negated else found


def as_row(expr: ast.Expr) -> ast.Expr:
    """Return the row that `row(a, b)` makes where rows are compared."""
    if isinstance(expr, ast.Call) and expr.function.text.lower() == "row" and expr.arguments and not expr.keywords:
        return ast.Row(expr.arguments, place=expr.place)
    return expr


def any_of(at: Place, operand: ast.Expr, op: str, select: ast.Select) -> ast.Expr:
    """Make a comparison that holds for one row of a select, which is NULL where it could hold for one."""
    return _quantified(at, operand, op, select, select, every=False)


def all_of(at: Place, operand: ast.Expr, op: str, select: ast.Select) -> ast.Expr:
    """Make a comparison that holds for all rows of a select, which is NULL where it could hold for all."""
    return _quantified(at, operand, op, select, select, every=True)


def any_element(at: Place, operand: ast.Expr, op: str, items: ast.Expr) -> ast.Expr:
    """Make a comparison that holds for one element of a list."""
    return _quantified(at, operand, op, _elements(at, items), items, every=False)


def all_elements(at: Place, operand: ast.Expr, op: str, items: ast.Expr) -> ast.Expr:
    """Make a comparison that holds for all elements of a list."""
    return _quantified(at, operand, op, _elements(at, items), items, every=True)


def array_of_rows(at: Place, select: ast.Select) -> ast.Expr:
    """Make the list of the rows of a select, in their order."""
    name = ast.Name("dctv:element", place=at)
    value = ast.Column(ast.Path((name,), place=at), place=at)
    rows = ast.TableSelect(select, ast.Alias(name, (name,), place=at), place=at)
    listed = _called(at, "coalesce", _called(at, "list", value), ast.List((), place=at))
    return replace(_value(at, listed, rows), written=WrittenForm(("ARRAY(", select, ")")))


def in_value_of(at: Place, operand: ast.Expr, *parts: Raw | ast.Expr) -> ast.Expr:
    """Make a test for membership in the result of a call."""
    items = cast("ast.Expr", parts[-1])
    found = _called(at, "contains", items, operand)
    return ast.Unary("NOT", found, place=at) if len(parts) > 1 else found


def _elements(at: Place, items: ast.Expr) -> ast.Select:
    core = ast.Core((ast.ResultColumn(_called(at, "unnest", items), place=at),), place=at)
    return ast.Select(core, place=at)


def _called(at: Place, function: str, *arguments: ast.Expr) -> ast.Call:
    return ast.Call(ast.Path((ast.Name(function, place=at),), place=at), arguments, place=at)


def _value(at: Place, value: ast.Expr, rows: ast.Table) -> ast.ScalarSelect:
    # With a name, since one that is made of the value cannot be, where COLUMNS has chosen a column of it.
    core = ast.Core((ast.ResultColumn(value, ast.Name("dctv:value", place=at), place=at),), source=rows, place=at)
    return ast.ScalarSelect(ast.Select(core, place=at), place=at)


def _quantified(
    at: Place, operand: ast.Expr, written: str, select: ast.Select, shown: ast.Node, *, every: bool
) -> ast.Expr:
    operand, op = as_row(operand), _SAME.get(written, written)
    if op == ("!=" if every else "="):
        made: ast.Expr = ast.InSelect(operand, select, negated=every, place=at)
    else:
        made = ast.Quantified(operand, op, select, every, place=at)
    word = "ALL" if every else "ANY"
    return replace(made, written=WrittenForm(("(", operand, f" {op} {word} (", shown, "))")))


def with_each_row(expr: ast.Quantified) -> ast.Expr:
    """Make the value of a comparison with all rows from aggregates of comparisons with each of them.

    It is decided by one of them, else NULL if one of them is.
    """
    at, operand, op = expr.place, expr.operand, cast("ast.BinaryOp", expr.op)
    assert at is not None
    width = len(operand.items) if isinstance(operand, ast.Row) else 1
    names = tuple(ast.Name(f"dctv:compared{i}", place=at) for i in range(width))
    values = tuple(ast.Column(ast.Path((name,), place=at), place=at) for name in names)
    value = ast.Row(values, place=at) if isinstance(operand, ast.Row) else values[0]
    matching = op in _LIKES or op.removesuffix("*") in _FUNCTIONS
    test = matched(at, operand, op, value) if matching else ast.Binary(op, operand, value, place=at)
    if isinstance(operand, ast.Row) and op in ("=", "!="):
        # A pair of different values decides, regardless of NULLs elsewhere.
        pairs = [ast.Binary(op, *pair, place=at) for pair in zip(operand.items, values, strict=True)]
        test = logical("AND" if op == "=" else "OR", pairs, at)
    decided: ast.Expr = _called(at, "bool_and" if expr.every else "bool_or", test)
    if expr.every:
        decided = ast.Unary("NOT", decided, place=at)
    some_null = ast.Binary(">", _called(at, "count", ast.Star(place=at)), _called(at, "count", test), place=at)
    found = not expr.every
    branches = ((decided, ast.Constant(found, place=at)), (some_null, ast.Constant(None, place=at)))
    chosen = ast.Case(None, branches, ast.Constant(not found, place=at), place=at)
    return _value(at, chosen, ast.TableSelect(expr.select, ast.Alias(names[0], names, place=at), place=at))


FORMS: dict[str, Callable[..., object]] = {
    "matched": matched,
    "in_value_of": in_value_of,
    "any_of": any_of,
    "all_of": all_of,
    "any_element": any_element,
    "all_elements": all_elements,
    "array_of_rows": array_of_rows,
}
