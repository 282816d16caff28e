"""Bring values that are compared, or chosen between, to one unit; refuse those that have no type in common."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.bind.bound import Bound, unify
from dctv.bind.types import settled
from dctv.errors import BindError
from dctv.signatures.types import Type
from dctv.types.values import dialect_type, is_numeric

_KINDS = {
    **dict.fromkeys(("LIST", "ARRAY"), "list"),
    **dict.fromkeys(("STRUCT", "TUPLE"), "struct"),
    **dict.fromkeys(("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), "date"),
    **dict.fromkeys(("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS"), "date"),
    **dict.fromkeys(("TIME", "TIME_NS", "TIME WITH TIME ZONE"), "time"),
    **{name: name for name in ("MAP", "INTERVAL", "BLOB", "UUID")},
    "BOOLEAN": "number",
}
"""Kinds of types. The engine casts within a kind, and never from one to another unless a query says so.

Types that it casts to several kinds are in none: texts, JSON, BIT, UNION and VARIANT.
"""


HINT = "cast one of them, such as x::STRING"


def alike(bounds: list[Bound], what: str) -> list[Bound]:
    """Bring operands to the finest of their units.

    Raises:
        BindError: the engine has no type for all of them; it would say so only when the query runs, without a place.
    """
    unified = unify(bounds, what)
    mixed = mixture([one.type for one in unified])
    if mixed is not None:
        odd, both = mixed
        raise BindError(f"{what} mixes {both}", unified[odd].place, hint=HINT)
    return unified


def mixture(types: Sequence[Type | None]) -> tuple[int, str] | None:
    """Return the place of a type that has none in common with an earlier one, and both in words; None if all have."""
    first: tuple[str, str] | None = None
    for place, one in enumerate(map(settled, types)):
        kind = None if one is None else "number" if is_numeric(one.name) else _KINDS.get(one.name)
        if kind is None:
            continue
        shown = dialect_type(str(one))
        if first is not None and first[0] != kind:
            return place, f"{first[1]} and {shown}"
        first = first or (kind, shown)
    return None
