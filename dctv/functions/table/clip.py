"""dctv.clip and dctv.spans_to_events: clip tables to a time range, and extract the edges of spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dctv.contracts.table_function import REQUIRED, Argument, Parameter, PlanBuilder, TableFunction
from dctv.errors import BindError
from dctv.functions.table.gaps import time_range
from dctv.functions.table.interval_tables import TIME, refuse_name, span_table
from dctv.plan.build import at_least, call, columns, greater, int64, minus, named, plus, select, union_all, where
from dctv.plan.expressions import Column, Expression, Text
from dctv.plan.nodes import Plan, physical_names
from dctv.plan.queries import Select
from dctv.types.schema import DURATION, TS, ColumnType, Kind, Schema

EDGE = "edge"


def _clip(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    plan = arguments["table"].table("a span or event table")
    if plan.schema.kind is Kind.REGULAR:
        hint = "dctv.as_spans(...) and dctv.as_events(...) give it a kind"
        raise BindError("expected a span or event table, found a regular table", arguments["table"].place, hint=hint)
    limits = time_range(arguments)
    start, stop = (None if limits[key] is None else int64(limits[key] or 0) for key in ("start", "stop"))
    names = physical_names(plan.schema)
    begin = Column(TS)
    end = plus(begin, Column(DURATION)) if plan.schema.kind is Kind.SPAN else begin
    tests: list[Expression] = []
    if start is not None:
        tests.append(greater(end, start) if plan.schema.kind is Kind.SPAN else at_least(begin, start))
    if stop is not None:
        tests.append(greater(stop, begin))
    values = dict(zip(names, columns(names), strict=True))
    if plan.schema.kind is Kind.SPAN:
        if start is not None and stop is not None:
            tests.append(greater(stop, start))  # A span around an empty range would be cut to nothing.
        values[TS] = begin if start is None else call("greatest", begin, start)
        values[DURATION] = minus(end if stop is None else call("least", end, stop), values[TS])
    query = where(select(*named(values.values(), names), source="t"), *tests)
    return builder.query(query, {"t": plan}, plan.schema, ordered=plan.ordered)


def _spans_to_events(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    plan = span_table(arguments["spans"])
    edge = arguments["edge"].choice("`edge`", ("start", "end", "both"))
    if edge == "both":
        refuse_name(EDGE, plan.schema.columns, arguments["spans"])
    made = (ColumnType(EDGE, "VARCHAR"),) if edge == "both" else ()
    keys, payload = plan.schema.special[2:], plan.schema.payload
    schema = Schema(Kind.EVENT, (TIME, *keys, *made, *payload), plan.schema.partitions)
    edges = ("start", "end") if edge == "both" else (edge,)
    names = physical_names(plan.schema)
    query = union_all(*(_edge(one, names, len(keys), schema, marked=bool(made)) for one in edges))
    return builder.query(query, {"t": plan}, schema, ordered=plan.ordered and edge == "start")


def _edge(edge: str, names: Sequence[str], keys: int, schema: Schema, *, marked: bool) -> Select:
    """Select one edge of all spans."""
    time = Column(TS) if edge == "start" else plus(Column(TS), Column(DURATION))
    mark = [Text(edge)] if marked else []
    values = [time, *columns(names[2 : 2 + keys]), *mark, *columns(names[2 + keys :])]
    return select(*named(values, physical_names(schema)), source="t")


CLIP = TableFunction(
    "clip",
    "what lies in a range of time: spans are cut at `start` and `stop`, events kept if they are not before `start` and "
    "before `stop`; nothing lies in an empty range",
    (
        Parameter("table", "the span or event table", REQUIRED),
        Parameter("start", "where the range starts; open if NULL", None),
        Parameter("stop", "where it ends; open if NULL", None),
    ),
    _clip,
)
SPANS_TO_EVENTS = TableFunction(
    "spans_to_events",
    "the starts or ends of spans as events with their payload; for both, the column `edge` says which",
    (
        Parameter("spans", "the span table", REQUIRED),
        Parameter("edge", "'start', 'end' or 'both'", "start", keyword_only=True),
    ),
    _spans_to_events,
)
