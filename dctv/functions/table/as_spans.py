"""dctv.as_spans, from_overlapping and as_events: convert a regular table to spans or events, after checking it."""

from __future__ import annotations

from collections.abc import Mapping

from dctv.contracts.table_function import REQUIRED, Argument, Parameter, PlanBuilder, TableFunction
from dctv.functions.table.interval_tables import (
    DURATION_NAME,
    END_NAME,
    ON_EMPTY,
    PARTITION,
    SORTED,
    TABLE,
    TS_NAME,
    Intervals,
    Ties,
    checked,
    event_arguments,
    interval_arguments,
    refuse_name,
    refuse_second_times,
)
from dctv.plan.nodes import Plan, physical_names
from dctv.record import replace
from dctv.types.schema import ColumnType, Kind, Schema

_POLICIES = ("error", "truncate", "lanes")
LANE = "lane"


def _bind_spans(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    made = interval_arguments(arguments)
    refuse_second_times(made, arguments["table"])
    policy = arguments["on_overlap"].choice("`on_overlap`", _POLICIES)
    if policy == "error":
        return checked(made, builder, disjoint=True)
    if policy == "lanes":
        refuse_name(LANE, (*made.partitions, *made.payload), arguments["table"])
    spans = checked(made, builder, disjoint=False, ties=Ties.ROW)
    return _in_lanes(made, spans, builder) if policy == "lanes" else _truncated(made, spans, builder)


def _truncated(made: Intervals, spans: Plan, builder: PlanBuilder) -> Plan:
    schema = replace(spans.schema, columns=spans.schema.columns[:-1])
    options = {"partitions": len(made.partitions), "names": physical_names(schema)}
    # A span is complete once the next one of its partition has been read.
    return builder.kernel("truncate", schema, [spans], options, ordered=not made.partitions)


def _in_lanes(made: Intervals, spans: Plan, builder: PlanBuilder) -> Plan:
    special, payload = spans.schema.special, spans.schema.payload[:-1]
    columns = (*special, ColumnType(LANE, "BIGINT"), *payload)
    schema = Schema(Kind.SPAN, columns, (*spans.schema.partitions, LANE))
    options = {"partitions": len(made.partitions), "names": physical_names(schema)}
    return builder.kernel("lanes", schema, [spans], options, ordered=True)


def _bind_events(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    made = event_arguments(arguments)
    refuse_second_times(made, arguments["table"])
    return checked(made, builder, disjoint=False)


_TABLE = replace(TABLE, doc="the table", default=REQUIRED)


def _parameters(on_overlap: str) -> tuple[Parameter, ...]:
    doc = "'error', 'truncate' a span where the next one starts, or 'lanes': another partition column `lane`, from 0"
    policy = Parameter("on_overlap", doc, on_overlap, keyword_only=True)
    return (_TABLE, TS_NAME, DURATION_NAME, END_NAME, PARTITION, policy, ON_EMPTY, SORTED)


AS_SPANS = TableFunction(
    "as_spans", "a regular table as a span table; overlapping spans are an error", _parameters("error"), _bind_spans
)
FROM_OVERLAPPING = TableFunction(
    "from_overlapping",
    "overlapping intervals as a span table: each is on the lowest lane that is free when it starts",
    _parameters("lanes"),
    _bind_spans,
)
AS_EVENTS = TableFunction(
    "as_events", "a regular table as an event table", (_TABLE, TS_NAME, PARTITION, SORTED), _bind_events
)
