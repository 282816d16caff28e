"""Cells of spans that are shorter than a step, as a query."""

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

_CELL = ("long", "cell")


def zoom(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return each long span, and of the short ones of each step what they come to, with the payload of the longest."""
    (source,) = inputs
    count, names = options["partitions"], keys(options["partitions"])
    payload, step = values(source, 2 + count, "a"), w.whole(options["step"])
    length = w.minus(column("end"), column("ts"))
    looked = w.select("ts", "end", *names, *payload, source=spans(source, count, "span", "a"))
    if options["start"] is not None:
        w.where(looked, w.greater(column("end"), w.whole(options["start"])))
    if options["stop"] is not None:
        w.where(looked, w.greater(w.whole(options["stop"]), column("ts")))
    long = w.at_least(length, step)
    # The remainder of a negative time is negative, and the first step may begin before the first time of all.
    within = exp.Mod(this=w.cast(column("ts"), "HUGEINT"), expression=step.copy())
    within = exp.Mod(this=exp.Paren(this=w.plus(exp.Paren(this=within), step.copy())), expression=step.copy())
    begin = w.minus(w.cast(column("ts"), "HUGEINT"), exp.Paren(this=within))
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
