"""Coarser states of an attribute: worked cases, and answers that are those of looking at every state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.state import StateSystem, Value, WrongValue
from tests.bounds import bounded
from tests.state.systems import spans, states_of

WEIGHTED: list[tuple[int, int, Value, Value, float]] = [
    (0, 0, None, None, 0),
    (500, 1500, 10, 10, 5),
    (1500, 5000, 20, 10, 90 / 7),
    (5000, 10000, 30, 30, 18),
    (0, 10000, 30, 10, 14),
    (120000, 120000, None, None, 0),
    (120500, 121500, 10, 10, 5),
    (121500, 125000, 20, 10, 90 / 7),
    (125000, 130000, 30, 30, 18),
    (120000, 130000, 30, 10, 14),
    (100000, 150000, 30, 10, 14),
    (240000, 250000, 30, 0, 14),
    (0, 250000, 30, 0, 14),
    (250000, 250000, 0, 0, 0),
]
"""First and last time of a range; maximum, minimum, average."""


def weighted() -> StateSystem:
    system = StateSystem.in_memory()
    quark = system.add("x")
    for time in range(0, 250_000, 10_000):
        for more, value in ((0, None), (1000, 10), (2000, None), (3000, 20), (5000, None), (6000, 30), (9000, None)):
            system.modify_mipmap(time + more, value, quark, 2)
    system.modify_mipmap(250_000, 0, quark, 2)
    system.close(250_000)
    return system


def test_case_11_weighted() -> None:
    system = weighted()
    for first, last, most, least, average in WEIGHTED:
        assert system.range_max(0, first, last) == most
        assert system.range_min(0, first, last) == least
        assert system.range_average(0, first, last) == pytest.approx(average)
    for first in range(0, 5001, 500):
        assert system.range_average(0, first, first + 20_000) == pytest.approx(14)


def test_case_11_kept_states() -> None:
    system = weighted()
    assert states_of(system, "x", "max", "1")[1:3] == [(1000, 5999, 20), (6000, 20999, 30)]
    first, second = states_of(system, "x", "avg", "1")[1:3]
    assert (first, second[:2]) == ((1000, 5999, 10.0), (6000, 12999))
    assert second[2] == pytest.approx(100 / 7)
    assert states_of(system, "x", "avg", "2")[1] == (1000, 12999, 12.5)
    start, end, value = states_of(system, "x", "avg", "3")[1]
    assert (start, end) == (1000, 25999)
    assert value == pytest.approx(13.2)
    assert states_of(system, "x", "max") == [(0, 999, None), (1000, 250_000, 6)]
    assert system.kind(system.quark("x", "max", "1")) == "long"
    assert system.kind(system.quark("x", "avg", "1")) == "double"


@pytest.fixture(scope="module")
def linear() -> StateSystem:
    system = StateSystem.in_memory()
    quark = system.add("x")
    for time in range(1000, 100_000_001, 1000):
        system.modify_mipmap(time, time // 1000, quark, 16)
    system.close(100_000_000)
    return system


LEVELS = [
    ((12_337_000, 12_352_999), 12_352, 12_337, 12_344.5),
    ((12_289_000, 12_544_999), 12_544, 12_289, 12_416.5),
    ((12_289_000, 16_384_999), 16_384, 12_289, 14_336.5),
    ((1000, 65_536_999), 65_536, 1, 32_768.5),
]


def test_case_12_levels(linear: StateSystem) -> None:
    for feature in ("max", "min", "avg"):
        assert linear.state(1000, linear.quark("x", feature)).value == 4
        assert len(linear.sub_attributes(linear.quark("x", feature))) == 4
    for level, (ends, *values) in enumerate(LEVELS, 1):
        for feature, value in zip(("max", "min", "avg"), values, strict=True):
            found = linear.state(12_345_000, linear.quark("x", feature, str(level)))
            assert (found.start, found.end, found.value) == (*ends, value)


def test_case_12_the_last_states(linear: StateSystem) -> None:
    last = {
        feature: [linear.state(100_000_000, linear.quark("x", feature, str(level))).value for level in range(1, 5)]
        for feature in ("max", "min", "avg")
    }
    assert last["max"] == [100_000] * 4
    assert last["min"] == [99_985, 99_841, 98_305, 65_537]
    # What has lasted for no time weighs nothing, so that these are a bit less than halves between their ends.
    assert last["avg"] == [pytest.approx(value, abs=0.5) for value in (99_992, 99_920, 99_152, 82_768)]


def test_case_12_ranges(linear: StateSystem) -> None:
    end = 100_000_000
    most = [linear.range_max(0, *ends) for ends in ((0, 1000), (1000, end // 2), (0, end))]
    least = [linear.range_min(0, *ends) for ends in ((end // 2, end), (0, end))]
    ranges = ((0, 1000), (1000, 1000), (1000, end // 2), (0, end), (end // 2, end))
    assert most == [1, 50_000, 100_000]
    assert least == [50_000, 1]
    assert [linear.range_average(0, *ends) for ends in ranges] == pytest.approx([0, 1, 25_000, 49_999.5, 74_999.5])


def test_texts_have_no_average() -> None:
    system = StateSystem.in_memory()
    text = system.add("text")
    with pytest.raises(WrongValue, match="only numbers"):
        system.modify_mipmap(1, "a", system.add("other"), 2)
    system.modify(2, "a", text)
    system.close(3)
    for ask in (system.range_max, system.range_min, system.range_average):
        with pytest.raises(WrongValue, match="has texts, expected numbers"):
            ask(text, 0, 3)


@pytest.mark.parametrize("resolution", [0, 1])
def test_no_coarser_states(resolution: int) -> None:
    system = StateSystem.in_memory()
    quark = system.add("x")
    system.modify_mipmap(1, 5, quark, resolution)
    assert system.sub_attributes(quark) == []


VALUES = st.one_of(st.none(), st.integers(-5, 5))
STEPS = st.lists(st.tuples(st.integers(1, 6), VALUES), max_size=60)


@given(
    STEPS,
    st.integers(2, 5),
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), min_size=1, max_size=12),
    st.integers(0, 9),
    st.sampled_from([1, 0.5]),
)
@bounded(150)
def test_ranges_match_every_state(
    steps: list[tuple[int, Value]], resolution: int, ranges: list[tuple[int, int]], more: int, scale: float
) -> None:
    plain, coarse = StateSystem.in_memory(), StateSystem.in_memory()
    plain.add("x")
    coarse.add("x")
    time = 0
    for step, number in steps:
        time += step
        value = number * scale if isinstance(number, int) else None
        plain.modify(time, value, 0)
        coarse.modify_mipmap(time, value, 0, resolution)
    for system in (plain, coarse):
        system.close(time + more)
    states = spans(plain.query_2d([0]))
    assert spans(coarse.query_2d([0])) == states
    for one, other in ranges:
        first, last = sorted((one % (time + more + 1), other % (time + more + 1)))
        inside = [v for start, end, v in states if v is not None and start <= last and end >= first]
        numbers = [v for v in inside if not isinstance(v, str)]
        weighed = [
            (v if isinstance(v, int | float) else 0) * (min(last, end + 1) - max(first, start))
            for start, end, v in states
            if start < last and end >= first
        ]
        average = sum(weighed) / (last - first) if last > first else (numbers or [0])[0]
        for system in (plain, coarse):
            assert system.range_max(0, first, last) == max(numbers, default=None)
            assert system.range_min(0, first, last) == min(numbers, default=None)
            assert system.range_average(0, first, last) == pytest.approx(average)


def test_coarser_states_are_the_same_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "history"
    kept, written = StateSystem.in_memory(), StateSystem.on_disk(path)
    for system in (kept, written):
        quark = system.add("x")
        for time in range(1, 5000):
            system.modify_mipmap(time * 3, time * 7919 % 1009, quark, 3)
        system.close(15_000)
    opened = StateSystem.open(path)
    for first in range(0, 15_000, 700):
        for last in range(first, 15_000, 900):
            found = [(s.range_max(0, first, last), s.range_average(0, first, last)) for s in (kept, opened)]
            assert found[0] == found[1]


def test_an_average_that_ends_with_a_coarser_state() -> None:
    """The last time of a range only ends it, also where a coarser state ends then: 6 + 5 of 69."""
    system = StateSystem.in_memory()
    quark = system.add("x")
    for time, value in [(34, 0), (40, 1), (46, 0), (52, None), (58, 0), (64, 1), (70, 0)]:
        system.modify_mipmap(time, value, quark, 5)
    system.close(70)
    assert system.range_average(quark, 0, 69) == pytest.approx(11 / 69)
    assert system.range_average(quark, 0, 70) == pytest.approx(12 / 70)


def test_attributes_with_coarser_states_change_with_these() -> None:
    """Any other change would leave them behind."""
    system = StateSystem.in_memory()
    above = system.add("above")
    quark = system.add("above", "x")
    system.modify_mipmap(1, 100, quark, 2)
    changes: list[Callable[[], object]] = [
        lambda: system.modify(3, 5, quark),
        lambda: system.update_ongoing(5, quark),
        lambda: system.increment(3, quark),
        lambda: system.remove(3, quark),
        lambda: system.remove(3, above),
        lambda: system.modify(3, 5, system.quark("above", "x", "max"), "int"),
    ]
    for change in changes:
        with pytest.raises(WrongValue, match="has coarser states, expected changes that keep them"):
            change()
    system.modify(4, 1, above)
    system.modify_mipmap(4, 7, quark, 2)
    system.close(6)
    assert states_of(system, "above", "x") == [(0, 0, None), (1, 3, 100), (4, 6, 7)]


def test_states_that_lasted_for_no_time_are_no_greatest() -> None:
    system = StateSystem.in_memory()
    quark = system.add("x")
    for time, value in [(10, 100), (10, 5), (20, 1), (30, 2), (40, 3)]:
        system.modify_mipmap(time, value, quark, 2)
    system.close(50)
    assert system.range_max(quark, 0, 50) == 5


@pytest.mark.parametrize("where", ["memory", "disk", "reopened"])
@pytest.mark.parametrize("name", ["max", "min", "avg"])
def test_attributes_that_are_only_called_like_coarser_states(tmp_path: Path, where: str, name: str) -> None:
    """A `max/1` attribute of the builder's own does not affect ranges of its parent."""
    system = StateSystem.in_memory() if where == "memory" else StateSystem.on_disk(tmp_path / "history")
    quark, below = system.add("x"), system.add("x", name, "1")
    for time in range(1, 20):
        system.modify(time, time, quark)
        system.modify(time, 1000, below)
    system.close(20)
    found = StateSystem.open(tmp_path / "history") if where == "reopened" else system
    assert (found.range_max(quark, 0, 20), found.range_min(quark, 0, 20)) == (19, 1)
    assert found.range_average(quark, 1, 20) == 10
    assert found.range_max(found.quark("x", name), 0, 20) is None


def test_coarser_states_do_not_replace_others() -> None:
    system = StateSystem.in_memory()
    quark, other, empty = system.add("x"), system.add("y"), system.add("z")
    system.add("z", "max", "1")
    system.modify(1, 5, system.add("x", "max", "1"))
    with pytest.raises(WrongValue, match="`x/max/1` has states of its own, expected none where"):
        system.modify_mipmap(2, 7, quark, 2)
    system.modify_mipmap(2, 7, quark, 2, features=["min"])
    system.modify_mipmap(2, None, other, 2)
    system.modify(3, 5, system.add("y", "avg"))
    with pytest.raises(WrongValue, match="`y/avg` has states of its own"):
        system.modify_mipmap(4, 7, other, 2)
    for time in range(5, 20):
        system.modify_mipmap(time, time, empty, 2)
    with pytest.raises(WrongValue, match="`9` has coarser states"):
        system.modify(20, 1, system.add("z", "max", "9"))
    system.close(20)
    assert system.range_max(empty, 0, 20) == 19


def test_coarser_states_are_found_again(tmp_path: Path) -> None:
    """Answers over ranges climb to levels in a file too: a level that is cut away from it would be missed."""
    system = StateSystem.on_disk(tmp_path / "history")
    quark = system.add("x")
    for time in range(1, 2000):
        system.modify_mipmap(time, time * 7919 % 1009, quark, 4)
    system.close(2000)
    opened = StateSystem.open(tmp_path / "history")
    for first, last in [(0, 2000), (3, 1777), (512, 513), (100, 1100)]:
        inner = [time * 7919 % 1009 for time in range(max(first, 1), min(last, 1999) + 1)]
        assert opened.range_max(quark, first, last) == system.range_max(quark, first, last) == max(inner)
        assert opened.range_min(quark, first, last) == system.range_min(quark, first, last) == min(inner)
        assert opened.range_average(quark, first, last) == pytest.approx(system.range_average(quark, first, last))
