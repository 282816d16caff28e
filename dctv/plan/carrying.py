"""Cast the columns of plans to types that Arrow has, and back."""

from __future__ import annotations

from dctv.plan.build import named, select
from dctv.plan.expressions import Cast, Column, Expression
from dctv.plan.nodes import Plan, Relation, column_names
from dctv.record import replace
from dctv.signatures.carried import carried
from dctv.signatures.states import is_state
from dctv.signatures.types import parse
from dctv.types.schema import Schema


def carried_schema(schema: Schema) -> Schema:
    """Return a table's schema with the types in which Arrow carries its values."""
    columns = tuple(replace(one, type=carried(parse(one.type)).text) for one in schema.columns)
    return schema if columns == schema.columns else replace(schema, columns=columns)


def with_types(plan: Plan, schema: Schema) -> Plan:
    """Return a plan whose columns are cast to those of a schema; the same plan where nothing changes."""
    if plan.schema == schema:
        return plan
    values: list[Expression] = []
    names = column_names(plan)
    for name, old, new in zip(names, plan.schema.columns, schema.columns, strict=True):
        value = Column(name)
        # The engine exports the parts of a state to Arrow, but has no casts to some of their types.
        as_it_is = old.type == new.type or is_state(parse(old.type))
        values.append(value if as_it_is else Cast(value, new.type))
    query = select(*named(values, names), source="carried")
    return Relation(schema, plan.order, query, (("carried", plan),))
