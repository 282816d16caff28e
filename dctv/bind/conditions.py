"""Check that an expression can be a condition."""

from __future__ import annotations

from dctv.bind.bound import Bound
from dctv.bind.members import shown
from dctv.errors import BindError, UnitError
from dctv.types.unit import NO_UNIT

_HINT = "compare it with something"
_TIMES = ("TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP_S")
_OF_DAYS = ("DATE", "INTERVAL", "TIME", "TIME WITH TIME ZONE", "TIME_NS")
_NESTED = ("ARRAY", "LIST", "MAP", "STRUCT", "TUPLE", "UNION")
_NEVER = frozenset((*_TIMES, *_OF_DAYS, *_NESTED, "BIGNUM", "BLOB", "UUID"))
"""Types that the engine does not cast to BOOL."""


def condition_of(bound: Bound) -> Bound:
    """Return an expression that is used as a condition.

    Raises:
        UnitError: it has a unit.
        BindError: its type is that of no condition.
    """
    if bound.unit != NO_UNIT:
        raise UnitError(f"a condition has no unit, found `{bound.unit}`", bound.place, hint=_HINT)
    check_truth(bound)
    return bound


def check_truth(bound: Bound) -> None:
    """Refuse values that are neither true nor false; the engine would try to read strings as BOOL, row by row.

    Raises:
        BindError: it is a string, or of a type without a cast to BOOL.
    """
    if bound.family == "text":
        raise BindError("a condition is BOOL, found a string", bound.place, hint=_HINT)
    check_cast(bound)


def check_cast(bound: Bound) -> None:
    """Refuse values of types without a cast to BOOL.

    Raises:
        BindError: it has one.
    """
    if bound.type is not None and bound.type.name in _NEVER:
        raise BindError(f"a condition is BOOL, found {shown(bound.type)}", bound.place, hint=_HINT)
