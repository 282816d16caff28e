"""P-values and intervals: against all ways to share out runs, and all ways to draw them again."""

from __future__ import annotations

from itertools import combinations, product
from math import nan
from statistics import median
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import PermutationMethod, bootstrap, mannwhitneyu

from dctv.comparison import significance
from dctv.comparison.comparison import Comparison
from dctv.comparison.judging import check_alpha
from dctv.comparison.significance import Pair, intervals, least_p, p_values
from dctv.errors import UsageError
from tests.bounds import bounded
from tests.comparison.made import sides

DISTINCT = st.lists(st.integers(1, 10_000), min_size=4, max_size=9, unique=True)
UNEQUAL = st.lists(st.integers(1, 10_000), min_size=2, max_size=11)
TIED = st.tuples(*[st.lists(st.integers(1, 4), min_size=2, max_size=6)] * 2)


def p_value(pair: Pair) -> float | None:
    (found,) = p_values([pair])
    return found


@given(DISTINCT, st.data())
@bounded(150)
def test_p_values_count_the_ways_to_share_out_the_runs(numbers: list[int], data: st.DataObject) -> None:
    size = data.draw(st.integers(2, len(numbers) - 2))
    a, b = numbers[:size], numbers[size:]

    def above(side: list[int]) -> int:
        return sum(one > other for one in side for other in numbers if other not in side)

    least = min(above(a), above(b))
    ways = [above([numbers[i] for i in chosen]) for chosen in combinations(range(len(numbers)), size)]
    expected = min(2 * sum(way <= least for way in ways) / len(ways), 1.0)
    assert p_value((a, b)) == pytest.approx(expected)
    assert expected >= least_p(len(a), len(b)) * (1 - 1e-12)


def counted(a: list[int], b: list[int]) -> float:
    """Return the p-value of `scipy` when it goes through all ways to share out the runs."""
    ways = PermutationMethod(n_resamples=10_000)
    return float(mannwhitneyu(a, b, method=ways).pvalue)


@given(TIED)
@bounded(100)
def test_p_values_of_ties_count_the_ways_to_share_out_the_runs(pair: tuple[list[int], list[int]]) -> None:
    found = p_value(pair)
    assert found is not None
    assert found == pytest.approx(counted(*pair))
    assert found >= least_p(*map(len, pair)) * (1 - 1e-12)


def test_ties_make_no_p_value_smaller_than_can_be_reached() -> None:
    assert p_value(([1.0] * 4, [2.0] * 4)) == pytest.approx(least_p(4, 4))
    assert p_value(([1, 1, 1, 2], [2] * 5)) == pytest.approx(2 * 6 / 126)


def test_ties_among_many_runs_are_approximated_by_scipy() -> None:
    few, many = [1, 2, 3, 4, 4, 7, 9, 9], [*range(4, 46), 9, 9]
    assert p_value((few, many)) == pytest.approx(mannwhitneyu(few, many, method="asymptotic").pvalue)


@pytest.mark.parametrize("pair", [([1.0], [2.0, 3.0]), ([1.0, nan], [2.0, 3.0]), ([], [1.0, 2.0])])
def test_too_few_runs_have_no_p_value_and_no_interval(pair: Pair) -> None:
    assert p_value(pair) is None
    assert intervals([pair]) == [(None, None)]


@given(st.lists(st.integers(50, 150), min_size=3, max_size=3), st.lists(st.integers(50, 150), min_size=3, max_size=3))
@bounded(60)
def test_intervals_match_all_ways_to_draw_again(a: list[int], b: list[int]) -> None:
    ways = [(median(y) - median(x)) / median(x) for x in product(a, repeat=len(a)) for y in product(b, repeat=len(b))]
    ways.sort()
    (bounds,) = intervals([(a, b)])
    for bound, part in zip(bounds, (0.025, 0.975), strict=True):
        # 9,999 draws meet each part within half a percent.
        low, high = (ways[min(max(round((part + side) * len(ways)), 0), len(ways) - 1)] for side in (-0.008, 0.008))
        assert bound is not None
        assert low - 1e-9 <= bound <= high + 1e-9


@given(UNEQUAL, UNEQUAL)
@bounded(60)
def test_intervals_match_scipy(a: list[int], b: list[int]) -> None:
    # Which run is drawn is told by its place among the sorted ones.
    samples = np.sort(np.array(a, dtype=float)), np.sort(np.array(b, dtype=float))
    expected = bootstrap(
        samples,
        lambda x, y, axis: (np.median(y, axis=axis) - np.median(x, axis=axis)) / np.median(x, axis=axis),
        vectorized=True,
        method="percentile",
        rng=np.random.default_rng(significance._SEED),
    ).confidence_interval
    assert intervals([(a, b)]) == [pytest.approx((expected.low, expected.high), rel=1e-9)]


@given(st.lists(st.tuples(UNEQUAL, UNEQUAL), max_size=8))
@bounded(60)
def test_p_values_match_each_pair_alone(pairs: list[tuple[list[int], list[int]]]) -> None:
    expected = [p_value(pair) for pair in pairs]
    assert p_values(pairs) == pytest.approx(expected)


def test_intervals_are_the_same_however_many_there_are() -> None:
    pairs: list[Pair] = [([100 + i, 101, 103 + 7 * i], [110 + i * i, 90 + i, 108]) for i in range(40)]
    pairs.insert(7, ([1.0, 2.0], [3.0, 5.0, 4.0]))
    together = intervals(pairs)
    assert len(set(together)) > 30
    assert intervals(pairs) == together
    assert [intervals([pair])[0] for pair in pairs] == together
    with patch.object(significance, "_ROWS", 3):
        assert intervals(pairs) == together


@pytest.mark.parametrize("a", [[0, 1, 2], [-1, 1, 2]])
def test_numbers_around_zero_have_no_interval(a: list[int]) -> None:
    assert intervals([(a, [1, 2, 3])]) == [(None, None)]
    assert p_value((a, [1, 2, 3])) is not None


def test_numbers_below_zero_have_one() -> None:
    (down,) = intervals([([-100, -101, -102], [-110, -111, -112])])
    (up,) = intervals([([100, 101, 102], [110, 111, 112])])
    assert up[0] is not None
    assert down == pytest.approx((-up[1], -up[0]))


def test_a_level_must_be_in_reach() -> None:
    assert least_p(3, 3) == pytest.approx(0.1)
    assert least_p(4, 4) == pytest.approx(2 / 70)
    check_alpha(0.05, 4, 4)
    for runs in (8, 9, 12):
        apart: Pair = (tuple(range(runs)), tuple(range(100, 100 + runs)))
        assert p_values([apart]) == [pytest.approx(least_p(runs, runs))]
    with pytest.raises(UsageError, match=r"whose p-values are at least 0\.00041"):
        check_alpha(0.0002, 9, 9)
    for counts in ((3, 3), (1, 50)):
        with pytest.raises(UsageError, match="whose p-values are at least"):
            check_alpha(0.05, *counts)


def test_repeated_runs_have_p_values_and_intervals() -> None:
    a = [[["x", 100 + i], ["y", 10]] for i in range(5)]
    b = [[["x", 120 + i], ["y", 10]] for i in range(5)]
    found = Comparison(sides("name VARCHAR, total BIGINT ns", a, b))
    x, y = found.rows
    assert x.values == (102.0, 122.0)
    assert x.p == pytest.approx(2 / 252)
    assert x.low is not None
    assert x.high is not None
    assert 0.15 < x.low < 20 / 102 < x.high < 0.25
    assert (y.low, y.high, y.p) == (0.0, 0.0, 1.0)
    assert [one.key["name"] for one in found.regressions(5, alpha=0.05)] == ["x"]
    assert found.regressions(5, alpha=0.009) != []
    with pytest.raises(UsageError, match="found 5 runs and 5 runs, whose p-values are at least"):
        found.regressions(5, alpha=0.001)
    assert found.table().schema.names[-4:] == ("low", "high", "p", "note")


def test_one_run_on_a_side_has_none() -> None:
    found = Comparison(sides("x BIGINT", [[[1]]], [[[1]], [[3]]]))
    assert not found.repeated
    assert "p" not in found.table().schema.names
    assert found.rows[0].values == (1.0, 2.0)


def test_without_scipy_there_are_no_p_values() -> None:
    with patch.dict("sys.modules", {"scipy": None, "scipy.stats": None}):
        found = Comparison(sides("x BIGINT", [[[1]], [[2]]], [[[1]], [[3]]]))
        assert (found.repeated, found.tested) == (True, False)
        assert found.table().schema.names[-3:] == ("low", "high", "note")
        with pytest.raises(UsageError, match="requires scipy, which is not installed") as error:
            found.regressions(5, alpha=0.05)
    assert error.value.hint == "pip install 'dctv[compare]'"
