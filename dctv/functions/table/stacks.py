"""dctv.stack_history, stack_contents, slices_from_stack: turn push and pop events into spans of stacks, or slices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dctv.contracts.table_function import REQUIRED, Argument, Parameter, PlanBuilder, TableFunction
from dctv.errors import BindError
from dctv.plan.build import columns, named, select, sorted_by
from dctv.plan.expressions import Cast, Column
from dctv.plan.nodes import Plan, physical_names
from dctv.record import record, replace
from dctv.types.schema import DURATION, TS, ColumnType, Kind, Schema
from dctv.types.unit import NO_UNIT
from dctv.types.units import parse_unit
from dctv.types.values import common_integer, dialect_type, is_integer

_TIME = ColumnType(TS, "BIGINT", parse_unit("ns"))
_LENGTH = ColumnType(DURATION, "BIGINT", parse_unit("ns"))
_RANK = ColumnType("dctv:rank", "BIGINT")


@record
class _Side:
    """One of the two tables: its plan, its argument, its name in errors, its columns of time and order."""

    plan: Plan
    argument: Argument
    owner: str
    time: str
    rank: str | None


def _side(name: str, arguments: Mapping[str, Argument]) -> _Side:
    argument, owner = arguments[name], f"the table of {name}"
    plan = argument.table(f"a table for `{name}`")
    time = arguments["timestamp"].column(plan.schema, "the column of times", owner=owner)
    if time.unit not in (NO_UNIT, parse_unit("ns")):
        hint = f"select {time.name} IN ns"
        raise BindError(f"the timestamp column `{time.name}` is not in ns", arguments["timestamp"].place, hint=hint)
    order, rank = arguments["order"], None
    if order.value is not None:
        found = order.column(plan.schema, "the order of equal times", owner=owner)
        if not is_integer(found.type):
            raise BindError(f"`{found.name}` is {dialect_type(found.type)}, expected a column of integers", order.place)
        rank = found.name
    return _Side(plan, argument, owner, time.name, rank)


@record
class _Events:
    """The two tables, and the partition columns with their types in the table of starts."""

    starts: _Side
    stops: _Side
    keys: tuple[ColumnType, ...]

    def inputs(self, payload: Sequence[ColumnType], builder: PlanBuilder) -> list[Plan]:
        """Project both to time, partitions, rank and payload (of the starts), in the order of events."""
        return [_input(self.starts, self.keys, payload, builder), _input(self.stops, self.keys, (), builder)]

    def options(self, schema: Schema) -> dict[str, object]:
        """Return the options of the sweeps."""
        ranked = self.starts.rank is not None
        return {"partitions": len(self.keys), "ranked": ranked, "names": physical_names(schema)}


def _events(arguments: Mapping[str, Argument], made: Sequence[str]) -> _Events:
    starts, stops = _side("starts", arguments), _side("stops", arguments)
    partition = arguments["partition"]
    keys: list[ColumnType] = []
    for item in partition.items() if partition.value is not None else []:
        key = item.column(starts.plan.schema, "a partition column", owner=starts.owner)
        other = item.column(stops.plan.schema, "a partition column", owner=stops.owner)
        if key.name in made or key.name in (k.name for k in keys):
            raise BindError(f"`{key.name}` is a column of the result already", item.place)
        whole = is_integer(key.type) and is_integer(other.type)
        if not (key.type == other.type or whole) or key.unit != other.unit:
            found = " and ".join(
                f"{dialect_type(c.type)}{f' in {c.unit}' if str(c.unit) else ''}" for c in (key, other)
            )
            raise BindError(
                f"`{key.name}` of the starts and of the stops differ: {found}", item.place, hint="cast them"
            )
        keys.append(replace(key, type=common_integer(key.type, other.type)) if whole else key)
    return _Events(starts, stops, tuple(keys))


def _input(side: _Side, keys: Sequence[ColumnType], payload: Sequence[ColumnType], builder: PlanBuilder) -> Plan:
    own = {c.name.lower(): c.name for c in side.plan.schema.columns}
    exact = set(side.plan.schema.names)
    found = [side.time, *(k.name if k.name in exact else own[k.name.lower()] for k in keys)]
    types = [_TIME, *keys]
    if side.rank is not None:
        found.append(side.rank)
        types.append(_RANK)
    found += [c.name for c in payload]
    schema = Schema(Kind.EVENT, (*types, *payload), tuple(k.name for k in keys))
    if side.rank is None:
        return builder.ordered(side.plan, list(zip(found, schema.names, strict=True)), schema)
    return _ranked(side, found, schema, builder)


def _ranked(side: _Side, found: Sequence[str], schema: Schema, builder: PlanBuilder) -> Plan:
    """Sort by time, rank and then all columns, so that the order is deterministic."""
    physical = dict(zip(side.plan.schema.names, physical_names(side.plan.schema), strict=True))
    names = physical_names(schema)
    values = [Cast(Column(physical[old], "t"), one.type) for old, one in zip(found, schema.columns, strict=True)]
    place = schema.names.index(_RANK.name)
    terms = [names[0], names[place], *names[1:place], *names[place + 1 :]]
    query = sorted_by(select(*named(values, names), source="t"), *columns(terms))
    return builder.query(query, {"t": side.plan}, schema, ordered=True)


def _token(arguments: Mapping[str, Argument], events: _Events) -> ColumnType:
    starts = events.starts
    return arguments["token"].column(starts.plan.schema, "the token", owner=starts.owner, way_out="; see token=>'...'")


def _bind_history(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    stack = ColumnType("stack_id", "BIGINT")
    events = _events(arguments, (TS, DURATION, stack.name))
    schema = Schema(Kind.SPAN, (_TIME, _LENGTH, *events.keys, stack), tuple(k.name for k in events.keys))
    inputs = events.inputs([_token(arguments, events)], builder)
    return builder.kernel("stack history", schema, inputs, events.options(schema), ordered=True)


def _bind_contents(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    events = _events(arguments, (TS, DURATION, "stack_id"))
    token = _token(arguments, events)
    columns = (ColumnType("stack_id", "BIGINT"), ColumnType("depth", "INTEGER"))
    schema = Schema(Kind.REGULAR, (*columns, ColumnType("token", token.type, token.unit)))
    return builder.kernel(
        "stack contents", schema, events.inputs([token], builder), events.options(schema), ordered=True
    )


def _bind_slices(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    made = (ColumnType("id", "BIGINT"), ColumnType("parent_id", "BIGINT"), ColumnType("depth", "INTEGER"))
    own = ColumnType("self_time", "BIGINT", parse_unit("ns"))
    taken = [TS, DURATION, *(c.name for c in made), own.name]
    events = _events(arguments, taken)
    token = _token(arguments, events)
    starts = events.starts
    dropped = {DURATION, starts.time, starts.rank, token.name, *(k.name for k in events.keys)}
    payload = [token, *(c for c in starts.plan.schema.columns if c.name not in dropped)]
    for one in payload:
        if one.name in taken:
            hint = "select it under another name, or leave it out"
            raise BindError(f"`{one.name}` is a column of the result already", starts.argument.place, hint=hint)
    schema = Schema(Kind.REGULAR, (_TIME, _LENGTH, *events.keys, *made, own, *payload))
    return builder.kernel("nest pairs", schema, events.inputs(payload, builder), events.options(schema), ordered=True)


_PARAMETERS = (
    Parameter("starts", "events that push a token", REQUIRED, keyword_only=True),
    Parameter("stops", "events that pop the token that was pushed last", REQUIRED, keyword_only=True),
    Parameter("token", "name of the column of starts that is pushed", "name", keyword_only=True),
    Parameter(
        "partition", "name of the column of both, or list of names: a stack for each value", None, keyword_only=True
    ),
    Parameter("timestamp", "name of the column of times in both", TS, keyword_only=True),
    Parameter(
        "order",
        "name of an integer column of both that orders events of equal time; without it, stops come first",
        None,
        keyword_only=True,
    ),
)

STACK_HISTORY = TableFunction(
    "stack_history",
    "which stack there is when: spans with `stack_id`, equal stacks have one; no span while the stack is empty",
    _PARAMETERS,
    _bind_history,
)
STACK_CONTENTS = TableFunction(
    "stack_contents",
    "what is on each stack of `stack_history` with the same arguments: stack_id, depth from 0 at the bottom, token",
    _PARAMETERS,
    _bind_contents,
)
SLICES_FROM_STACK = TableFunction(
    "slices_from_stack",
    "nested slices of begin and end events: id, parent_id, depth, self_time without the slices within, token, payload",
    _PARAMETERS,
    _bind_slices,
)
