"""dctv.session and dctv.label_events: group events that follow closely into spans; give events the latest label."""

from __future__ import annotations

from collections.abc import Mapping

from dctv.contracts.table_function import REQUIRED, Argument, Parameter, PlanBuilder, TableFunction
from dctv.errors import BindError
from dctv.functions.table.interval_tables import (
    LENGTH,
    PARTITION,
    TIME,
    event_table,
    numbered,
    ordered,
    partition_columns,
    refuse_name,
    refuse_other_units,
)
from dctv.plan.nodes import Plan, physical_names
from dctv.types.schema import ColumnType, Kind, Schema

EVENTS = "events"


def _session(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    plan = event_table(arguments["events"])
    gap = arguments["gap"].nanoseconds("`gap`")
    if gap < 0:
        raise BindError(f"`gap` is a time of zero or more, found {gap} ns", arguments["gap"].place)
    keys = partition_columns(plan, arguments["partition"], own=True)
    refuse_name(EVENTS, keys, arguments["partition"])
    partitions = tuple(k.name for k in keys)
    source = ordered(plan, (TIME, *keys), Kind.EVENT, partitions, builder)
    schema = Schema(Kind.SPAN, (TIME, LENGTH, *keys, ColumnType(EVENTS, "BIGINT")), partitions)
    options = {"gap": gap, "partitions": len(keys), "names": physical_names(schema)}
    return builder.kernel("sessions", schema, [source], options, ordered=not keys)


def _label_events(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    events = event_table(arguments["events"])
    labels = event_table(arguments["labels"], "an event table of labels")
    keys = [(c.name, c.type) for c in events.schema.special[1:]]
    own = [(c.name, c.type) for c in labels.schema.special[1:]]
    if own and own != keys:
        found, expected = labels.schema.describe_one(), events.schema.describe_one()
        raise BindError(
            f"the labels are {found}, the events {expected}",
            arguments["labels"].place,
            hint="labels have the partitions of the events, or none",
        )
    for pair in zip(events.schema.special[1:], labels.schema.special[1:], strict=False):
        refuse_other_units(pair, arguments["labels"].place)
    for column in labels.schema.payload:
        if column.name.lower() in (c.name.lower() for c in events.schema.columns):
            raise BindError(
                f"events and labels both have a column `{column.name}`",
                arguments["labels"].place,
                hint="select one of them under another name",
            )
    schema = Schema(Kind.EVENT, (*events.schema.columns, *labels.schema.payload), events.schema.partitions)
    options = {
        "partitions": len(keys),
        "broadcast": bool(keys) and not own,
        "numbered": True,
        "names": physical_names(schema),
    }
    inputs = [_in_order(plan, builder) for plan in (events, labels)]
    return builder.kernel("label events", schema, inputs, options, ordered=True)


def _in_order(plan: Plan, builder: PlanBuilder) -> Plan:
    """Number events and sort them, since the last of simultaneous labels applies."""
    plan = numbered(plan, builder)
    return ordered(plan, plan.schema.columns, Kind.EVENT, plan.schema.partitions, builder)


SESSION = TableFunction(
    "session",
    "spans from the first to the last of events that are no more than `gap` apart, with the number of `events`; one "
    "event alone lasts for 1 ns",
    (
        Parameter("events", "the event table", REQUIRED),
        Parameter("gap", "the longest time between two events of a session", REQUIRED),
        Parameter(
            PARTITION.name, f"{PARTITION.doc}; the events' own partitions if it is not given", None, keyword_only=True
        ),
    ),
    _session,
)
LABEL_EVENTS = TableFunction(
    "label_events",
    "the events, each with the payload of the latest label of its partition that is earlier or simultaneous (of "
    "several at once the last row), NULL where there is none",
    (
        Parameter("events", "the event table", REQUIRED),
        Parameter("labels", "an event table with the same partitions, or none: then it labels all of them", REQUIRED),
    ),
    _label_events,
)
