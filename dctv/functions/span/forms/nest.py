"""Match begins, ends and complete calls into calls with parents and depths, as a query.

A call is on its thread's stack from its own row on: a begun call until the row that ends it, a complete one until a row
at its end or later. Each call is joined with those that are on the stack at its row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dctv.contracts.span_operator import Input
from dctv.functions.span.forms.inputs import events, place_of, values
from dctv.functions.span.forms.meeting import expanded
from dctv.functions.span.forms.steps import LAST, keys, lasting
from dctv.plan import build as w
from dctv.plan.expressions import FALSE, Cast, Column, Expression, InList, IsNull
from dctv.plan.node import Query
from dctv.plan.queries import Item, Select
from dctv.types.schema import Schema

_KIND, _LENGTH = "a0", "a1"
_AT = ("ts", "row")


def nest(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> Query:
    """Return the calls with `id` in order of time, `parent_id` and `depth`."""
    (source,) = inputs
    count = options["partitions"]
    names, payload = keys(count), values(source, 1 + count, "a")[2:]
    steps: list[tuple[str, Query]] = [
        ("rows", events(source, count, "call", "a")),
        ("checked", _checked(source, count, payload)),
        ("counted", _counted(names, payload)),
        ("matched", _matched(names)),
        ("until", _until(names)),
        ("calls", _calls(names, payload)),
        ("above", _above(names)),
        ("depths", _depths()),
    ]
    place = place_of(names, source.columns[1 : 1 + count], "c")
    too_long = ["call is longer than a duration can say at ", Column("ended", "c"), *place]
    late = lasting(Column("ts", "c"), Column("ended", "c"), *too_long)
    length = w.case((_is(Column("kind", "c"), 0), w.minus(Column("end", "c"), Column("ts", "c"))), default=late)
    found = [Column("ts", "c"), length, *w.columns(names, "c"), Column("id", "c"), Column("parent", "a")]
    found += [Cast(Column("depth", "d"), "INTEGER"), *w.columns(payload, "c")]
    items = w.named(found, options["names"])
    query = w.join(w.select(*items, source="calls", alias="c"), "above", "a", _equal("id", "c", "a"), "LEFT")
    query = w.join(query, "depths", "d", _equal("id", "c", "d"))
    return w.with_steps(w.sorted_by(query, Column("id", "c")), steps, recursive="depths")


def _is(value: Expression, number: int) -> Expression:
    return w.equal(value, w.number(number))


def _equal(name: str, a: str, b: str) -> list[Expression]:
    return [w.equal(Column(name, a), Column(name, b))]


def _checked(source: Input, count: int, payload: Sequence[str]) -> Select:
    """Return kinds, and the ends of complete calls as `end`."""
    kind, length, ts = Column(_KIND), Column(_LENGTH), Column("ts")
    place = place_of(keys(count), source.columns[1 : 1 + count])
    valid = InList(kind, (w.number(-1), w.number(0), w.number(1)))
    strange = w.negated(w.call("coalesce", valid, FALSE))
    last = w.minus(LAST, w.call("greatest", ts, w.number(0)))
    too_late = w.any_of([IsNull(length), w.greater(w.number(0), length), w.greater(length, last)])
    impossible = w.error("complete call without a possible duration at ", ts, *place)
    end = w.case(
        (strange, w.error("kind is not -1, 0 or 1 at ", ts, *place)),
        (_is(kind, 0), w.case((too_late, impossible), default=w.plus(ts, length))),
    )
    own = ["ts", "row", *keys(count), *payload]
    return w.select(*own, Item(kind, "kind"), Item(end, "end"), source="rows")


def _counted(names: Sequence[str], payload: Sequence[str]) -> Select:
    """Count the calls of the partition up to each row, and compute the level of begun calls at each begin and end.

    An end without a begin leaves the level unchanged.
    """
    is_call = Cast(w.at_least(Column("kind"), w.number(0)), "INTEGER")
    order = w.columns(_AT)
    calls = w.over(w.call("sum", is_call), w.columns(names), order)
    height = w.over(w.call("sum", Column("kind")), w.columns(names), w.columns(_AT))
    own = ["ts", "row", *names, "kind", "end", *payload]
    summed = w.select(*own, Item(Cast(calls, "BIGINT"), "n"), Item(height, "height"), source="checked")
    floor = w.least(w.number(0), w.over(w.call("min", Column("height")), w.columns(names), w.columns(_AT)))
    below = w.case((_is(Column("kind"), -1), w.number(1)), default=w.number(0))
    level = w.plus(w.minus(Column("height"), floor), below)
    return w.select(*own, "n", Item(level, "level"), source=summed)


def _matched(names: Sequence[str]) -> Select:
    """Return the row that ends a begun call: the next one on its level."""

    def following(what: str) -> Expression:
        window = w.columns([*names, "level"])
        return w.over(w.call("lead", Column(what)), window, w.columns(_AT))

    query = w.select("row", "kind", Item(following("ts"), "ended"), Item(following("n"), "last"), source="counted")
    query = w.where(query, w.unequal(Column("kind"), w.number(0)))
    return w.where(w.select("row", "ended", "last", source=query), _is(Column("kind"), 1))


def _until(names: Sequence[str]) -> Select:
    """Count the calls of a partition up to each time."""
    return w.grouped(w.select("ts", *names, Item(w.call("max", Column("n")), "n"), source="counted"), ["ts", *names])


def _calls(names: Sequence[str], payload: Sequence[str]) -> Select:
    """Return the calls, each with the last call of the partition that may be within it."""
    own = ["ts", *names, "kind", "end", "n", *payload]
    whole = w.over(w.call("max", Column("n")), w.columns(names))
    number = w.over(w.call("row_number"), (), w.columns(_AT))
    calls = w.select("row", *own, Item(number, "id"), Item(whole, "total"), source="counted")
    calls = w.where(calls, w.at_least(Column("kind"), w.number(0)))
    until = w.call("coalesce", Column("n", "u"), w.number(0))
    ended = w.call("coalesce", Column("last", "m"), Column("total", "c"))
    last = w.case((_is(Column("kind", "c"), 0), until), default=ended)
    query = w.select(*w.columns(["id", *own], "c"), Column("ended", "m"), Item(last, "last"), source=calls, alias="c")
    query = w.join(query, "matched", "m", _equal("row", "c", "m"), "LEFT")
    on = [*w.agree(names, "c", "u"), w.greater(Column("end", "c"), Column("ts", "u"))]
    return w.join(query, "until", "u", on, "ASOF LEFT")


def _above(names: Sequence[str]) -> Select:
    """Return for each call the innermost one on the stack, and the innermost one that ends no earlier."""
    last_open = w.select(*names, Item(Column("id"), "outer"), Item(Column("end"), "holds"), "last", source="calls")
    last_open = w.adding(last_open, Item(w.plus(Column("n"), w.number(1)), "first"))
    each = expanded(last_open, [*names, "outer", "holds"], "first", "last")
    fits = w.any_of(
        [IsNull(Column("holds", "x")), IsNull(Column("end", "c")), w.at_least(Column("holds", "x"), Column("end", "c"))]
    )
    parent = w.call("max", w.case((fits, Column("outer", "x"))))
    top = w.call("max", Column("outer", "x"))
    query = w.select(Column("id", "c"), Item(top, "top"), Item(parent, "parent"), source=each, alias="x")
    query = w.join(query, "calls", "c", [*_equal("n", "x", "c"), *w.agree(names, "x", "c")])
    return w.grouped(query, [Column("id", "c")])


def _depths() -> Query:
    """Count depths from the calls without a parent."""
    roots = w.select(Column("id", "c"), Item(w.number(0), "depth"), source="calls", alias="c")
    roots = w.join(roots, "above", "a", _equal("id", "c", "a"), "ANTI")
    deeper = w.plus(Column("depth", "d"), w.number(1))
    inner = w.select(Column("id", "a"), Item(deeper, "depth"), source="above", alias="a")
    inner = w.join(inner, "depths", "d", [w.equal(Column("top", "a"), Column("id", "d"))])
    return w.union_all(roots, inner)
