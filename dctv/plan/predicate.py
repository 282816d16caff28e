"""Predicates on the rows of a stored table that an index can prune by.

A predicate is about the columns of one stored table. It is implied by the query's condition, never more than that: a
row for which it is not true is not needed. Truth is three-valued as in SQL, a missing value makes a comparison unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne
from types import EllipsisType
from typing import Any

from dctv.record import record, replace

Value = bool | int | Fraction | str
"""A literal; numbers are exact (a float of the query is the fraction that it is), times are in ns."""


@record
class Compare:
    """A comparison of a column, or of the sum of two columns, with a literal."""

    columns: tuple[str, ...]
    """One column, or `_ts` and the duration: the end of a span."""
    operator: str
    """One of `=`, `!=`, `<`, `<=`, `>`, `>=`."""
    value: Value


@record
class In:
    """Membership in a list of literals; `has_null` if NULL is among them."""

    column: str
    values: tuple[Value, ...]
    has_null: bool = False


@record
class Prefix:
    """A text that begins so: LIKE 'prefix%'."""

    column: str
    text: str


@record
class IsNull:
    """A missing value."""

    column: str


@record
class Not:
    """The opposite; unknown stays unknown."""

    part: Predicate


@record
class And:
    """All of them; of none it is true."""

    parts: tuple[Predicate, ...]


@record
class Or:
    """One of them; of none it is false."""

    parts: tuple[Predicate, ...]


@record
class Undecidable:
    """A condition that an index cannot evaluate: it may be true, false or unknown."""


@record
class Constant:
    """A literal that a query hands on under the name of a column; None is NULL."""

    value: Value | None


Predicate = Compare | In | Prefix | IsNull | Not | And | Or | Undecidable

ALWAYS = And(())
NEVER = Or(())


def both(parts: Sequence[Predicate]) -> Predicate:
    """Return the conjunction of some predicates, without an AND if there is only one."""
    return simplified(And(tuple(parts)))


def either(parts: Sequence[Predicate]) -> Predicate:
    """Return the disjunction of some predicates, without an OR if there is only one."""
    return simplified(Or(tuple(dict.fromkeys(parts))))


def simplified(predicate: Predicate, *, positive: bool = True) -> Predicate:
    """Return a predicate that may be true wherever the given one may, without constants and nested ANDs and ORs.

    `Undecidable` absorbs the operands that it is combined with, where these make no difference; under a NOT, where
    falsehood is what counts (`positive` is False), that is an AND with it rather than an OR.
    """
    match predicate:
        case Not(part):
            return negated(simplified(part, positive=not positive))
        case And(parts):
            return _joined(parts, And, NEVER, positive=positive)
        case Or(parts):
            return _joined(parts, Or, ALWAYS, positive=positive)
        case _:
            return predicate


def _joined(parts: Sequence[Predicate], form: type[And | Or], decisive: Predicate, *, positive: bool) -> Predicate:
    found: list[Predicate] = []
    anything = False
    for part in parts:
        one = simplified(part, positive=positive)
        if one == decisive:
            return decisive
        anything = anything or isinstance(one, Undecidable)
        found += one.parts if isinstance(one, form) else [one]
    if anything and (form is And) != positive:
        return Undecidable()
    found = list(dict.fromkeys(one for one in found if not isinstance(one, Undecidable)))
    if not found and anything:
        return Undecidable()
    return found[0] if len(found) == 1 else form(tuple(found))


def negated(predicate: Predicate) -> Predicate:
    """Return the opposite of a simplified predicate."""
    match predicate:
        case Undecidable():
            return predicate
        case Not(part):
            return part
        case And(()):
            return NEVER
        case Or(()):
            return ALWAYS
        case _:
            return Not(predicate)


def columns_of(predicate: Predicate) -> set[str]:
    """Return the columns that a predicate is about."""
    match predicate:
        case Compare(columns, _, _):
            return set(columns)
        case In(column, _, _) | Prefix(column, _) | IsNull(column):
            return {column}
        case Not(part):
            return columns_of(part)
        case And(parts) | Or(parts):
            return set().union(*map(columns_of, parts))
        case Undecidable():
            return set()


Found = str | Constant | None
"""The replacement of a column elsewhere: another column, a literal, or None if it is unknown."""


def carried(predicate: Predicate, lookup: Callable[[str], Found]) -> Predicate:
    """Rewrite a predicate with its columns replaced by other columns, or by literals."""
    return simplified(_carried(predicate, lookup, positive=True))


def _carried(predicate: Predicate, lookup: Callable[[str], Found], *, positive: bool) -> Predicate:
    match predicate:
        case Not(part):
            return Not(_carried(part, lookup, positive=not positive))
        case And(parts):
            return And(tuple(_carried(part, lookup, positive=positive) for part in parts))
        case Or(parts):
            return Or(tuple(_carried(part, lookup, positive=positive) for part in parts))
        case Undecidable():
            return predicate
        case _:
            return _leaf(predicate, lookup, positive=positive)


def _leaf(leaf: Compare | In | Prefix | IsNull, lookup: Callable[[str], Found], *, positive: bool) -> Predicate:
    found = [lookup(name) for name in (leaf.columns if isinstance(leaf, Compare) else (leaf.column,))]
    names = tuple(one for one in found if isinstance(one, str))
    if len(names) == len(found):
        return replace(leaf, columns=names) if isinstance(leaf, Compare) else replace(leaf, column=names[0])
    if len(found) == 1 and isinstance(found[0], Constant):
        truth = truth_of(leaf, found[0].value)
        return Undecidable() if truth is Ellipsis else of_truth(truth, positive=positive)
    return Undecidable()


def of_truth(truth: object, *, positive: bool) -> Predicate:
    """Return a constant predicate; unknown (None) counts as the value that keeps the whole from being true."""
    known = not positive if truth is None else bool(truth)
    return ALWAYS if known else NEVER


_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": eq,
    "!=": ne,
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
}


def truth_of(leaf: Compare | In | Prefix | IsNull, value: Value | float | None) -> bool | EllipsisType | None:
    """Evaluate a condition on one column for a value; return the ellipsis where types are incompatible."""
    if isinstance(leaf, IsNull):
        return value is None
    if value is None:
        return None
    match leaf:
        case Compare(_, operator, literal):
            return _ORDERS[operator](value, literal) if kind_of(value) == kind_of(literal) else ...
        case Prefix(_, text):
            return value.startswith(text) if isinstance(value, str) else ...
        case In(_, values, has_null):
            if any(kind_of(one) != kind_of(value) for one in values):
                return ...
            return True if value in values else None if has_null else False


def kind_of(value: Value | float) -> type:
    """Return the type that a literal can be compared with: texts, truth values or numbers."""
    return str if isinstance(value, str) else bool if isinstance(value, bool) else Fraction
