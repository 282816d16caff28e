"""Relational forms of operators over spans that may overlap: lanes, the innermost of them, how many are open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from dctv.contracts.span_operator import Input
from dctv.functions.span.intervals.spans import PART, Rows, kept, rows_of
from dctv.plan.sql import aliased, column, subquery, table
from dctv.plan.windows import (
    any_of,
    ascending,
    at_most,
    bigint,
    call,
    chosen,
    columns,
    descending,
    every,
    is_null,
    less,
    minus,
    named,
    nested,
    over,
    plus,
    same,
    select,
    stacked,
    whole,
    with_tables,
)
from dctv.types.schema import Schema

_T, _NEXT, _STEP, _COUNT = "dctv:t", "dctv:next", "dctv:step", "dctv:count"
_ONE = exp.Literal.number("1")


def _part_keys(rows: Rows) -> exp.Select:
    """Return each partition's number with its keys."""
    tree = select(columns([PART, *rows.keys]), "numbered")
    return tree.group_by(*columns([PART, *rows.keys]), copy=False)


def lanes(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return the rows of `lanes`; a lane depends on all lanes before it, so that there is a step for each row."""
    rows = rows_of(inputs[0], options)
    order = ascending(column(rows.ts), column(rows.payload[-1]))
    step = over(call("row_number"), columns([PART]), order)
    steps = nested(rows.numbered(), [exp.Star(), aliased(step, _STEP)])
    end = plus(column(rows.ts, "s"), column(str(rows.duration), "s"))
    own = columns([PART, _STEP], "s")
    first = select([*own, whole(0), call("list_value", end)], table("steps", "s"))
    first = first.where(exp.EQ(this=column(_STEP, "s"), expression=_ONE.copy()), copy=False)
    # What is free ends no later than the row begins; without such a lane there is a new one.
    busy = column("busy", "r")
    free = exp.Lambda(
        this=at_most(column("e"), column(rows.ts, "s")), expressions=[exp.to_identifier("e", quoted=True)]
    )
    place = call("list_position", call("list_transform", busy, free), exp.Boolean(this=True))
    found = call("coalesce", place, plus(call("len", busy.copy()), _ONE.copy()))
    before = call("list_slice", busy.copy(), _ONE.copy(), minus(found.copy(), _ONE.copy()))
    after = call("list_slice", busy.copy(), plus(found.copy(), _ONE.copy()), call("len", busy.copy()))
    now = call("list_concat", call("list_append", before, end.copy()), after)
    next_ = select([*columns([PART, _STEP], "s"), bigint(minus(found, _ONE.copy())), now], table("steps", "s"))
    matching = [
        exp.EQ(this=column(PART, "s"), expression=column(PART, "r")),
        exp.EQ(this=column(_STEP, "s"), expression=plus(column(_STEP, "r"), _ONE.copy())),
    ]
    next_ = next_.join(table("run", "r"), on=every(matching), copy=False)
    run = exp.Union(this=first, expression=next_, distinct=False)
    handed = [rows.ts, str(rows.duration), *rows.keys]
    values = [*columns(handed, "s"), column("lane", "r"), *columns(kept(rows, options, 1), "s")]
    tree = select(named(values, options["names"]), table("steps", "s"))
    matching = [exp.EQ(this=column(n, "s"), expression=column(n, "r")) for n in (PART, _STEP)]
    tree = tree.join(table("run", "r"), on=every(matching), copy=False)
    run_alias = exp.TableAlias(
        this=exp.to_identifier("run"),
        columns=[exp.to_identifier(n, quoted=True) for n in (PART, _STEP, "lane", "busy")],
    )
    common = [
        exp.CTE(this=steps, alias=exp.TableAlias(this=exp.to_identifier("steps"))),
        exp.CTE(this=run, alias=run_alias),
    ]
    tree.set("with_", exp.With(expressions=common, recursive=True))
    return tree


def flatten(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return the rows of `flatten`: the innermost span of each stretch between boundaries; equal neighbours are one."""
    rows = rows_of(inputs[0], options)
    row = rows.payload[-1]
    cuts = _cuts(rows)
    spans = [column(n, "n") for n in rows.names]
    order = exp.Order(
        expressions=[
            descending(column(rows.ts, "n")),
            *ascending(plus(column(rows.ts, "n"), column(str(rows.duration), "n")), column(row, "n")).expressions,
        ]
    )
    rank = over(call("row_number"), columns([PART, _T], "c"), order)
    covered = select([*columns([PART, _T, _NEXT], "c"), *spans, aliased(rank, "dctv:rank")], table("cuts", "c")).join(
        table("numbered", "n"),
        on=every(
            [
                exp.EQ(this=column(PART, "n"), expression=column(PART, "c")),
                at_most(column(rows.ts, "n"), column(_T, "c")),
                at_most(column(_NEXT, "c"), plus(column(rows.ts, "n"), column(str(rows.duration), "n"))),
            ]
        ),
        copy=False,
    )
    inner = nested(covered, [exp.Star()], exp.EQ(this=column("dctv:rank"), expression=_ONE.copy()))
    in_part = ascending(column(_T))
    lagged = [
        aliased(over(call("lag", column(n)), columns([PART]), in_part.copy()), f"dctv:lag {n}") for n in (_NEXT, row)
    ]
    looked = nested(inner, [exp.Star(), *lagged])
    goes_on = every([same(column(f"dctv:lag {_NEXT}"), column(_T)), same(column(f"dctv:lag {row}"), column(row))])
    marked = nested(looked, [exp.Star(), aliased(chosen(goes_on, whole(0), whole(1)), "dctv:new")])
    run = over(call("sum", column("dctv:new")), columns([PART]), in_part.copy(), "until")
    numbered = nested(marked, [exp.Star(), aliased(run, "dctv:run")])
    start = call("min", column(_T))
    length = minus(call("max", column(_NEXT)), start.copy())
    # All rows of a run are the same one.
    handed = [call("any_value", column(n)) for n in (*rows.keys, *kept(rows, options))]
    tree = nested(numbered, named([start, length, *handed], options["names"]))
    tree = tree.group_by(*columns([PART, "dctv:run"]), copy=False)
    return with_tables(tree, numbered=rows.numbered(), cuts=cuts)


def _cuts(rows: Rows) -> exp.Select:
    """Return the stretches between the boundaries of each partition."""
    ends = [select([column(PART), aliased(value, _T)], "numbered") for value in (column(rows.ts), rows.end())]
    bounds = exp.Union(this=ends[0], expression=ends[1], distinct=True)
    following = over(call("lead", column(_T)), columns([PART]), ascending(column(_T)))
    cuts = nested(bounds, [*columns([PART, _T]), aliased(following, _NEXT)])
    return nested(cuts, columns([PART, _T, _NEXT]), exp.Not(this=is_null(column(_NEXT))))


def concurrency(inputs: Sequence[Input], options: Mapping[str, Any], _schema: Schema) -> exp.Query:
    """Return the rows of `concurrency`: at each boundary, the sum of what began and ended until then."""
    rows = rows_of(inputs[0], options)
    steps = [
        select(named([column(PART), value, whole(change)], [PART, _T, _STEP]), "numbered")
        for value, change in ((column(rows.ts), 1), (rows.end(), -1))
    ]
    change = call("sum", column(_STEP))
    changes = nested(stacked(*steps), [*columns([PART, _T]), aliased(change, _STEP)])
    changes = changes.group_by(*columns([PART, _T]), copy=False)
    if options["merge"]:
        none = exp.EQ(this=column(_STEP), expression=whole(0))
        changes = nested(changes, columns([PART, _T, _STEP]), exp.Not(this=none))
    in_part = ascending(column(_T))
    count = bigint(over(call("sum", column(_STEP)), columns([PART]), in_part, "until"))
    following = over(call("lead", column(_T)), columns([PART]), in_part.copy())
    counted = nested(changes, [*columns([PART, _T]), *named([count, following], [_COUNT, _NEXT])])
    times: list[exp.Expr] = [column(_T, "c")]
    tests: list[exp.Expr] = []
    if options["result"] == "spans":
        times.append(minus(column(_NEXT, "c"), column(_T, "c")))
        tests.append(exp.Not(this=is_null(column(_NEXT, "c"))))
        if not options["idle"]:
            tests.append(any_of([less(whole(0), column(_COUNT, "c"))]))
    values = [*times, *columns(rows.keys, "k"), column(_COUNT, "c")]
    tree = select(named(values, options["names"]), subquery(counted, "c"), *tests)
    on = exp.EQ(this=column(PART, "k"), expression=column(PART, "c"))
    tree = tree.join(table("part_keys", "k"), on=on, copy=False)
    return with_tables(tree, numbered=rows.numbered(), part_keys=_part_keys(rows))
