"""Cells of spans that are shorter than a step, and of values that change within one, as queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from dctv.contracts.span_operator import Input
from dctv.functions.span.forms.inputs import spans, values
from dctv.functions.span.forms.meeting import finished
from dctv.functions.span.forms.steps import keys
from dctv.plan import sql as w
from dctv.plan.sql import column
from dctv.types.schema import Schema
from dctv.types.values import is_integer

_CELL = ("long", "cell")


def _looked(source: Input, options: Mapping[str, Any]) -> exp.Select:
    """Return the spans that reach into the time range."""
    count = options["partitions"]
    own = ["ts", "end", *keys(count), *values(source, 2 + count, "a")]
    looked = w.select(*own, source=spans(source, count, "span", "a"))
    if options["start"] is not None:
        w.where(looked, w.greater(column("end"), w.whole(options["start"])))
    if options["stop"] is not None:
        w.where(looked, w.greater(w.whole(options["stop"]), column("ts")))
    return looked


def _within(time: exp.Expr, step: int) -> exp.Expr:
    """Return how long after the begin of its step a time is."""
    # The remainder of a negative time is negative.
    within = exp.Mod(this=w.cast(time, "HUGEINT"), expression=w.whole(step))
    return exp.Paren(
        this=exp.Mod(this=exp.Paren(this=w.plus(exp.Paren(this=within), w.whole(step))), expression=w.whole(step))
    )


def zoom(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return each long span, and of the short ones of each step what they come to, with the payload of the longest."""
    (source,) = inputs
    count, names = options["partitions"], keys(options["partitions"])
    payload, step = values(source, 2 + count, "a"), options["step"]
    length = w.minus(column("end"), column("ts"))
    looked = _looked(source, options)
    long = w.at_least(length, w.whole(step))
    # The first step may begin before the first time of all.
    begin = w.minus(w.cast(column("ts"), "HUGEINT"), _within(column("ts"), step))
    cell = w.case((long.copy(), w.cast(column("ts"), "HUGEINT")), default=begin)
    marked = w.select(exp.Star(), *w.named([long, cell, length.copy()], [*_CELL, "length"]), source=looked)
    own = w.columns([*names, *_CELL])
    rank = w.over(w.call("row_number"), own, [w.descending(column("length")), column("ts")])
    ranked = w.select(exp.Star(), w.aliased(rank, "rank"), source=marked)
    first = w.equal(column("rank"), w.number(1))
    handed = [w.call("any_value", w.case((first.copy(), column(one)))) for one in payload]
    made = {
        "ts": w.call("min", column("ts")),
        "end": w.call("max", column("end")),
        "count": w.call("count", exp.Star()),
        "total": w.cast(w.call("sum", column("length")), "BIGINT"),
        "longest": w.call("max", column("length")),
        **dict(zip(payload, handed, strict=True)),
    }
    cells = w.grouped(w.select(*names, *w.named(made.values(), made), source=ranked), [*names, *_CELL])
    return finished(cells, count, ["count", "total", "longest", *payload], options["names"])


def zoom_counter(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return what the parts of spans that lie within one step come to, and the runs of steps within one span."""
    (source,) = inputs
    count = options["partitions"]
    names, value = keys(count), values(source, 2 + count, "a")[0]
    cell = w.minus(column("ts"), _within(column("ts"), options["step"]))
    parts = w.select(exp.Star(), w.aliased(cell, "cell"), source=_parts([*names, value]))
    w.where(parts, w.greater(column("end"), column("ts")))
    made = {
        "ts": w.cast(w.call("min", column("ts")), "BIGINT"),
        "end": w.cast(w.call("max", column("end")), "BIGINT"),
        "least": w.call("min", column(value)),
        "most": w.call("max", column(value)),
        "last": w.call("arg_max", column(value), column("ts")),
        "mean": _mean(value, source.schema.columns[-1].type),
    }
    cells = w.grouped(w.select(*names, *w.named(made.values(), made), source=parts), [*names, "cell"])
    query = finished(cells, count, ["least", "most", "last", "mean"], options["names"])
    return w.with_steps(query, [("cut", _cut(source, options))])


def _cut(source: Input, options: Mapping[str, Any]) -> exp.Select:
    """Return spans within the range, and of each where the first step begins in it and the last one up to its end."""
    count, step = options["partitions"], options["step"]
    ts: exp.Expr = column("ts")
    end: exp.Expr = column("end")
    if options["start"] is not None:
        ts = w.call("greatest", ts, w.whole(options["start"]))
    if options["stop"] is not None:
        end = w.least(end, w.whole(options["stop"]))
    # Steps may begin before the first time of all, or after the last one.
    own = w.named([w.cast(ts, "HUGEINT"), w.cast(end, "HUGEINT")], ["ts", "end"])
    clipped = w.select(*own, *keys(count), *values(source, 2 + count, "a"), source=_looked(source, options))
    late = _within(column("ts"), step)
    next_ = w.plus(column("ts"), w.minus(w.whole(step), late.copy()))
    begin = w.case((w.equal(late, w.number(0)), column("ts")), default=next_)
    stop = w.minus(column("end"), _within(column("end"), step))
    return w.select(exp.Star(), *w.named([begin, stop], ["begin", "stop"]), source=clipped)


def _parts(names: Sequence[str]) -> exp.Query:
    """Return what of each span lies before its first whole step, in whole ones, and after them; some of it is empty."""
    crosses = w.at_least(column("stop"), column("begin"))
    first = w.least(column("begin"), column("end"))
    parts = [("ts", first, exp.true()), ("begin", column("stop"), crosses), ("stop", column("end"), crosses.copy())]
    return w.both(
        *(
            w.where(w.select(*w.named([column(start), end], ["ts", "end"]), *names, source="cut"), test)
            for start, end, test in parts
        )
    )


def _mean(value: str, kind: str) -> exp.Expr:
    """Return the mean of a value over time, as the sweep rounds it."""
    length = w.minus(column("end"), column("ts"))
    known = w.call("sum", w.case((w.known(column(value)), length)))
    if is_integer(kind) and kind not in ("HUGEINT", "UHUGEINT"):
        total = w.call("sum", exp.Mul(this=w.cast(column(value), "HUGEINT"), expression=length.copy()))
    else:
        product = exp.Mul(this=w.cast(column(value), "DOUBLE"), expression=w.cast(length.copy(), "DOUBLE"))
        total = w.call("sum", exp.Order(this=product, expressions=[exp.Ordered(this=column("ts"), nulls_first=False)]))
    least, most = w.call("min", column(value)), w.call("max", column(value))
    mean = exp.Div(this=w.cast(total, "DOUBLE"), expression=w.cast(known, "DOUBLE"))
    return w.case((w.equal(least, most), w.cast(least.copy(), "DOUBLE")), default=mean)
