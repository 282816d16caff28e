"""Turns events that push and pop into spans of stacks, the contents of stacks, and nested slices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from dctv.contracts.span_operator import Counted, Input, SpanOperator
from dctv.plan.nodes import ArrowStream
from dctv.plan.sql import aliased, column, identifier, subquery, table
from dctv.types.schema import TS, Schema

IGNORED = ("{} stop on an empty stack was ignored", "{} stops on an empty stack were ignored")
UNMATCHED = ("{} end without a begin was ignored", "{} ends without a begin were ignored")


def _history(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels  # compiled; only wanted when a query runs

    return Counted(*_kernels.stack_history(*inputs, cancel=cancel, **options), IGNORED)


def _contents(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    return Counted(*_kernels.stack_contents(*inputs, cancel=cancel, **options), IGNORED)


def _pairs(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    return Counted(*_kernels.nest_pairs(*inputs, cancel=cancel, **options), UNMATCHED)


_PART, _PUSH, _RANK, _ROW, _SEQ = "dctv:part", "dctv:push", "dctv:rank", "dctv:row", "dctv:seq"
_SUM, _LEVEL, _BEFORE, _HEIGHT, _UNTIL = "dctv:sum", "dctv:level", "dctv:before", "dctv:height", "dctv:until"
_PARENT, _PATH, _ID = "dctv:parent", "dctv:path", "dctv:id"


def _number(value: int) -> exp.Expr:
    return exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))


def _call(name: str, *values: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(values))


def _over(call: exp.Expr, order: Sequence[str], *partition: str) -> exp.Window:
    terms = [exp.Ordered(this=column(n), nulls_first=False) for n in order]
    by = [column(n) for n in partition]
    return exp.Window(this=call, partition_by=by, order=exp.Order(expressions=terms) if terms else None)


def _equal(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.EQ(this=left, expression=right)


def _minus(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Sub(this=left, expression=right)


def _pushed() -> exp.Expr:
    return _equal(column(_PUSH), _number(1))


def _case(test: exp.Expr, value: exp.Expr, other: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=test, true=value)], default=other)


def _widened(source: str, **more: exp.Expr) -> exp.Select:
    """Select a table's columns and some more, whose names begin with `dctv:`."""
    added = [aliased(value, f"dctv:{name}") for name, value in more.items()]
    return exp.Select(expressions=[exp.Star(), *added]).from_(table(source))


def _keys(options: Mapping[str, Any]) -> list[str]:
    return [f"dctv:key{n}" for n in range(options["partitions"])]


def _events(one: Input, options: Mapping[str, Any], width: int, *, push: bool) -> exp.Select:
    """Select an input as events: time, keys, rank, whether it pushes, its row, payload."""
    own = 1 + options["partitions"] + options["ranked"]
    named = [TS, *_keys(options), *([_RANK] if options["ranked"] else [])]
    columns: list[exp.Expr] = [aliased(column(c), n) for c, n in zip(one.columns[:own], named, strict=True)]
    columns.append(aliased(_number(int(push)), _PUSH))
    columns.append(aliased(_over(_call("row_number"), ()), _ROW))
    payload = [column(c) for c in one.columns[own:]] if push else [exp.Null()] * width
    columns += [aliased(value, f"dctv:payload{n}") for n, value in enumerate(payload)]
    return exp.Select(expressions=columns).from_(table(one.table))


def _tables(inputs: Sequence[Input], options: Mapping[str, Any]) -> tuple[dict[str, exp.Query], int]:
    """Return the common tables `moves` (events that change a stack) and `frames` (pushes with their parents)."""
    width = len(inputs[0].columns) - 1 - options["partitions"] - options["ranked"]
    starts, stops = (_events(one, options, width, push=not n) for n, one in enumerate(inputs))
    order = [TS, *([_RANK] if options["ranked"] else []), _PUSH, _ROW]
    part = _over(_call("dense_rank"), keys) if (keys := _keys(options)) else _number(1)
    # Levels never fall below 0: each new low of the sum is a pop that changed nothing.
    step = _minus(exp.Mul(this=_number(2), expression=column(_PUSH)), _number(1))
    low = _call("least", _number(0), _over(_call("min", column(_SUM)), [_SEQ], _PART))
    lag = _over(_call("lag", column(_LEVEL), _number(1), _number(0)), [_SEQ], _PART)
    height = exp.Add(this=column(_LEVEL), expression=_minus(_number(1), column(_PUSH)))
    changes = exp.Or(this=_pushed(), expression=exp.GT(this=column(_BEFORE), expression=_number(0)))
    # Pushes and pops of one height take turns, so a frame ends with the next event of its height.
    until = _over(_call("lead", column(TS)), [_SEQ], _PART, _HEIGHT)
    below = _minus(column(_HEIGHT), _number(1))
    return {
        "dctv:events": exp.Union(this=starts, expression=stops, distinct=False),
        "dctv:numbered": _widened("dctv:events", seq=_over(_call("row_number"), order), part=part),
        "dctv:summed": _widened("dctv:numbered", sum=_over(_call("sum", exp.Paren(this=step)), [_SEQ], _PART)),
        "dctv:leveled": _widened("dctv:summed", level=_minus(column(_SUM), low)),
        "dctv:seen": _widened("dctv:leveled", before=lag, height=height),
        "dctv:moves": _widened("dctv:seen").where(changes),
        "dctv:ended": _widened("dctv:moves", until=until),
        "dctv:pushes": _widened("dctv:ended").where(_pushed()),
        "dctv:frames": _framed("dctv:pushes", _PARENT, below),
    }, width


def _framed(source: str, name: str, height: exp.Expr) -> exp.Select:
    """Add the last frame of a height that was pushed up to each row of a table, as its `dctv:seq`."""
    mine = exp.Select(expressions=[exp.Star(), aliased(height, "dctv:sought")]).from_(table(source))
    on = exp.and_(
        _equal(column(_PART, "mine"), column(_PART, "theirs")),
        _equal(column("dctv:sought", "mine"), column(_HEIGHT, "theirs")),
        exp.GTE(this=column(_SEQ, "mine"), expression=column(_SEQ, "theirs")),
    )
    values = [exp.Column(this=exp.Star(), table=identifier("mine")), aliased(column(_SEQ, "theirs"), name)]
    join = exp.Join(this=table("dctv:pushes", "theirs"), method="ASOF", side="LEFT", on=on)
    tree = exp.Select(expressions=values).from_(subquery(mine, "mine"))
    tree.append("joins", join)
    return tree


def _query(tables: Mapping[str, exp.Query], last: exp.Select) -> exp.Query:
    ctes = [exp.CTE(this=query, alias=exp.TableAlias(this=identifier(name))) for name, query in tables.items()]
    last.set("with_", exp.With(expressions=ctes, recursive=True))
    return last


def _relational_pairs(inputs: Sequence[Input], options: Mapping[str, Any], _: Schema) -> exp.Query:
    tables, width = _tables(inputs, options)
    length = _minus(column(_UNTIL), column(TS))
    tables["dctv:measured"] = _widened("dctv:frames", length=length, id=_over(_call("row_number"), [_SEQ]))
    within = exp.Select(
        expressions=[aliased(column(_PARENT), _PARENT), aliased(_call("sum", column("dctv:length")), "dctv:within")]
    ).from_(table("dctv:measured"))
    tables["dctv:within"] = within.group_by(column(_PARENT))
    inside = _call("coalesce", column("dctv:within", "w"), _number(0))
    own = exp.Cast(this=_minus(column("dctv:length", "m"), inside), to=exp.Var(this="BIGINT"))
    depth = exp.Cast(this=_minus(column(_HEIGHT, "m"), _number(1)), to=exp.Var(this="INTEGER"))
    values: list[exp.Expr] = [column(TS, "m"), column("dctv:length", "m"), *(column(k, "m") for k in _keys(options))]
    values += [column(_ID, "m"), column(_ID, "p"), depth, own]
    values += [column(f"dctv:payload{n}", "m") for n in range(width)]
    named = [aliased(value, name) for value, name in zip(values, options["names"], strict=True)]
    tree = exp.Select(expressions=named).from_(table("dctv:measured", "m"))
    for other, alias, key in (("dctv:measured", "p", _SEQ), ("dctv:within", "w", _PARENT)):
        mine = column(_PARENT if alias == "p" else _SEQ, "m")
        tree = tree.join(table(other, alias), on=_equal(mine, column(key, alias)), join_type="left", copy=False)
    return _query(tables, tree)


def _history_tables(inputs: Sequence[Input], options: Mapping[str, Any]) -> dict[str, exp.Query]:
    """Return the tables that end with `history`: time, duration, keys, path of tokens, id."""
    tables, _ = _tables(inputs, options)
    until = _over(_call("lead", column(TS)), [_SEQ], _PART)
    tables["dctv:lasting"] = _widened("dctv:moves", length=_minus(until, column(TS)))
    tables["dctv:topped"] = _framed("dctv:lasting", "dctv:top", column(_LEVEL))
    path = _call("list_value", column("dctv:payload0"))
    roots = exp.Select(expressions=[column(_SEQ), aliased(path, _PATH)]).from_(table("dctv:frames"))
    longer = _call("list_append", column(_PATH, "p"), column("dctv:payload0", "f"))
    above = exp.Select(expressions=[column(_SEQ, "f"), longer]).from_(table("dctv:paths", "p"))
    above = above.join(table("dctv:frames", "f"), on=_equal(column(_PARENT, "f"), column(_SEQ, "p")), copy=False)
    roots = roots.where(exp.Is(this=column(_PARENT), expression=exp.Null()), copy=False)
    tables["dctv:paths"] = exp.Union(this=roots, expression=above, distinct=False)
    first = _over(_call("min", column(_SEQ, "t")), ())
    first.set("partition_by", [column(_PATH, "p")])
    values = [exp.Column(this=exp.Star(), table=identifier("t")), column(_PATH, "p"), aliased(first, "dctv:first")]
    spans = exp.Select(expressions=values).from_(table("dctv:topped", "t"))
    spans = spans.join(table("dctv:paths", "p"), on=_equal(column("dctv:top", "t"), column(_SEQ, "p")), copy=False)
    spans = spans.where(
        exp.GT(this=column(_LEVEL, "t"), expression=_number(0)),
        exp.GT(this=column("dctv:length", "t"), expression=_number(0)),
        copy=False,
    )
    tables["dctv:spans"] = spans
    tables["dctv:history"] = _widened("dctv:spans", id=_over(_call("dense_rank"), ["dctv:first"]))
    return tables


def _relational_history(inputs: Sequence[Input], options: Mapping[str, Any], _: Schema) -> exp.Query:
    values = [column(c) for c in (TS, "dctv:length", *_keys(options), _ID)]
    named = [aliased(value, name) for value, name in zip(values, options["names"], strict=True)]
    return _query(_history_tables(inputs, options), exp.Select(expressions=named).from_(table("dctv:history")))


def _relational_contents(inputs: Sequence[Input], options: Mapping[str, Any], _: Schema) -> exp.Query:
    tables = _history_tables(inputs, options)
    tables["dctv:stacks"] = exp.Select(expressions=[column(_ID), column(_PATH)], distinct=exp.Distinct()).from_(
        table("dctv:history")
    )
    depth = _minus(_call("generate_subscripts", column(_PATH), _number(1)), _number(1))
    values: list[exp.Expr] = [
        column(_ID),
        exp.Cast(this=depth, to=exp.Var(this="INTEGER")),
        _call("unnest", column(_PATH)),
    ]
    named = [aliased(value, name) for value, name in zip(values, options["names"], strict=True)]
    return _query(tables, exp.Select(expressions=named).from_(table("dctv:stacks")))


HISTORY = SpanOperator("stack history", "dctv.stack_history", _history, _relational_history)
CONTENTS = SpanOperator("stack contents", "dctv.stack_contents", _contents, _relational_contents)
PAIRS = SpanOperator("nest pairs", "dctv.slices_from_stack", _pairs, _relational_pairs)
