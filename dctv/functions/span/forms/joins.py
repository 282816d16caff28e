"""Span joins, broadcasts and event joins as queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from dctv.contracts.span_operator import Input
from dctv.functions.span.forms.inputs import events, spans, values
from dctv.functions.span.forms.meeting import expanded, finished, meet, meet_all, numbered, tiled
from dctv.functions.span.forms.steps import Step, keys
from dctv.plan import sql as w
from dctv.plan.sql import column
from dctv.types.schema import Schema


def span_join(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return the intersections of spans, or time cut at all boundaries: intersections of tilings of time."""
    left, right = inputs
    count, how, broadcast = options["partitions"], options["how"], options["broadcast"]
    mine = 0 if broadcast == "left" else count
    theirs = 0 if broadcast == "right" else count
    a = Step("left", values(left, 2 + mine, "a"))
    b = Step("right", values(right, 2 + theirs, "b"))
    steps: list[tuple[str, exp.Query]] = [
        (a.name, spans(left, mine, "left", "a")),
        (b.name, spans(right, theirs, "right", "b")),
    ]
    wanted: list[exp.Expr] = []
    found_a, found_b = a, b
    if how in ("outer", "right"):
        found_a = Step("left tiles", (*a.values, "in left"))
        steps.append((found_a.name, tiled(a, [] if broadcast else [b], mine, "in left")))
        wanted.append(column("in left"))
    if how in ("outer", "left"):
        found_b = Step("right tiles", (*b.values, "in right"))
        steps.append((found_b.name, tiled(b, [] if broadcast else [a], theirs, "in right")))
        wanted.append(column("in right"))
    if broadcast is None:
        pieces: exp.Query = meet(found_a, found_b, count)
        if how == "outer":
            pieces = w.where(w.select(exp.Star(), source=pieces), exp.or_(*wanted))
    else:
        flat, keyed = (found_a, found_b) if broadcast == "left" else (found_b, found_a)
        steps.append(("flat", numbered(flat)))
        pieces = meet_all(keyed, Step("flat", flat.values), count)
    whole = finished(pieces, count, [*a.values, *b.values], options["names"])
    return w.with_steps(whole, steps)


def event_join(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return events with the values of the span that began last before them, if it has not ended."""
    left, right = inputs
    count, broadcast = options["partitions"], options["broadcast"]
    mine = 0 if broadcast == "left" else count
    theirs = 0 if broadcast == "right" else count
    a = Step("events", values(left, 1 + mine, "a"))
    b = Step("spans", values(right, 2 + theirs, "b"))
    steps: list[tuple[str, exp.Query]] = [
        (a.name, events(left, mine, "event", "a")),
        (b.name, spans(right, theirs, "span", "b")),
    ]
    if broadcast == "left":
        steps += _numbered_events(a)
        found = _events_in_spans(a, b, count)
    else:
        names = keys(count)
        inside = w.greater(column("end", "y"), column("ts", "x"))
        payload: list[exp.Expr] = [w.aliased(w.case((inside, column(v, "y"))), v) for v in b.values]
        own = w.columns(["ts", *names, *a.values, "row"], "x")
        found = w.select(*own, *payload, source=a.name, alias="x")
        on = [*w.agree(names if theirs else (), "x", "y")]
        on.append(exp.GTE(this=column("ts", "x"), expression=column("ts", "y")))
        found = w.join(found, b.name, "y", on, "ASOF LEFT" if options["how"] == "left" else "ASOF")
        if options["how"] == "inner":
            found = w.where(found, inside.copy())
    made = ["ts", *keys(count), *a.values, *b.values]
    items = [w.aliased(column(c, "found"), n) for c, n in zip(made, options["names"], strict=True)]
    # Events of equal time stay in their order, as in the sweep.
    order = [exp.Ordered(this=c, nulls_first=False) for c in w.columns(["ts", "row", *keys(count)], "found")]
    return w.with_steps(w.select(*items, source=found, alias="found").order_by(*order, copy=False), steps)


def _numbered_events(a: Step) -> list[tuple[str, exp.Query]]:
    """Number events in order of time; `steps` says how many there are up to a time."""
    row = w.over(w.call("row_number"), (), [column("ts"), column("row")])
    each = w.select(w.aliased(row, "n"), "ts", "row", *a.values, source=a.name)
    upto = w.select("ts", w.aliased(w.call("max", column("n")), "n"), source="numbered")
    return [("numbered", each), ("steps", w.grouped(upto, ["ts"]))]


def _events_in_spans(a: Step, b: Step, partitions: int) -> exp.Select:
    """Meet every event with each span that covers it."""
    own = [*keys(partitions), *b.values]
    before, until = (w.call("coalesce", column("n", s), w.number(0)) for s in ("f", "g"))
    ranged = w.select(
        *w.columns(own, "x"),
        w.aliased(w.plus(before, w.number(1)), "first"),
        w.aliased(until, "last"),
        source=b.name,
        alias="x",
    )
    for alias, bound in (("f", "ts"), ("g", "end")):
        on = [w.greater(column(bound, "x"), column("ts", alias))]
        ranged = w.join(ranged, "steps", alias, on, "ASOF LEFT")
    each = expanded(ranged, own, "first", "last")
    query = w.select(*w.columns(["ts", "row", *a.values], "y"), *w.columns(own, "x"), source=each, alias="x")
    return w.join(query, "numbered", "y", [exp.EQ(this=column("n", "x"), expression=column("n", "y"))])
