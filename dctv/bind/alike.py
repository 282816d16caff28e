"""Bring values that are compared, or chosen between, to one unit; refuse those that have no type in common."""

from __future__ import annotations

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


def alike(bounds: list[Bound], what: str) -> list[Bound]:
    """Bring operands to the finest of their units.

    Raises:
        BindError: the engine has no type for all of them; it would say so only when the query runs, without a place.
    """
    unified = unify(bounds, what)
    kinds: dict[str, Bound] = {}
    for bound in unified:
        made = settled(bound.type)
        kind = None if made is None else _kind(made)
        if kind is not None:
            kinds.setdefault(kind, bound)
    if len(kinds) > 1:
        first, odd = list(kinds.values())[:2]
        raise BindError(
            f"{what} mixes {_shown(first)} and {_shown(odd)}", odd.place, hint="cast one of them, such as x::STRING"
        )
    return unified


def _kind(of: Type) -> str | None:
    return "number" if is_numeric(of.name) else _KINDS.get(of.name)


def _shown(bound: Bound) -> str:
    return dialect_type(str(settled(bound.type)))
