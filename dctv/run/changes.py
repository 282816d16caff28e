"""Selects of changes as tables of changes, each in order of time."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.errors import BindError, Place
from dctv.plan.build import ROW_NUMBER, adding, columns, number, select, sorted_by, where
from dctv.plan.expressions import NULL, Between, Cast, Column, Expression, Number, Text
from dctv.plan.nodes import Plan, Relation, physical_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import Item, Select
from dctv.record import record
from dctv.types.schema import TS, ColumnType, Kind, Schema
from dctv.types.unit import NO_UNIT
from dctv.types.units import parse_unit

_WHOLE = ("BIGINT", "INTEGER", "SMALLINT", "TINYINT")
TIME, PATH, ACTION = "time", "path", "action"
_ROW, _LEAF = "dctv:row", "changes"
_MODIFY = "modify"


@record
class Changes:
    """A table of changes: the roles of its columns, independent of their names."""

    plan: Plan
    time: str
    """Its name in the engine, and so the others."""
    path: str
    action: str | None
    values: tuple[tuple[str, str], ...]
    """Names and types."""


Range = tuple[int, int]
"""A first and a last time."""


def changes_of(plan: Plan, place: Place | None) -> Changes:
    """Find the columns of a table that make changes.

    Raises:
        BindError: a column is missing, or the times are no whole ns.
    """
    schema = plan.schema
    names = dict(zip(schema.names, physical_names(schema), strict=True))
    time = next((name for name in (TS, TIME) if name in names), None)
    if time is None or PATH not in names:
        missing = PATH if time is not None else TS
        hint = "changes have `_ts` (or `time`), `path`, perhaps `action`, and values"
        raise BindError(f"the select has no column `{missing}`", place, hint=hint)
    found = next(one for one in schema.columns if one.name == time)
    if found.type not in _WHOLE or found.unit not in (NO_UNIT, parse_unit("ns")):
        shown = f"{found.type} {found.unit}".strip()
        raise BindError(f"`{time}` is a whole number of ns, found {shown}", place)
    special = (*schema.kind.time_columns, time, PATH, ACTION)
    values = tuple((names[one.name], one.type) for one in schema.columns if one.name not in special)
    return Changes(plan, names[time], names[PATH], names.get(ACTION), values)


def in_order(sources: Sequence[Changes], within: Range | None = None) -> list[Relation]:
    """Return the changes of each source in order of time; of those at one time in the order of its rows.

    Columns are the same for all: `time`, `path`, `action` if one of them has it, and values.
    """
    held, places = _columns([one.values for one in sources])
    acting = any(one.action is not None for one in sources)
    shown = [TIME, PATH, *([ACTION] if acting else []), *(f"value{n}" for n, _ in enumerate(held))]
    types = ["BIGINT", "VARCHAR", *(["VARCHAR"] if acting else []), *held]
    schema = Schema(Kind.REGULAR, tuple(ColumnType(name, type_) for name, type_ in zip(shown, types, strict=True)))
    return [_in_order(one, place, schema, within) for one, place in zip(sources, places, strict=True)]


def _in_order(one: Changes, place: Sequence[int], schema: Schema, within: Range | None) -> Relation:
    names = schema.names
    acting = ACTION in names
    special: list[Expression] = [Column(one.time), Column(one.path)]
    if acting:
        special.append(Column(one.action) if one.action is not None else Text(_MODIFY))
    values: list[Expression] = [NULL for _ in names[len(special) :]]
    for (name, _), at in zip(one.values, place, strict=True):
        values[at] = Column(name)
    items = [
        Item(Cast(value, target.type), target.name)
        for value, target in zip((*special, *values), schema.columns, strict=True)
    ]
    query = select(*items, source=_LEAF)
    if within is not None:
        query = where(query, Between(Column(one.time), *map(number, within)))
    if not _by_time(one):
        query = select(*columns(names), source=adding(query, Item(ROW_NUMBER, _ROW)))
        query = sorted_by(query, *columns((TIME, _ROW)))
    return Relation(schema, order=RowOrder.STABLE, query=query, leaves=((_LEAF, one.plan),))


def _by_time(one: Changes) -> bool:
    """Whether a select sorts its rows by time before all else."""
    plan = one.plan
    if not isinstance(plan, Relation) or not isinstance(plan.query, Select) or not plan.query.order_by:
        return plan.ordered and one.time == TS
    first = plan.query.order_by[0]
    position = physical_names(plan.schema).index(one.time) + 1
    return first.operand == Number(str(position)) and not first.descending and not first.nulls_first


def _columns(sources: Sequence[Sequence[tuple[str, str]]]) -> tuple[list[str], list[list[int]]]:
    """Return types of columns that hold the values of all sources, and where each source's values are.

    Values of a source keep their order, since the first of them counts that is not NULL.
    """
    types: list[str] = []
    places = []
    for source in sources:
        place: list[int] = []
        for _, type_ in source:
            begin = place[-1] + 1 if place else 0
            at = next((n for n in range(begin, len(types)) if types[n] == type_), len(types))
            if at == len(types):
                types.append(type_)
            place.append(at)
        places.append(place)
    return types, places
