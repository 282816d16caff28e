"""Steps of spans -> the intersections of those that meet, and tilings of all time."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from dctv.functions.span.forms.words import FIRST, LAST, NULL, Step, both, call, case, columns, greater, join, keys
from dctv.functions.span.forms.words import least, minus, named, number, over, plus, same, select, where
from dctv.plan.sql import column

BLOCK = 1024


def meet(left: Step, right: Step, partitions: int) -> exp.Query:
    """Return `ts`, `end`, keys, values of both: a piece begins where a span of one side begins in one of the other.

    Of two that begin at the same time the right one begins the piece.
    """
    names = keys(partitions)
    pieces = []
    for one, other, operator in ((left, right, exp.GT), (right, left, exp.GTE)):
        end = least(column("end", "x"), column("end", "y"))
        owner = {one.name: "x", other.name: "y"}
        values = [c for side in (left, right) for c in columns(side.values, owner[side.name])]
        query = select(column("ts", "x"), named(end, "end"), *columns(names, "x"), *values, source=one.name, alias="x")
        on = [*same(names, "x", "y"), operator(this=column("ts", "x"), expression=column("ts", "y"))]
        pieces.append(where(join(query, other.name, "y", on, "ASOF"), greater(column("end", "y"), column("ts", "x"))))
    return both(*pieces)


def tiled(spans: Step, others: Iterable[Step], partitions: int, present: str) -> exp.Query:
    """Return the spans and, `present` is false for them, what they leave free of all time in any step's partitions."""
    names = keys(partitions)
    nothing = [named(NULL.copy(), v) for v in spans.values]
    own = select("ts", "end", *names, *spans.values, named(exp.true(), present), source=spans.name)
    after = over(call("lead", column("ts"), number(1), LAST.copy()), columns(names), [column("ts")])
    gaps = select(named(column("end"), "ts"), named(after, "end"), *names, *nothing, source=spans.name)
    known = [select(*names, named(column("ts"), "ts"), source=spans.name)]
    known += [select(*names, named(NULL.copy(), "ts"), source=step.name) for step in others]
    first = call("coalesce", call("min", column("ts")), LAST.copy())
    before = select(
        named(cast_time(FIRST), "ts"), named(first, "end"), *names, *(n.copy() for n in nothing), source=both(*known)
    )
    if names:
        before.set("group", exp.Group(expressions=columns(names)))
    free = select("ts", "end", *names, *spans.values, named(exp.false(), present), source=both(gaps, before))
    return both(own, where(free, greater(column("end"), column("ts"))))


def cast_time(value: exp.Expr) -> exp.Expr:
    """Write a time as int64."""
    return exp.Cast(this=value.copy(), to=exp.Var(this="BIGINT"))


def numbered(spans: Step) -> exp.Query:
    """Return unpartitioned spans with `n`, from 1 in order of time."""
    row = over(call("row_number"), (), [column("ts")])
    return select(named(row, "n"), "ts", "end", *spans.values, source=spans.name)


def meet_all(left: Step, flat: Step, partitions: int) -> exp.Query:
    """Return `ts`, `end`, keys, values of both, and `n`; the flat step is `numbered` and meets every partition."""
    own = ["ts", "end", *keys(partitions), *left.values]
    begun = call("coalesce", column("n", "f"), number(0))
    first = case((greater(column("end", "f"), column("ts", "x")), column("n", "f")), default=plus(begun, number(1)))
    last = call("coalesce", column("n", "g"), number(0))
    ranged = select(*columns(own, "x"), named(first, "first"), named(last, "last"), source=left.name, alias="x")
    ranged = join(ranged, flat.name, "f", [exp.GTE(this=column("ts", "x"), expression=column("ts", "f"))], "ASOF LEFT")
    ranged = join(ranged, flat.name, "g", [greater(column("end", "x"), column("ts", "g"))], "ASOF LEFT")
    each = expanded(ranged, own, "first", "last")
    query = select(
        named(call("greatest", column("ts", "x"), column("ts", "y")), "ts"),
        named(least(column("end", "x"), column("end", "y")), "end"),
        *columns([*keys(partitions), *left.values], "x"),
        *columns(flat.values, "y"),
        column("n", "x"),
        source=each,
        alias="x",
    )
    return join(query, flat.name, "y", [exp.EQ(this=column("n", "x"), expression=column("n", "y"))])


def expanded(query: exp.Query, names: list[str], first: str, last: str) -> exp.Select:
    """Repeat each row for every `n` from first to last; in two steps, so that no list is long."""
    size = number(BLOCK)
    block = [exp.IntDiv(this=column(n), expression=size.copy()) for n in (first, last)]
    blocks = call("unnest", call("range", block[0], plus(block[1], number(1))))
    coarse = where(
        select(*names, first, last, named(blocks, "block"), source=query),
        exp.LTE(this=column(first), expression=column(last)),
    )
    start = exp.Mul(this=column("block"), expression=size.copy())
    low = call("greatest", column(first), start)
    high = least(plus(column(last), number(1)), plus(start.copy(), size.copy()))
    return select(*names, named(call("unnest", call("range", low, high)), "n"), source=coarse)


def finished(query: exp.Query, partitions: int, values: Iterable[str], names: Iterable[str]) -> exp.Select:
    """Return spans under the output's names: times, keys, values."""
    duration = minus(column("end"), column("ts"))
    found = [column("ts"), duration, *columns(keys(partitions)), *columns(values)]
    return select(*(named(value, name) for value, name in zip(found, names, strict=True)), source=query)
