"""Operators on a span or event and its neighbours, as queries: gaps, runs, cuts, sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dctv.contracts.span_operator import Input
from dctv.functions.span.forms.inputs import events, intervals, place_of, spans, values
from dctv.functions.span.forms.meeting import finished
from dctv.functions.span.forms.steps import LAST, keys, lasting
from dctv.plan import build as w
from dctv.plan.expressions import NULL, Binary, Cast, Column, Expression, IsNull, Star
from dctv.plan.node import Query
from dctv.plan.queries import Item, Select
from dctv.types.schema import Schema


def check(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> Query:
    """Return the rows unchanged; inputs that claim an order end with a row number, and keep it at equal times."""
    (source,) = inputs
    count, times = options["partitions"], 1 if options["events"] else 2
    own = values(source, times + count, "a")
    read = events if options["events"] else spans if options["disjoint"] else intervals
    rows = read(source, count, None, "a")
    if options["sorted"]:
        kept = [*["end"][: times - 1], *keys(count), *own, *["row"][: 2 - times]]
        earlier = w.over(w.call("max", Column("ts")), (), [Column(own[-1])], before=True)
        looked = w.select("ts", *kept, Item(earlier, "earlier"), source=rows)
        place = place_of(keys(count), source.columns[times : times + count])
        late = w.error("the rows are not in order of time: ", Column("ts"), *place, " comes after ", Column("earlier"))
        fine = w.case((w.greater(Column("earlier"), Column("ts")), late), default=Column("ts"))
        rows = w.select(Item(fine, "ts"), *kept, source=looked)
    lengths = [w.minus(Column("end"), Column("ts"))][: times - 1]
    found = [Column("ts"), *lengths, *w.columns([*keys(count), *own])]
    query = w.select(*w.named(found[: len(options["names"])], options["names"]), source=rows, alias="rows")
    if options["events"]:
        query = w.sorted_by(query, *w.columns(["ts", "row"], "rows"))
    # In conditions, since the engine skips columns that are not read.
    return w.where(query, *(w.is_not_null(Column(c)) for c in ("ts", "end")[:times]))


def fill_gaps(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> Query:
    """Return gaps before each span and after the last of a partition, optionally with the spans."""
    (source,) = inputs
    count, names = options["partitions"], keys(options["partitions"])
    payload = values(source, 2 + count, "a")
    before = w.over(w.call("lag", Column("end")), w.columns(names), [Column("ts")])
    latest = Item(w.call("max", Column("end")), "after")
    nothing = Item(Cast(NULL, "BIGINT"), "before")
    free = w.union_all(
        w.select(*names, Item(before, "after"), Item(Column("ts"), "before"), source="spans"),
        w.grouped(w.select(*names, latest, nothing, source="spans"), names),
    )
    edges = {"start": w.call("min", Column("ts")), "stop": w.call("max", Column("end"))}
    given = {k: e if options[k] is None else w.call("coalesce", w.int64(options[k]), e) for k, e in edges.items()}
    limits = w.select(*w.named(given.values(), given), source="spans")
    # GREATEST and LEAST ignore NULL.
    begin = w.call("greatest", Column("after"), Column("start"))
    end = w.least(Column("before"), Column("stop"))
    empty = w.named([NULL] * len(payload), payload)
    gaps = w.select(Item(begin, "ts"), Item(end, "end"), *names, *empty, source=free)
    gaps = w.join(gaps, "limits", "within", [])
    parts: list[Query] = [w.where(w.select(w.STAR, source=gaps), w.greater(Column("end"), Column("ts")))]
    if options["keep"]:
        parts.append(w.select("ts", "end", *names, *payload, source="spans"))
    steps = [("spans", spans(source, count, "span", "a")), ("limits", limits)]
    return w.with_steps(finished(w.union_all(*parts), count, payload, options["names"]), steps)


def merge_adjacent(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> Query:
    """Return runs of spans, numbered by counting their beginnings."""
    (source,) = inputs
    count, names = options["partitions"], keys(options["partitions"])
    payload = values(source, 2 + count, "a")
    lags = [w.over(w.call("lag", Column(c)), w.columns(names), [Column("ts")]) for c in ("end", *payload)]
    lagged = [f"before {c}" for c in ("ts", *payload)]
    looked = w.select("ts", "end", *names, *payload, *w.named(lags, lagged), source=spans(source, count, "span", "a"))
    pairs = zip(lagged, ("ts", *payload), strict=True)
    differs = w.any_of(Binary("<!=>", Column(a), Column(b)) for a, b in pairs)
    runs = _in_runs(looked, differs, ["ts", "end", *names, *payload], names)
    # The payload of a run is constant; the sweep takes the first one.
    first = [w.call("arg_min_null", Column(c), Column("ts")) for c in payload]
    made = [w.call("min", Column("ts")), w.call("max", Column("end")), *first]
    merged = w.select(*names, *w.named(made, ["ts", "end", *payload]), source=runs)
    return finished(w.grouped(merged, [*names, "run"]), count, payload, options["names"])


def _in_runs(rows: Query, begins: Expression, kept: Sequence[str], names: Sequence[str]) -> Select:
    """Number the runs of each partition, from the beginnings of runs; simultaneous rows belong to one run."""
    new = w.case((begins, w.number(1)), default=w.number(0))
    marked = w.select(*kept, Item(new, "new"), source=rows)
    run = w.over(w.call("sum", Column("new")), w.columns(names), [Column("ts")])
    return w.select(*kept, Item(run, "run"), source=marked)


def truncate(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> Query:
    """Return spans that end where the next one begins; the last column of the input is the row number."""
    (source,) = inputs
    count, names = options["partitions"], keys(options["partitions"])
    *payload, row = values(source, 2 + count, "a")
    after = w.over(w.call("lead", Column("ts")), w.columns(names), w.columns(["ts", row]))
    end = Item(w.least(Column("end"), Column("after")), "end")
    rows = intervals(source, count, "span", "a")
    looked = w.select("ts", "end", *names, *payload, Item(after, "after"), source=rows)
    cut = w.select("ts", end, *names, *payload, source=looked)
    query = finished(cut, count, payload, options["names"])
    return w.where(query, w.greater(Column("end"), Column("ts")))


def sessions(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> Query:
    """Return runs of events that are close together, with their count."""
    count, names = options["partitions"], keys(options["partitions"])
    before = w.over(w.call("lag", Column("ts")), w.columns(names), w.columns(["ts", "row"]))
    rows = w.select("ts", "row", *names, Item(before, "before"), source=events(inputs[0], count, "event", "a"))
    apart = w.minus(Cast(Column("ts"), "HUGEINT"), Column("before"))
    begins = w.any_of([IsNull(Column("before")), w.greater(apart, w.int64(options["gap"]))])
    runs = _in_runs(rows, begins, ["ts", *names], names)
    made = [w.call("min", Column("ts")), w.call("max", Column("ts")), w.call("count", Star())]
    whole = w.grouped(w.select(*names, *w.named(made, ["ts", "last", "events"]), source=runs), [*names, "run"])
    endless = w.error("a session at the end of time has no end")
    next_ = w.plus(Column("ts"), w.number(1))
    end = w.case((w.equal(Column("ts"), LAST), endless), default=w.call("greatest", Column("last"), next_))
    ended = w.select("ts", Item(end, "end"), *names, "events", source=whole)
    times = [Column("ts"), Column("end")]
    span = lasting(*times, "span from ", times[0], " to ", times[1], " is longer than a duration can say")
    found = [Column("ts"), span, *w.columns([*names, "events"])]
    return w.select(*w.named(found, options["names"]), source=ended)


def label_events(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> Query:
    """Return events with the latest label up to them; both inputs end with a row number."""
    count = options["partitions"]
    own = 0 if options["broadcast"] else count
    *payload, row = values(inputs[0], 1 + count, "a")
    *marks, place = values(inputs[1], 1 + own, "b")
    # Of simultaneous labels, the last one applies.
    after = w.over(w.call("lead", Column("ts")), w.columns(keys(own)), w.columns(["ts", place]))
    labels = events(inputs[1], own, "label", "b")
    followed = w.select("ts", *keys(own), *marks, Item(after, "after"), source=labels)
    last = Binary("<!=>", Column("after"), Column("ts"))
    steps: list[tuple[str, Query]] = [
        ("events", events(inputs[0], count, "event", "a")),
        ("labels", w.where(w.select("ts", *keys(own), *marks, source=followed), last)),
    ]
    found = [*w.columns(["ts", *keys(count), *payload], "x"), *w.columns(marks, "y")]
    query = w.select(*w.named(found, options["names"]), source="events", alias="x")
    on = [*w.agree(keys(own), "x", "y"), w.at_least(Column("ts", "x"), Column("ts", "y"))]
    query = w.join(query, "labels", "y", on, "ASOF LEFT")
    return w.with_steps(w.sorted_by(query, *w.columns(["ts", row], "x")), steps)
