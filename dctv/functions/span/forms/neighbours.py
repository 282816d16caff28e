"""Operators that look at a span or event and the one before or after it, as queries: gaps, runs, cuts, sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from dctv.contracts.span_operator import Input
from dctv.functions.span.forms.inputs import events, intervals, place_of, spans, values
from dctv.functions.span.forms.meeting import finished
from dctv.functions.span.forms.steps import LAST, keys, lasting
from dctv.plan import sql as w
from dctv.plan.sql import column
from dctv.types.schema import Schema


def check(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return the rows as they are; those that claim an order end with their number. Events of one time keep theirs."""
    (source,) = inputs
    count, times = options["partitions"], 1 if options["events"] else 2
    own = values(source, times + count, "a")
    read = events if options["events"] else spans if options["disjoint"] else intervals
    rows = read(source, count, None, "a")
    if options["sorted"]:
        kept = [*["end"][: times - 1], *keys(count), *own, *["row"][: 2 - times]]
        earlier = w.over(w.call("max", column("ts")), (), [column(own[-1])], before=True)
        looked = w.select("ts", *kept, w.aliased(earlier, "earlier"), source=rows)
        place = place_of(keys(count), source.columns[times : times + count])
        late = w.error("the rows are not in order of time: ", column("ts"), *place, " comes after ", column("earlier"))
        fine = w.case((w.greater(column("earlier"), column("ts")), late), default=column("ts"))
        rows = w.select(w.aliased(fine, "ts"), *kept, source=looked)
    lengths = [w.minus(column("end"), column("ts"))][: times - 1]
    found = [column("ts"), *lengths, *w.columns([*keys(count), *own])]
    query = w.select(*w.named(found[: len(options["names"])], options["names"]), source=rows, alias="rows")
    if options["events"]:
        query.order_by(*w.ascending(*w.columns(["ts", "row"], "rows")).expressions, copy=False)
    # As conditions, since a column that nobody reads is not computed.
    return w.where(query, *(w.known(column(c)) for c in ("ts", "end")[:times]))


def fill_gaps(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return gaps before each span, gaps after the last of a partition, maybe the spans."""
    (source,) = inputs
    count, names = options["partitions"], keys(options["partitions"])
    payload = values(source, 2 + count, "a")
    before = w.over(w.call("lag", column("end")), w.columns(names), [column("ts")])
    latest = w.aliased(w.call("max", column("end")), "after")
    nothing = w.aliased(w.cast(w.NULL.copy(), "BIGINT"), "before")
    free = w.both(
        w.select(*names, w.aliased(before, "after"), w.aliased(column("ts"), "before"), source="spans"),
        w.grouped(w.select(*names, latest, nothing, source="spans"), names),
    )
    edges = {"start": w.call("min", column("ts")), "stop": w.call("max", column("end"))}
    given = {k: e if options[k] is None else w.call("coalesce", w.whole(options[k]), e) for k, e in edges.items()}
    limits = w.select(*w.named(given.values(), given), source="spans")
    # The greatest and the least of some values pass over NULL.
    begin = w.call("greatest", column("after"), column("start"))
    end = w.least(column("before"), column("stop"))
    empty = w.named([w.NULL.copy() for _ in payload], payload)
    gaps: exp.Select = w.select(w.aliased(begin, "ts"), w.aliased(end, "end"), *names, *empty, source=free)
    gaps = w.join(gaps, "limits", "within", [])
    parts: list[exp.Query] = [w.where(w.select(exp.Star(), source=gaps), w.greater(column("end"), column("ts")))]
    if options["keep"]:
        parts.append(w.select("ts", "end", *names, *payload, source="spans"))
    steps = [("spans", spans(source, count, "span", "a")), ("limits", limits)]
    return w.with_steps(finished(w.both(*parts), count, payload, options["names"]), steps)


def merge_adjacent(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return runs of spans, numbered by counting where one begins."""
    (source,) = inputs
    count, names = options["partitions"], keys(options["partitions"])
    payload = values(source, 2 + count, "a")
    lags = [w.over(w.call("lag", column(c)), w.columns(names), [column("ts")]) for c in ("end", *payload)]
    lagged = [f"before {c}" for c in ("ts", *payload)]
    looked = w.select("ts", "end", *names, *payload, *w.named(lags, lagged), source=spans(source, count, "span", "a"))
    pairs = zip(lagged, ("ts", *payload), strict=True)
    differs = w.any_of(exp.NullSafeNEQ(this=column(a), expression=column(b)) for a, b in pairs)
    runs = _in_runs(looked, differs, ["ts", "end", *names, *payload], names)
    # All payload of a run is equal; the first is the one that the sweep takes.
    first = [w.call("arg_min_null", column(c), column("ts")) for c in payload]
    made = [w.call("min", column("ts")), w.call("max", column("end")), *first]
    merged = w.select(*names, *w.named(made, ["ts", "end", *payload]), source=runs)
    return finished(w.grouped(merged, [*names, "run"]), count, payload, options["names"])


def _in_runs(rows: exp.Query, begins: exp.Expr, kept: Sequence[str], names: Sequence[str]) -> exp.Select:
    """Number the runs of each partition, given where one begins; what is of one time is of one run."""
    new = w.case((begins, w.number(1)), default=w.number(0))
    marked = w.select(*kept, w.aliased(new, "new"), source=rows)
    run = w.over(w.call("sum", column("new")), w.columns(names), [column("ts")])
    return w.select(*kept, w.aliased(run, "run"), source=marked)


def truncate(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return spans that end where the next begins; the last column of the input is the number of the row."""
    (source,) = inputs
    count, names = options["partitions"], keys(options["partitions"])
    *payload, row = values(source, 2 + count, "a")
    after = w.over(w.call("lead", column("ts")), w.columns(names), w.columns(["ts", row]))
    end = w.aliased(w.least(column("end"), column("after")), "end")
    rows = intervals(source, count, "span", "a")
    looked = w.select("ts", "end", *names, *payload, w.aliased(after, "after"), source=rows)
    cut = w.select("ts", end, *names, *payload, source=looked)
    query = finished(cut, count, payload, options["names"])
    return w.where(query, w.greater(column("end"), column("ts")))


def sessions(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return runs of events that are near each other, with their number."""
    count, names = options["partitions"], keys(options["partitions"])
    before = w.over(w.call("lag", column("ts")), w.columns(names), w.columns(["ts", "row"]))
    rows = w.select("ts", "row", *names, w.aliased(before, "before"), source=events(inputs[0], count, "event", "a"))
    apart = w.minus(w.cast(column("ts"), "HUGEINT"), column("before"))
    begins = w.any_of([w.is_null(column("before")), w.greater(apart, w.whole(options["gap"]))])
    runs = _in_runs(rows, begins, ["ts", *names], names)
    made = [w.call("min", column("ts")), w.call("max", column("ts")), w.call("count", exp.Star())]
    whole = w.grouped(w.select(*names, *w.named(made, ["ts", "last", "events"]), source=runs), [*names, "run"])
    endless = w.error("a session at the end of time has no end")
    next_ = w.plus(column("ts"), w.number(1))
    end = w.case((w.equal(column("ts"), LAST.copy()), endless), default=w.call("greatest", column("last"), next_))
    ended = w.select("ts", w.aliased(end, "end"), *names, "events", source=whole)
    times = [column("ts"), column("end")]
    span = lasting(*times, "span from ", times[0].copy(), " to ", times[1].copy(), " is longer than a duration can say")
    found = [column("ts"), span, *w.columns([*names, "events"])]
    return w.select(*w.named(found, options["names"]), source=ended)


def label_events(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return events with the last label up to them; both inputs end with the number of the row."""
    count = options["partitions"]
    own = 0 if options["broadcast"] else count
    *payload, row = values(inputs[0], 1 + count, "a")
    *marks, place = values(inputs[1], 1 + own, "b")
    # Of labels at one time the last counts.
    after = w.over(w.call("lead", column("ts")), w.columns(keys(own)), w.columns(["ts", place]))
    labels = events(inputs[1], own, "label", "b")
    followed = w.select("ts", *keys(own), *marks, w.aliased(after, "after"), source=labels)
    last = exp.NullSafeNEQ(this=column("after"), expression=column("ts"))
    steps: list[tuple[str, exp.Query]] = [
        ("events", events(inputs[0], count, "event", "a")),
        ("labels", w.where(w.select("ts", *keys(own), *marks, source=followed), last)),
    ]
    found = [*w.columns(["ts", *keys(count), *payload], "x"), *w.columns(marks, "y")]
    query = w.select(*w.named(found, options["names"]), source="events", alias="x")
    on = [*w.agree(keys(own), "x", "y"), w.at_least(column("ts", "x"), column("ts", "y"))]
    w.join(query, "labels", "y", on, "ASOF LEFT")
    order = w.ascending(*w.columns(["ts", row], "x"))
    return w.with_steps(query.order_by(*order.expressions, copy=False), steps)
