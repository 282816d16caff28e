"""Regressions by more than a limit."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dctv.comparison.comparison import Comparison
from dctv.comparison.judging import Direction, Directions, Limit, judge
from dctv.contracts.table_function import Quantity
from dctv.errors import UsageError
from dctv.types.units import parse_unit
from tests.comparison.made import sides

A = [["up", 100, 100], ["down", 100, 100], ["same", 100, 100], ["new", 0, 0], ["gone", 9, 9]]
B = [["up", 106, 90], ["down", 94, 106], ["same", 100, 100], ["new", 1, 1], ["added", 9, 9]]


@pytest.fixture
def compared() -> Comparison:
    """Return a comparison with a time and a rate."""
    return Comparison(sides("name VARCHAR, time BIGINT ms, rate BIGINT", [A], [B]))


def told(found: Comparison, percent: float, better: Direction | dict[str, Direction]) -> set[tuple[object, str]]:
    return {(one.key["name"], one.metric.name) for one in found.regressions(percent, better=better)}


@pytest.mark.parametrize("better", ["up", {"rate": "Higher"}])
def test_a_direction_that_there_is_not_is_refused(compared: Comparison, better: Any) -> None:
    with pytest.raises(UsageError, match=r"found the direction `(up|Higher)`, expected one of lower, higher, none"):
        told(compared, 5, better)


def test_more_is_worse_by_default(compared: Comparison) -> None:
    grown = {("up", "time"), ("new", "time"), ("down", "rate"), ("new", "rate")}
    assert told(compared, 5, "lower") == grown
    assert told(compared, 6, "lower") == {("new", "time"), ("new", "rate")}
    assert told(compared, 5, "higher") == {("down", "time"), ("up", "rate")}
    assert told(compared, 5, {"rate": "higher"}) == {("up", "time"), ("new", "time"), ("up", "rate")}
    assert told(compared, 5, {"rate": "none"}) == {("up", "time"), ("new", "time")}
    assert told(compared, 5, "none") == set()


@pytest.mark.parametrize("percent", [0.7, 1.4, 2.9, 99.9])
def test_a_change_of_just_the_limit_does_not_exceed_it(percent: float) -> None:
    more = round(1000 * (1 + percent / 100))
    found = Comparison(sides("name VARCHAR, time BIGINT", [[["a", 1000]]], [[["a", more]]]))
    assert told(found, percent, "lower") == set()
    assert told(found, percent - 0.05, "lower") == {("a", "time")}


def test_column_directions_can_be_overridden() -> None:
    found = Comparison(sides("name VARCHAR, rate BIGINT", [[["a", 10]]], [[["a", 5]]]), (), {"rate": "higher"})
    assert told(found, 5, "lower") == {("a", "rate")}
    assert told(found, 5, {"rate": "lower"}) == set()


def test_columns_must_be_there(compared: Comparison) -> None:
    with pytest.raises(UsageError, match="found `rat` with a better direction, which is not compared") as error:
        compared.regressions(5, better={"rat": "higher"})
    assert error.value.hint == "did you mean `rate`?"


def test_rows_of_one_side_are_counted_and_not_judged(compared: Comparison) -> None:
    verdict = judge(compared.rows, Limit(0.05), Directions())
    assert (verdict.judged, verdict.unjudged) == (8, 4)
    verdict = judge(compared.rows, Limit(0.05), Directions("lower", {"rate": "none"}))
    assert (verdict.judged, verdict.unjudged) == (4, 2)


@pytest.mark.parametrize(
    ("number", "unit", "expected"),
    [
        (6000, "us", {"up", "new-rate", "down-rate"}),
        (6001, "us", {"new-rate", "down-rate"}),
        (1, "B", {"up", "new", "new-rate", "down-rate"}),
    ],
)
def test_small_differences_in_such_a_unit_do_not_count(
    compared: Comparison, number: int, unit: str, expected: set[str]
) -> None:
    limit = Limit(0.05, None, (Quantity(Fraction(number), parse_unit(unit)),))
    worse = judge(compared.rows, limit, Directions()).worse
    names = {f"{one.key['name']}{'-rate' if one.metric.name == 'rate' else ''}" for one in worse}
    assert names == expected


def test_a_bare_amount_is_for_bare_numbers(compared: Comparison) -> None:
    worse = judge(compared.rows, Limit(0.05, None, (Quantity(Fraction(6)),)), Directions()).worse
    assert [(one.key["name"], one.metric.name) for one in worse] == [("up", "time"), ("new", "time"), ("down", "rate")]
