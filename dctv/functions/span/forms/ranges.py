"""What lies in windows as a query: rows joined to each window that they touch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from dctv.contracts.span_operator import Input
from dctv.functions.span.forms.inputs import events, intervals, spans, values
from dctv.plan import sql as w
from dctv.plan.sql import column
from dctv.record import replace
from dctv.types.schema import Schema

_ROW = "dctv:number"


def range_aggregate(inputs: Sequence[Input], options: Mapping[str, Any], schema: Schema) -> exp.Query:
    """Return windows with an aggregate of the values that are not NULL."""
    table, windows = inputs
    first = 1 if options["events"] else 2
    count = len(table.columns) - first - 1
    numbered = w.select(*table.columns, w.aliased(w.over(w.call("row_number")), _ROW), source=table.table)
    source = replace(table, table="numbered", columns=(*table.columns, _ROW))
    value, row = values(source, first + count, "a")
    read = events if options["events"] else spans
    payload = values(windows, 2, "w")
    each = w.select("ts", "end", *payload, source=intervals(windows, 0, "window", "w"))
    steps: list[tuple[str, exp.Query]] = [
        ("numbered", numbered),
        ("rows", read(source, count, "table", "a")),
        ("windows", w.select(exp.Star(), w.aliased(w.over(w.call("row_number")), "n"), source=each)),
    ]
    begun = w.greater(column("end", "w"), column("ts", "r"))
    if options["events"]:
        touches = [begun, w.at_least(column("ts", "r"), column("ts", "w"))]
    else:
        touches = [begun, w.greater(column("end", "r"), column("ts", "w"))]
    for number, at in enumerate(options["matched"]):
        touches.append(exp.NullSafeEQ(this=column(payload[at], "w"), expression=column(f"k{number}", "r")))
    made = w.cast(_call(options["aggregate"], column(value, "r"), column(row, "r")), schema.columns[-1].type)
    joined = w.select(column("n", "w"), w.aliased(made, "made"), source="windows", alias="w")
    w.join(joined, "rows", "r", [*touches, w.known(column(value, "r"))], "LEFT")
    joined.set("group", exp.Group(expressions=[column("n", "w")]))
    steps.append(("made", joined))
    length = w.minus(column("end", "w"), column("ts", "w"))
    found = [column("ts", "w"), length, *w.columns(payload, "w"), column("made", "m")]
    query = w.select(*w.named(found, options["names"]), source="windows", alias="w")
    w.join(query, "made", "m", [w.equal(column("n", "w"), column("n", "m"))])
    return w.with_steps(query, steps)


def _call(aggregate: str, value: exp.Expr, row: exp.Expr) -> exp.Expr:
    """Write an aggregate of the engine."""
    if aggregate in ("first", "last"):
        return w.call("arg_min" if aggregate == "first" else "arg_max", value, row)
    return w.call("avg" if aggregate == "mean" else aggregate, value)
