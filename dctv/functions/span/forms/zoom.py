"""Merge spans that are shorter than a step, and values that change within one, as queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dctv.contracts.span_operator import Input
from dctv.functions.span.forms.inputs import spans, values
from dctv.functions.span.forms.meeting import finished
from dctv.functions.span.forms.steps import keys
from dctv.plan import build as w
from dctv.plan.expressions import TRUE, Binary, Call, Cast, Column, Expression, Star
from dctv.plan.node import Query
from dctv.plan.queries import Item, Select
from dctv.types.schema import Schema
from dctv.types.values import is_integer

_CELL = ("long", "cell")


def _visible(source: Input, options: Mapping[str, Any]) -> Select:
    """Return the spans that intersect the time range."""
    count = options["partitions"]
    own = ["ts", "end", *keys(count), *values(source, 2 + count, "a")]
    looked = w.select(*own, source=spans(source, count, "span", "a"))
    if options["start"] is not None:
        looked = w.where(looked, w.greater(Column("end"), w.int64(options["start"])))
    if options["stop"] is not None:
        looked = w.where(looked, w.greater(w.int64(options["stop"]), Column("ts")))
    return looked


def _within(time: Expression, step: int) -> Expression:
    """Return the offset of a time within its step."""
    # The remainder of a negative time is negative.
    within = Binary("%", Cast(time, "HUGEINT"), w.int64(step))
    return Binary("%", w.plus(within, w.int64(step)), w.int64(step))


def zoom(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> Query:
    """Return each long span, and the aggregated short ones of each step, with the payload of the longest."""
    (source,) = inputs
    count, names = options["partitions"], keys(options["partitions"])
    payload, step = values(source, 2 + count, "a"), options["step"]
    length = w.minus(Column("end"), Column("ts"))
    looked = _visible(source, options)
    long = w.at_least(length, w.int64(step))
    # The first step may begin before the minimum time.
    begin = w.minus(Cast(Column("ts"), "HUGEINT"), _within(Column("ts"), step))
    cell = w.case((long, Cast(Column("ts"), "HUGEINT")), default=begin)
    marked = w.select(w.STAR, *w.named([long, cell, length], [*_CELL, "length"]), source=looked)
    own = w.columns([*names, *_CELL])
    rank = w.over(w.call("row_number"), own, [w.descending(Column("length")), Column("ts")])
    ranked = w.select(w.STAR, Item(rank, "rank"), source=marked)
    first = w.equal(Column("rank"), w.number(1))
    handed = [w.call("any_value", w.case((first, Column(one)))) for one in payload]
    made = {
        "ts": w.call("min", Column("ts")),
        "end": w.call("max", Column("end")),
        "count": w.call("count", Star()),
        "total": Cast(w.call("sum", Column("length")), "BIGINT"),
        "longest": w.call("max", Column("length")),
        **dict(zip(payload, handed, strict=True)),
    }
    cells = w.grouped(w.select(*names, *w.named(made.values(), made), source=ranked), [*names, *_CELL])
    return finished(cells, count, ["count", "total", "longest", *payload], options["names"])


def zoom_counter(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> Query:
    """Return aggregates of span parts that lie within one step, and the runs of whole steps within one span."""
    (source,) = inputs
    count = options["partitions"]
    names, value = keys(count), values(source, 2 + count, "a")[0]
    cell = w.minus(Column("ts"), _within(Column("ts"), options["step"]))
    parts = w.select(w.STAR, Item(cell, "cell"), source=_parts([*names, value]))
    parts = w.where(parts, w.greater(Column("end"), Column("ts")))
    made = {
        "ts": Cast(w.call("min", Column("ts")), "BIGINT"),
        "end": Cast(w.call("max", Column("end")), "BIGINT"),
        "least": w.call("min", Column(value)),
        "most": w.call("max", Column(value)),
        "last": w.call("arg_max", Column(value), Column("ts")),
        "mean": _mean(value, source.schema.columns[-1].type),
    }
    cells = w.grouped(w.select(*names, *w.named(made.values(), made), source=parts), [*names, "cell"])
    query = finished(cells, count, ["least", "most", "last", "mean"], options["names"])
    return w.with_steps(query, [("cut", _cut(source, options))])


def _cut(source: Input, options: Mapping[str, Any]) -> Select:
    """Return spans clipped to the range, with the first and the last step boundary within each."""
    count, step = options["partitions"], options["step"]
    ts: Expression = Column("ts")
    end: Expression = Column("end")
    if options["start"] is not None:
        ts = w.call("greatest", ts, w.int64(options["start"]))
    if options["stop"] is not None:
        end = w.least(end, w.int64(options["stop"]))
    # Steps may begin before the minimum time, or after the maximum.
    own = w.named([Cast(ts, "HUGEINT"), Cast(end, "HUGEINT")], ["ts", "end"])
    clipped = w.select(*own, *keys(count), *values(source, 2 + count, "a"), source=_visible(source, options))
    late = _within(Column("ts"), step)
    next_ = w.plus(Column("ts"), w.minus(w.int64(step), late))
    begin = w.case((w.equal(late, w.number(0)), Column("ts")), default=next_)
    stop = w.minus(Column("end"), _within(Column("end"), step))
    return w.select(w.STAR, *w.named([begin, stop], ["begin", "stop"]), source=clipped)


def _parts(names: Sequence[str]) -> Query:
    """Return the parts of each span before its first whole step, in whole ones, and after them; some are empty."""
    crosses = w.at_least(Column("stop"), Column("begin"))
    first = w.least(Column("begin"), Column("end"))
    parts = [("ts", first, TRUE), ("begin", Column("stop"), crosses), ("stop", Column("end"), crosses)]
    return w.union_all(
        *(
            w.where(w.select(*w.named([Column(start), end], ["ts", "end"]), *names, source="cut"), test)
            for start, end, test in parts
        )
    )


def _mean(value: str, kind: str) -> Expression:
    """Return the mean of a value over time, as the sweep rounds it."""
    length = w.minus(Column("end"), Column("ts"))
    covered = w.call("sum", w.case((w.is_not_null(Column(value)), length)))
    if is_integer(kind) and kind not in ("HUGEINT", "UHUGEINT"):
        total = w.call("sum", w.times(Cast(Column(value), "HUGEINT"), length))
    else:
        product = w.times(Cast(Column(value), "DOUBLE"), Cast(length, "DOUBLE"))
        total = Call("sum", (product,), order_by=w.by_names(["ts"]))
    least, most = w.call("min", Column(value)), w.call("max", Column(value))
    mean = Binary("/", Cast(total, "DOUBLE"), Cast(covered, "DOUBLE"))
    return w.case((w.equal(least, most), Cast(least, "DOUBLE")), default=mean)
