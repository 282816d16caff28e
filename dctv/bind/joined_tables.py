"""Make one source of joined tables, for a side of another join, with the same tables in scope."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.bind.context import Leaves
from dctv.bind.scope import ScopeTable
from dctv.plan.expressions import Column
from dctv.plan.queries import Derived, FromItem, Item, Join, Select
from dctv.record import replace


def as_one(
    first: FromItem, joins: Sequence[Join], tables: Sequence[ScopeTable], leaves: Leaves
) -> tuple[Derived, list[ScopeTable]]:
    """Return a query of all columns of joined tables, and the tables whose columns are read from it."""
    inner = leaves.alias("joined")
    items: list[Item] = []
    found = []
    for table in tables:
        columns = []
        for one in table.columns:
            name = f"{one.name}:{len(items)}"
            items.append(Item(one.value, name))
            columns.append(replace(one, value=Column(name, inner)))
        found.append(replace(table, columns=tuple(columns), shared=()))
    return Derived(Select(tuple(items), first, tuple(joins)), inner), found
