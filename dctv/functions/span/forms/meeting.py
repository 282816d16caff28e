"""Intersect steps of spans, and extend spans to tilings of all time."""

from __future__ import annotations

from collections.abc import Iterable

from dctv.functions.span.forms.steps import FIRST, LAST, FormTable, keys
from dctv.plan import build as w
from dctv.plan.expressions import FALSE, NULL, TRUE, Binary, Cast, Column
from dctv.plan.node import Query
from dctv.plan.queries import Item, Select

BLOCK = 1024


def intersect(left: FormTable, right: FormTable, partitions: int) -> Query:
    """Return `ts`, `end`, keys, values of both: a piece begins where a span of one side begins within one of the other.

    If both begin at the same time, the right one begins the piece.
    """
    names = keys(partitions)
    pieces = []
    for one, other, since in ((left, right, w.greater), (right, left, w.at_least)):
        end = w.least(Column("end", "x"), Column("end", "y"))
        owner = {one.name: "x", other.name: "y"}
        values = [c for side in (left, right) for c in w.columns(side.values, owner[side.name])]
        query = w.select(
            Column("ts", "x"), Item(end, "end"), *w.columns(names, "x"), *values, source=one.name, alias="x"
        )
        on = [*w.agree(names, "x", "y"), since(Column("ts", "x"), Column("ts", "y"))]
        pieces.append(
            w.where(w.join(query, other.name, "y", on, "ASOF"), w.greater(Column("end", "y"), Column("ts", "x")))
        )
    return w.union_all(*pieces)


def tiled(spans: FormTable, others: Iterable[FormTable], partitions: int, present: str) -> Query:
    """Return the spans and, with a false `present`, the gaps that they leave of all time in any step's partitions."""
    names = keys(partitions)
    nothing = [Item(NULL, v) for v in spans.values]
    own = w.select("ts", "end", *names, *spans.values, Item(TRUE, present), source=spans.name)
    after = w.over(w.call("lead", Column("ts"), w.number(1), LAST), w.columns(names), [Column("ts")])
    gaps = w.select(Item(Column("end"), "ts"), Item(after, "end"), *names, *nothing, source=spans.name)
    tiles = [w.select(*names, Item(Column("ts"), "ts"), source=spans.name)]
    tiles += [w.select(*names, Item(NULL, "ts"), source=step.name) for step in others]
    first = w.call("coalesce", w.call("min", Column("ts")), LAST)
    start = Item(Cast(FIRST, "BIGINT"), "ts")
    before = w.select(start, Item(first, "end"), *names, *nothing, source=w.union_all(*tiles))
    before = w.grouped(before, names)
    free = w.select("ts", "end", *names, *spans.values, Item(FALSE, present), source=w.union_all(gaps, before))
    return w.union_all(own, w.where(free, w.greater(Column("end"), Column("ts"))))


def numbered(spans: FormTable) -> Query:
    """Return unpartitioned spans with `n`, from 1 in order of time."""
    row = w.over(w.call("row_number"), (), [Column("ts")])
    return w.select(Item(row, "n"), "ts", "end", *spans.values, source=spans.name)


def intersect_all(left: FormTable, flat: FormTable, partitions: int) -> Query:
    """Return `ts`, `end`, keys, values of both, and `n`; the flat step is `numbered` and pairs with every partition."""
    own = ["ts", "end", *keys(partitions), *left.values]
    begun = w.call("coalesce", Column("n", "f"), w.number(0))
    first = w.case(
        (w.greater(Column("end", "f"), Column("ts", "x")), Column("n", "f")), default=w.plus(begun, w.number(1))
    )
    last = w.call("coalesce", Column("n", "g"), w.number(0))
    ranged = w.select(*w.columns(own, "x"), Item(first, "first"), Item(last, "last"), source=left.name, alias="x")
    ranged = w.join(ranged, flat.name, "f", [w.at_least(Column("ts", "x"), Column("ts", "f"))], "ASOF LEFT")
    ranged = w.join(ranged, flat.name, "g", [w.greater(Column("end", "x"), Column("ts", "g"))], "ASOF LEFT")
    each = expanded(ranged, own, "first", "last")
    query = w.select(
        Item(w.call("greatest", Column("ts", "x"), Column("ts", "y")), "ts"),
        Item(w.least(Column("end", "x"), Column("end", "y")), "end"),
        *w.columns([*keys(partitions), *left.values], "x"),
        *w.columns(flat.values, "y"),
        Column("n", "x"),
        source=each,
        alias="x",
    )
    return w.join(query, flat.name, "y", [w.equal(Column("n", "x"), Column("n", "y"))])


def expanded(query: Query, names: list[str], first: str, last: str) -> Select:
    """Repeat each row for every `n` from first to last; in two steps, to keep lists short."""
    size = w.number(BLOCK)
    block = [Binary("//", Column(n), size) for n in (first, last)]
    blocks = w.call("unnest", w.call("range", block[0], w.plus(block[1], w.number(1))))
    coarse = w.where(
        w.select(*names, first, last, Item(blocks, "block"), source=query),
        Binary("<=", Column(first), Column(last)),
    )
    start = w.times(Column("block"), size)
    low = w.call("greatest", Column(first), start)
    high = w.least(w.plus(Column(last), w.number(1)), w.plus(start, size))
    return w.select(*names, Item(w.call("unnest", w.call("range", low, high)), "n"), source=coarse)


def finished(query: Query, partitions: int, values: Iterable[str], names: Iterable[str]) -> Select:
    """Return spans under the output's names: times, keys, values."""
    duration = w.minus(Column("end"), Column("ts"))
    found = [Column("ts"), duration, *w.columns(keys(partitions)), *w.columns(values)]
    return w.select(*w.named(found, names), source=query)
