"""Shift the times of a trace, to align it with others."""

from __future__ import annotations

from collections.abc import Mapping

from dctv.contracts.reader import LoadedTrace
from dctv.plan.build import minus, number, plus, select
from dctv.plan.expressions import Column
from dctv.plan.nodes import Plan, Relation, physical_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import Item
from dctv.record import replace
from dctv.types.schema import TS

NO_CLOCK = ("", "trace", "unknown", "none", "durations")
"""Clocks without a known epoch."""


def shifted_trace(trace: LoadedTrace, offset: int) -> LoadedTrace:
    """Return a trace's metadata with the absolute times of its new time 0."""
    starts = ("start_ns", "start_unix_ns")
    moved = {name: str(int(trace.properties[name]) - offset) for name in starts if name in trace.properties}
    properties = {**trace.properties, **moved, "offset_ns": str(offset)}
    return replace(trace, last_ts=trace.last_ts + offset, properties=properties)


def unix_start(properties: Mapping[str, str]) -> int | None:
    """Return a trace's time 0 in ns since the Unix epoch, None if unknown."""
    if "start_unix_ns" in properties:
        return int(properties["start_unix_ns"])
    is_unix = properties.get("clock") == "realtime" and "start_ns" in properties
    return int(properties["start_ns"]) if is_unix else None


def clock_of(properties: Mapping[str, str]) -> str:
    """Return the clock of a trace."""
    clock = properties.get("clock", "")
    return "no known clock" if clock in NO_CLOCK else f"the clock {clock}"


def shifted(plan: Plan, offset: int) -> Plan:
    """Return a plan with shifted times; plans without times are unchanged."""
    if offset == 0 or not plan.schema.kind.time_columns:
        return plan
    time, by = Column(TS), number(abs(offset))
    moved = plus(time, by) if offset > 0 else minus(time, by)
    items = [Item(moved if name == TS else Column(name), name) for name in physical_names(plan.schema)]
    query = select(*items, source="unshifted")
    return Relation(plan.schema, order=RowOrder.TIME, query=query, leaves=(("unshifted", plan),))
