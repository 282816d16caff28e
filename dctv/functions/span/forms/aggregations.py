"""Aggregates of span groups and departitions as queries: grouped pieces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dctv.contracts.span_operator import Input
from dctv.functions.span.forms import departition as departitions
from dctv.functions.span.forms import groups
from dctv.functions.span.forms.steps import keys
from dctv.plan import build as w
from dctv.plan.expressions import Call, Cast, Column, Expression, Star
from dctv.plan.node import Query
from dctv.record import replace
from dctv.types.schema import Schema
from dctv.types.values import is_integer

_RUNNING = ("sum", "count", "min", "max")
"""Aggregates of integers that a departition computes without its pieces."""


def span_aggregation(inputs: Sequence[Input], options: Mapping[str, Any], schema: Schema) -> Query:
    """Return one row per group and partition, with aggregates over its pieces."""
    grouped, grouper, *_required = inputs
    count, of_events = options["partitions"], options["events"]
    head = [*(f"g{number}" for number in range(len(grouper.columns))), *keys(count)]
    values = [f"v{number}" for number in range(len(grouped.columns) - count - (1 if of_events else 2))]
    names = ["group", *head, "present", "ts", *([] if of_events else ["duration"]), *values]
    cut = {"events": of_events, "partitions": count, "names": names}
    pieces = groups.span_group(inputs, cut, schema)
    types = [c.type for c in grouped.schema.columns[len(grouped.columns) - len(values) :]]
    made = [*w.columns(head), *_calls(options, types, Column("present"))]
    return _grouped(pieces, ["group", *head], made, options["names"])


def departition(inputs: Sequence[Input], options: Mapping[str, Any], schema: Schema) -> Query:
    """Return one row per stretch, with aggregates of the spans that cover it."""
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
    made = [*w.columns(head), *_calls(options, types)]
    return _grouped(pieces, ["interval", *head], made, options["names"])


def _grouped(pieces: Query, keys: Sequence[str], made: Sequence[Expression], names: Sequence[str]) -> Query:
    items = w.named(made, names)
    return w.grouped(w.select(*items, source=pieces), keys)


def _calls(options: Mapping[str, Any], types: Sequence[str], only: Expression | None = None) -> list[Expression]:
    """Return the aggregates over pieces with columns `ts`, `duration`, `v0`..., with the types of the sweep's."""
    found: list[Expression] = []
    for name, at in options["aggregates"]:
        own = types[at] if isinstance(at, int) else "BIGINT"
        kind = own if name in ("min", "max", "first", "last") else _result(name, real=own in ("FLOAT", "DOUBLE"))
        found.append(Cast(replace(_call(name, at, kind), filter=only), kind))
    return found


def _result(name: str, *, real: bool) -> str:
    """Return the type of the computation."""
    if name == "avg" or (real and name in ("sum", "wide_sum", "time_sum")):
        return "DOUBLE"
    return "BIGINT" if name in ("count", "sum") else "DECIMAL(38, 0)"


def _call(name: str, at: int | str | None, kind: str) -> Call:
    """Write one aggregate; if the order of the pieces matters, it is by time."""
    if at is None:
        return w.call("count", Star())
    value: Expression = Column(f"v{at}" if isinstance(at, int) else at.removeprefix("_"))
    if name == "time_sum":
        value = (w.times if kind == "DOUBLE" else w.wide_product)(value, Column("duration"))
    elif name == "time_known":
        value = w.case((w.is_not_null(value), Column("duration")))
    function = "sum" if name in ("time_sum", "time_known", "wide_sum") else name
    in_order = name in ("first", "last") or kind in ("FLOAT", "DOUBLE")
    return Call(function, (value,), order_by=w.by_names(["ts"] if in_order else []))
