"""Which expressions may stand in a grouped select: what is grouped by, aggregates, and what is made of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from dctv.bind.bound import Bound
from dctv.plan.shape import nodes_of, shape


def aggregates(bound: Bound) -> bool:
    """Whether an expression has an aggregate in it."""
    return bound.aggregate or any(map(aggregates, bound.parts))


def stand(bounds: Iterable[Bound], keys: Iterable[Bound]) -> bool:
    """Whether expressions surely have one value for a group of rows that agree in some keys."""
    known = {shape(key.sql) for key in keys}
    return all(_stands(bound, known) for bound in bounds)


def _stands(bound: Bound, keys: set[str]) -> bool:
    if bound.aggregate or (keys and shape(bound.sql) in keys):
        return True
    if isinstance(bound.sql, exp.Subquery | exp.Exists):
        # One that reads columns of the select around it has no type of ours.
        return bound.type is not None
    if bound.parts:
        return not isinstance(bound.sql, exp.Column) and all(_stands(part, keys) for part in bound.parts)
    return not any(isinstance(node, exp.Column) for node in nodes_of(bound.sql))


def conjuncts(bound: Bound) -> Iterator[Bound]:
    """Yield the conditions that a chain of ANDs is made of."""
    if isinstance(bound.sql, exp.And):
        for part in bound.parts:
            yield from conjuncts(part)
    else:
        yield bound


def within(bounds: Iterable[Bound]) -> Iterator[Bound]:
    """Yield expressions and what they are made of."""
    for bound in bounds:
        yield bound
        yield from within(bound.parts)
