"""Span groups and departitions with their aggregates as queries: the pieces, grouped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from dctv.contracts.span_operator import Input
from dctv.functions.span.forms import departition as departitions
from dctv.functions.span.forms import groups
from dctv.functions.span.forms.steps import keys
from dctv.plan import sql as w
from dctv.plan.sql import column
from dctv.types.schema import Schema
from dctv.types.values import is_integer

_RUNNING = ("sum", "count", "min", "max")
"""What a departition of integers knows without its pieces."""


def span_aggregation(inputs: Sequence[Input], options: Mapping[str, Any], schema: Schema) -> exp.Query:
    """Return one row per group and partition, with aggregates over its pieces."""
    grouped, grouper, *_required = inputs
    count, of_events = options["partitions"], options["events"]
    head = [*(f"g{number}" for number in range(len(grouper.columns))), *keys(count)]
    values = [f"v{number}" for number in range(len(grouped.columns) - count - (1 if of_events else 2))]
    names = ["group", *head, "present", "ts", *([] if of_events else ["duration"]), *values]
    cut = {"events": of_events, "partitions": count, "names": names}
    pieces = groups.span_group(inputs, cut, schema)
    types = [c.type for c in grouped.schema.columns[len(grouped.columns) - len(values) :]]
    calls = [(exp.Filter(this=c, expression=exp.Where(this=column("present"))), t) for c, t in _calls(options, types)]
    return _grouped(pieces, ["group", *head], [*w.columns(head), *_cast(calls)], options["names"])


def departition(inputs: Sequence[Input], options: Mapping[str, Any], schema: Schema) -> exp.Query:
    """Return one row per stretch, with aggregates of what covers it."""
    count, source = options["partitions"], inputs[0]
    types = [c.type for c in source.schema.columns[2 + count :]]

    def runs(name: str, at: int | str | None) -> bool:
        return name in _RUNNING and (at is None or (isinstance(at, int) and is_integer(types[at])))

    if all(runs(name, at) for name, at in options["aggregates"]):
        return departitions.departition(inputs, options, schema)
    values = [f"v{number}" for number in range(len(types))]
    cut = {**options, "names": ["interval", "ts", "duration", *keys(count), *values]}
    pieces = departitions.partition_pieces(inputs, cut, schema)
    head = ["ts", "duration", *(f"k{number}" for number in options["keep"])]
    made = [*w.columns(head), *_cast(_calls(options, types))]
    return _grouped(pieces, ["interval", *head], made, options["names"])


def _grouped(pieces: exp.Query, keys: Sequence[str], made: Sequence[exp.Expr], names: Sequence[str]) -> exp.Query:
    items = w.named(made, names)
    return w.grouped(w.select(*items, source=pieces), keys)


def _cast(calls: Sequence[tuple[exp.Expr, str]]) -> list[exp.Expr]:
    return [w.cast(call, kind) for call, kind in calls]


def _calls(options: Mapping[str, Any], types: Sequence[str]) -> list[tuple[exp.Expr, str]]:
    """Return the aggregates over pieces, whose columns are `ts`, `duration`, `v0`..., with the types of the sweep's."""
    found = []
    for name, at in options["aggregates"]:
        own = types[at] if isinstance(at, int) else "BIGINT"
        kind = own if name in ("min", "max", "first", "last") else _result(name, real=own in ("FLOAT", "DOUBLE"))
        found.append((_call(name, at, kind), kind))
    return found


def _result(name: str, *, real: bool) -> str:
    """Return the type of what computes."""
    if name == "avg" or (real and name in ("sum", "wide_sum", "time_sum")):
        return "DOUBLE"
    return "BIGINT" if name in ("count", "sum") else "DECIMAL(38, 0)"


def _call(name: str, at: int | str | None, kind: str) -> exp.Expr:
    """Write one aggregate; where the order of the pieces matters, it is that of time."""
    if at is None:
        return w.call("count", exp.Star())
    value: exp.Expr = column(f"v{at}" if isinstance(at, int) else at.removeprefix("_"))
    if name == "time_sum":
        value = exp.Mul(this=value, expression=column("duration"))
    elif name == "time_known":
        value = w.case((exp.Not(this=w.is_null(value)), column("duration")))
    if name in ("first", "last") or kind in ("FLOAT", "DOUBLE"):
        value = exp.Order(this=value, expressions=[exp.Ordered(this=column("ts"), nulls_first=False)])
    return w.call("sum" if name in ("time_sum", "time_known", "wide_sum") else name, value)
