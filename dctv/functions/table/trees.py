"""dctv.ancestors, descendants, self_time, flatten_slices, flame_graph, flow_path: rows that refer to their parents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dctv.contracts.table_function import REQUIRED, Argument, Parameter, PlanBuilder, TableFunction
from dctv.errors import BindError
from dctv.functions.table.interval_tables import LENGTH, TIME, ordered, partition_columns, refuse_name
from dctv.plan.build import (
    call,
    columns,
    descending,
    equal,
    greater,
    grouped,
    is_not_null,
    join,
    named,
    number,
    over,
    select,
    sorted_by,
    where,
)
from dctv.plan.expressions import Cast, Column, Expression, Star
from dctv.plan.nodes import Plan, physical_names
from dctv.plan.queries import Item
from dctv.record import replace
from dctv.types.schema import DURATION, TS, ColumnType, Kind, Schema
from dctv.types.unit import NO_UNIT
from dctv.types.units import parse_unit
from dctv.types.values import is_integer

_NS = parse_unit("ns")
_ID = ColumnType("id", "BIGINT")
_PARENT = ColumnType("parent_id", "BIGINT")
_NAME = ColumnType("name", "VARCHAR")
_STACK = ColumnType("stack", "VARCHAR")
_DEPTH = ColumnType("depth", "INTEGER")
_DISTANCE = ColumnType("distance", "BIGINT")
_OWN = ColumnType("_self", "BIGINT", _NS)


def _source(plan: Plan, name: str, argument: Argument) -> Expression:
    """Return a required column of integers."""
    own = dict(zip(plan.schema.names, physical_names(plan.schema), strict=True))
    types = {c.name: c.type for c in plan.schema.columns}
    if name not in own:
        raise BindError(
            f"the table has no column `{name}`",
            argument.place,
            hint="slices with `id` and `parent_id` are made by dctv.nested_slices and by the view `slices`",
        )
    if not is_integer(types[name]):
        raise BindError(f"`{name}` is {types[name]}, expected integers", argument.place)
    return Cast(Column(own[name], "t"), "BIGINT")


def _edges(argument: Argument, names: Sequence[str], builder: PlanBuilder) -> Plan:
    """Return only some integer columns of a table."""
    plan = argument.table("a table")
    schema = Schema(Kind.REGULAR, tuple(ColumnType(name, "BIGINT") for name in names))
    values = [_source(plan, name, argument) for name in names]
    return builder.query(select(*named(values, names), source="t"), {"t": plan}, schema, ordered=False)


def _named(argument: Argument, builder: PlanBuilder, *, timed: bool, name: str | None) -> Plan:
    """Return times, ids, parents, durations and names in order of time, or only ids, parents and names."""
    plan = argument.table("a table of slices")
    own = dict(zip(plan.schema.names, physical_names(plan.schema), strict=True))
    special = (replace(TIME), _ID, _PARENT, LENGTH) if timed else (_ID, _PARENT)
    values = [_source(plan, one.name, argument) for one in special]
    rest: tuple[ColumnType, ...] = ()
    if name is not None:
        if name not in own:
            raise BindError(f"the table has no column `{name}`", argument.place)
        values.append(Cast(Column(own[name], "t"), "VARCHAR"))
        rest = (_NAME,)
    schema = Schema(Kind.REGULAR, (*special, *rest))
    names = physical_names(schema)
    query = select(*named(values, names), source="t")
    if timed:
        query = sorted_by(select(*names, source=query), Column(TS), Column("id"))
    return builder.query(query, {"t": plan}, schema, ordered=timed)


def _relatives(arguments: Mapping[str, Argument], builder: PlanBuilder, *, down: bool) -> Plan:
    argument = arguments["slices"]
    found = _kernel(
        "ancestry",
        (_ID, _DISTANCE),
        _edges(argument, ("id", "parent_id"), builder),
        builder,
        {
            "start": arguments["id"].integer("an id"),
            "down": down,
        },
    )
    return _with(argument, found, builder, order=(_DISTANCE.name, "id"))


def _kernel(
    name: str, made: tuple[ColumnType, ...], source: Plan, builder: PlanBuilder, options: Mapping[str, object]
) -> Plan:
    schema = Schema(Kind.REGULAR, made)
    return builder.kernel(name, schema, [source], {**options, "names": physical_names(schema)}, ordered=False)


def _with(argument: Argument, found: Plan, builder: PlanBuilder, order: Sequence[str] = ()) -> Plan:
    """Return the rows of a table with an `id` in `found`, and the found value as last column."""
    plan = argument.table("a table")
    extra = found.schema.columns[-1]
    refuse_name(extra.name.lower(), plan.schema.columns, argument)
    names = physical_names(plan.schema)
    own = dict(zip(plan.schema.names, names, strict=True))
    values = [*columns(names, "t"), Column(extra.name, "f")]
    query = select(*named(values, [*names, extra.name]), source="t")
    query = join(query, "f", "f", [equal(Column(own["id"], "t"), Column("id", "f"))])
    query = sorted_by(query, *columns(order, "f"))
    schema = Schema(Kind.REGULAR, (*plan.schema.columns, extra))
    return builder.query(query, {"t": plan, "f": found}, schema, ordered=False)


def _ancestors(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    return _relatives(arguments, builder, down=False)


def _descendants(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    return _relatives(arguments, builder, down=True)


def _flow_path(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    arrows = _edges(arguments["flows"], ("from_id", "to_id"), builder)
    options = {"start": arguments["id"].integer("an id")}
    found = _kernel("reachable", (_ID, _DISTANCE), arrows, builder, options)
    if arguments["slices"].value is None:
        return found
    return _with(arguments["slices"], found, builder, order=(_DISTANCE.name, "id"))


def _self_time(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    argument = arguments["slices"]
    rows = _named(argument, builder, timed=True, name=None)
    return _with(argument, _kernel("self time", (_ID, _OWN), rows, builder, {}), builder)


def _flatten(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    argument, plan = arguments["slices"], arguments["slices"].table("a table of slices")
    for taken in (_STACK.name,):
        refuse_name(taken, plan.schema.columns, argument)
    keys = partition_columns(plan, arguments["partition"])
    own = dict(zip(plan.schema.names, physical_names(plan.schema), strict=True))
    paths = _kernel("stack paths", (_ID, _STACK), _named(argument, builder, timed=False, name="name"), builder, {})
    first = {TS, DURATION, *(key.name for key in keys)}
    payload = [c for c in plan.schema.columns if c.name not in first]
    intervals = Schema(Kind.SPAN, (TIME, LENGTH, *keys, *payload), tuple(key.name for key in keys))
    names = physical_names(intervals)
    times = [_source(plan, TS, argument), _source(plan, DURATION, argument)]
    values = [*times, *columns((own[c.name] for c in (*keys, *payload)), "t")]
    lasting = where(select(*named(values, names), source="t"), greater(times[1], number(0)))
    # Of slices that begin at the same time, the longest is the outermost, and comes first.
    by = [Column(TS), descending(Column(DURATION)), Column("id")]
    row = ColumnType("dctv:row", "BIGINT")
    rowed = replace(intervals, columns=(*intervals.columns, row))
    nth = Item(over(call("row_number"), (), by), row.name)
    query = sorted_by(select(*names, nth, source=lasting), *by)
    source = builder.query(query, {"t": plan}, rowed, ordered=True)
    options = {"partitions": len(keys), "names": names}
    flat = builder.kernel("flatten", intervals, [source], options, ordered=not keys)
    schema = replace(intervals, columns=(*intervals.columns, _STACK))
    items = named([*columns(names, "t"), Column("stack", "f")], [*names, "stack"])
    whole = join(select(*items, source="t"), "f", "f", [equal(Column("id", "t"), Column("id", "f"))])
    joined = builder.query(whole, {"t": flat, "f": paths}, schema, ordered=False)
    return ordered(joined, schema.columns, Kind.SPAN, intervals.partitions, builder)


def _flame_graph(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    argument = arguments["table"]
    plan = argument.table("a table of slices or samples")
    samples = _STACK.name in plan.schema.names and "parent_id" not in plan.schema.names
    unit = _NS
    if samples:
        weight = arguments["weight"]
        weighed = None if weight.value is None else weight.column(plan.schema, "the weight of a sample")
        unit = weighed.unit if weighed is not None else NO_UNIT
        source = _stacks(plan, weighed, builder)
    else:
        source = _named(argument, builder, timed=True, name=arguments["name"].string("the name of a column"))
    made = (
        _ID,
        _PARENT,
        _DEPTH,
        _NAME,
        ColumnType("count", "BIGINT"),
        ColumnType("total", "BIGINT", unit),
        ColumnType("self", "BIGINT", unit),
        ColumnType("recursive", "BOOLEAN"),
        _STACK,
    )
    if samples:
        return _kernel("flame stacks", made, source, builder, {})
    strict = arguments["nesting"].choice("`nesting`", ("any", "strict")) == "strict"
    return _kernel("flame slices", made, source, builder, {"strict": strict})


def _stacks(plan: Plan, weight: ColumnType | None, builder: PlanBuilder) -> Plan:
    """Count and weigh equal stacks."""
    own = dict(zip(plan.schema.names, physical_names(plan.schema), strict=True))
    stack = Column(own["stack"], "t")
    one = Cast(number(1) if weight is None else Column(own[weight.name], "t"), "BIGINT")
    count = Cast(call("count", Star()), "BIGINT")
    total = Cast(call("coalesce", call("sum", one), number(0)), "BIGINT")
    schema = Schema(Kind.REGULAR, (ColumnType("count", "BIGINT"), ColumnType("weight", "BIGINT"), _STACK))
    query = where(select(*named((count, total, stack), schema.names), source="t", alias="t"), is_not_null(stack))
    query = sorted_by(select(*schema.names, source=grouped(query, [own["stack"]])), Column("stack"))
    return builder.query(query, {"t": plan}, schema, ordered=False)


_SLICES = Parameter("slices", "a table with `id` and `parent_id`, such as the view `slices`", REQUIRED)
_TIMED = Parameter(
    "slices", "a table with `_ts`, `_duration`, `id` and `parent_id`, such as the view `slices`", REQUIRED
)
_SLICE = Parameter("id", "the id of a row", REQUIRED)

ANCESTORS = TableFunction(
    "ancestors",
    "the rows above one, from its parent up to the root, with their `distance`",
    (_SLICES, _SLICE),
    _ancestors,
)
DESCENDANTS = TableFunction(
    "descendants",
    "the rows below one, with their `distance`: 1 for its children",
    (_SLICES, _SLICE),
    _descendants,
)
FLOW_PATH = TableFunction(
    "flow_path",
    "what arrows lead to from a slice, itself included: `id` and `distance` in arrows, or the rows of `slices`",
    (
        Parameter("flows", "a table with `from_id` and `to_id`, such as the view `flows`", REQUIRED),
        _SLICE,
        Parameter("slices", "a table with `id` whose rows are wanted", None, keyword_only=True),
    ),
    _flow_path,
)
SELF_TIME = TableFunction(
    "self_time",
    "slices with `_self`: how long none of their children lasted; NULL for those that never end",
    (_TIMED,),
    _self_time,
)
FLATTEN_SLICES = TableFunction(
    "flatten_slices",
    "slices as a span table: at each time the innermost one, with the names of all that it is in as `stack`, the "
    "outermost first and `;` between them. Slices that never end, or have no duration, are left out",
    (
        replace(_TIMED, doc=f"{_TIMED.doc}; its column `name` makes the stack"),
        Parameter("partition", "name of the column, or list of names: a stack for each value", None, keyword_only=True),
    ),
    _flatten,
)
FLAME_GRAPH = TableFunction(
    "flame_graph",
    "what slices or samples add up to by stack, each before those in it, the greatest first: id, parent_id, depth, "
    "name, count, total, self, recursive (the name is above it too), stack. Of slices `total` adds up durations, of "
    "samples their `weight`",
    (
        Parameter("table", "slices, or samples: a table with a column `stack` and no `parent_id`", REQUIRED),
        Parameter("name", "name of the column that slices are called by", "name", keyword_only=True),
        Parameter("weight", "name of a column of samples; without it each counts 1", None, keyword_only=True),
        Parameter(
            "nesting",
            "'strict' if slices begin before their parents have ended: then only open ones are kept in memory",
            "any",
            keyword_only=True,
        ),
    ),
    _flame_graph,
)
