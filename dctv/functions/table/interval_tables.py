"""Check arguments that name a table and its columns of times and partitions, and return a plan in order of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from dctv.contracts.table_function import Argument, Parameter, PlanBuilder
from dctv.errors import BindError, Place
from dctv.plan.build import (
    any_of,
    call,
    columns,
    greater,
    minus,
    named,
    number,
    over,
    plus,
    select,
    sorted_by,
    times,
    where,
)
from dctv.plan.expressions import Binary, Cast, Column, Expression, IsNull, Ordered
from dctv.plan.nodes import Plan, physical_names
from dctv.plan.queries import Item
from dctv.record import record
from dctv.types.schema import DURATION, TS, ColumnType, Kind, Schema
from dctv.types.unit import NO_UNIT
from dctv.types.units import compatible, parse_unit, ratio
from dctv.types.values import dialect_type, is_integer, is_numeric

NS = parse_unit("ns")
ROW = "dctv:number"
VALUE = "dctv:value"
TIME = ColumnType(TS, "BIGINT", NS)
LENGTH = ColumnType(DURATION, "BIGINT", NS)

TABLE = Parameter("table", "the table: each row is an interval", default=None)
TS_NAME = Parameter("ts", "name of the column of times, in ns if it has no unit", TS, keyword_only=True)
DURATION_NAME = Parameter(
    "duration", "name of the column of durations; `_duration` if `end` is not given", None, keyword_only=True
)
END_NAME = Parameter("end", "name of the column of ends", None, keyword_only=True)
PARTITION = Parameter("partition", "name of the partition column, or a list of them", None, keyword_only=True)
ON_EMPTY = Parameter("on_empty", "'error', or 'drop' what has a duration of zero or less", "error", keyword_only=True)
SORTED = Parameter(
    "sorted",
    "TRUE if the rows come in order of time: they are not sorted but checked, and stream",
    default=False,
    keyword_only=True,
)


def span_table(argument: Argument, what: str = "a span table") -> Plan:
    """Return a span table; otherwise raise."""
    return _of_kind(argument, Kind.SPAN, what)


def event_table(argument: Argument, what: str = "an event table") -> Plan:
    """Return an event table; otherwise raise."""
    return _of_kind(argument, Kind.EVENT, what)


_WAYS = {Kind.SPAN: "time_series_to_spans", Kind.EVENT: "spans_to_events"}


def _of_kind(argument: Argument, kind: Kind, what: str) -> Plan:
    plan = argument.table(what)
    if plan.schema.kind is not kind:
        way = f"as_{kind.value}s" if plan.schema.kind is Kind.REGULAR else _WAYS[kind]
        hint = f"dctv.{way}(...) makes one"
        found = plan.schema.describe_one()
        raise BindError(f"expected {what}, found {found}", argument.place, hint=hint)
    return plan


def flag(argument: Argument, name: str) -> bool:
    """Return a Boolean; otherwise raise."""
    if not isinstance(argument.value, bool):
        raise argument.fail(f"TRUE or FALSE for `{name}`")
    return argument.value


def partition_columns(plan: Plan, argument: Argument, *, own: bool = False) -> list[ColumnType]:
    """Return the partition columns that an argument names; without it, optionally the table's own."""
    if argument.value is None:
        return [c for c in plan.schema.columns if own and c.name in plan.schema.partitions]
    found = [item.column(plan.schema, "a partition column") for item in argument.items()]
    for item, one in zip(argument.items(), found, strict=True):
        if found.count(one) > 1:
            raise BindError(f"`{one.name}` is named twice", item.place)
        if one.name in plan.schema.kind.time_columns:
            raise BindError(f"`{one.name}` is a time, expected a partition column", item.place)
    return found


def refuse_name(name: str, taken: Sequence[ColumnType], argument: Argument) -> None:
    """Raise if a column that a function adds has the name of another one."""
    if name in (c.name.lower() for c in taken):
        hint = "select that column under another name"
        raise BindError(f"the table already has a column `{name}`, which this function adds", argument.place, hint=hint)


def refuse_other_units(columns: Sequence[ColumnType], place: Place | None) -> None:
    """Raise if partition columns of several tables, which are compared as numbers, differ in unit."""
    units = list(dict.fromkeys(f"`{one.unit}`" if str(one.unit) else "no unit" for one in columns))
    if len(units) > 1:
        raise BindError(f"partition columns differ in unit: {' and '.join(units)}", place)


def number_column(argument: Argument, schema: Schema, what: str) -> ColumnType:
    """Return the numeric column that an argument names; otherwise raise."""
    found = argument.column(schema, what)
    if not is_numeric(found.type):
        raise BindError(f"`{found.name}` is {dialect_type(found.type)}, expected a number", argument.place)
    return found


def ordered(
    plan: Plan, names: Sequence[ColumnType], kind: Kind, partitions: Sequence[str], builder: PlanBuilder
) -> Plan:
    """Project a span or event table to some of its columns, in order of time."""
    schema = Schema(kind, tuple(names), tuple(partitions))
    return builder.ordered(plan, [(c.name, c.name) for c in names], schema)


def numbered(plan: Plan, builder: PlanBuilder) -> Plan:
    """Add the row number as last column."""
    names = physical_names(plan.schema)
    query = select(*names, Item(_row_number(plan, names), ROW), source="t")
    schema = Schema(plan.schema.kind, (*plan.schema.columns, ColumnType(ROW, "BIGINT")), plan.schema.partitions)
    return builder.query(query, {"t": plan}, schema, ordered=plan.ordered)


def _row_number(plan: Plan, names: Sequence[str]) -> Expression:
    """Number rows in their order, or by their values if they have none."""
    return over(call("row_number"), (), () if plan.stable else columns(names))


@record
class Intervals:
    """A regular table to be read as spans or events, with the roles of its columns."""

    plan: Plan
    kind: Kind
    times: tuple[Expression, ...]
    """Start and, for spans, length, in ns."""
    used: tuple[str, ...]
    """The columns that define them."""
    partitions: tuple[ColumnType, ...]
    payload: tuple[ColumnType, ...]
    in_order: bool
    """Whether the rows are known, or declared, to be in order of time."""
    said: bool
    drop_empty: bool


def interval_arguments(arguments: Mapping[str, Argument]) -> Intervals:
    """Read the arguments `table`, `ts`, `duration`, `end`, `partition`, `on_empty` and `sorted` as spans."""
    plan = arguments["table"].table("a table")
    ts = arguments["ts"].column(plan.schema, "the column of starts", way_out="; name one with ts=>'...'")
    start = _time(plan, ts, arguments["ts"])
    given = [k for k in ("duration", "end") if arguments[k].value is not None]
    if len(given) == 2:
        raise BindError("`duration` and `end` are both given", arguments["end"].place, hint="leave one of them out")
    which = arguments[given[0]] if given else Argument(DURATION, arguments["table"].place)
    other = which.column(
        plan.schema, "the column of durations", way_out="; name one with duration=>'...' or end=>'...'"
    )
    length = _time(plan, other, which)
    if given == ["end"] or not (_is_whole(ts) and _is_whole(other)):
        # Starts and ends are rounded to ns, not durations, so that touching spans still touch.
        end = length if given == ["end"] else plus(start, length)
        length = minus(_whole(end), _whole(start))
    partitions = partition_columns(plan, arguments["partition"])
    drop = "on_empty" in arguments and arguments["on_empty"].choice("`on_empty`", ("error", "drop")) == "drop"
    used = (ts.name, other.name)
    return _intervals(arguments, Kind.SPAN, (_whole(start), _whole(length)), used, partitions, drop=drop)


def event_arguments(arguments: Mapping[str, Argument]) -> Intervals:
    """Read the arguments `table`, `ts`, `partition` and `sorted` as events."""
    plan = arguments["table"].table("a table")
    ts = arguments["ts"].column(plan.schema, "the column of times", way_out="; name one with ts=>'...'")
    start = _whole(_time(plan, ts, arguments["ts"]))
    partitions = partition_columns(plan, arguments["partition"])
    return _intervals(arguments, Kind.EVENT, (start,), (ts.name,), partitions, drop=False)


def _intervals(
    arguments: Mapping[str, Argument],
    kind: Kind,
    times: tuple[Expression, ...],
    used: tuple[str, ...],
    partitions: Sequence[ColumnType],
    *,
    drop: bool,
) -> Intervals:
    plan = arguments["table"].table("a table")
    declared_sorted = "sorted" in arguments and flag(arguments["sorted"], "sorted")
    taken = {*used, *(p.name for p in partitions)}
    payload = tuple(c for c in plan.schema.columns if c.name not in taken)
    in_order = declared_sorted or (plan.ordered and used[0] == TS)
    return Intervals(plan, kind, times, used, tuple(partitions), payload, in_order, declared_sorted, drop)


class Ties(Enum):
    """How the order of rows that begin at the same time matters."""

    NONE = "nothing: there are none, or any order will do"
    ROW = "the order of rows in the table"
    LONGEST = "the order of rows for those of equal length; the longest are best met first"


def checked(made: Intervals, builder: PlanBuilder, *, disjoint: bool, ties: Ties = Ties.NONE) -> Plan:
    """Return the rows in order of time, after checking times and, if required, that spans do not overlap.

    If ties matter, the last column is the row number in the table.
    """
    result = _result(made, with_row=ties is not Ties.NONE)
    if ties is Ties.NONE and not disjoint and made.kind is made.plan.schema.kind and made.used == (TS, DURATION):
        return ordered(made.plan, result.columns, Kind.SPAN, result.partitions, builder)
    sorts = made.kind is Kind.EVENT and not made.in_order
    schema = _result(made, with_row=ties is not Ties.NONE or made.said or sorts)
    source = dict(zip(made.plan.schema.names, physical_names(made.plan.schema), strict=True))
    values = [*made.times, *columns((source[c.name] for c in _carried(made)), "t")]
    if ROW in schema.names:
        values.append(_row_number(made.plan, list(source.values())))
    names = physical_names(schema)
    query = select(*named(values, names), source="t")
    if made.drop_empty:
        kept = any_of([greater(Column(DURATION), number(0)), IsNull(Column(DURATION)), IsNull(Column(TS))])
        query = where(select(*names, source=query), kept)
    if not made.in_order:
        order = _order(names, len(made.partitions), ties, disjoint=disjoint)
        query = sorted_by(select(*names, source=query), *order)
    plan = builder.query(query, {"t": made.plan}, schema, ordered=True)
    options = {
        "events": made.kind is Kind.EVENT,
        "disjoint": disjoint,
        "partitions": len(made.partitions),
        "sorted": made.said,
        "names": physical_names(result),
    }
    return builder.kernel("check", result, [plan], options, ordered=True)


def refuse_second_times(made: Intervals, table: Argument) -> None:
    """Raise if the rows have a column beside the one of times or durations that has its name."""
    for name in (TS, DURATION)[: len(made.times)]:
        refuse_name(name, _carried(made), table)


def _carried(made: Intervals) -> tuple[ColumnType, ...]:
    return (*made.partitions, *made.payload)


def _result(made: Intervals, *, with_row: bool) -> Schema:
    special = (TIME, LENGTH) if made.kind is Kind.SPAN else (TIME,)
    row = (ColumnType(ROW, "BIGINT"),) if with_row else ()
    return Schema(made.kind, (*special, *_carried(made), *row), tuple(p.name for p in made.partitions))


def _order(names: Sequence[str], keys: int, ties: Ties, *, disjoint: bool) -> list[Expression]:
    """Return the sort keys: time, then keys that make the order deterministic where that matters."""
    first = Ordered(Column(names[0]), nulls_first=True)
    row = columns([ROW] if names[-1] == ROW else [])
    if ties is Ties.LONGEST:
        return [first, Ordered(Column(names[1]), descending=True, nulls_first=True), *row]
    # In one partition, disjoint spans never begin at the same time.
    own = names[2 : 2 + keys] if disjoint and not row else []
    return [first, *columns(own), *row]


def _is_whole(one: ColumnType) -> bool:
    return is_integer(one.type) and (one.unit == NO_UNIT or ratio(one.unit, NS).denominator == 1)


def _time(plan: Plan, one: ColumnType, argument: Argument) -> Expression:
    """Return a time column in ns, maybe with fractions; a number without a unit is in ns."""
    names = dict(zip(plan.schema.names, physical_names(plan.schema), strict=True))
    value: Expression = Column(names[one.name], "t")
    if not is_numeric(one.type):
        found = dialect_type(one.type)
        raise BindError(f"`{one.name}` is {found}, expected a time: a number", argument.place)
    value = _whole(value) if is_integer(one.type) else value
    if one.unit not in (NO_UNIT, NS):
        if not compatible(one.unit, NS):
            raise BindError(f"`{one.name}` is in `{one.unit}`, expected a time", argument.place)
        factor = ratio(one.unit, NS)
        value = times(value, number(factor.numerator))
        if factor.denominator != 1:
            value = Binary("/", value, number(factor.denominator))
    return value


def _whole(value: Expression) -> Expression:
    return Cast(value, "BIGINT")
