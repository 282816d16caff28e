"""Check the expressions of a grouped select: keys, aggregates, and expressions over these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dctv.bind.bound import Bound
from dctv.plan import walk
from dctv.plan.expressions import And, Column, Exists, Expression, InQuery, Subquery


def aggregates(bound: Bound) -> bool:
    """Whether an expression has an aggregate in it."""
    return bound.aggregate or any(map(aggregates, bound.parts))


def outside(bounds: Iterable[Bound], keys: Iterable[Bound]) -> Bound | None:
    """Return the first part of some expressions that may vary within a group with equal keys.

    None: each of them has one value for the group.
    """
    key_values = {key.value for key in keys}
    return next((one for bound in bounds if (one := _varying(bound, key_values)) is not None), None)


def _varying(bound: Bound, keys: set[Expression]) -> Bound | None:
    if bound.aggregate or (keys and bound.value in keys):
        return None
    if isinstance(bound.value, Subquery | Exists | InQuery):
        # What a query reads of selects around it is taken for columns of this one.
        if not keys.issuperset(walk.free(bound.value.query)):
            return bound
        return next((one for part in bound.parts if (one := _varying(part, keys)) is not None), None)
    if bound.parts and not isinstance(bound.value, Column):
        return next((one for part in bound.parts if (one := _varying(part, keys)) is not None), None)
    return bound if walk.columns_in(bound.value) else None


def conjuncts(bound: Bound) -> Iterator[Bound]:
    """Yield the conditions that a chain of ANDs is made of."""
    if isinstance(bound.value, And):
        for part in bound.parts:
            yield from conjuncts(part)
    else:
        yield bound


def parts_of(bounds: Iterable[Bound]) -> Iterator[Bound]:
    """Yield expressions and all their parts, in no order."""
    stack = list(bounds)
    while stack:
        bound = stack.pop()
        yield bound
        stack += bound.parts
