"""Format numbers with units in a readable scale: `148.132716ms`, `3KiB`, `1.5 MiB/s`."""

from __future__ import annotations

from decimal import Decimal
from math import isfinite

from dctv.types.unit import Unit

_TIMES = ("s", "ms", "us", "ns")


def amount(number: float | Decimal, unit: Unit) -> str:
    """Write a number with its unit and all its digits; floats of times have twelve.

    A time is in the largest of s, ms, us and ns in which it is 1 or more, whichever of them it is given in.
    """
    name = str(unit)
    if name not in _TIMES or not isfinite(number):
        text = _plain(number)
        return f"{text}{name}" if name.isalpha() and text[-1].isdigit() else f"{text} {name}".rstrip()
    own = _TIMES.index(name)
    fits = (place for place in range(len(_TIMES)) if abs(number) >= 1000 ** (own - place))
    place = next(fits, len(_TIMES) - 1) if number else own
    return f"{_moved(number, 3 * (own - place))}{_TIMES[place]}"


def _moved(number: float | Decimal, places: int) -> str:
    """Return a number divided by a power of ten."""
    if isinstance(number, float):
        return f"{number / 10.0**places:.12g}"
    sign, digits, exponent = Decimal(number).as_tuple()
    assert isinstance(exponent, int)
    text = f"{Decimal((sign, digits, exponent - places)):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _plain(number: float | Decimal) -> str:
    if isinstance(number, Decimal):
        return f"{number:f}"
    return repr(number).removesuffix(".0")
