"""Split conditions into conjuncts, find those that cannot fail, and read their bounds on columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

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
from dctv.plan.walk import columns_in, replaced
from dctv.types.values import is_integer

FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""Comparisons, with the equivalent ones for exchanged sides."""
_FLOATS = ("DOUBLE", "FLOAT")


def conjuncts(test: Expression | None) -> Iterator[Expression]:
    """Yield the parts of an AND; BETWEEN is two of them."""
    match test:
        case None:
            return
        case And(parts):
            for part in parts:
                yield from conjuncts(part)
        case Between(operand, low, high) if isinstance(operand, Column) or sum_of(operand) is not None:
            yield Binary(">=", operand, low)
            yield Binary("<=", operand, high)
        case _:
            yield test


def sum_of(value: Expression) -> frozenset[str] | None:
    """Return the names of two columns that are added."""
    match value:
        case Binary("+", Column(a), Column(b)):
            return frozenset((a, b))
        case _:
            return None


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


def renamed(test: Expression, names: Mapping[str, str]) -> Expression:
    """Return a condition over other columns, without a table in front."""
    return replaced(test, lambda node: Column(names[node.name]) if isinstance(node, Column) else None)


def names_in(test: Expression) -> set[str]:
    """Return the names of the columns in a condition."""
    return {column.name for column in columns_in(test)}


def bound_of(test: Expression) -> tuple[Expression, str, int] | None:
    """Read a comparison with a whole number as (operand, operator, number), with the number on the right."""
    if not isinstance(test, Binary) or test.operator not in FLIPPED or test.operator == "!=":
        return None
    for subject, other, how in (
        (test.left, test.right, test.operator),
        (test.right, test.left, FLIPPED[test.operator]),
    ):
        number = _whole(other)
        if number is not None:
            return subject, how, number
    return None


def _whole(value: Expression) -> int | None:
    if isinstance(value, Unary) and value.operator == "-":
        number = _whole(value.operand) if isinstance(value.operand, Number) else None
        return None if number is None else -number
    if not isinstance(value, Number):
        return None
    exact = Fraction(value.text)
    # A number that is written as a double is compared as one: with these, no whole number is rounded to the wrong side.
    most = 2**63 if value.text.isdigit() else 2**53
    return int(exact) if exact.denominator == 1 and exact < most else None
