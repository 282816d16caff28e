"""GROUP USING SPANS FROM as a query: the pieces of a grouper's spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dctv.contracts.span_operator import Input
from dctv.functions.span.forms.inputs import events, renamed_keys, spans, values
from dctv.functions.span.forms.meeting import intersect, intersect_all, numbered
from dctv.functions.span.forms.steps import FIRST, LAST, FormTable, keys
from dctv.plan import build as w
from dctv.plan.expressions import FALSE, Cast, Column, Expression, Star, Subquery
from dctv.plan.node import Query
from dctv.plan.queries import Item, Select
from dctv.types.schema import Schema


def span_group(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> Query:
    """Return the pieces by group and partition, and one row if a partition has none in a group."""
    grouped, grouper, *required = inputs
    count, of_events = options["partitions"], options["events"]
    first = 1 if of_events else 2
    a = FormTable("grouped", values(grouped, first + count, "a"))
    g = FormTable("grouper", values(grouper, 2, "g"))
    read = events if of_events else spans
    row = w.over(w.call("row_number"), (), [Column("ts")])
    groups = w.select(Item(row, "group"), "ts", "end", *g.values, source=g.name)
    steps: list[tuple[str, Query]] = [
        (a.name, read(grouped, count, "grouped", "a")),
        (g.name, spans(grouper, 0, "grouper", "g")),
        ("groups", groups),
    ]
    within = FormTable("groups", ("group",))
    if required:
        steps += _cover(a.name, required[0], count)
        steps.append(("covered", intersect(within, FormTable("cover"), 0)))
        within = FormTable("covered", ("group",))
    if of_events:
        pieces = _events_within(a, count)
    else:
        steps.append(("windows", numbered(within)))
        pieces = intersect_all(a, FormTable("windows", ("group",)), count)
    steps += [("pieces", pieces), ("partitions", _partitions(a.name, count))]
    return w.with_steps(_whole(a, g, options, first), steps)


def _partitions(name: str, count: int) -> Select:
    """Return the partitions that occur; without partition columns, a single one."""
    if not count:
        return w.select(Item(w.number(0), "one"), source=w.select(w.number(1)))
    return w.distinct(w.select(*keys(count), source=name))


def _events_within(a: FormTable, count: int) -> Query:
    own = w.columns(["ts", *keys(count), *a.values], "x")
    query = w.select(*own, Column("group", "y"), source=a.name, alias="x")
    on = [w.at_least(Column("ts", "x"), Column("ts", "y"))]
    return w.where(w.join(query, "groups", "y", on, "ASOF"), w.greater(Column("end", "y"), Column("ts", "x")))


def _cover(name: str, required: Input, count: int) -> list[tuple[str, Query]]:
    """Return the stretches in which each required partition has a span, merged where they touch."""
    names = keys(count)
    wanted = w.select(*renamed_keys(required, count), source=required.table)
    deltas = []
    for bound, delta in (("ts", 1), ("end", -1)):
        one = w.select(Item(Column(bound, "x"), "t"), Item(w.number(delta), "d"), source=name, alias="x")
        deltas.append(w.join(one, "required", "y", w.agree(names, "x", "y"), "SEMI"))
    start = w.select(Item(Cast(FIRST, "BIGINT"), "t"), Item(w.number(0), "d"))
    steps = w.select("t", Item(w.call("sum", Column("d")), "d"), source=w.union_all(start, *deltas))
    steps = w.grouped(steps, ["t"])
    total = w.over(w.call("sum", Column("d")), (), [Column("t")])
    counted = w.select("t", Item(total, "open"), source=steps)
    all_of_them = Subquery(w.select(w.call("count", Star()), source="required"))
    full = w.equal(Column("open"), all_of_them)
    marked = w.select("t", Item(full, "full"), source=counted)
    before = w.over(w.call("lag", Column("full"), w.number(1), FALSE), (), [Column("t")])
    changes = w.where(
        w.select("t", "full", source=w.select("t", "full", Item(before, "before"), source=marked)),
        w.unequal(Column("full"), Column("before")),
    )
    until = w.over(w.call("lead", Column("t"), w.number(1), LAST), (), [Column("t")])
    stretches = w.select(Item(Column("t"), "ts"), Item(until, "end"), "full", source=changes)
    return [
        ("required", w.distinct(wanted)),
        ("cover", w.where(w.select("ts", "end", source=stretches), Column("full"))),
    ]


def _whole(a: FormTable, g: FormTable, options: Mapping[str, Any], first: int) -> Select:
    """Return the groups of each partition, with their pieces if they have any."""
    names = keys(options["partitions"])
    own: list[Expression] = [w.minus(Column("group", "g"), w.number(1)), Column("ts", "g")]
    own += [w.minus(Column("end", "g"), Column("ts", "g")), *w.columns(g.values, "g"), *w.columns(names, "k")]
    piece: list[Expression] = [w.is_not_null(Column("group", "p")), Column("ts", "p")]
    if first == 2:
        piece.append(w.minus(Column("end", "p"), Column("ts", "p")))
    found = [*own, *piece, *w.columns(a.values, "p")]
    items = w.named(found, options["names"])
    query = w.join(w.select(*items, source="groups", alias="g"), "partitions", "k", [])
    on: list[Expression] = [w.equal(Column("group", "g"), Column("group", "p"))]
    on += [w.not_distinct(Column(name, "k"), Column(name, "p")) for name in names]
    return w.join(query, "pieces", "p", on, "LEFT")
