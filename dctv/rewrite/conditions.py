"""Split conditions into conjuncts, and read their bounds on columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from dctv.plan.expressions import (
    And,
    Between,
    Binary,
    Column,
    Expression,
    Number,
    Unary,
)
from dctv.plan.walk import columns_in, replaced

FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""Comparisons, with the equivalent ones for exchanged sides."""


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
