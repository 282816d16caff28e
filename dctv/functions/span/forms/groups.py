"""GROUP USING SPANS FROM as a query: the pieces of a grouper's spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from dctv.contracts.span_operator import Input
from dctv.functions.span.forms.inputs import events, renamed_keys, spans, values
from dctv.functions.span.forms.meeting import meet, meet_all, numbered
from dctv.functions.span.forms.steps import FIRST, LAST, Step, keys
from dctv.plan import sql as w
from dctv.plan.sql import column
from dctv.types.schema import Schema


def span_group(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return the pieces by group and partition, and one row where a partition has none in a group."""
    grouped, grouper, *required = inputs
    count, of_events = options["partitions"], options["events"]
    first = 1 if of_events else 2
    a = Step("grouped", values(grouped, first + count, "a"))
    g = Step("grouper", values(grouper, 2, "g"))
    read = events if of_events else spans
    row = w.over(w.call("row_number"), (), [column("ts")])
    groups = w.select(w.aliased(row, "group"), "ts", "end", *g.values, source=g.name)
    steps: list[tuple[str, exp.Query]] = [
        (a.name, read(grouped, count, "grouped", "a")),
        (g.name, spans(grouper, 0, "grouper", "g")),
        ("groups", groups),
    ]
    within = Step("groups", ("group",))
    if required:
        steps += _cover(a.name, required[0], count)
        steps.append(("covered", meet(within, Step("cover"), 0)))
        within = Step("covered", ("group",))
    if of_events:
        pieces = _events_within(a, count)
    else:
        steps.append(("windows", numbered(within)))
        pieces = meet_all(a, Step("windows", ("group",)), count)
    steps += [("pieces", pieces), ("partitions", _partitions(a.name, count))]
    return w.with_steps(_whole(a, g, options, first), steps)


def _partitions(name: str, count: int) -> exp.Select:
    """Return the partitions that occur; without partition columns it is one, of no name."""
    if not count:
        return w.select(w.aliased(w.number(0), "one"), source=exp.select("1"))
    return w.select(*keys(count), source=name).distinct(copy=False)


def _events_within(a: Step, count: int) -> exp.Query:
    own = w.columns(["ts", *keys(count), *a.values], "x")
    query = w.select(*own, column("group", "y"), source=a.name, alias="x")
    on = [exp.GTE(this=column("ts", "x"), expression=column("ts", "y"))]
    return w.where(w.join(query, "groups", "y", on, "ASOF"), w.greater(column("end", "y"), column("ts", "x")))


def _cover(name: str, required: Input, count: int) -> list[tuple[str, exp.Query]]:
    """Return the stretches of time at which each required partition has a span, whole where one follows another."""
    names = keys(count)
    wanted = w.select(*renamed_keys(required, count), source=required.table)
    deltas = []
    for bound, delta in (("ts", 1), ("end", -1)):
        one = w.select(w.aliased(column(bound, "x"), "t"), w.aliased(w.number(delta), "d"), source=name, alias="x")
        deltas.append(w.join(one, "required", "y", w.agree(names, "x", "y"), "SEMI"))
    start = exp.Select(expressions=[w.aliased(w.cast(FIRST.copy(), "BIGINT"), "t"), w.aliased(w.number(0), "d")])
    steps = w.select("t", w.aliased(w.call("sum", column("d")), "d"), source=w.both(start, *deltas))
    w.grouped(steps, ["t"])
    total = w.over(w.call("sum", column("d")), (), [column("t")])
    counted = w.select("t", w.aliased(total, "open"), source=steps)
    all_of_them = exp.Subquery(this=w.select(w.call("count", exp.Star()), source="required"))
    full = exp.EQ(this=column("open"), expression=all_of_them)
    marked = w.select("t", w.aliased(full, "full"), source=counted)
    before = w.over(w.call("lag", column("full"), w.number(1), exp.false()), (), [column("t")])
    changes = w.where(
        w.select("t", "full", source=w.select("t", "full", w.aliased(before, "before"), source=marked)),
        exp.NEQ(this=column("full"), expression=column("before")),
    )
    until = w.over(w.call("lead", column("t"), w.number(1), LAST.copy()), (), [column("t")])
    stretches = w.select(w.aliased(column("t"), "ts"), w.aliased(until, "end"), "full", source=changes)
    return [
        ("required", wanted.distinct(copy=False)),
        ("cover", w.where(w.select("ts", "end", source=stretches), column("full"))),
    ]


def _whole(a: Step, g: Step, options: Mapping[str, Any], first: int) -> exp.Select:
    """Return the groups of each partition, with their pieces where they have any."""
    names = keys(options["partitions"])
    own: list[exp.Expr] = [w.minus(column("group", "g"), w.number(1)), column("ts", "g")]
    own += [w.minus(column("end", "g"), column("ts", "g")), *w.columns(g.values, "g"), *w.columns(names, "k")]
    piece: list[exp.Expr] = [exp.Not(this=w.is_null(column("group", "p"))), column("ts", "p")]
    if first == 2:
        piece.append(w.minus(column("end", "p"), column("ts", "p")))
    found = [*own, *piece, *w.columns(a.values, "p")]
    items = w.named(found, options["names"])
    query = w.join(w.select(*items, source="groups", alias="g"), "partitions", "k", [])
    on: list[exp.Expr] = [exp.EQ(this=column("group", "g"), expression=column("group", "p"))]
    on += [exp.NullSafeEQ(this=column(name, "k"), expression=column(name, "p")) for name in names]
    return w.join(query, "pieces", "p", on, "LEFT")
