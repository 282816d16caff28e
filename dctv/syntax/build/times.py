"""Forms of dates, times and intervals."""

from __future__ import annotations

from collections.abc import Callable

from dctv.errors import ParseError, Place, nearest
from dctv.patterns import pattern
from dctv.syntax import ast
from dctv.syntax.build.names import unquote
from dctv.syntax.lexer import Raw

_COUNT = pattern(r"\s*([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))\s*")
_SAME = """
era millennium century decade year isoyear quarter month week yearweek day isodow dayofweek dayofyear hour minute second
millisecond microsecond nanosecond epoch epoch_ms epoch_us epoch_ns julian timezone_hour timezone_minute
"""
_PARTS = {**{name: name for name in _SAME.split()}, "dow": "dayofweek", "doy": "dayofyear", "weekday": "dayofweek"}
"""Functions by the part of a time that they return."""


def typed_literal(at: Place, kind: str, token: Raw) -> ast.Cast:
    """Make a date or time from its text."""
    text = Place(at.source, token.start, token.stop)
    words = Place(at.source, at.start, at.start + len(kind))
    return ast.Cast(ast.String(unquote(token.text), place=text), ast.TypeName(kind, place=words), place=at)


def interval(at: Place, token: Raw) -> ast.Interval:
    """Make an interval."""
    return ast.Interval(unquote(token.text), place=at)


def interval_of(at: Place, token: Raw, unit: Raw) -> ast.Interval:
    """Make an interval of a number and a unit."""
    text = token.text.replace("_", "") if token.kind == "NUMBER" else unquote(token.text)
    found = _COUNT.fullmatch(text)
    if found is None:
        place = Place(at.source, token.start, token.stop)
        raise ParseError(f"found `{token.text}`, expected a plain number of {unit.text}", place)
    return ast.Interval(f"{found.group(1)} {unit.text.upper()}", place=at)


def interval_times(at: Place, count: ast.Expr, unit: Raw) -> ast.Binary:
    """Make an interval of a number of units given by an expression."""
    place = Place(at.source, unit.start, unit.stop)
    return ast.Binary("*", count, ast.Interval(f"1 {unit.text.upper()}", place=place), place=at)


def extract(at: Place, part: ast.Name, value: ast.Expr) -> ast.Call:
    """Make the call of the function that returns a part of a time."""
    name = part.text.lower()
    function = _PARTS.get(name) or _PARTS.get(name.removesuffix("s"))
    if function is None:
        near = nearest(name, list(_PARTS))
        raise ParseError(
            f"found `{part.text}`, expected a part of a time", part.place, hint=near and f"did you mean `{near}`?"
        )
    return ast.Call(ast.Path((ast.Name(function, place=part.place),), place=part.place), (value,), place=at)


FORMS: dict[str, Callable[..., object]] = {
    "typed_literal": typed_literal,
    "interval": interval,
    "interval_of": interval_of,
    "interval_times": interval_times,
    "extract": extract,
}
