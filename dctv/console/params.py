"""Parse words such as `limit=5ms` into parameters with values: numbers with units, true, false and null, else text."""

from __future__ import annotations

from fractions import Fraction

from dctv.contracts.table_function import Quantity
from dctv.errors import UnitError, UsageError
from dctv.patterns import pattern
from dctv.types.units import parse_unit

_NAME = pattern(r"\w+")
_DIGITS = r"[0-9]+(?:_[0-9]+)*"
_NUMBER = pattern(
    r"([+-]?)(0[xX][0-9A-Fa-f]+(?:_[0-9A-Fa-f]+)*"
    rf"|(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?[0-9](?:_?[0-9]){{0,2}})?)"
    r"(?: ?([^\W\d_].*|`[^`]+`))?"
)
"""Sign, number and unit, as in the grammar; there may be a space before the unit."""
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
    found = _NUMBER.fullmatch(text)
    if found is None:
        return text
    sign, digits, unit = found[1], found[2].replace("_", ""), found[3]
    if digits[:2].lower() == "0x":
        digits = str(int(digits, 16))
    if unit is not None:
        return _quantity(sign + digits, unit.strip("`")) or text
    return int(sign + digits) if digits.isdecimal() else float(sign + digits)


def _quantity(number: str, unit: str) -> Quantity | None:
    """Return a number with its unit, None if there is no such unit."""
    try:
        return Quantity(Fraction(number), parse_unit(unit))
    except UnitError:
        return None


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
