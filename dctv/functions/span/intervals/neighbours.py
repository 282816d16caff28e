"""Relational forms of operators that look at a span and the one before or after it: gaps, runs, cuts, sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from dctv.contracts.span_operator import Input
from dctv.functions.span.intervals import spans
from dctv.functions.span.intervals.spans import Rows, kept, rows_of
from dctv.plan.sql import aliased, column, subquery, table
from dctv.plan.windows import (
    any_of,
    bigint,
    call,
    chosen,
    columns,
    is_null,
    less,
    minus,
    named,
    nested,
    plus,
    select,
    stacked,
    stopping,
    text,
    whole,
    with_tables,
)
from dctv.types.schema import Schema

_NUMBER = exp.Literal.number


def _lag(rows: Rows, value: exp.Expr) -> exp.Expr:
    return rows.window(call("lag", value))


def check(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return the rows of `checked`."""
    return spans.checked(rows_of(inputs[0], options, events=options["events"]), options)


def fill_gaps(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return the rows of `fill_gaps`: gaps before each span, gaps after the last of a partition, maybe the spans."""
    rows = rows_of(inputs[0], options)
    names, duration = options["names"], str(rows.duration)
    fine = rows.disjoint(column("dctv:before"), column(duration))
    looked = nested(
        select([*columns(rows.names), aliased(_lag(rows, rows.end()), "dctv:before")], rows.table),
        [*(aliased(fine, n) if n == duration else column(n) for n in rows.names), column("dctv:before")],
    )
    met = select(named([call("min", column(rows.ts)), call("max", rows.end())], ["start", "stop"]), "looked")
    given = [column(key) if options[key] is None else whole(options[key]) for key in ("start", "stop")]
    limits = nested(met, named(given, ["dctv:first", "dctv:last"]))
    if rows.keys:
        ends = select([*columns(rows.keys), aliased(call("max", rows.end()), "dctv:end")], "looked")
        ends = ends.group_by(*columns(rows.keys), copy=False)
    else:
        ends = select([aliased(call("max", rows.end()), "dctv:end")], "looked")
    nothing: list[exp.Expr] = [exp.Null() for _ in rows.payload]

    def gap(source: str, from_: str, to: exp.Expr, *tests: exp.Expr) -> exp.Select:
        # The greatest and the least of some values pass over NULL.
        begin = call("greatest", column(from_), column("dctv:first"))
        end = call("least", to, column("dctv:last"))
        inner = select(
            [*columns(rows.keys), *named([begin, end], ["dctv:begin", "dctv:end"])],
            source,
            exp.Not(this=is_null(column("dctv:first"))),
            *tests,
        )
        inner = inner.join(table("limits"), join_type="cross", copy=False)
        length = minus(column("dctv:end"), column("dctv:begin"))
        values = [column("dctv:begin"), length, *columns(rows.keys), *(n.copy() for n in nothing)]
        return nested(inner, named(values[: len(names)], names), less(column("dctv:begin"), column("dctv:end")))

    # The overlap is looked for in the durations, so that gaps, too, must read them.
    touched = exp.Not(this=is_null(column(duration)))
    parts: list[exp.Query] = [gap("looked", "dctv:before", column(rows.ts), touched)]
    parts.append(gap("ends", "dctv:end", exp.Null()))
    if options["keep"]:
        parts.append(select(named(columns(rows.names), names), "looked"))
    union = subquery(stacked(*parts), "all_rows")
    return with_tables(select(columns(names), union), looked=looked, limits=limits, ends=ends)


def merge_adjacent(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return the rows of `merge_adjacent`: runs are numbered by counting where one begins."""
    rows = rows_of(inputs[0], options)
    lagged = ["dctv:before", *(f"dctv:lag{n}" for n in range(len(rows.payload)))]
    values = [_lag(rows, v) for v in (rows.end(), *columns(rows.payload))]
    looked = select([*columns(rows.names), *named(values, lagged)], rows.table)
    differs = [exp.NullSafeNEQ(this=column("dctv:before"), expression=column(rows.ts))]
    differs += [
        exp.NullSafeNEQ(this=column(a), expression=column(b)) for a, b in zip(lagged[1:], rows.payload, strict=True)
    ]
    new = rows.disjoint(column("dctv:before"), bigint(any_of(differs)))
    marked = nested(looked, [*columns(rows.names), aliased(new, "dctv:new")])
    run = rows.window(call("sum", column("dctv:new")), rows="until")
    numbered = nested(marked, [*columns(rows.names), aliased(run, "dctv:run")])
    start = call("min", column(rows.ts))
    length = minus(call("max", rows.end()), start.copy())
    # All payload of a run is equal; the first is the one that the sweep takes.
    payload = [call("arg_min_null", column(n), column(rows.ts)) for n in rows.payload]
    merged = named([start, length, *columns(rows.keys), *payload], options["names"])
    tree = nested(numbered, merged)
    return tree.group_by(*columns(rows.keys), column("dctv:run"), copy=False)


def truncate(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return the rows of `truncate`; the last column of the input is the number of the row."""
    rows = rows_of(inputs[0], options)
    after = rows.window(call("lead", column(rows.ts)), rows.payload[-1])
    looked = select([*columns(rows.names), aliased(after, "dctv:after")], rows.table)
    length = minus(call("least", rows.end(), column("dctv:after")), column(rows.ts))
    handed = [*rows.keys, *kept(rows, options)]
    cut = nested(looked, named([column(rows.ts), length, *columns(handed)], options["names"]))
    return nested(cut, columns(options["names"]), less(_NUMBER("0"), column(options["names"][1])))


def sessions(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return the rows of `sessions`."""
    rows = rows_of(inputs[0], options, events=True)
    wide = exp.Cast(this=column(rows.ts), to=exp.Var(this="HUGEINT"))
    near = exp.LTE(this=minus(wide, column("dctv:before")), expression=whole(options["gap"]))
    looked = select([*columns(rows.names), aliased(_lag(rows, column(rows.ts)), "dctv:before")], rows.table)
    new = chosen(call("coalesce", near, exp.Boolean(this=False)), _NUMBER("0"), _NUMBER("1"))
    marked = nested(looked, [*columns(rows.names), aliased(new, "dctv:new")])
    # Without a frame, a window takes in all events of a time, whichever of them the others are counted after.
    run = rows.window(call("sum", column("dctv:new")))
    numbered = nested(marked, [*columns(rows.names), aliased(run, "dctv:run")])
    first, last = call("min", column(rows.ts)), call("max", column(rows.ts))
    counted = [*columns(rows.keys), *named([first, last, call("count", exp.Star())], ["dctv:a", "dctv:b", "dctv:n"])]
    grouped = nested(numbered, counted).group_by(*columns(rows.keys), column("dctv:run"), copy=False)
    endless = exp.EQ(this=column("dctv:a"), expression=whole(2**63 - 1))
    end = call("greatest", column("dctv:b"), plus(column("dctv:a"), _NUMBER("1")))
    length = minus(end, column("dctv:a"))
    fine = stopping(endless, [text("a session at the end of time has no end")], column("dctv:a"))
    values = [column("dctv:a"), length, *columns(rows.keys), column("dctv:n")]
    return nested(grouped, named(values, options["names"]), exp.Not(this=is_null(fine)))


def label_events(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return the rows of `label_events`; both inputs end with the number of the row."""
    events = rows_of(inputs[0], options, events=True)
    labels = rows_of(inputs[1], {"partitions": 0} if options["broadcast"] else options, events=True)
    keys = [] if options["broadcast"] else list(options["names"][1 : 1 + options["partitions"]])
    row, rank, label = "dctv:number", "dctv:rank", "dctv:label"

    def timed(rows: Rows, kind: int) -> exp.Select:
        own = [] if options["broadcast"] else columns(rows.keys)
        number = column(rows.payload[-1])
        values = [column(rows.ts), *own, number, _NUMBER(str(kind)), exp.Null() if kind else number.copy()]
        return select(named(values, ["dctv:t", *keys, row, rank, label]), rows.table)

    merged = stacked(timed(labels, 0), timed(events, 1))
    both = Rows("", "dctv:t", None, tuple(keys), ())
    latest = exp.IgnoreNulls(this=exp.LastValue(this=column(label)))
    window = both.window(latest, rank, row, rows="until")
    found = nested(merged, [column(row), column(rank), aliased(window, label)])
    found = nested(found, columns([row, label]), exp.EQ(this=column(rank), expression=_NUMBER("1")), alias="ranked")
    values = columns(events.names[:-1], "events") + columns(labels.payload[:-1], "labels")
    tree = select(named(values, options["names"]), table(events.table, "events"))
    on = exp.EQ(this=column(events.payload[-1], "events"), expression=column(row, "found"))
    tree = tree.join(subquery(found, "found"), on=on, copy=False)
    on = exp.EQ(this=column(labels.payload[-1], "labels"), expression=column(label, "found"))
    return tree.join(table(labels.table, "labels"), on=on, join_type="left", copy=False)
