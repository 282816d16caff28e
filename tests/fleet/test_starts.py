"""Plans that ask when traces began: each trace is told only of itself, in the form that its index understands."""

from __future__ import annotations

from dctv.plan.build import join, number, select, where
from dctv.plan.expressions import Binary, Cast, Column, Expression, StartOf, TraceStarts
from dctv.plan.nodes import Relation
from dctv.plan.order import RowOrder
from dctv.plan.queries import Select
from dctv.plan.walk import walk
from dctv.run.fleet.starts import with_start, without_starts
from dctv.types.schema import ColumnType, Kind, Schema

SCHEMA = Schema(Kind.REGULAR, (ColumnType("name", "VARCHAR"),))
START = StartOf(Column("_trace", "e"), TraceStarts({"a": 5, "b": 7}))


def of(query: Select) -> Relation:
    return Relation(SCHEMA, RowOrder.ANY, query)


def since(time: Expression) -> Select:
    """Return a select of what is not before a time."""
    return where(select(Column("name", "e"), source="e"), Binary(">=", Column("_ts", "e"), time))


def told(relation: Relation) -> list[TraceStarts]:
    return [one.starts for one in walk(relation.query) if isinstance(one, StartOf)]


def test_a_plan_that_is_handed_out_knows_no_starts() -> None:
    plan, asks = without_starts(of(since(Binary("-", number(100), START))))
    assert isinstance(plan, Relation)
    assert asks
    assert [one.of for one in told(plan)] == [{}]


def test_a_plan_that_asks_for_no_start_is_the_same() -> None:
    plan = of(since(number(100)))
    assert without_starts(plan) == (plan, False)


def test_a_comparison_is_one_with_a_time_of_the_trace() -> None:
    plan, _ = without_starts(of(since(Binary("-", number(100), START))))
    for start, left in ((7, 93), (107, -7)):
        made = with_start(plan, "b", start)
        assert isinstance(made, Relation)
        assert made.query == since(number(left))


def test_a_time_of_the_clock_and_what_an_outer_join_fills_look_the_start_up() -> None:
    computed = since(Cast(START, "BIGINT"))
    filled = since(Binary("-", number(100), START))
    for query in (computed, join(filled, "o", "o", [Binary("=", Column("x", "e"), Column("x", "o"))], "LEFT")):
        plan, _ = without_starts(of(query))
        made = with_start(plan, "b", 7)
        assert isinstance(made, Relation)
        assert [one.of for one in told(made)] == [{"b": 7}]
