"""Which types the engine casts to which without being asked, and what types it brings together."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.signatures.types import Type


def cast_cost(source: Type, target: Type) -> int | None:
    """Return how little the engine likes to cast to a type without being asked; None: it does not."""
    return 0 if source == target else None


def common(types: Sequence[Type]) -> Type | None:
    """Return the type to which CASE, COALESCE, UNION and comparisons bring operands; None: none, or not known."""
    return types[0] if all(one == types[0] for one in types) else None
