"""Plans of rows that are known already: properties, diagnostics, answers of DESCRIBE."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.plan.expressions import FALSE, NULL, Boolean, Cast, Column, Expression, Text
from dctv.plan.node import Query
from dctv.plan.nodes import Relation, physical_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import Item, Rows, Select
from dctv.plan.walk import walk
from dctv.types.schema import Schema

Value = str | int | float | bool | None
_KNOWN = "known"
"""The name of the rows in a plan's query."""


def of_rows(schema: Schema, rows: Sequence[Sequence[Value]]) -> Relation:
    """Return a plan of given rows, in their order."""
    names = physical_names(schema)
    nothing: list[Sequence[Value]] = [[None] * len(names)]
    listed = tuple(tuple(map(_literal, row)) for row in rows or nothing)
    items = tuple(Item(Cast(Column(n, _KNOWN), c.type), n) for n, c in zip(names, schema.columns, strict=True))
    query = Select(items, Rows(listed, _KNOWN, tuple(names)), where=None if rows else FALSE)
    return Relation(schema, order=RowOrder.TIME if bool(schema.kind.time_columns) else RowOrder.STABLE, query=query)


def has_known_rows(query: Query) -> bool:
    """Whether a query has rows of `of_rows` within, even if these are none."""
    return any(isinstance(node, Rows) and node.alias == _KNOWN for node in walk(query))


def _literal(value: Value) -> Expression:
    match value:
        case None:
            return NULL
        case bool():
            return Boolean(value)
        case int():
            return Cast(Text(str(value)), "BIGINT" if -(2**63) <= value < 2**63 else "HUGEINT")
        case float():
            return Cast(Text(repr(value)), "DOUBLE")
        case str():
            return Text(value)
