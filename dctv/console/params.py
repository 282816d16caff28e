"""Parse words such as `limit=5ms` into parameters with values: numbers with units, true, false and null, else text."""

from __future__ import annotations

from fractions import Fraction

from dctv.contracts.table_function import Quantity
from dctv.errors import UnitError, UsageError
from dctv.patterns import pattern
from dctv.types.units import parse_unit

_NAME = pattern(r"\w+")
_INTEGER = pattern(r"[+-]?[0-9]+")
_NUMBER = pattern(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_QUANTITY = pattern(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?) ?([^\W\d].*|`[^`]+`)")
_CONSTANTS: dict[str, object] = {"true": True, "false": False, "null": None}


def assigned(word: str) -> tuple[str | int, object]:
    """Return the name, or the number from 0, and the value of a parameter.

    Raises:
        UsageError: this is not K=V.
    """
    key, equals, value = word.partition("=")
    key = key.strip()
    if not equals or not _NAME.fullmatch(key):
        raise UsageError(f"found `{word}`, expected K=V", hint="such as limit=5ms for :limit")
    return int(key) if key.isdecimal() else key, value_of(value)


def value_of(text: str) -> object:
    """Parse a value; in single quotes it is always text."""
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else _quantity(text)


def _quantity(text: str) -> Quantity | str:
    """Parse a number with its unit; return other texts unchanged."""
    found = _QUANTITY.fullmatch(text)
    try:
        return text if found is None else Quantity(Fraction(found[1]), parse_unit(found[2].strip("`")))
    except UnitError:
        return text


def written(value: object) -> str:
    """Write a value as a SQL literal."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            doubled = value.replace("'", "''")
            return f"'{doubled}'"
        case Quantity():
            number = int(value.value) if value.value.denominator == 1 else float(value.value)
            return f"{number}{value.unit}"
        case _:
            return str(value)
