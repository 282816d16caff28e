"""Tell which columns of a select are those of one of its sources."""

from __future__ import annotations

from collections.abc import Collection

from dctv.plan.expressions import Column, Star
from dctv.plan.node import Node
from dctv.plan.queries import Select, TableName
from dctv.plan.walk import columns_in, walk
from dctv.rewrite.select_shapes import clauses, conditions_of_joins, nested_queries


def stands_apart(select: Select, source: TableName, names: Collection[str]) -> bool:
    """Whether each column of a source is qualified by its name, which no other source has; `names` are its columns."""
    if source.columns or nested_queries(select):
        return False
    called = source.called.lower()
    others = [one for one in select.sources if one is not source]
    return (
        all(one.called.lower() != called for one in others)
        and not contains_column(called, *others)
        and _is_qualified(select, called, names)
    )


def _is_qualified(select: Select, called: str, names: Collection[str]) -> bool:
    """Whether a select qualifies each column by its source, except where it sorts by its own results."""
    read = (*select.items, *clauses(select), *conditions_of_joins(select))
    outputs = {item.output for item in select.items}
    own = {name.lower() for name in names}
    sorting = {id(term.operand) for term in select.order_by}
    for node in walk(*read):
        if isinstance(node, Column):
            unclear = node.table is None and node.name.lower() in own
            if unclear and not (id(node) in sorting and node.name in outputs):
                return False
            if is_about(node, called) and node.name not in names:
                return False
        if isinstance(node, Star) and node.table is not None:
            return False
    return not any(item.is_star for item in select.items)


def contains_column(called: str, *nodes: Node | None) -> bool:
    """Whether some nodes contain a column of the source of that name."""
    return any(is_about(column, called) for column in columns_in(*nodes))


def is_about(column: Column, called: str) -> bool:
    """Whether a column is qualified by the name of that source."""
    return column.table is not None and column.table.lower() == called
