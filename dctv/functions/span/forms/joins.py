"""Span joins, broadcasts and event joins as queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from dctv.contracts.span_operator import Input
from dctv.functions.span.forms.inputs import events, spans, values
from dctv.functions.span.forms.meeting import expanded, finished, meet, meet_all, numbered, tiled
from dctv.functions.span.forms.words import Step, call, case, columns, greater, join, keys, named, number
from dctv.functions.span.forms.words import over, plus, same, select, where, with_steps
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
    steps = [(a.name, spans(left, mine, "left", "a")), (b.name, spans(right, theirs, "right", "b"))]
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
            pieces = where(select(exp.Star(), source=pieces), exp.or_(*wanted))
    else:
        flat, keyed = (found_a, found_b) if broadcast == "left" else (found_b, found_a)
        steps.append(("flat", numbered(flat)))
        pieces = meet_all(keyed, Step("flat", flat.values), count)
    steps.append(("pieces", pieces))
    whole = finished(select(exp.Star(), source="pieces"), count, [*a.values, *b.values], options["names"])
    return with_steps(whole, steps)


def event_join(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return events with the values of the span that began last before them, if it has not ended."""
    left, right = inputs
    count, broadcast = options["partitions"], options["broadcast"]
    mine = 0 if broadcast == "left" else count
    theirs = 0 if broadcast == "right" else count
    a = Step("events", values(left, 1 + mine, "a"))
    b = Step("spans", values(right, 2 + theirs, "b"))
    steps = [(a.name, events(left, mine, "event", "a")), (b.name, spans(right, theirs, "span", "b"))]
    if broadcast == "left":
        steps += _numbered_events(a)
        found = _events_in_spans(a, b, count)
    else:
        names = keys(count)
        inside = greater(column("end", "y"), column("ts", "x"))
        payload: list[exp.Expr] = [named(case((inside, column(v, "y"))), v) for v in b.values]
        own = columns(["ts", *names, *a.values, "row"], "x")
        found = select(*own, *payload, source=a.name, alias="x")
        on = [*same(names if theirs else (), "x", "y")]
        on.append(exp.GTE(this=column("ts", "x"), expression=column("ts", "y")))
        found = join(found, b.name, "y", on, "ASOF LEFT" if options["how"] == "left" else "ASOF")
        if options["how"] == "inner":
            found = where(found, inside.copy())
    made = ["ts", *keys(count), *a.values, *b.values]
    items = [named(column(c, "found"), n) for c, n in zip(made, options["names"], strict=True)]
    # Events of equal time stay in their order, as in the sweep.
    order = [exp.Ordered(this=c, nulls_first=False) for c in columns(["ts", "row", *keys(count)], "found")]
    return with_steps(select(*items, source=found, alias="found").order_by(*order, copy=False), steps)


def _numbered_events(a: Step) -> list[tuple[str, exp.Query]]:
    """Number events in order of time; `steps` says how many there are up to a time."""
    row = over(call("row_number"), (), [column("ts"), column("row")])
    each = select(named(row, "n"), "ts", "row", *a.values, source=a.name)
    upto = select("ts", named(call("max", column("n")), "n"), source="numbered")
    upto.set("group", exp.Group(expressions=[column("ts")]))
    return [("numbered", each), ("steps", upto)]


def _events_in_spans(a: Step, b: Step, partitions: int) -> exp.Select:
    """Meet every event with each span that covers it."""
    own = [*keys(partitions), *b.values]
    before, until = (call("coalesce", column("n", s), number(0)) for s in ("f", "g"))
    ranged = select(
        *columns(own, "x"), named(plus(before, number(1)), "first"), named(until, "last"), source=b.name, alias="x"
    )
    for alias, bound in (("f", "ts"), ("g", "end")):
        on = [greater(column(bound, "x"), column("ts", alias))]
        ranged = join(ranged, "steps", alias, on, "ASOF LEFT")
    each = expanded(ranged, own, "first", "last")
    query = select(*columns(["ts", "row", *a.values], "y"), *columns(own, "x"), source=each, alias="x")
    return join(query, "numbered", "y", [exp.EQ(this=column("n", "x"), expression=column("n", "y"))])
