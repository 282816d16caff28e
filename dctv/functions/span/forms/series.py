"""Match start and stop events into spans, as a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dctv.contracts.span_operator import Input
from dctv.functions.span.forms.inputs import events, values
from dctv.functions.span.forms.steps import FormTable, keys, lasting
from dctv.plan import build as w
from dctv.plan.expressions import NULL, Cast, Column, Expression
from dctv.plan.node import Query
from dctv.plan.queries import Item
from dctv.types.schema import Schema

_ORDER = ("ts", "starts", "source", "row")
"""The order of events: at equal times stops come first, then sources and rows in order."""


def series_to_spans(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> Query:
    """Return the spans that begin at a start event and end at the next event of the partition."""
    count, names = options["partitions"], keys(options["partitions"])
    steps: list[tuple[str, Query]] = []
    payload = [FormTable(f"source {i}", values(source, 1 + count, f"v{i}_")) for i, source in enumerate(inputs)]
    every = []
    for place, (source, step) in enumerate(zip(inputs, payload, strict=True)):
        steps.append((step.name, events(source, count, "event", f"v{place}_")))
        own = [Column(v) if other is step else Item(NULL, v) for other in payload for v in other.values]
        marks = [Item(w.number(int(options["starts"][place])), "starts"), Item(w.number(place), "source")]
        every.append(w.select("ts", *names, *marks, "row", *own, source=step.name))
    steps.append(("events", w.union_all(*every)))

    def following(what: str) -> Expression:
        return w.over(w.call("lead", Column(what)), w.columns(names), w.columns(_ORDER))

    end: Expression = following("ts")
    if options["close_at"] is not None:
        end = w.call("coalesce", end, Cast(w.number(options["close_at"]), "BIGINT"))
    items = [
        Column(f"v{source}_{place}") if edge == "rising" else following(f"v{source}_{place}")
        for source, place, edge in options["columns"]
    ]
    made = [Item(item, f"o{place}") for place, item in enumerate(items)]
    walked = w.select("ts", Item(end, "end"), "starts", *names, *made, source="events")
    is_span = [w.equal(Column("starts"), w.number(1)), w.greater(Column("end"), Column("ts"))]
    outputs = [f"o{place}" for place in range(len(items))]
    steps.append(("walked", w.where(w.select("ts", "end", *names, *outputs, source=walked), *is_span)))
    too_long: list[Expression | str] = ["span from ", Column("ts"), " to ", Column("end")]
    duration = lasting(Column("ts"), Column("end"), *too_long, " is longer than a duration can say")
    found = [Column("ts"), duration, *w.columns(names), *w.columns(outputs)]
    final = w.named(found, options["names"])
    return w.with_steps(w.select(*final, source="walked"), steps)
