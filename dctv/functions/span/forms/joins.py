"""Span joins, broadcasts and event joins as queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dctv.contracts.span_operator import Input
from dctv.functions.span.forms.inputs import events, spans, values
from dctv.functions.span.forms.meeting import expanded, finished, intersect, intersect_all, numbered, tiled
from dctv.functions.span.forms.steps import FormTable, keys
from dctv.plan import build as w
from dctv.plan.expressions import Column
from dctv.plan.node import Query
from dctv.plan.queries import Item, Select
from dctv.types.schema import Schema


def span_join(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> Query:
    """Return the intersections of spans; for outer joins, the intersections of tilings of time."""
    left, right = inputs
    count, how, broadcast = options["partitions"], options["how"], options["broadcast"]
    mine = 0 if broadcast == "left" else count
    theirs = 0 if broadcast == "right" else count
    a = FormTable("left", values(left, 2 + mine, "a"))
    b = FormTable("right", values(right, 2 + theirs, "b"))
    steps: list[tuple[str, Query]] = [
        (a.name, spans(left, mine, "left", "a")),
        (b.name, spans(right, theirs, "right", "b")),
    ]
    wanted = []
    found_a, found_b = a, b
    if how in ("outer", "right"):
        found_a = FormTable("left tiles", (*a.values, "in left"))
        steps.append((found_a.name, tiled(a, [] if broadcast else [b], mine, "in left")))
        wanted.append(Column("in left"))
    if how in ("outer", "left"):
        found_b = FormTable("right tiles", (*b.values, "in right"))
        steps.append((found_b.name, tiled(b, [] if broadcast else [a], theirs, "in right")))
        wanted.append(Column("in right"))
    if broadcast is None:
        pieces: Query = intersect(found_a, found_b, count)
        if how == "outer":
            pieces = w.where(w.select(w.STAR, source=pieces), w.any_of(wanted))
    else:
        flat, keyed = (found_a, found_b) if broadcast == "left" else (found_b, found_a)
        steps.append(("flat", numbered(flat)))
        pieces = intersect_all(keyed, FormTable("flat", flat.values), count)
    whole = finished(pieces, count, [*a.values, *b.values], options["names"])
    return w.with_steps(whole, steps)


def event_join(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> Query:
    """Return events with the values of the latest span that began before them, if it has not ended."""
    left, right = inputs
    count, broadcast = options["partitions"], options["broadcast"]
    mine = 0 if broadcast == "left" else count
    theirs = 0 if broadcast == "right" else count
    a = FormTable("events", values(left, 1 + mine, "a"))
    b = FormTable("spans", values(right, 2 + theirs, "b"))
    steps: list[tuple[str, Query]] = [
        (a.name, events(left, mine, "event", "a")),
        (b.name, spans(right, theirs, "span", "b")),
    ]
    if broadcast == "left":
        steps += _numbered_events(a)
        found = _events_in_spans(a, b, count)
    else:
        names = keys(count)
        inside = w.greater(Column("end", "y"), Column("ts", "x"))
        payload = [Item(w.case((inside, Column(v, "y"))), v) for v in b.values]
        own = w.columns(["ts", *names, *a.values, "row"], "x")
        found = w.select(*own, *payload, source=a.name, alias="x")
        on = [*w.agree(names if theirs else (), "x", "y")]
        on.append(w.at_least(Column("ts", "x"), Column("ts", "y")))
        found = w.join(found, b.name, "y", on, "ASOF LEFT" if options["how"] == "left" else "ASOF")
        if options["how"] == "inner":
            found = w.where(found, inside)
    made = ["ts", *keys(count), *a.values, *b.values]
    items = [Item(Column(c, "found"), n) for c, n in zip(made, options["names"], strict=True)]
    # Events with equal times keep their order, as in the sweep.
    order = w.columns(["ts", "row", *keys(count)], "found")
    return w.with_steps(w.sorted_by(w.select(*items, source=found, alias="found"), *order), steps)


def _numbered_events(a: FormTable) -> list[tuple[str, Query]]:
    """Number events by time; `steps` has the number of events up to each time."""
    row = w.over(w.call("row_number"), (), [Column("ts"), Column("row")])
    each = w.select(Item(row, "n"), "ts", "row", *a.values, source=a.name)
    upto = w.select("ts", Item(w.call("max", Column("n")), "n"), source="numbered")
    return [("numbered", each), ("steps", w.grouped(upto, ["ts"]))]


def _events_in_spans(a: FormTable, b: FormTable, partitions: int) -> Select:
    """Pair every event with each span that covers it."""
    own = [*keys(partitions), *b.values]
    before, until = (w.call("coalesce", Column("n", s), w.number(0)) for s in ("f", "g"))
    ranged = w.select(
        *w.columns(own, "x"),
        Item(w.plus(before, w.number(1)), "first"),
        Item(until, "last"),
        source=b.name,
        alias="x",
    )
    for alias, bound in (("f", "ts"), ("g", "end")):
        on = [w.greater(Column(bound, "x"), Column("ts", alias))]
        ranged = w.join(ranged, "steps", alias, on, "ASOF LEFT")
    each = expanded(ranged, own, "first", "last")
    query = w.select(*w.columns(["ts", "row", *a.values], "y"), *w.columns(own, "x"), source=each, alias="x")
    return w.join(query, "numbered", "y", [w.equal(Column("n", "x"), Column("n", "y"))])
