"""Reduce a plan to fewer columns with the same rows, and rename the columns of a schema."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dctv.plan.build import select
from dctv.plan.expressions import Column
from dctv.plan.nodes import Plan, Relation, column_names, physical_names
from dctv.plan.queries import Item
from dctv.record import replace
from dctv.types.schema import Schema


def without(plan: Plan, names: Collection[str]) -> Plan:
    """Return a plan without some of its columns; the same object if it has none of them."""
    schema = plan.schema
    made = schema_without(schema, names)
    if made == schema:
        return plan
    kept = [own for own, one in zip(column_names(plan), schema.columns, strict=True) if one.name not in names]
    items = [Item(Column(own), name) for own, name in zip(kept, physical_names(made), strict=True)]
    return Relation(made, plan.order, select(*items, source="rows"), (("rows", plan),))


def schema_without(schema: Schema, names: Collection[str]) -> Schema:
    """Return a schema without some of its columns and partitions."""
    partitions = tuple(one for one in schema.partitions if one not in names)
    return replace(schema, columns=tuple(one for one in schema.columns if one.name not in names), partitions=partitions)


def with_names(schema: Schema, names: Sequence[str]) -> Schema:
    """Return a schema with other names of its columns."""
    columns = tuple(replace(one, name=name) for name, one in zip(names, schema.columns, strict=True))
    return Schema(schema.kind, columns, tuple(names[len(schema.kind.time_columns) : schema.special_count]))
