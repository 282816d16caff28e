"""Steps of spans -> the intersections of those that meet, and tilings of all time."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from dctv.functions.span.forms.steps import FIRST, LAST, Step, keys
from dctv.plan import sql as w
from dctv.plan.sql import column, type_named

BLOCK = 1024


def meet(left: Step, right: Step, partitions: int) -> exp.Query:
    """Return `ts`, `end`, keys, values of both: a piece begins where a span of one side begins in one of the other.

    Of two that begin at the same time the right one begins the piece.
    """
    names = keys(partitions)
    pieces = []
    for one, other, operator in ((left, right, exp.GT), (right, left, exp.GTE)):
        end = w.least(column("end", "x"), column("end", "y"))
        owner = {one.name: "x", other.name: "y"}
        values = [c for side in (left, right) for c in w.columns(side.values, owner[side.name])]
        query = w.select(
            column("ts", "x"), w.aliased(end, "end"), *w.columns(names, "x"), *values, source=one.name, alias="x"
        )
        on = [*w.agree(names, "x", "y"), operator(this=column("ts", "x"), expression=column("ts", "y"))]
        pieces.append(
            w.where(w.join(query, other.name, "y", on, "ASOF"), w.greater(column("end", "y"), column("ts", "x")))
        )
    return w.both(*pieces)


def tiled(spans: Step, others: Iterable[Step], partitions: int, present: str) -> exp.Query:
    """Return the spans and, `present` is false for them, what they leave free of all time in any step's partitions."""
    names = keys(partitions)
    nothing = [w.aliased(w.NULL.copy(), v) for v in spans.values]
    own = w.select("ts", "end", *names, *spans.values, w.aliased(exp.true(), present), source=spans.name)
    after = w.over(w.call("lead", column("ts"), w.number(1), LAST.copy()), w.columns(names), [column("ts")])
    gaps = w.select(w.aliased(column("end"), "ts"), w.aliased(after, "end"), *names, *nothing, source=spans.name)
    known = [w.select(*names, w.aliased(column("ts"), "ts"), source=spans.name)]
    known += [w.select(*names, w.aliased(w.NULL.copy(), "ts"), source=step.name) for step in others]
    first = w.call("coalesce", w.call("min", column("ts")), LAST.copy())
    before = w.select(
        w.aliased(cast_time(FIRST), "ts"),
        w.aliased(first, "end"),
        *names,
        *(n.copy() for n in nothing),
        source=w.both(*known),
    )
    w.grouped(before, names)
    free = w.select("ts", "end", *names, *spans.values, w.aliased(exp.false(), present), source=w.both(gaps, before))
    return w.both(own, w.where(free, w.greater(column("end"), column("ts"))))


def cast_time(value: exp.Expr) -> exp.Expr:
    """Write a time as int64."""
    return exp.Cast(this=value.copy(), to=type_named("BIGINT"))


def numbered(spans: Step) -> exp.Query:
    """Return unpartitioned spans with `n`, from 1 in order of time."""
    row = w.over(w.call("row_number"), (), [column("ts")])
    return w.select(w.aliased(row, "n"), "ts", "end", *spans.values, source=spans.name)


def meet_all(left: Step, flat: Step, partitions: int) -> exp.Query:
    """Return `ts`, `end`, keys, values of both, and `n`; the flat step is `numbered` and meets every partition."""
    own = ["ts", "end", *keys(partitions), *left.values]
    begun = w.call("coalesce", column("n", "f"), w.number(0))
    first = w.case(
        (w.greater(column("end", "f"), column("ts", "x")), column("n", "f")), default=w.plus(begun, w.number(1))
    )
    last = w.call("coalesce", column("n", "g"), w.number(0))
    ranged = w.select(
        *w.columns(own, "x"), w.aliased(first, "first"), w.aliased(last, "last"), source=left.name, alias="x"
    )
    ranged = w.join(
        ranged, flat.name, "f", [exp.GTE(this=column("ts", "x"), expression=column("ts", "f"))], "ASOF LEFT"
    )
    ranged = w.join(ranged, flat.name, "g", [w.greater(column("end", "x"), column("ts", "g"))], "ASOF LEFT")
    each = expanded(ranged, own, "first", "last")
    query = w.select(
        w.aliased(w.call("greatest", column("ts", "x"), column("ts", "y")), "ts"),
        w.aliased(w.least(column("end", "x"), column("end", "y")), "end"),
        *w.columns([*keys(partitions), *left.values], "x"),
        *w.columns(flat.values, "y"),
        column("n", "x"),
        source=each,
        alias="x",
    )
    return w.join(query, flat.name, "y", [exp.EQ(this=column("n", "x"), expression=column("n", "y"))])


def expanded(query: exp.Query, names: list[str], first: str, last: str) -> exp.Select:
    """Repeat each row for every `n` from first to last; in two steps, so that no list is long."""
    size = w.number(BLOCK)
    block = [exp.IntDiv(this=column(n), expression=size.copy()) for n in (first, last)]
    blocks = w.call("unnest", w.call("range", block[0], w.plus(block[1], w.number(1))))
    coarse = w.where(
        w.select(*names, first, last, w.aliased(blocks, "block"), source=query),
        exp.LTE(this=column(first), expression=column(last)),
    )
    start = exp.Mul(this=column("block"), expression=size.copy())
    low = w.call("greatest", column(first), start)
    high = w.least(w.plus(column(last), w.number(1)), w.plus(start.copy(), size.copy()))
    return w.select(*names, w.aliased(w.call("unnest", w.call("range", low, high)), "n"), source=coarse)


def finished(query: exp.Query, partitions: int, values: Iterable[str], names: Iterable[str]) -> exp.Select:
    """Return spans under the output's names: times, keys, values."""
    duration = w.minus(column("end"), column("ts"))
    found = [column("ts"), duration, *w.columns(keys(partitions)), *w.columns(values)]
    return w.select(*w.named(found, names), source=query)
