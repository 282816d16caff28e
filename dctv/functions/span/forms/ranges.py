"""Aggregate rows in windows as a query: rows joined to each window that they touch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dctv.contracts.span_operator import Input
from dctv.functions.span.forms.inputs import events, intervals, spans, values
from dctv.plan import build as w
from dctv.plan.expressions import Cast, Column, Expression
from dctv.plan.node import Query
from dctv.plan.queries import Item
from dctv.record import replace
from dctv.types.schema import Schema

_ROW = "dctv:number"


def range_aggregate(inputs: Sequence[Input], options: Mapping[str, Any], schema: Schema) -> Query:
    """Return windows with an aggregate of the values that are not NULL."""
    table, windows = inputs
    first = 1 if options["events"] else 2
    count = len(table.columns) - first - 1
    numbered = w.select(*table.columns, Item(w.over(w.call("row_number")), _ROW), source=table.table)
    source = replace(table, table="numbered", columns=(*table.columns, _ROW))
    value, row = values(source, first + count, "a")
    read = events if options["events"] else spans
    payload = values(windows, 2, "w")
    each = w.select("ts", "end", *payload, source=intervals(windows, 0, "window", "w"))
    steps: list[tuple[str, Query]] = [
        ("numbered", numbered),
        ("rows", read(source, count, "table", "a")),
        ("windows", w.select(w.STAR, Item(w.over(w.call("row_number")), "n"), source=each)),
    ]
    begun = w.greater(Column("end", "w"), Column("ts", "r"))
    if options["events"]:
        touches = [begun, w.at_least(Column("ts", "r"), Column("ts", "w"))]
    else:
        touches = [begun, w.greater(Column("end", "r"), Column("ts", "w"))]
    for number, at in enumerate(options["matched"]):
        touches.append(w.not_distinct(Column(payload[at], "w"), Column(f"k{number}", "r")))
    made = Cast(_call(options["aggregate"], Column(value, "r"), Column(row, "r")), schema.columns[-1].type)
    joined = w.select(Column("n", "w"), Item(made, "made"), source="windows", alias="w")
    joined = w.join(joined, "rows", "r", [*touches, w.is_not_null(Column(value, "r"))], "LEFT")
    steps.append(("made", w.grouped(joined, [Column("n", "w")])))
    length = w.minus(Column("end", "w"), Column("ts", "w"))
    found = [Column("ts", "w"), length, *w.columns(payload, "w"), Column("made", "m")]
    query = w.select(*w.named(found, options["names"]), source="windows", alias="w")
    query = w.join(query, "made", "m", [w.equal(Column("n", "w"), Column("n", "m"))])
    return w.with_steps(query, steps)


def _call(aggregate: str, value: Expression, row: Expression) -> Expression:
    """Write an aggregate of the engine."""
    if aggregate in ("first", "last"):
        return w.call("arg_min" if aggregate == "first" else "arg_max", value, row)
    return w.call("avg" if aggregate == "mean" else aggregate, value)
