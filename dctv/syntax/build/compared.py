"""Forms of comparisons: with all rows or elements of something, and by operators that are functions of another name."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import cast

from dctv.errors import Place
from dctv.syntax import ast
from dctv.syntax.lexer import Raw

_FUNCTIONS = {
    "~": "regexp_matches",
    "!~": "regexp_matches",
    "^@": "starts_with",
    "&&": "list_has_any",
    "@>": "list_has_all",
    "<@": "list_has_all",
}
_LIKES = {"~~": "LIKE", "!~~": "LIKE", "~~*": "ILIKE", "!~~*": "ILIKE", "~~~": "GLOB"}


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
    operand = as_row(operand)
    if op == "=":
        return ast.InSelect(operand, select, place=at)
    return _compared(at, (operand, op, select), "bool_or", found=True)


def all_of(at: Place, operand: ast.Expr, op: str, select: ast.Select) -> ast.Expr:
    """Make a comparison that holds for all rows of a select, which is NULL where it could hold for all."""
    operand = as_row(operand)
    if op in ("!=", "<>"):
        return ast.InSelect(operand, select, negated=True, place=at)
    return _compared(at, (operand, op, select), "bool_and", found=False)


def any_element(at: Place, operand: ast.Expr, op: str, items: ast.Expr) -> ast.Expr:
    """Make a comparison that holds for one element of a list."""
    return any_of(at, operand, op, _elements(at, items))


def all_elements(at: Place, operand: ast.Expr, op: str, items: ast.Expr) -> ast.Expr:
    """Make a comparison that holds for all elements of a list."""
    return all_of(at, operand, op, _elements(at, items))


def array_of_rows(at: Place, select: ast.Select) -> ast.Expr:
    """Make the list of the rows of a select, in their order."""
    name = ast.Name("dctv:element", place=at)
    value = ast.Column(ast.Path((name,), place=at), place=at)
    rows = ast.TableSelect(select, ast.Alias(name, (name,), place=at), place=at)
    listed = _called(at, "coalesce", _called(at, "list", value), ast.List((), place=at))
    return _value(at, listed, rows)


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
    core = ast.Core((ast.ResultColumn(value, place=at),), source=rows, place=at)
    return ast.ScalarSelect(ast.Select(core, place=at), place=at)


def _compared(at: Place, parts: tuple[ast.Expr, str, ast.Select], function: str, *, found: bool) -> ast.Expr:
    """Make the value of comparisons with all rows: decided by one of them, else NULL if one of them is."""
    operand, op, select = parts
    width = len(operand.items) if isinstance(operand, ast.Row) else 1
    names = tuple(ast.Name(f"dctv:compared{i}", place=at) for i in range(width))
    values = tuple(ast.Column(ast.Path((name,), place=at), place=at) for name in names)
    value = ast.Row(values, place=at) if isinstance(operand, ast.Row) else values[0]
    folded = cast("ast.BinaryOp", {"==": "=", "<>": "!="}.get(op, op))
    matching = op in _LIKES or op.removesuffix("*") in _FUNCTIONS
    test = matched(at, operand, op, value) if matching else ast.Binary(folded, operand, value, place=at)
    if isinstance(operand, ast.Row) and folded in ("=", "!="):
        # A pair of different values decides, regardless of NULLs elsewhere.
        pairs = [ast.Binary(folded, *pair, place=at) for pair in zip(operand.items, values, strict=True)]
        word: ast.BinaryOp = "AND" if folded == "=" else "OR"
        test = reduce(lambda a, b: ast.Binary(word, a, b, place=at), pairs[1:], cast("ast.Expr", pairs[0]))
    decided: ast.Expr = _called(at, function, test)
    if not found:
        decided = ast.Unary("NOT", decided, place=at)
    some_null = ast.Binary(">", _called(at, "count", ast.Star(place=at)), _called(at, "count", test), place=at)
    branches = ((decided, ast.Constant(found, place=at)), (some_null, ast.Constant(None, place=at)))
    chosen = ast.Case(None, branches, ast.Constant(not found, place=at), place=at)
    return _value(at, chosen, ast.TableSelect(select, ast.Alias(names[0], names, place=at), place=at))


FORMS: dict[str, Callable[..., object]] = {
    "matched": matched,
    "in_value_of": in_value_of,
    "any_of": any_of,
    "all_of": all_of,
    "any_element": any_element,
    "all_elements": all_elements,
    "array_of_rows": array_of_rows,
}
