"""dctv.flatten and dctv.concurrency: turn overlapping intervals into spans of the innermost one, or of their number."""

from __future__ import annotations

from collections.abc import Mapping

from dctv.contracts.table_function import REQUIRED, Argument, Parameter, PlanBuilder, TableFunction
from dctv.functions.table.interval_tables import (
    DURATION_NAME,
    END_NAME,
    LENGTH,
    ON_EMPTY,
    PARTITION,
    SORTED,
    TABLE,
    TIME,
    TS_NAME,
    Ties,
    checked,
    flag,
    interval_arguments,
    refuse_name,
    refuse_second_times,
)
from dctv.plan.nodes import Plan, physical_names
from dctv.record import replace
from dctv.types.schema import ColumnType, Kind, Schema

OPEN = "open"


def _flatten(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    if arguments["take"].choice("`take`", ("innermost", "count")) == "count":
        return _open(arguments, builder, Kind.SPAN, idle=False, merge=False)
    made = interval_arguments(arguments)
    refuse_second_times(made, arguments["table"])
    intervals = checked(made, builder, disjoint=False, ties=Ties.LONGEST)
    schema = replace(intervals.schema, columns=intervals.schema.columns[:-1])
    options = {"partitions": len(made.partitions), "names": physical_names(schema)}
    return builder.kernel("flatten", schema, [intervals], options, ordered=not made.partitions)


def _open(arguments: Mapping[str, Argument], builder: PlanBuilder, kind: Kind, *, idle: bool, merge: bool) -> Plan:
    """Count the open intervals, as spans or as events at which the number changes."""
    made = replace(interval_arguments(arguments), payload=())
    refuse_name(OPEN, made.partitions, arguments["partition"])
    intervals = checked(made, builder, disjoint=False)
    times = (TIME, LENGTH) if kind is Kind.SPAN else (TIME,)
    columns = (*times, *made.partitions, ColumnType(OPEN, "BIGINT"))
    schema = Schema(kind, columns, tuple(p.name for p in made.partitions))
    options = {
        "partitions": len(made.partitions),
        "result": f"{kind.value}s",
        "idle": idle,
        "merge": merge,
        "names": physical_names(schema),
    }
    return builder.kernel("concurrency", schema, [intervals], options, ordered=not made.partitions)


def _concurrency(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    idle, merge = flag(arguments["idle"], "idle"), flag(arguments["merge"], "merge")
    return _open(arguments, builder, Kind.SPAN, idle=idle, merge=merge)


def _concurrency_events(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    return _open(arguments, builder, Kind.EVENT, idle=True, merge=flag(arguments["merge"], "merge"))


_TABLE = replace(TABLE, doc="a regular table of intervals, or a span table with any partitions", default=REQUIRED)
_PARTITION = replace(
    PARTITION, doc="name of the column that keeps intervals apart, or a list; without it all are taken together"
)
_PARAMETERS = (_TABLE, TS_NAME, DURATION_NAME, END_NAME, _PARTITION)
_MERGE = Parameter(
    "merge",
    "TRUE if a time at which as many start as end is no boundary",
    default=False,
    keyword_only=True,
)

FLATTEN = TableFunction(
    "flatten",
    "overlapping intervals as spans: at each time the innermost open one, which is the one that started last; of those "
    "that started at once the one that ends first, then the earlier row",
    (
        *_PARAMETERS,
        Parameter(
            "take", "'innermost', or 'count': how many are open, as dctv.concurrency", "innermost", keyword_only=True
        ),
        ON_EMPTY,
        SORTED,
    ),
    _flatten,
)
CONCURRENCY = TableFunction(
    "concurrency",
    "how many intervals are open at once, as column `open`: one span from each start or end to the next, so that "
    "neighbours may be equal",
    (
        *_PARAMETERS,
        Parameter(
            "idle",
            "TRUE if there are spans, too, for the time between intervals, at which none is open",
            default=False,
            keyword_only=True,
        ),
        _MERGE,
        ON_EMPTY,
        SORTED,
    ),
    _concurrency,
)
CONCURRENCY_EVENTS = TableFunction(
    "concurrency_events",
    "one event at each start or end of intervals: how many are open from then on, as column `open`",
    (*_PARAMETERS, _MERGE, ON_EMPTY, SORTED),
    _concurrency_events,
)
