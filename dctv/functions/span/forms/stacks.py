"""Events that push and pop -> spans of stacks, what is on them, and nested slices, as queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from dctv.contracts.span_operator import Input
from dctv.functions.span.forms.inputs import events, values
from dctv.functions.span.forms.steps import keys
from dctv.plan import sql as w
from dctv.plan.sql import column, identifier
from dctv.types.schema import Schema

_PART, _PUSH, _RANK, _ROW, _SEQ = "part", "push", "rank", "row", "seq"
_SUM, _LEVEL, _BEFORE, _HEIGHT, _UNTIL = "sum", "level", "before", "height", "until"
_PARENT, _PATH, _ID = "parent", "path", "id"


def _pushed() -> exp.Expr:
    return w.equal(column(_PUSH), w.number(1))


def _widened(source: str, **more: exp.Expr) -> exp.Select:
    """Select a step's columns and some more."""
    return w.select(exp.Star(), *w.named(more.values(), more), source=source)


def _over(what: exp.Expr, order: Sequence[str], *partition: str) -> exp.Expr:
    return w.over(what, w.columns(partition), w.columns(order))


def _moves(one: Input, options: Mapping[str, Any], widths: Sequence[int], *, push: bool) -> exp.Select:
    """Select an input as events: time, keys, rank, whether it pushes, its row, payload of pushes, payload of pops."""
    count = options["partitions"]
    whole = values(one, 1 + count, "a")
    rank = [w.aliased(column(whole[0]), _RANK)] if options["ranked"] else []
    own = w.columns(whole[len(rank) :])
    others = [[w.NULL.copy() for _ in range(width)] for width in widths]
    mixed = [*own, *others[1]] if push else [*others[0], *own]
    payload = w.named(mixed, [*(f"v{n}" for n in range(widths[0])), *(f"e{n}" for n in range(widths[1]))])
    source = events(one, count, "start" if push else "stop", "a")
    return w.select("ts", *keys(count), *rank, w.aliased(w.number(int(push)), _PUSH), "row", *payload, source=source)


def _steps(inputs: Sequence[Input], options: Mapping[str, Any]) -> tuple[dict[str, exp.Query], Sequence[int]]:
    """Return the steps `moves` (events that change a stack) and `frames` (pushes with their parents), and widths."""
    widths = [len(one.columns) - 1 - options["partitions"] - options["ranked"] for one in inputs]
    starts, stops = (_moves(one, options, widths, push=not n) for n, one in enumerate(inputs))
    order = ["ts", *([_RANK] if options["ranked"] else []), _PUSH, _ROW]
    part = _over(w.call("dense_rank"), names) if (names := keys(options["partitions"])) else w.number(1)
    # Levels never fall below 0: each new low of the sum is a pop that changed nothing.
    step = w.minus(exp.Mul(this=w.number(2), expression=column(_PUSH)), w.number(1))
    low = w.call("least", w.number(0), _over(w.call("min", column(_SUM)), [_SEQ], _PART))
    lag = _over(w.call("lag", column(_LEVEL), w.number(1), w.number(0)), [_SEQ], _PART)
    height = exp.Add(this=column(_LEVEL), expression=w.minus(w.number(1), column(_PUSH)))
    changes = exp.Or(this=_pushed(), expression=w.greater(column(_BEFORE), w.number(0)))
    # Pushes and pops of one height take turns, so a frame ends with the next event of its height.
    until = _over(w.call("lead", column("ts")), [_SEQ], _PART, _HEIGHT)
    told = {f"x{n}": _over(w.call("lead", column(f"e{n}")), [_SEQ], _PART, _HEIGHT) for n in range(widths[1])}
    below = w.minus(column(_HEIGHT), w.number(1))
    return {
        "events": w.both(starts, stops),
        "numbered": _widened("events", seq=_over(w.call("row_number"), order), part=part),
        "summed": _widened("numbered", sum=_over(w.call("sum", exp.Paren(this=step)), [_SEQ], _PART)),
        "leveled": _widened("summed", level=w.minus(column(_SUM), low)),
        "seen": _widened("leveled", before=lag, height=height),
        "moves": w.where(_widened("seen"), changes),
        "ended": _widened("moves", until=until, **told),
        "pushes": w.where(_widened("ended"), _pushed()),
        "frames": _framed("pushes", _PARENT, below),
    }, widths


def _framed(source: str, name: str, height: exp.Expr) -> exp.Select:
    """Add the last frame of a height that was pushed up to each row of a step, as its `seq`."""
    sought = _widened(source, sought=height)
    found = [exp.Column(this=exp.Star(), table=identifier("x")), w.aliased(column(_SEQ, "y"), name)]
    on = [w.equal(column("sought", "x"), column(_HEIGHT, "y")), w.at_least(column(_SEQ, "x"), column(_SEQ, "y"))]
    query = w.select(*found, source=sought, alias="x")
    return w.join(query, "pushes", "y", [*w.agree([_PART], "x", "y"), *on], "ASOF LEFT")


def nest_pairs(inputs: Sequence[Input], options: Mapping[str, Any], _: Schema) -> exp.Query:
    """Return what was pushed as slices, with the time that no slice within takes."""
    steps, widths = _steps(inputs, options)
    length = w.minus(column(_UNTIL), column("ts"))
    steps["measured"] = _widened("frames", length=length, id=_over(w.call("row_number"), [_SEQ]))
    total = w.aliased(w.call("sum", column("length")), "total")
    steps["within"] = w.grouped(w.select(_PARENT, total, source="measured"), [_PARENT])
    inside = w.call("coalesce", column("total", "w"), w.number(0))
    own = w.cast(w.minus(column("length", "m"), inside), "BIGINT")
    depth = w.cast(w.minus(column(_HEIGHT, "m"), w.number(1)), "INTEGER")
    found = w.columns(["ts", "length", *keys(options["partitions"]), _ID], "m")
    payload = [*(f"v{n}" for n in range(widths[0])), *(f"x{n}" for n in range(widths[1]))]
    found += [column(_ID, "p"), depth, own, *w.columns(payload, "m")]
    query = w.select(*w.named(found, options["names"]), source="measured", alias="m")
    w.join(query, "measured", "p", [w.equal(column(_PARENT, "m"), column(_SEQ, "p"))], "LEFT")
    w.join(query, "within", "w", [w.equal(column(_SEQ, "m"), column(_PARENT, "w"))], "LEFT")
    return w.with_steps(query, steps.items())


def _history(inputs: Sequence[Input], options: Mapping[str, Any]) -> dict[str, exp.Query]:
    """Return the steps that end with `history`: time, length, keys, path of tokens, id."""
    steps, _ = _steps(inputs, options)
    until = _over(w.call("lead", column("ts")), [_SEQ], _PART)
    steps["lasting"] = _widened("moves", length=w.minus(until, column("ts")))
    steps["topped"] = _framed("lasting", "top", column(_LEVEL))
    path = w.aliased(w.call("list_value", column("v0")), _PATH)
    roots = w.where(w.select(_SEQ, path, source="frames"), w.is_null(column(_PARENT)))
    longer = w.call("list_append", column(_PATH, "p"), column("v0", "f"))
    above = w.select(column(_SEQ, "f"), longer, source="paths", alias="p")
    w.join(above, "frames", "f", [w.equal(column(_PARENT, "f"), column(_SEQ, "p"))])
    steps["paths"] = w.both(roots, above)
    first = w.aliased(w.over(w.call("min", column(_SEQ, "t")), [column(_PATH, "p")]), "first")
    whole = exp.Column(this=exp.Star(), table=identifier("t"))
    spans = w.select(whole, column(_PATH, "p"), first, source="topped", alias="t")
    w.join(spans, "paths", "p", [w.equal(column("top", "t"), column(_SEQ, "p"))])
    steps["spans"] = w.where(spans, *(w.greater(column(c, "t"), w.number(0)) for c in (_LEVEL, "length")))
    steps["history"] = _widened("spans", id=_over(w.call("dense_rank"), ["first"]))
    return steps


def stack_history(inputs: Sequence[Input], options: Mapping[str, Any], _: Schema) -> exp.Query:
    """Return the spans between changes of a stack that is not empty, equal stacks with one id."""
    found = w.columns(["ts", "length", *keys(options["partitions"]), _ID])
    query = w.select(*w.named(found, options["names"]), source="history")
    return w.with_steps(query, _history(inputs, options).items(), recursive="paths")


def stack_contents(inputs: Sequence[Input], options: Mapping[str, Any], _: Schema) -> exp.Query:
    """Return the tokens of each stack of the history, from the bottom."""
    stacks = w.select(_ID, _PATH, source="history").distinct(copy=False)
    depth = w.minus(w.call("generate_subscripts", column(_PATH), w.number(1)), w.number(1))
    found = [column(_ID), w.cast(depth, "INTEGER"), w.call("unnest", column(_PATH))]
    query = w.select(*w.named(found, options["names"]), source=stacks)
    return w.with_steps(query, _history(inputs, options).items(), recursive="paths")
