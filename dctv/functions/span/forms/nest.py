"""Begins, ends and complete calls -> calls with their parents and depths, as a query.

A call is on its thread's stack from its own row on: one that was begun until the row that ends it, a complete one until
a row at its end or later. Each call meets those that are on the stack at its row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from dctv.contracts.span_operator import Input
from dctv.functions.span.forms.inputs import events, place_of, values
from dctv.functions.span.forms.meeting import expanded
from dctv.functions.span.forms.steps import LAST, keys, lasting
from dctv.plan import sql as w
from dctv.plan.sql import column
from dctv.types.schema import Schema

_KIND, _LENGTH = "a0", "a1"
_AT = ("ts", "row")


def nest(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return the calls with `id` in order of time, `parent_id` and `depth`."""
    (source,) = inputs
    count = options["partitions"]
    names, payload = keys(count), values(source, 1 + count, "a")[2:]
    steps: list[tuple[str, exp.Query]] = [
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
    too_long = ["call is longer than a duration can say at ", column("ended", "c"), *place]
    late = lasting(column("ts", "c"), column("ended", "c"), *too_long)
    length = w.case((_is(column("kind", "c"), 0), w.minus(column("end", "c"), column("ts", "c"))), default=late)
    found = [column("ts", "c"), length, *w.columns(names, "c"), column("id", "c"), column("parent", "a")]
    found += [w.cast(column("depth", "d"), "INTEGER"), *w.columns(payload, "c")]
    items = w.named(found, options["names"])
    query = w.join(w.select(*items, source="calls", alias="c"), "above", "a", _equal("id", "c", "a"), "LEFT")
    query = w.join(query, "depths", "d", _equal("id", "c", "d"))
    return w.with_steps(query.order_by(column("id", "c"), copy=False), steps, recursive="depths")


def _is(value: exp.Expr, number: int) -> exp.Expr:
    return exp.EQ(this=value, expression=w.number(number))


def _equal(name: str, a: str, b: str) -> list[exp.Expr]:
    return [exp.EQ(this=column(name, a), expression=column(name, b))]


def _checked(source: Input, count: int, payload: Sequence[str]) -> exp.Select:
    """Return kinds, and the ends of complete calls as `end`."""
    kind, length, ts = column(_KIND), column(_LENGTH), column("ts")
    place = place_of(keys(count), source.columns[1 : 1 + count])
    known = exp.In(this=kind, expressions=[w.number(-1), w.number(0), w.number(1)])
    strange = exp.Not(this=w.call("coalesce", known, exp.false()))
    last = w.minus(LAST.copy(), w.call("greatest", ts.copy(), w.number(0)))
    too_late = exp.or_(w.is_null(length), w.greater(w.number(0), length.copy()), w.greater(length.copy(), last))
    impossible = w.error("complete call without a possible duration at ", ts.copy(), *place)
    end = w.case(
        (strange, w.error("kind is not -1, 0 or 1 at ", ts.copy(), *place)),
        (_is(kind.copy(), 0), w.case((too_late, impossible), default=w.plus(ts.copy(), length.copy()))),
    )
    own = ["ts", "row", *keys(count), *payload]
    return w.select(*own, w.aliased(kind.copy(), "kind"), w.aliased(end, "end"), source="rows")


def _counted(names: Sequence[str], payload: Sequence[str]) -> exp.Select:
    """Say how many calls of the partition there are up to a row, and the level of begun calls at each begin and end.

    An end that has no begin leaves the level as it is.
    """
    is_call = w.cast(exp.GTE(this=column("kind"), expression=w.number(0)), "INTEGER")
    order = w.columns(_AT)
    calls = w.over(w.call("sum", is_call), w.columns(names), order)
    height = w.over(w.call("sum", column("kind")), w.columns(names), w.columns(_AT))
    own = ["ts", "row", *names, "kind", "end", *payload]
    summed = w.select(*own, w.aliased(w.cast(calls, "BIGINT"), "n"), w.aliased(height, "height"), source="checked")
    floor = w.least(w.number(0), w.over(w.call("min", column("height")), w.columns(names), w.columns(_AT)))
    below = w.case((_is(column("kind"), -1), w.number(1)), default=w.number(0))
    level = w.plus(w.minus(column("height"), floor), below)
    return w.select(*own, "n", w.aliased(level, "level"), source=summed)


def _matched(names: Sequence[str]) -> exp.Select:
    """Return the row that ends a begun call: the next one of its level."""

    def following(what: str) -> exp.Expr:
        window = w.columns([*names, "level"])
        return w.over(w.call("lead", column(what)), window, w.columns(_AT))

    query = w.select(
        "row", "kind", w.aliased(following("ts"), "ended"), w.aliased(following("n"), "last"), source="counted"
    )
    query = w.where(query, exp.NEQ(this=column("kind"), expression=w.number(0)))
    return w.where(w.select("row", "ended", "last", source=query), _is(column("kind"), 1))


def _until(names: Sequence[str]) -> exp.Select:
    """Say how many calls of a partition there are up to a time."""
    return w.grouped(
        w.select("ts", *names, w.aliased(w.call("max", column("n")), "n"), source="counted"), ["ts", *names]
    )


def _calls(names: Sequence[str], payload: Sequence[str]) -> exp.Select:
    """Return the calls, and the last one of the partition that may be made within each."""
    own = ["ts", *names, "kind", "end", "n", *payload]
    whole = w.over(w.call("max", column("n")), w.columns(names))
    number = w.over(w.call("row_number"), (), w.columns(_AT))
    calls = w.select("row", *own, w.aliased(number, "id"), w.aliased(whole, "total"), source="counted")
    w.where(calls, exp.GTE(this=column("kind"), expression=w.number(0)))
    until = w.call("coalesce", column("n", "u"), w.number(0))
    ended = w.call("coalesce", column("last", "m"), column("total", "c"))
    last = w.case((_is(column("kind", "c"), 0), until), default=ended)
    query = w.select(
        *w.columns(["id", *own], "c"), column("ended", "m"), w.aliased(last, "last"), source=calls, alias="c"
    )
    query = w.join(query, "matched", "m", _equal("row", "c", "m"), "LEFT")
    on = [*w.agree(names, "c", "u"), w.greater(column("end", "c"), column("ts", "u"))]
    return w.join(query, "until", "u", on, "ASOF LEFT")


def _above(names: Sequence[str]) -> exp.Select:
    """Return for each call the innermost one on the stack, and the innermost one that ends no earlier."""
    held = w.select(*names, w.aliased(column("id"), "outer"), w.aliased(column("end"), "holds"), "last", source="calls")
    held = held.select(w.aliased(w.plus(column("n"), w.number(1)), "first"), copy=False)
    each = expanded(held, [*names, "outer", "holds"], "first", "last")
    fits = exp.or_(
        w.is_null(column("holds", "x")),
        w.is_null(column("end", "c")),
        exp.GTE(this=column("holds", "x"), expression=column("end", "c")),
    )
    parent = w.call("max", w.case((fits, column("outer", "x"))))
    top = w.call("max", column("outer", "x"))
    query = w.select(column("id", "c"), w.aliased(top, "top"), w.aliased(parent, "parent"), source=each, alias="x")
    w.join(query, "calls", "c", [*_equal("n", "x", "c"), *w.agree(names, "x", "c")])
    query.set("group", exp.Group(expressions=[column("id", "c")]))
    return query


def _depths() -> exp.Query:
    """Count from the calls that are on no other."""
    roots = w.select(column("id", "c"), w.aliased(w.number(0), "depth"), source="calls", alias="c")
    roots = w.join(roots, "above", "a", _equal("id", "c", "a"), "ANTI")
    deeper = w.plus(column("depth", "d"), w.number(1))
    inner = w.select(column("id", "a"), w.aliased(deeper, "depth"), source="above", alias="a")
    inner = w.join(inner, "depths", "d", [exp.EQ(this=column("top", "a"), expression=column("id", "d"))])
    return w.both(roots, inner)
