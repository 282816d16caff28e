"""Tell how many sort keys decide the order of rows: those that agree in them look the same to all readers."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dctv.plan.expressions import Collate, Column, Number, Ordered
from dctv.plan.node import Query
from dctv.plan.nodes import Plan, Relation, column_names
from dctv.plan.queries import Compound, Select
from dctv.plan.walk import walk
from dctv.types.values import is_integer

_EXACT = frozenset(("VARCHAR", "JSON", "BOOLEAN", "DATE", "TIMESTAMP_NS", "BLOB"))
"""Types whose equal values are the same value, as those of integers are; 0.0 and -0.0 are equal."""


def compares_exactly(plans: Sequence[Plan]) -> bool:
    """Whether texts that are equal to a query are the same in all of some plans: no collation compares them."""
    return not any(isinstance(one, Relation) and one.query.once(_collates) for one in plans)


def _collates(query: Query) -> bool:
    return any(isinstance(node, Collate) for node in walk(query))


def deciding_keys(relation: Relation, read: Collection[str]) -> int | None:
    """Return how many sort keys decide the order of rows of which some columns are read; None if they do not.

    Rows that agree in these keys agree in all columns that are read, so that their order does not show.
    """
    query = relation.query
    if not isinstance(query, Select | Compound) or not query.order_by:
        return None
    types = dict(zip(column_names(relation), (one.type for one in relation.schema.columns), strict=True))
    if not all(types[name] in _EXACT or is_integer(types[name]) for name in read):
        return None
    keys = [_column(query, term) for term in query.order_by]
    return max(map(keys.index, read), default=0) + 1 if set(read) <= set(keys) else None


def _column(query: Select | Compound, term: Ordered) -> str | None:
    """Return the column of the result by which a term sorts; None if it is another value."""
    match query, term.operand:
        case Compound(), Column(name):
            return name
        case Select(items=items), Number(place) if not any(item.is_star for item in items):
            return items[int(place) - 1].output
        case Select(items=items), Column(name, table) as key:
            # Without a table, it means the item of that name.
            same = any(item.output == name and (table is None or item.value == key) for item in items)
            return name if same else None
        case _:
            return None
