"""Turn push and pop events into spans of stacks, contents of stacks, and nested slices, as queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dctv.contracts.span_operator import Input
from dctv.functions.span.forms.inputs import events, values
from dctv.functions.span.forms.steps import keys
from dctv.plan import build as w
from dctv.plan.expressions import NULL, Call, Cast, Column, Expression, IsNull, Star
from dctv.plan.node import Query
from dctv.plan.queries import Item, Select
from dctv.types.schema import Schema

_PART, _PUSH, _RANK, _ROW, _SEQ = "part", "push", "rank", "row", "seq"
_SUM, _LEVEL, _BEFORE, _HEIGHT, _UNTIL = "sum", "level", "before", "height", "until"
_PARENT, _PATH, _ID = "parent", "path", "id"


def _pushed() -> Expression:
    return w.equal(Column(_PUSH), w.number(1))


def _widened(source: str, **more: Expression) -> Select:
    """Select a step's columns and additional ones."""
    return w.select(w.STAR, *w.named(more.values(), more), source=source)


def _over(what: Call, order: Sequence[str], *partition: str) -> Expression:
    return w.over(what, w.columns(partition), w.columns(order))


def _moves(one: Input, options: Mapping[str, Any], widths: Sequence[int], *, push: bool) -> Select:
    """Select an input as events: time, keys, rank, whether it pushes, its row, payload of pushes, payload of pops."""
    count = options["partitions"]
    whole = values(one, 1 + count, "a")
    rank = [Item(Column(whole[0]), _RANK)] if options["ranked"] else []
    own = w.columns(whole[len(rank) :])
    others = [[NULL] * width for width in widths]
    mixed = [*own, *others[1]] if push else [*others[0], *own]
    payload = w.named(mixed, [*(f"v{n}" for n in range(widths[0])), *(f"e{n}" for n in range(widths[1]))])
    source = events(one, count, "start" if push else "stop", "a")
    return w.select("ts", *keys(count), *rank, Item(w.number(int(push)), _PUSH), "row", *payload, source=source)


def _steps(inputs: Sequence[Input], options: Mapping[str, Any]) -> tuple[dict[str, Query], Sequence[int]]:
    """Return the steps `moves` (events that change a stack) and `frames` (pushes with their parents), and widths."""
    widths = [len(one.columns) - 1 - options["partitions"] - options["ranked"] for one in inputs]
    starts, stops = (_moves(one, options, widths, push=not n) for n, one in enumerate(inputs))
    order = ["ts", *([_RANK] if options["ranked"] else []), _PUSH, _ROW]
    part = _over(w.call("dense_rank"), names) if (names := keys(options["partitions"])) else w.number(1)
    # Levels never fall below 0: each new minimum of the sum is a pop of an empty stack.
    step = w.minus(w.times(w.number(2), Column(_PUSH)), w.number(1))
    low = w.call("least", w.number(0), _over(w.call("min", Column(_SUM)), [_SEQ], _PART))
    lag = _over(w.call("lag", Column(_LEVEL), w.number(1), w.number(0)), [_SEQ], _PART)
    height = w.plus(Column(_LEVEL), w.minus(w.number(1), Column(_PUSH)))
    changes = w.any_of([_pushed(), w.greater(Column(_BEFORE), w.number(0))])
    # Pushes and pops of one height alternate, so a frame ends with the next event of its height.
    until = _over(w.call("lead", Column("ts")), [_SEQ], _PART, _HEIGHT)
    levels = {f"x{n}": _over(w.call("lead", Column(f"e{n}")), [_SEQ], _PART, _HEIGHT) for n in range(widths[1])}
    below = w.minus(Column(_HEIGHT), w.number(1))
    return {
        "events": w.union_all(starts, stops),
        "numbered": _widened("events", seq=_over(w.call("row_number"), order), part=part),
        "summed": _widened("numbered", sum=_over(w.call("sum", step), [_SEQ], _PART)),
        "leveled": _widened("summed", level=w.minus(Column(_SUM), low)),
        "seen": _widened("leveled", before=lag, height=height),
        "moves": w.where(_widened("seen"), changes),
        "ended": _widened("moves", until=until, **levels),
        "pushes": w.where(_widened("ended"), _pushed()),
        "frames": _framed("pushes", _PARENT, below),
    }, widths


def _framed(source: str, name: str, height: Expression) -> Select:
    """Add, as `seq`, the latest frame pushed at a height up to each row of a step."""
    sought = _widened(source, sought=height)
    found: list[Expression | Item] = [Star("x"), Item(Column(_SEQ, "y"), name)]
    on = [w.equal(Column("sought", "x"), Column(_HEIGHT, "y")), w.at_least(Column(_SEQ, "x"), Column(_SEQ, "y"))]
    query = w.select(*found, source=sought, alias="x")
    return w.join(query, "pushes", "y", [*w.agree([_PART], "x", "y"), *on], "ASOF LEFT")


def nest_pairs(inputs: Sequence[Input], options: Mapping[str, Any], _: Schema) -> Query:
    """Return pushes as slices, with the self time of each."""
    steps, widths = _steps(inputs, options)
    length = w.minus(Column(_UNTIL), Column("ts"))
    steps["measured"] = _widened("frames", length=length, id=_over(w.call("row_number"), [_SEQ]))
    total = Item(w.call("sum", Column("length")), "total")
    steps["within"] = w.grouped(w.select(_PARENT, total, source="measured"), [_PARENT])
    inside = w.call("coalesce", Column("total", "w"), w.number(0))
    own = Cast(w.minus(Column("length", "m"), inside), "BIGINT")
    depth = Cast(w.minus(Column(_HEIGHT, "m"), w.number(1)), "INTEGER")
    found = w.columns(["ts", "length", *keys(options["partitions"]), _ID], "m")
    payload = [*(f"v{n}" for n in range(widths[0])), *(f"x{n}" for n in range(widths[1]))]
    found += [Column(_ID, "p"), depth, own, *w.columns(payload, "m")]
    query = w.select(*w.named(found, options["names"]), source="measured", alias="m")
    query = w.join(query, "measured", "p", [w.equal(Column(_PARENT, "m"), Column(_SEQ, "p"))], "LEFT")
    query = w.join(query, "within", "w", [w.equal(Column(_SEQ, "m"), Column(_PARENT, "w"))], "LEFT")
    return w.with_steps(query, steps.items())


def _history(inputs: Sequence[Input], options: Mapping[str, Any]) -> dict[str, Query]:
    """Return the steps that end with `history`: time, length, keys, path of tokens, id."""
    steps, _ = _steps(inputs, options)
    until = _over(w.call("lead", Column("ts")), [_SEQ], _PART)
    steps["lasting"] = _widened("moves", length=w.minus(until, Column("ts")))
    steps["topped"] = _framed("lasting", "top", Column(_LEVEL))
    path = Item(w.call("list_value", Column("v0")), _PATH)
    roots = w.where(w.select(_SEQ, path, source="frames"), IsNull(Column(_PARENT)))
    longer = w.call("list_append", Column(_PATH, "p"), Column("v0", "f"))
    above = w.select(Column(_SEQ, "f"), longer, source="paths", alias="p")
    above = w.join(above, "frames", "f", [w.equal(Column(_PARENT, "f"), Column(_SEQ, "p"))])
    steps["paths"] = w.union_all(roots, above)
    first = Item(w.over(w.call("min", Column(_SEQ, "t")), [Column(_PATH, "p")]), "first")
    spans = w.select(Star("t"), Column(_PATH, "p"), first, source="topped", alias="t")
    spans = w.join(spans, "paths", "p", [w.equal(Column("top", "t"), Column(_SEQ, "p"))])
    steps["spans"] = w.where(spans, *(w.greater(Column(c, "t"), w.number(0)) for c in (_LEVEL, "length")))
    steps["history"] = _widened("spans", id=_over(w.call("dense_rank"), ["first"]))
    return steps


def stack_history(inputs: Sequence[Input], options: Mapping[str, Any], _: Schema) -> Query:
    """Return the spans between changes of a non-empty stack; equal stacks have one id."""
    found = w.columns(["ts", "length", *keys(options["partitions"]), _ID])
    query = w.select(*w.named(found, options["names"]), source="history")
    return w.with_steps(query, _history(inputs, options).items(), recursive="paths")


def stack_contents(inputs: Sequence[Input], options: Mapping[str, Any], _: Schema) -> Query:
    """Return the tokens of each stack of the history, from the bottom."""
    stacks = w.distinct(w.select(_ID, _PATH, source="history"))
    depth = w.minus(w.call("generate_subscripts", Column(_PATH), w.number(1)), w.number(1))
    found = [Column(_ID), Cast(depth, "INTEGER"), w.call("unnest", Column(_PATH))]
    query = w.select(*w.named(found, options["names"]), source=stacks)
    return w.with_steps(query, _history(inputs, options).items(), recursive="paths")
