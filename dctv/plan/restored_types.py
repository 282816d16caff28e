"""Make a plan that restores the engine's types of rows in Arrow."""

from __future__ import annotations

from collections.abc import Callable

from dctv.plan.carrying import with_types
from dctv.plan.nodes import Plan, Scan
from dctv.record import replace
from dctv.signatures.carried import LOST, carried
from dctv.signatures.types import Type, parse, plain, with_children
from dctv.types.schema import Schema

_TEXTS = ("JSON", "UUID")
"""Types whose values Arrow holds as texts."""


def lost(type_: str) -> str | None:
    """Return the type within a type whose values do not come back from Arrow, None if all of them do."""
    return next((one for one in _names(parse(type_)) if one in LOST), None)


def restored(schema: Schema, scan: Callable[[Schema], Scan]) -> Plan:
    """Return a plan of rows in Arrow with the types of `carried_schema`; `scan` is called with that schema."""
    columns = tuple(replace(one, type=_arrow_type(carried(parse(one.type))).text) for one in schema.columns)
    return with_types(scan(replace(schema, columns=columns)), schema)


def _names(made: Type) -> set[str]:
    return {made.name}.union(*map(_names, made.children))


def _arrow_type(made: Type) -> Type:
    """Return the type that the engine finds in Arrow for values of another."""
    return plain("VARCHAR") if made.name in _TEXTS else with_children(made, tuple(map(_arrow_type, made.children)))
