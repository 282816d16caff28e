"""Rows that Arrow holds -> a plan in which they have the types that they had in the engine."""

from __future__ import annotations

from collections.abc import Callable

from dctv.plan.build import named, select
from dctv.plan.expressions import Cast, Column, Expression
from dctv.plan.nodes import Plan, Relation, Scan, physical_names
from dctv.record import replace
from dctv.signatures.types import Type, array_of, list_of, map_of, parse, plain, struct_of
from dctv.types.schema import Schema

_TEXTS = ("JSON", "UUID")
"""Types whose values Arrow holds as texts."""
_LOST = ("BIT", "TUPLE", "UNION")
"""Types that come back from Arrow as others."""


def lost(type_: str) -> str | None:
    """Return the type within a type whose values do not come back from Arrow, None if all of them do."""
    return next((one for one in _names(parse(type_)) if one in _LOST), None)


def restored(schema: Schema, scan: Callable[[Schema], Scan]) -> Plan:
    """Return a plan of rows that Arrow holds; `scan` is called with the types that the engine finds there."""
    found = scan(replace(schema, columns=tuple(replace(c, type=_held(parse(c.type)).text) for c in schema.columns)))
    if found.schema == schema:
        return found
    values: list[Expression] = []
    for physical, column, one in zip(physical_names(schema), schema.columns, found.schema.columns, strict=True):
        value = Column(physical)
        values.append(value if column.type == one.type else Cast(value, column.type))
    query = select(*named(values, physical_names(schema)), source="kept")
    return Relation(schema, found.order, query, (("kept", found),))


def _names(made: Type) -> set[str]:
    return {made.name}.union(*map(_names, made.children))


def _held(made: Type) -> Type:
    """Return the type that the engine finds in Arrow for values of another."""
    children = tuple(map(_held, made.children))
    match made.name:
        case name if name in _TEXTS:
            return plain("VARCHAR")
        case "LIST":
            return list_of(*children)
        case "ARRAY":
            return array_of(*children, *made.numbers)
        case "MAP":
            return map_of(*children)
        case "STRUCT":
            return struct_of(made.names, children)
        case _:
            return made
