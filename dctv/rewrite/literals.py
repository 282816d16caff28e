"""Read literals, through signs and casts, as Python values; recognise casts that keep every value."""

from __future__ import annotations

from types import EllipsisType

from dctv.plan import predicate as p
from dctv.plan.expressions import Boolean, Cast, Expression, Null, Number, Text, Unary
from dctv.record import record
from dctv.types.values import is_integer

LARGEST = 2**127
"""Whole numbers from here on are doubles for the engine."""


@record
class Double:
    """A literal that the engine takes for a double."""

    value: float


Literal = bool | int | str | Double
Read = Literal | EllipsisType | None
"""A literal; None is NULL, the ellipsis means no literal."""

_BITS = {"TINYINT": 7, "SMALLINT": 15, "INTEGER": 31, "BIGINT": 63, "HUGEINT": 127}
_BITS_UNSIGNED = {"UTINYINT": 8, "USMALLINT": 16, "UINTEGER": 32, "UBIGINT": 64, "UHUGEINT": 128}


def is_lossless(kind: str, to: str) -> bool:
    """Whether a cast keeps every value: to the same type, or to one of more bits."""
    if kind == to:
        return True
    if kind in _BITS:
        return _BITS.get(to, 0) >= _BITS[kind] or (to == "DOUBLE" and _BITS[kind] <= 53)
    if kind in _BITS_UNSIGNED:
        bits = _BITS_UNSIGNED[kind]
        return _BITS.get(to, 0) >= bits or _BITS_UNSIGNED.get(to, 0) >= bits or (to == "DOUBLE" and bits <= 53)
    return False


def literal_of(value: Expression) -> Read:
    """Read a literal, through casts and signs; None is NULL, the ellipsis means no literal."""
    match value:
        case Null():
            return None
        case Boolean(constant) | Text(constant):
            return constant
        case Number(text):
            return _number(text)
        case Unary("-", operand):
            return _minus(literal_of(operand))
        case Cast(operand, kind):
            return _cast(literal_of(operand), kind)
        case _:
            return ...


_DIGITS = 15
"""Decimals of up to this many digits become the nearest double when the engine compares them with one."""


def _number(text: str) -> Read:
    if text.isdigit():
        return int(text)
    try:
        value = float(text)
    except ValueError:
        return ...
    exact = "e" in text.lower() or sum(c.isdigit() for c in text) <= _DIGITS
    return Double(value) if exact else ...


def _minus(value: Read) -> Read:
    if type(value) is int:
        return -value
    return Double(-value.value) if isinstance(value, Double) else ...


def _cast(value: Read, to: str) -> Read:
    """Cast a literal to its own type, and texts of digits and whole numbers to numbers that are the same."""
    if value is None or value is Ellipsis:
        return value
    if isinstance(value, str) and to != "VARCHAR":
        value = _digits(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return _resized(value, to)
    own = {str: "VARCHAR", bool: "BOOLEAN", Double: "DOUBLE"}.get(type(value))
    return value if own == to else ...


def _digits(text: str) -> Read:
    digits = text[1:] if text[:1] == "-" else text
    return int(text) if digits.isascii() and digits.isdigit() else ...


def _resized(value: int, to: str) -> Read:
    if to == "DOUBLE":
        return Double(float(value)) if abs(value) < LARGEST else ...
    if not is_integer(to):
        return ...
    low, high = (0, 2 ** _BITS_UNSIGNED[to]) if to in _BITS_UNSIGNED else (-(2 ** _BITS[to]), 2 ** _BITS[to])
    return value if low <= value < high else ...


def constant_of(value: Expression) -> p.Constant | None:
    """Return the literal that a select hands on, if it is one whose type is plain."""
    found = literal_of(value)
    return p.Constant(found) if found is None or isinstance(found, bool | int | str) else None
