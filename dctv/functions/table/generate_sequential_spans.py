"""dctv.generate_sequential_spans and quantize: generate spans."""

from __future__ import annotations

from collections.abc import Mapping

from dctv.contracts.reader import declared_unit
from dctv.contracts.table_function import REQUIRED, Argument, Parameter, PlanBuilder, TableFunction
from dctv.errors import BindError
from dctv.plan.build import call, equal, int64, least, minus, number, select, where
from dctv.plan.expressions import Column
from dctv.plan.nodes import Plan
from dctv.plan.queries import Item, TableCall
from dctv.types.schema import DURATION, TS, ColumnType, Kind, Schema

# Every session loads this module, but few parse units.
_NS = declared_unit("ns")
SCHEMA = Schema(Kind.SPAN, (ColumnType(TS, "BIGINT", _NS), ColumnType(DURATION, "BIGINT", _NS)))


def sequence(start: int, stop: int, duration: int, builder: PlanBuilder) -> Plan:
    """Generate spans of a length, without gaps, the last one clipped at stop."""
    begin = Column("range", "steps")
    length = least(int64(duration), minus(int64(stop), begin))
    steps = TableCall(call("range", int64(start), int64(stop), int64(duration)), "steps")
    query = select(Item(begin, TS), Item(length, DURATION), source=steps)
    if stop <= start:
        query = where(query, equal(number(0), number(1)))
    return builder.query(query, {}, SCHEMA, ordered=True)


def _duration(argument: Argument) -> int:
    value = argument.nanoseconds("the duration of the spans")
    if value <= 0:
        raise BindError("the duration of spans is positive", argument.place)
    return value


def _bind(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    start = arguments["start"].nanoseconds("`start`")
    stop = arguments["stop"].nanoseconds("`stop`")
    if stop < start:
        raise BindError(f"the stop, {stop} ns, comes before the start, {start} ns", arguments["stop"].place)
    return sequence(start, stop, _duration(arguments["duration"]), builder)


GENERATE_SEQUENTIAL_SPANS = TableFunction(
    "generate_sequential_spans",
    "spans of one length from start to stop, without gaps",
    (
        Parameter("start", "when the first span starts", REQUIRED),
        Parameter("stop", "when the last span ends", REQUIRED),
        Parameter("duration", "how long each span is; the last one is clipped at stop", REQUIRED),
    ),
    _bind,
)


def quantize(first_ts: int, last_ts: int) -> TableFunction:
    """Create a trace's `quantize`: its spans also cover the last event, so they end 1 ns after it."""

    def bind(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
        interval, stop = arguments["interval"], last_ts + 1
        # Traces that are aligned with each other share the boundaries of their spans: multiples of the interval.
        start = min(first_ts, 0)
        if interval.value is None:
            return sequence(start, stop, stop - start, builder)
        length = _duration(interval)
        return sequence(start // length * length, stop, length, builder)

    doc = (
        "the trace's time, from 0 or from its first event if that is earlier, cut into spans of one length, "
        "which begin at multiples of it; without `interval`, one span over all of it"
    )
    return TableFunction("quantize", doc, (Parameter("interval", "how long each span is", None),), bind)
