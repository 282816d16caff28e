"""Tell conditions that cannot fail on any row, so that they may be evaluated where the query does not ask for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dctv.plan.expressions import (
    COMPARISONS,
    And,
    Between,
    Binary,
    Boolean,
    Column,
    Expression,
    InList,
    IsNull,
    Like,
    Null,
    Number,
    Or,
    Text,
    Unary,
)
from dctv.types.values import is_integer

_FLOATS = ("DOUBLE", "FLOAT")


def cannot_fail(test: Expression, types: Mapping[str, str]) -> bool:
    """Whether a condition cannot fail on any row: comparisons within one family of types, and AND, OR, NOT of these.

    Arithmetic may overflow, casts may not accept a text, and comparing a text with a number is a cast.
    """
    match test:
        case And(parts) | Or(parts):
            return all(cannot_fail(part, types) for part in parts)
        case Unary("NOT", operand):
            return cannot_fail(operand, types)
        case IsNull(operand):
            return isinstance(operand, Column)
        case Like(operator, operand, pattern, None):
            return operator != "GLOB" and _families((operand, pattern), types) == {"text"}
        case Column():
            return _family(test, types) == "bool"
        case _:
            compared = _compared(test)
            families = _families(compared, types)
            return bool(compared) and len(families) == 1 and None not in families


def _compared(test: Expression) -> Sequence[Expression]:
    """Return the values that a condition compares with each other; none for other conditions."""
    match test:
        case InList(operand, items):
            return (operand, *items) if items else ()
        case Between(operand, low, high):
            return (operand, low, high)
        case Binary(operator, left, right) if operator in COMPARISONS:
            return (left, right)
        case _:
            return ()


def _families(values: Sequence[Expression], types: Mapping[str, str]) -> set[str | None]:
    return {_family(value, types) for value in values if not isinstance(value, Null)} or {"null"}


def _family(value: Expression, types: Mapping[str, str]) -> str | None:
    """Return the family of types of a column or literal; None for other expressions and types."""
    match value:
        case Number() | Unary("-", Number()):
            return "number"
        case Text():
            return "text"
        case Boolean():
            return "bool"
        case Column(name):
            kind = types.get(name, "")
            if is_integer(kind) or kind in _FLOATS:
                return "number"
            return {"VARCHAR": "text", "BOOLEAN": "bool"}.get(kind)
        case _:
            return None
