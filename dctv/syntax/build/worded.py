"""Forms of calls that have words between or behind their arguments.

Such as `overlay(x PLACING y FROM 3)`, `trim(LEADING FROM x)` and `percentile_cont(0.9) WITHIN GROUP (ORDER BY x)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from dctv.errors import ParseError, Place
from dctv.record import replace
from dctv.syntax import ast
from dctv.syntax.build.arguments import Arguments
from dctv.syntax.build.names import order_term
from dctv.syntax.lexer import Raw

_TAKEN = {"PLACING": ("overlay",), "FROM": ("substring", "substr", "trim"), "FOR": ("substring", "substr")}
_PERCENTILES = {"percentile_cont": "quantile_cont", "percentile_disc": "quantile_disc"}
_TRIMS = {"BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}


def only_order(_at: Place, distinct: bool, terms: tuple[ast.OrderTerm, ...]) -> Arguments:
    """Make the arguments of a window function that has only an ORDER BY."""
    return Arguments(distinct, (), terms)


def arguments_by_all(at: Place, distinct: bool, *parts: object) -> Arguments:
    """Make the arguments of an aggregate whose rows are sorted by all of them."""
    *items, direction, nulls = parts
    values = cast("tuple[ast.Expr, ...]", tuple(items))
    terms = tuple(order_term(at, one, cast("str", direction), cast("str", nulls)) for one in values)
    return Arguments(distinct, values, terms)


def worded_arguments(_at: Place, distinct: bool, *parts: ast.Expr | Raw) -> Arguments:
    """Make the arguments around PLACING, FROM and FOR."""
    return Arguments(distinct, _values(parts), words="PLACING")


def arguments_from(_at: Place, distinct: bool, *parts: ast.Expr | Raw) -> Arguments:
    """Make the arguments around FROM, and around FOR after it."""
    return Arguments(distinct, _values(parts), words="FROM")


def arguments_for(at: Place, distinct: bool, text: ast.Expr, _for: Raw, length: ast.Expr) -> Arguments:
    """Make the arguments around FOR."""
    return Arguments(distinct, (text, ast.Number("1", place=at), length), words="FOR")


def trim_arguments(_at: Place, distinct: bool, side: str, *parts: ast.Expr | Raw) -> Arguments:
    """Make the arguments of a trim at a side; the characters to remove precede the text."""
    return Arguments(distinct, _values(parts)[::-1], words=side)


def within_group(
    at: Place, path: ast.Path, arguments: Arguments, _within: Raw, terms: tuple[ast.OrderTerm, ...]
) -> tuple[ast.Path, Arguments]:
    """Make the call of an ordered-set aggregate.

    Percentiles and modes are of what the group is sorted by; other aggregates only take their rows in that order.
    """
    items = cast("tuple[ast.Expr, ...]", arguments.items)
    name = path.text.lower()
    if arguments.order_by:
        raise ParseError("an aggregate with WITHIN GROUP has no other ORDER BY", at)
    if name not in (*_PERCENTILES, "mode"):
        return path, replace(arguments, order_by=terms)
    wanted = 0 if name == "mode" else 1
    if len(terms) > 1 or len(items) != wanted:
        many = f"{wanted} argument{'s' * (wanted != 1)} and one expression to sort by"
        raise ParseError(f"`{name}` WITHIN GROUP takes {many}, found {len(items)} and {len(terms)}", at)
    function = ast.Path((ast.Name(_PERCENTILES.get(name, name), place=path.place),), place=path.place)
    order = terms if name == "mode" or terms[0].descending else ()
    return function, replace(arguments, items=(terms[0].expr, *items), order_by=order)


def _values(parts: tuple[ast.Expr | Raw, ...]) -> tuple[ast.Expr, ...]:
    return tuple(one for one in parts if not isinstance(one, Raw))


def plain(at: Place, path: ast.Path, arguments: Arguments) -> tuple[ast.Path, Arguments]:
    """Return a function and its arguments in plain call syntax."""
    words, items = arguments.words, cast("tuple[ast.Expr, ...]", arguments.items)
    name = path.text.lower()
    if name == "position" and len(items) == 1:
        return _position(path, arguments, items[0])
    if not words:
        return path, arguments
    if words == "FROM" and name == "trim" and len(items) == 2:
        side = items[0].path.text.upper() if isinstance(items[0], ast.Column) else ""
        if side in _TRIMS:
            words, items = side, items[1:]
        else:
            return path, replace(arguments, items=items[::-1])
    if words in _TRIMS and name == "trim":
        function = ast.Path((ast.Name(_TRIMS[words], place=path.place),), place=path.place)
        return function, replace(arguments, items=items)
    if name not in _TAKEN.get(words, ("trim",)):
        usual = " or ".join(f"`{one}`" for one in _TAKEN.get(words, ("trim",)))
        raise ParseError(f"{words} is allowed only in the arguments of {usual}, found `{path.text}`", at)
    return path, arguments


def _position(path: ast.Path, arguments: Arguments, item: ast.Expr) -> tuple[ast.Path, Arguments]:
    """Return the call that `position(x IN y)` is short for, which was parsed as a test for elements of y."""
    match item:
        case ast.InList(operand=needle, items=(text,), negated=False):
            pass
        case ast.InUnit(operand=needle, unit=name):
            place = item.unit_place
            text = ast.Column(ast.Path((ast.Name(name, place=place),), place=place), place=place)
        case ast.Call(arguments=(text, needle)) if item.function.text == "contains":
            pass
        case _:
            return path, arguments
    function = ast.Path((ast.Name("strpos", place=path.place),), place=path.place)
    return function, replace(arguments, items=(text, needle))


FORMS: dict[str, Callable[..., object]] = {
    "only_order": only_order,
    "arguments_by_all": arguments_by_all,
    "worded_arguments": worded_arguments,
    "arguments_from": arguments_from,
    "arguments_for": arguments_for,
    "trim_arguments": trim_arguments,
    "within_group": within_group,
}
