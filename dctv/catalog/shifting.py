"""Times of a trace -> the same times later or earlier, for traces that are aligned with others."""

from __future__ import annotations

from sqlglot import exp

from dctv.contracts.reader import LoadedTrace
from dctv.plan.nodes import Plan, Relation, physical_names
from dctv.record import replace
from dctv.types.schema import TS


def told(trace: LoadedTrace, offset: int) -> LoadedTrace:
    """Return what is known of a trace that is shifted: the absolute times of its new time 0."""
    starts = ("start_ns", "start_unix_ns")
    moved = {name: str(int(trace.properties[name]) - offset) for name in starts if name in trace.properties}
    properties = {**trace.properties, **moved, "offset_ns": str(offset)}
    return replace(trace, last_ts=trace.last_ts + offset, properties=properties)


def shifted(plan: Plan, offset: int) -> Plan:
    """Return a plan with later times; plans without times as they are."""
    if offset == 0 or not plan.schema.kind.time_columns:
        return plan
    items: list[exp.Expr] = []
    for name in physical_names(plan.schema):
        value: exp.Expr = exp.column(name, quoted=True)
        if name == TS:
            number = exp.Literal.number(str(abs(offset)))
            value = exp.Add(this=value, expression=number) if offset > 0 else exp.Sub(this=value, expression=number)
        items.append(exp.alias_(value, name, quoted=True))
    query = exp.Select(expressions=items).from_(exp.Table(this=exp.to_identifier("unshifted", quoted=True)))
    return Relation(plan.schema, ordered=True, query=query, leaves=(("unshifted", plan),), keeps_order=True)
