"""Convert values bound to a text's parameters to values of the language: numbers with units, texts, dates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Real
from pathlib import Path
from sys import modules
from typing import Any

from dctv.contracts.table_function import Argument, Quantity
from dctv.errors import UsageError
from dctv.plan.expressions import Cast, Text
from dctv.syntax import ast
from dctv.syntax.node import nodes
from dctv.types.units import compatible, parse_unit, ratio

_EXACT = 1_000_000_000
_MOST_DIGITS = 38
"""Of the engine's decimal numbers."""
_TIMES = ("align", "time")
"""Options of a mount that are times."""
Params = Mapping[str, object] | Mapping[int, object] | Mapping[str | int, object] | Sequence[object]
"""By name, by number, or in order."""
Value = None | bool | int | float | str | bytes | Quantity | Cast


def numbered(params: Params | None) -> Mapping[int | str, object]:
    """Return parameters by their names, or by their numbers: `$1` is the first of a sequence, else the one called 1."""
    if params is None:
        return {}
    if not isinstance(params, Mapping):
        return {**dict(enumerate(params)), **{f"${number}": value for number, value in enumerate(params, start=1)}}
    named = dict(params.items())
    return {**named, **{f"${key}": value for key, value in named.items() if isinstance(key, int)}}


def check_count(params: Params | None, statements: Sequence[ast.Node]) -> None:
    """Check that a text asks for the last one of parameters given in order; those given by name may be for other texts.

    Raises:
        UsageError: it asks for fewer.
    """
    if params is None or isinstance(params, Mapping):
        return
    keys = [one.key for one in nodes(statements) if isinstance(one, ast.Bind)]
    asked = max((_count(key) for key in keys), default=0)
    if len(params) > asked:
        what = f"the text has {asked or 'no'} bind parameter{'s' * (asked != 1)}, but {len(params)} values were given"
        raise UsageError(what, hint="`?` and `$1` stand for values that are given in order")


def _count(key: int | str) -> int:
    """Return how many values in order a bind parameter needs."""
    if isinstance(key, int):
        return key + 1
    return int(key[1:]) if key.startswith("$") and key[1:].isdecimal() else 0


def value_of(parameter: object) -> Value:
    """Return the value that a parameter stands for; durations become numbers of ns, dates values of the engine.

    Numbers of numpy and of pandas are taken as Python's.

    Raises:
        TypeError: there is no such value in the language.
    """
    parameter = _plain(parameter)
    match parameter:
        case None | bool() | int() | float() | str() | bytes() | Quantity() | Cast():
            return parameter
        case timedelta():
            seconds = parameter.days * 86_400 + parameter.seconds
            return Quantity(Fraction(seconds * _EXACT + parameter.microseconds * 1000), parse_unit("ns"))
        case datetime():
            aware = parameter.tzinfo is not None
            return Cast(Text(parameter.isoformat(" ")), "TIMESTAMP WITH TIME ZONE" if aware else "TIMESTAMP")
        case date():
            return Cast(Text(parameter.isoformat()), "DATE")
        case Decimal() | Real():
            return _number_of(parameter)
        case _:
            raise TypeError(type(parameter).__name__)


def _number_of(number: Decimal | Real) -> int | float | Cast:
    """Return a number of another type; decimal ones keep the digits that they have.

    Raises:
        TypeError: a decimal number has more digits than the engine's.
    """
    if isinstance(number, Integral):
        return int(number)
    if not isinstance(number, Decimal) or not number.is_finite():
        return float(number)
    _, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    scale = max(-exponent, 0)
    precision = max(len(digits) + max(exponent, 0), scale, 1)
    if precision > _MOST_DIGITS:
        raise TypeError(f"Decimal of {precision} digits")
    return Cast(Text(f"{number:f}"), f"DECIMAL({precision},{scale})")


def option_of(option: object) -> object:
    """Return an option of a mount as it would be written in SQL: whole numbers, durations in ns, texts for paths."""
    if isinstance(option, Path):
        return str(option)
    if isinstance(option, str | list | tuple):
        return option
    try:
        value = value_of(option)
    except TypeError:
        return option
    return _number(value.value) if isinstance(value, Quantity) else value


def stated_option(name: str, argument: Argument) -> object:
    """Return an option of a MOUNT TRACE; durations are in ns."""
    match argument.value:
        case Quantity() if name in _TIMES:
            return argument.nanoseconds(f"`{name}`")
        case Quantity() as given:
            ns = parse_unit("ns")
            return _number(given.value * ratio(given.unit, ns) if compatible(given.unit, ns) else given.value)
        case list() as several:
            return [one.value for one in several]
        case other:
            return other


def _number(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def _plain(given: Any) -> Any:
    """Return numpy's and pandas' scalars as Python's; times of ns, which Python has not, as values of the language.

    Raises:
        TypeError: a time with a zone has ns.
    """
    if getattr(given, "tzinfo", None) is not None and getattr(given, "nanosecond", None):
        raise TypeError(f"the time `{given}`, which has ns beside a time zone: leave out one of them")
    for name in ("to_timedelta64", "to_datetime64"):  # pandas' own, which pass for Python's but have ns
        if hasattr(given, name) and getattr(given, "tzinfo", None) is None:
            given = getattr(given, name)()
    if "pandas" in modules and given is modules["pandas"].NA:
        return None
    kind = getattr(getattr(given, "dtype", None), "kind", "")
    if not kind or getattr(given, "shape", None) != ():
        return given
    if kind not in "mM":
        return given.item()
    if str(given) == "NaT":
        return None
    if kind == "m":
        return Quantity(Fraction(int(given.astype("timedelta64[ns]").astype("int64"))), parse_unit("ns"))
    return Cast(Text(str(given.astype("datetime64[ns]"))), "TIMESTAMP_NS")
