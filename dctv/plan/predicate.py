"""What a query demands of the rows of a stored table, as far as an index can make use of it.

A predicate is about the columns of one stored table. It is implied by the query's condition, never more than that: a
row for which it is not true is not needed. Truth is three-valued as in SQL, a missing value makes a comparison unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

Value = bool | int | Fraction | str
"""A literal; numbers are exact (a float of the query is the fraction that it is), times are in ns."""


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison of a column, or of the sum of two columns, with a literal."""

    columns: tuple[str, ...]
    """One column, or `_ts` and the duration: the end of a span."""
    operator: str
    """One of `=`, `!=`, `<`, `<=`, `>`, `>=`."""
    value: Value


@dataclass(frozen=True, slots=True)
class In:
    """Membership in a list of literals; `has_null` if NULL is among them."""

    column: str
    values: tuple[Value, ...]
    has_null: bool = False


@dataclass(frozen=True, slots=True)
class Prefix:
    """A text that begins so: LIKE 'prefix%'."""

    column: str
    text: str


@dataclass(frozen=True, slots=True)
class IsNull:
    """A missing value."""

    column: str


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite; unknown stays unknown."""

    part: Predicate


@dataclass(frozen=True, slots=True)
class And:
    """All of them; of none it is true."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """One of them; of none it is false."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Anything:
    """A condition of which an index knows nothing: it may be true, false or unknown."""


Predicate = Compare | In | Prefix | IsNull | Not | And | Or | Anything


def both(parts: Sequence[Predicate]) -> Predicate:
    """Return the conjunction of some predicates, which is no AND if there is only one."""
    known = tuple(part for part in parts if not isinstance(part, Anything))
    if not known:
        return Anything()
    return known[0] if len(known) == 1 else And(known)
