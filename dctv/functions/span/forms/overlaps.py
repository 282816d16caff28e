"""Operators on spans that may overlap, as queries: lanes, the innermost span, the number of open spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dctv.contracts.span_operator import Input
from dctv.functions.span.forms.inputs import intervals, values
from dctv.functions.span.forms.meeting import finished
from dctv.functions.span.forms.steps import keys
from dctv.plan import build as w
from dctv.plan.expressions import TRUE, Binary, Cast, Column, Lambda
from dctv.plan.node import Query
from dctv.plan.queries import Compound, Item, Select
from dctv.types.schema import Schema


def _numbered(source: Input, count: int) -> Select:
    """Return all columns of the spans, and `part`, the number of the partition."""
    own = ["ts", "end", *keys(count), *values(source, 2 + count, "a")]
    part = w.over(w.call("dense_rank"), (), w.columns(keys(count))) if count else w.number(1)
    return w.select(*own, Item(part, "part"), source=intervals(source, count, "span", "a"))


def lanes(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> Query:
    """Return spans with lanes; a lane depends on all earlier lanes, so the recursion has a step per row."""
    (source,) = inputs
    count, one = options["partitions"], w.number(1)
    *payload, row = values(source, 2 + count, "a")
    place = w.over(w.call("row_number"), [Column("part")], w.columns(["ts", row]))
    rows = w.select(w.STAR, Item(place, "n"), source=_numbered(source, count))
    first = w.select("part", "n", Item(w.int64(0), "lane"), source="rows", alias="s")
    first = w.adding(first, Item(w.call("list_value", Column("end", "s")), "busy"))
    first = w.where(first, w.equal(Column("n", "s"), one))
    # A free lane ends no later than the row begins; if there is none, a new one is added.
    busy = Column("busy", "r")
    free = Lambda(("e",), w.at_least(Column("ts", "s"), Column("e")))
    lowest = w.call("list_position", w.call("list_transform", busy, free), TRUE)
    found = w.call("coalesce", lowest, w.plus(w.call("len", busy), one))
    before = w.call("list_slice", busy, one, w.minus(found, one))
    after = w.call("list_slice", busy, w.plus(found, one), w.call("len", busy))
    now = w.call("list_concat", w.call("list_append", before, Column("end", "s")), after)
    lane = Cast(w.minus(found, one), "BIGINT")
    next_ = w.select(*w.columns(["part", "n"], "s"), lane, now, source="rows", alias="s")
    previous = w.plus(Column("n", "r"), one)
    next_ = w.join(next_, "run", "r", [*w.agree(["part"], "s", "r"), w.equal(Column("n", "s"), previous)])
    made = w.select("ts", "end", *keys(count), *payload, Column("lane", "r"), source="rows", alias="s")
    made = w.join(made, "run", "r", w.agree(["part", "n"], "s", "r"))
    query = finished(made, count, ["lane", *payload], options["names"])
    return w.with_steps(query, [("rows", rows), ("run", w.union_all(first, next_))], recursive="run")


def flatten(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> Query:
    """Return the innermost span of each stretch between boundaries; equal neighbours are merged."""
    (source,) = inputs
    count, names = options["partitions"], keys(options["partitions"])
    *payload, row = values(source, 2 + count, "a")
    order = [w.descending(Column("ts", "s")), *w.columns(["end", row], "s")]
    rank = w.over(w.call("row_number"), w.columns(["part", "t"], "c"), order)
    covered = w.select(*w.columns(["part", "t", "next"], "c"), Item(rank, "rank"), source="cuts", alias="c")
    covered = w.adding(covered, *w.columns([*names, *payload, row], "s"))
    on = [w.at_least(Column("t", "c"), Column("ts", "s")), w.at_least(Column("end", "s"), Column("next", "c"))]
    covered = w.join(covered, "rows", "s", [*w.agree(["part"], "s", "c"), *on])
    inner = w.where(w.select(w.STAR, source=covered), w.equal(Column("rank"), w.number(1)))
    in_part = ([Column("part")], [Column("t")])
    lags = [Item(w.over(w.call("lag", Column(c)), *in_part), f"before {c}") for c in ("next", row)]
    looked = w.select(w.STAR, *lags, source=inner)
    pairs = (("before next", "t"), (f"before {row}", row))
    differs = w.any_of(Binary("<!=>", Column(a), Column(b)) for a, b in pairs)
    new = w.case((differs, w.number(1)), default=w.number(0))
    marked = w.select(w.STAR, Item(new, "new"), source=looked)
    runs = w.select(w.STAR, Item(w.over(w.call("sum", Column("new")), *in_part), "run"), source=marked)
    # All rows of a run are the same span.
    handed = [w.call("any_value", Column(c)) for c in (*names, *payload)]
    made = [w.call("min", Column("t")), w.call("max", Column("next")), *handed]
    merged = w.select(*w.named(made, ["ts", "end", *names, *payload]), source=runs)
    query = finished(w.grouped(merged, ["part", "run"]), count, payload, options["names"])
    return w.with_steps(query, [("rows", _numbered(source, count)), ("cuts", _cuts())])


def _cuts() -> Select:
    """Return the stretches between the boundaries of each partition."""
    ends = [w.select("part", Item(Column(c), "t"), source="rows") for c in ("ts", "end")]
    bounds = Compound("UNION", tuple(ends))
    following = w.over(w.call("lead", Column("t")), [Column("part")], [Column("t")])
    cuts = w.select("part", "t", Item(following, "next"), source=bounds)
    return w.where(w.select("part", "t", "next", source=cuts), w.is_not_null(Column("next")))


def concurrency(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> Query:
    """Return at each boundary the running sum of begun minus ended spans."""
    (source,) = inputs
    count, names = options["partitions"], keys(options["partitions"])
    steps = [
        w.select("part", *w.named([Column(c), w.int64(change)], ["t", "step"]), source="rows")
        for c, change in (("ts", 1), ("end", -1))
    ]
    step = Item(w.call("sum", Column("step")), "step")
    changes = w.grouped(w.select("part", "t", step, source=w.union_all(*steps)), ["part", "t"])
    if options["merge"]:
        changes = w.select("part", "t", "step", source=changes)
        changes = w.where(changes, w.unequal(Column("step"), w.number(0)))
    in_part = ([Column("part")], [Column("t")])
    number = Cast(w.over(w.call("sum", Column("step")), *in_part), "BIGINT")
    following = w.over(w.call("lead", Column("t")), *in_part)
    counted = w.select("part", "t", *w.named([number, following], ["open", "next"]), source=changes)
    spans = options["result"] == "spans"
    lengths = [w.minus(Column("next", "c"), Column("t", "c"))] if spans else []
    found = [Column("t", "c"), *lengths, *w.columns(names, "k"), Column("open", "c")]
    query = w.select(*w.named(found, options["names"]), source=counted, alias="c")
    query = w.join(query, "parts", "k", w.agree(["part"], "k", "c"))
    if spans:
        query = w.where(query, w.is_not_null(Column("next", "c")))
        if not options["idle"]:
            query = w.where(query, w.greater(Column("open", "c"), w.number(0)))
    parts = w.grouped(w.select("part", *names, source="rows"), ["part", *names])
    return w.with_steps(query, [("rows", _numbered(source, count)), ("parts", parts)])
