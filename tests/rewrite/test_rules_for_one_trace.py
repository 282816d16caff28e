"""Rules that matter where a plan over many traces runs for one: its sorts and its partition by trace are gone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.contracts.span_operator import SpanOperator
from dctv.plan.build import ROW_NUMBER, STAR, adding, by_names, select
from dctv.plan.expressions import Cast, Column, Number
from dctv.plan.node import Query
from dctv.plan.nodes import Kernel, Plan, Relation, column_names, ranked_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import Item, Select
from dctv.record import replace
from dctv.rewrite import rewrite
from dctv.rewrite.drop_partitions import drop_partitions
from dctv.rewrite.drop_sorts import drop_sorts
from dctv.rewrite.graph import bottom_up, inputs, readers_first, with_inputs
from dctv.session import Session
from dctv.types.schema import Kind
from tests.bounds import bounded
from tests.rewrite.test_same_rows import outcome
from tests.semantics import plans

_EVENTS = "SELECT EVENT * FROM dctv.as_events((SELECT _ts, {names}, v AS w FROM ({a})), partition=>[{keys}])"
_LAID_OUT = "SELECT SPAN v FROM dctv.as_spans((SELECT * FROM ({a})), partition=>[{keys}], on_overlap=>"
APART = {
    "span join": "SELECT SPAN a.v, b.v AS w FROM ({a}) AS a SPAN {how} JOIN ({b}) AS b",
    "event join": "SELECT EVENT w, v FROM (" + _EVENTS + ") AS e SPAN LEFT JOIN ({b}) AS b",
    "merge adjacent": "SELECT SPAN DISTINCT v FROM ({a})",
    "lanes": _LAID_OUT + "'lanes')",
    "truncate": _LAID_OUT + "'truncate')",
    "flatten": "SELECT SPAN v FROM dctv.flatten((SELECT * FROM ({a})), partition=>[{keys}])",
    "series to spans": "SELECT SPAN w FROM dctv.time_series_to_spans(sources=>[{{source=>("
    + _EVENTS
    + "), partition=>'p'}}], columns=>['w'], partition=>'p')",
}
"""A query for each operator that works on each partition alone."""


def constant(plan: Plan, _: Mapping[str, SpanOperator]) -> Plan:
    """Let the column `p` of each stored table be a literal, as the name of a trace is in a plan for it."""

    def change(one: Plan) -> Plan:
        if not isinstance(one, Kernel) or one.name != "check" or "p" not in one.schema.partitions:
            return one
        items = [Item(Cast(Number("1"), "INTEGER"), n) if n == "p" else Item(Column(n)) for n in column_names(one)]
        return Relation(one.schema, one.order, select(*items, source="own"), (("own", one),))

    return bottom_up(plan, change)


def by_columns(plan: Plan) -> Query:
    """Sort by all columns."""
    return replace(select(STAR, source="any"), order_by=by_names(ranked_names(plan.schema)))


def by_time(plan: Plan) -> Query:
    """Sort by time, and let rows of equal time stay in their order."""
    names = column_names(plan)
    numbered = adding(select(*names, source="any"), Item(ROW_NUMBER, "row"))
    return replace(select(*names, source=numbered, alias="numbered"), order_by=by_names([names[0], "row"]))


def sorted_inputs(plan: Plan, way: Callable[[Plan], Query], wanted: Callable[[str], bool]) -> Plan:
    """Sort the inputs of operators, by name, as where their order is not known."""

    def sorts(one: Plan) -> Plan:
        if one.schema.kind is Kind.REGULAR or not one.ordered:
            return one
        return Relation(one.schema, RowOrder.TIME, way(one), (("any", one),))

    def change(one: Plan) -> Plan:
        if not isinstance(one, Kernel) or not wanted(one.name):
            return one
        return with_inputs(one, tuple(map(sorts, inputs(one))))

    return bottom_up(plan, change)


def outcomes(session: Session, sql: str, rules: Sequence[object]) -> tuple[list[object], list[Plan]]:
    """Run a query with some rules; return its outcome and the plans that they made."""
    made: list[Plan] = []

    def note(plan: Plan, _: Mapping[str, SpanOperator]) -> Plan:
        made.append(plan)
        return plan

    with patch.object(rewrite, "RULES", (*rules, note)):
        return outcome(session, sql), made


def kernels(made: Sequence[Plan]) -> list[Kernel]:
    return [one for plan in made for one in readers_first(plan) if isinstance(one, Kernel)]


@st.composite
def questions(draw: st.DrawFn, form: str, partitions: tuple[str, ...]) -> str:
    """Draw a query over tables whose `p` is 1."""
    with patch.dict(plans._POOLS, {"p": [1]}):
        a, b = draw(plans.leaves(partitions)), draw(plans.leaves(partitions))
    how = draw(st.sampled_from(["INNER", "OUTER", "LEFT", "RIGHT"]))
    keys = ", ".join(f"'{one}'" for one in partitions)
    return form.format(a=a.sql, b=b.sql, how=how, keys=keys, names=", ".join(partitions))


@pytest.mark.parametrize("operator", APART)
def test_a_partition_with_one_value_is_left_out(operator: str) -> None:
    with Session(threads=1) as session:

        @bounded(40)
        @given(st.data())
        def same(data: st.DataObject) -> None:
            every = [("p",)] if operator == "series to spans" else [("p",), ("p", "q"), ("q", "p")]
            partitions = data.draw(st.sampled_from(every))
            sql = data.draw(questions(APART[operator], partitions))
            plain, asked = outcomes(session, sql, ())
            found, made = outcomes(session, sql, (constant, drop_partitions))
            assert found == plain
            assert not isinstance(found[-1], str), found[-1]
            before, after = ([one for one in kernels(some) if one.name == operator] for some in (asked, made))
            assert ["p" in one.schema.partitions for one in before] == [True]
            assert ["p" in one.schema.partitions for one in after] == [False]

        same()


@pytest.mark.parametrize("way", [by_columns, by_time])
def test_sorts_of_sorted_inputs_are_left_out(way: Callable[[Plan], Query]) -> None:
    def with_sorts(plan: Plan, operators: Mapping[str, SpanOperator]) -> Plan:
        return sorted_inputs(plan, way, lambda name: way is by_time or operators[name].by_time)

    with Session(threads=1) as session:

        @bounded(40)
        @given(st.data())
        def same(data: st.DataObject) -> None:
            partitions = data.draw(st.sampled_from([(), ("p",), ("p", "q")]))
            sql = data.draw(plans.queries(partitions, 2)).sql
            plain, before = outcomes(session, sql, ())
            found, made = outcomes(session, sql, (with_sorts, drop_sorts))
            assert found == plain
            assert sorts(made) == sorts(before)

        same()


def test_a_sort_by_more_than_time_stays_where_an_operator_may_need_it() -> None:
    spans = "SELECT SPAN * FROM dctv.as_spans((SELECT 1 AS _ts, 2 AS _duration, 3 AS v))"
    sql = f"SELECT SPAN v FROM dctv.fill_gaps(({spans}))"
    with Session(threads=1) as session:
        _, before = outcomes(session, sql, ())
        with_sort = partial(sorted_inputs, way=by_columns, wanted=lambda name: name == "fill gaps")
        _, made = outcomes(session, sql, (lambda plan, _: with_sort(plan), drop_sorts))
    assert sorts(made) == sorts(before) + 1


@pytest.mark.parametrize(
    ("calls", "stay"),
    [
        ("SELECT _ts, dur, id, parent, tid, name FROM called", 0),
        ("SELECT *, 1 AS more FROM (SELECT EVENT * FROM called) AS c WHERE tid = 1", 0),
        ("SELECT c._ts, dur, id, parent, tid, name FROM (SELECT * FROM called WHERE id > 1) AS c", 0),
        ("SELECT _ts, dur, id, parent, tid, name FROM called ORDER BY id", 2),
        ("SELECT 9ns - _ts AS _ts, dur, id, parent, tid, name FROM called", 1),
        ("SELECT *, row_number() OVER (ORDER BY id DESC) AS n FROM called", 1),
        ("SELECT * FROM called WHERE id IN (SELECT unnest([5, 4, 3, 1]))", 1),
        ("SELECT *, (SELECT 1) AS one FROM called", 1),
        ("SELECT DISTINCT _ts, dur, id, parent, tid, name FROM called", 1),
        ("SELECT * FROM called UNION ALL SELECT * FROM called WHERE false", 1),
        ("SELECT a.* FROM called AS a JOIN called AS b ON a.id = b.id", 1),
        ("SELECT a._ts, a.dur, a.id, a.parent, a.tid, a.name FROM (VALUES (1, 1, 7, 0, 1, 'a'), (0, 1, 2, 7, 1, 'b')) "
        "AS a(_ts, dur, id, parent, tid, name)", 1),
    ],
)  # fmt: skip
def test_calls_that_come_in_order_of_time_are_not_sorted(calls: str, stay: int) -> None:
    """The filter itself sorts those of one time by their ids."""
    rows = {
        "_ts": [0, 2, 2, 2, 5, 5],
        "dur": [9, 3, 2, 1, 2, 2],
        "id": [1, 4, 2, 3, 6, 5],
        "parent": [None, 2, 1, 4, 5, 1],
        "tid": [1] * 6,
        "name": list("abcdef"),
    }
    with Session(threads=1) as session:
        session.add_table("called", rows, kind="event")
        sql = f"SELECT id, parent, depth FROM dctv.filter_calls(({calls}), notrace=>['d'])"
        plain, before = outcomes(session, sql, ())
        found, made = outcomes(session, sql, (drop_sorts,))
        assert found == plain
        assert not isinstance(found[-1], str), found[-1]
        assert sorts(made) == stay
        assert sorts(before) == max(stay, 1)


def sorts(made: Sequence[Plan]) -> int:
    """Count the queries that sort."""
    every = [one.query for plan in made for one in readers_first(plan) if isinstance(one, Relation)]
    return sum(isinstance(query, Select) and bool(query.order_by) for query in every)
