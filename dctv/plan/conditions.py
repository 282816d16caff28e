"""Convert predicates to conditions of queries."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dctv.plan import predicate as p
from dctv.plan.build import all_of, any_of, call, negated, plus
from dctv.plan.expressions import FALSE, NULL, TRUE, Binary, Boolean, Cast, Column, Expression, InList, IsNull, Text

_LARGEST = 2**63
"""No BIGINT is as large."""


def condition(predicate: p.Predicate, column: Callable[[str], Expression] = Column) -> Expression | None:
    """Return a condition that is true wherever a predicate is, and maybe elsewhere; None if it would be true anywhere.

    `column` returns the expression for a column.
    """
    match predicate:
        case p.And(parts):
            known = [one for part in parts if (one := condition(part, column)) is not None]
            return all_of(known)
        case p.Or(()):
            return FALSE
        case p.Or(parts):
            branches = [condition(part, column) for part in parts]
            found = [one for one in branches if one is not None]
            return any_of(found) if len(found) == len(branches) else None
        case _:
            return _exact(predicate, column)


def _exact(predicate: p.Predicate, column: Callable[[str], Expression]) -> Expression | None:
    """Return a condition that is true exactly where a predicate is; None if there is none."""
    match predicate:
        case p.Not(part):
            inner = _exact(part, column)
            return None if inner is None else negated(inner)
        case p.And(parts) | p.Or(parts):
            return _joined([_exact(one, column) for one in parts], every=isinstance(predicate, p.And))
        case p.Undecidable():
            return None
        case _:
            return _leaf(predicate, column)


def _joined(parts: list[Expression | None], *, every: bool) -> Expression | None:
    known = [one for one in parts if one is not None]
    if len(known) < len(parts):
        return None
    return all_of(known) or TRUE if every else any_of(known)


def _leaf(leaf: p.Compare | p.In | p.Prefix | p.IsNull, column: Callable[[str], Expression]) -> Expression | None:
    match leaf:
        case p.Compare(columns, operator, value):
            literal = _literal(value)
            return None if literal is None else Binary(operator, _sum([column(one) for one in columns]), literal)
        case p.In(name, values, has_null):
            items = [_literal(one) for one in values]
            known = [one for one in items if one is not None]
            return InList(column(name), (*known, *[NULL] * has_null)) if known and len(known) == len(items) else None
        case p.Prefix(name, text):
            return call("starts_with", column(name), Text(text))
        case p.IsNull(name):
            return IsNull(column(name))


def _sum(values: list[Expression]) -> Expression:
    total, *others = values
    for one in others:
        total = plus(total, one)
    return total


def _literal(value: p.Value) -> Expression | None:
    match value:
        case bool():
            return Boolean(value)
        case str():
            return Text(value)
        case int():
            return _whole(value)
        case Fraction():
            if value.denominator == 1:
                return _whole(value.numerator)
            near = float(value)
            return Cast(Text(repr(near)), "DOUBLE") if Fraction(near) == value else None


def _whole(value: int) -> Expression | None:
    return Cast(Text(str(value)), "BIGINT") if abs(value) < _LARGEST else None
