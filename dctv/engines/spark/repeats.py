"""Find the steps of a query whose rows an engine had better keep, since it evaluates a step at each reference."""

from __future__ import annotations

from collections import Counter

from dctv.plan.build import STAR
from dctv.plan.node import Node
from dctv.plan.queries import CommonTable, Compound, Select, TableName
from dctv.plan.walk import replaced, walk
from dctv.record import replace

MOST = 4
"""How often a step may read each of its tables on average, unless its rows are kept."""


Stepped = Select | Compound
"""A query with steps, each of which may read those before it."""


def repeated_step(query: Stepped) -> int | None:
    """Return the position of the first step to keep; None if there is none."""
    steps = query.steps
    tables_read = [_tables(step.query) for step in steps]
    used = sum((*tables_read, _tables(replace(query, steps=()))), Counter[str]())
    reads: dict[str, int] = {}
    tables: dict[str, frozenset[str]] = {}
    for position, (step, found) in enumerate(zip(steps, tables_read, strict=True)):
        reads[step.name] = sum(count * reads.get(name, 1) for name, count in found.items())
        tables[step.name] = frozenset().union(*(tables.get(name, {name}) for name in found))
        if used[step.name] > 1 and reads[step.name] >= MOST * max(1, len(tables[step.name])):
            return position
    return None


def up_to(query: Stepped, position: int) -> Stepped:
    """Return the query for the rows of one step."""
    steps = query.steps[: position + 1]
    return _needed(Select((STAR,), TableName(steps[-1].name), steps=steps))


def reading(query: Stepped, position: int, table: str) -> Stepped:
    """Return the query with a table in place of one of its steps."""
    steps = query.steps
    name = steps[position].name

    def renamed(node: Node) -> Node | None:
        if not isinstance(node, TableName) or node.name != name:
            return None
        return replace(node, name=table, alias=node.called)

    return _needed(replaced(replace(query, steps=(*steps[:position], *steps[position + 1 :])), renamed))


def _needed(query: Stepped) -> Stepped:
    """Leave out the steps that nothing reads."""
    names = set(_tables(replace(query, steps=())))
    kept: list[CommonTable] = []
    for step in reversed(query.steps):
        if step.name in names:
            names |= set(_tables(step.query))
            kept.insert(0, step)
    return replace(query, steps=tuple(kept))


def _tables(node: Node) -> Counter[str]:
    """Return how often a query names each table."""
    return Counter(one.name for one in walk(node) if isinstance(one, TableName))
