"""Operators over spans that may overlap, as queries: lanes, the innermost span, how many are open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from dctv.contracts.span_operator import Input
from dctv.functions.span.forms.inputs import intervals, values
from dctv.functions.span.forms.meeting import finished
from dctv.functions.span.forms.steps import keys
from dctv.plan import sql as w
from dctv.plan.sql import column, identifier
from dctv.types.schema import Schema


def _numbered(source: Input, count: int) -> exp.Select:
    """Return all columns of the spans, and `part`, a number for each partition."""
    own = ["ts", "end", *keys(count), *values(source, 2 + count, "a")]
    part = w.over(w.call("dense_rank"), (), w.columns(keys(count))) if count else w.number(1)
    return w.select(*own, w.aliased(part, "part"), source=intervals(source, count, "span", "a"))


def lanes(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return spans with lanes; a lane depends on all lanes before it, so that there is a step for each row."""
    (source,) = inputs
    count, one = options["partitions"], w.number(1)
    *payload, row = values(source, 2 + count, "a")
    place = w.over(w.call("row_number"), [column("part")], w.columns(["ts", row]))
    rows = w.select(exp.Star(), w.aliased(place, "n"), source=_numbered(source, count))
    first = w.select("part", "n", w.aliased(w.whole(0), "lane"), source="rows", alias="s")
    first = first.select(w.aliased(w.call("list_value", column("end", "s")), "busy"), copy=False)
    w.where(first, w.equal(column("n", "s"), one.copy()))
    # What is free ends no later than the row begins; without such a lane there is a new one.
    busy = column("busy", "r")
    free = exp.Lambda(this=w.at_least(column("ts", "s"), column("e")), expressions=[identifier("e")])
    lowest = w.call("list_position", w.call("list_transform", busy, free), exp.true())
    found = w.call("coalesce", lowest, w.plus(w.call("len", busy.copy()), one.copy()))
    before = w.call("list_slice", busy.copy(), one.copy(), w.minus(found.copy(), one.copy()))
    after = w.call("list_slice", busy.copy(), w.plus(found.copy(), one.copy()), w.call("len", busy.copy()))
    now = w.call("list_concat", w.call("list_append", before, column("end", "s")), after)
    lane = w.cast(w.minus(found, one.copy()), "BIGINT")
    next_ = w.select(*w.columns(["part", "n"], "s"), lane, now, source="rows", alias="s")
    previous = w.plus(column("n", "r"), one.copy())
    w.join(next_, "run", "r", [*w.agree(["part"], "s", "r"), w.equal(column("n", "s"), previous)])
    made = w.select("ts", "end", *keys(count), *payload, column("lane", "r"), source="rows", alias="s")
    w.join(made, "run", "r", w.agree(["part", "n"], "s", "r"))
    query = finished(made, count, ["lane", *payload], options["names"])
    return w.with_steps(query, [("rows", rows), ("run", w.both(first, next_))], recursive="run")


def flatten(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return the innermost span of each stretch between boundaries; equal neighbours are one."""
    (source,) = inputs
    count, names = options["partitions"], keys(options["partitions"])
    *payload, row = values(source, 2 + count, "a")
    order = [w.descending(column("ts", "s")), *w.columns(["end", row], "s")]
    rank = w.over(w.call("row_number"), w.columns(["part", "t"], "c"), order)
    covered = w.select(*w.columns(["part", "t", "next"], "c"), w.aliased(rank, "rank"), source="cuts", alias="c")
    covered = covered.select(*w.columns([*names, *payload, row], "s"), copy=False)
    on = [w.at_least(column("t", "c"), column("ts", "s")), w.at_least(column("end", "s"), column("next", "c"))]
    w.join(covered, "rows", "s", [*w.agree(["part"], "s", "c"), *on])
    inner = w.where(w.select(exp.Star(), source=covered), w.equal(column("rank"), w.number(1)))
    in_part = ([column("part")], [column("t")])
    lags = [w.aliased(w.over(w.call("lag", column(c)), *in_part), f"before {c}") for c in ("next", row)]
    looked = w.select(exp.Star(), *lags, source=inner)
    pairs = (("before next", "t"), (f"before {row}", row))
    differs = w.any_of(exp.NullSafeNEQ(this=column(a), expression=column(b)) for a, b in pairs)
    new = w.case((differs, w.number(1)), default=w.number(0))
    marked = w.select(exp.Star(), w.aliased(new, "new"), source=looked)
    runs = w.select(exp.Star(), w.aliased(w.over(w.call("sum", column("new")), *in_part), "run"), source=marked)
    # All rows of a run are the same one.
    handed = [w.call("any_value", column(c)) for c in (*names, *payload)]
    made = [w.call("min", column("t")), w.call("max", column("next")), *handed]
    merged = w.select(*w.named(made, ["ts", "end", *names, *payload]), source=runs)
    query = finished(w.grouped(merged, ["part", "run"]), count, payload, options["names"])
    return w.with_steps(query, [("rows", _numbered(source, count)), ("cuts", _cuts())])


def _cuts() -> exp.Select:
    """Return the stretches between the boundaries of each partition."""
    ends = [w.select("part", w.aliased(column(c), "t"), source="rows") for c in ("ts", "end")]
    bounds = exp.Union(this=ends[0], expression=ends[1], distinct=True)
    following = w.over(w.call("lead", column("t")), [column("part")], [column("t")])
    cuts = w.select("part", "t", w.aliased(following, "next"), source=bounds)
    return w.where(w.select("part", "t", "next", source=cuts), w.known(column("next")))


def concurrency(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return at each boundary the sum of what began and ended until then."""
    (source,) = inputs
    count, names = options["partitions"], keys(options["partitions"])
    steps = [
        w.select("part", *w.named([column(c), w.whole(change)], ["t", "step"]), source="rows")
        for c, change in (("ts", 1), ("end", -1))
    ]
    step = w.aliased(w.call("sum", column("step")), "step")
    changes = w.grouped(w.select("part", "t", step, source=w.both(*steps)), ["part", "t"])
    if options["merge"]:
        changes = w.select("part", "t", "step", source=changes)
        w.where(changes, exp.NEQ(this=column("step"), expression=w.number(0)))
    in_part = ([column("part")], [column("t")])
    number = w.cast(w.over(w.call("sum", column("step")), *in_part), "BIGINT")
    following = w.over(w.call("lead", column("t")), *in_part)
    counted = w.select("part", "t", *w.named([number, following], ["open", "next"]), source=changes)
    spans = options["result"] == "spans"
    lengths = [w.minus(column("next", "c"), column("t", "c"))] if spans else []
    found = [column("t", "c"), *lengths, *w.columns(names, "k"), column("open", "c")]
    query = w.select(*w.named(found, options["names"]), source=counted, alias="c")
    w.join(query, "parts", "k", w.agree(["part"], "k", "c"))
    if spans:
        w.where(query, w.known(column("next", "c")))
        if not options["idle"]:
            w.where(query, w.greater(column("open", "c"), w.number(0)))
    parts = w.grouped(w.select("part", *names, source="rows"), ["part", *names])
    return w.with_steps(query, [("rows", _numbered(source, count)), ("parts", parts)])
