"""Histories of every kind give the same answers, which are those of changes looked at one by one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.state import OutOfOrder, StateSystem, Value
from dctv.state.interval import intervals_of
from tests.bounds import bounded
from tests.state.systems import Change, Told, batch_of, built, every_kind, told

NAMES = ("a", "b", "c", "d")
GRANULARITIES = (1, 2, 7, 1000)
"""One, two, a prime, and more than there are changes."""


@st.composite
def histories(draw: st.DrawFn) -> tuple[int, list[Change], int]:
    """Return a first time, changes in order, and a last time."""
    start = time = draw(st.integers(-20, 20))
    changes: list[Change] = []
    steps = st.tuples(st.integers(0, 4), st.sampled_from(NAMES), st.one_of(st.none(), st.integers(0, 3)))
    for step, name, value in draw(st.lists(steps, max_size=60)):
        time += step
        changes.append((time, name, value))
    return start, changes, time + draw(st.integers(0, 5))


def expected(start: int, changes: list[Change], end: int) -> list[Told]:
    """Return the states that changes make, by the rules.

    A change to the same state is none; of changes at one time the last counts, even if the state is as it was before.
    """
    found: list[Told] = []
    for quark, name in enumerate(NAMES):
        begins: list[tuple[int, Value]] = [(start, None)]
        for time, changed, value in changes:
            if changed != name or begins[-1][1] == value:
                continue
            if begins[-1][0] == time:
                begins.pop()
            begins.append((time, value))
        ends = [*(time - 1 for time, _ in begins[1:]), end]
        found.extend((quark, time, stop, value) for (time, value), stop in zip(begins, ends, strict=True))
    return found


@contextmanager
def all_kinds(start: int, changes: list[Change], end: int) -> Iterator[list[StateSystem]]:
    with tempfile.TemporaryDirectory() as folder:
        yield every_kind(Path(folder), NAMES, changes, start, end, GRANULARITIES)


@given(histories())
@bounded(25)
def test_states_at_each_time(history: tuple[int, list[Change], int]) -> None:
    start, _, end = history
    states = expected(*history)
    with all_kinds(*history) as systems:
        for system in systems:
            assert (system.start, system.end, system.safe_time) == (start, end, end)
            for time in range(start, end + 1):
                full = told(system.full_state(time))
                assert full == [row for row in states if row[1] <= time <= row[2]]
                assert [told([system.state(time, quark)])[0] for quark in range(len(NAMES))] == full


@given(histories())
@bounded(25)
def test_states_tile_the_history(history: tuple[int, list[Change], int]) -> None:
    start, _, end = history
    with all_kinds(*history) as systems:
        for system in systems:
            for quark in range(len(NAMES)):
                found = list(system.history(quark))
                assert (found[0].start, found[-1].end) == (start, end)
                assert all(one.end + 1 == other.start for one, other in pairwise(found))
                assert all(one.duration == one.end - one.start + 1 > 0 and not one.ongoing for one in found)
                assert list(system.history(quark, backwards=True)) == found[::-1]


@given(
    histories(),
    st.integers(0, 300),
    st.integers(0, 300),
    st.lists(st.integers(0, 320), max_size=8),
    st.lists(st.sampled_from(range(len(NAMES))), unique=True),
    st.sampled_from(["forwards", "backwards"]),
)
@bounded(30)
def test_states_over_ranges_and_at_times(
    history: tuple[int, list[Change], int], one: int, other: int, points: list[int], quarks: list[int], way: str
) -> None:
    start, _, end = history
    span = end - start + 5
    first, last = sorted((start + one % span, start + other % span))
    times = [start + point % span for point in points]
    states = [row for row in expected(*history) if row[0] in quarks]
    over = [row for row in states if row[1] <= last and row[2] >= first]
    with all_kinds(*history) as systems:
        for system in systems:
            found = told(system.query_2d(quarks, first=first, last=last, backwards=way == "backwards"))
            assert found == over
            at = told(system.query_2d(quarks, times=times, backwards=way == "backwards"))
            assert at == [row for row in states if any(row[1] <= time <= row[2] for time in times)]
            assert told(intervals_of(system.batches_2d(quarks, times=times))) == at


@given(histories(), st.integers(0, 300), st.integers(0, 300))
@bounded(25)
def test_ranges_of_every_kind(history: tuple[int, list[Change], int], one: int, other: int) -> None:
    start, _, end = history
    span = end - start + 1
    first, last = sorted((start + one % span, start + other % span))
    with all_kinds(*history) as systems:
        for quark in range(len(NAMES)):
            rows = [row for row in expected(*history) if row[0] == quark and row[1] <= last and row[2] >= first]
            numbers = [value for *_, value in rows if isinstance(value, int)]
            sums = [
                (value if isinstance(value, int) else 0) * (min(last, stop + 1) - max(first, begin))
                for _, begin, stop, value in rows
            ]
            average = sum(sums) / (last - first) if last > first else (numbers or [0])[0]
            for system in systems:
                assert system.range_max(quark, first, last) == max(numbers, default=None)
                assert system.range_min(quark, first, last) == min(numbers, default=None)
                assert system.range_average(quark, first, last) == pytest.approx(average)


@given(histories(), st.randoms(use_true_random=False))
@bounded(60)
def test_changes_in_any_order_that_are_sorted_first(history: tuple[int, list[Change], int], random: Random) -> None:
    start, changes, end = history
    # Those of one time and attribute stay in their order, as sorting keeps it.
    keyed = [change for number, change in enumerate(changes) if change[:2] not in {c[:2] for c in changes[:number]}]
    shuffled = list(keyed)
    random.shuffle(shuffled)
    system = StateSystem.in_memory(start)
    for name in NAMES:
        system.add(name)
    assert system.apply(batch_of(shuffled), sort=True) == len(shuffled)
    system.close(end)
    assert told(system.query_2d(range(len(NAMES)))) == expected(start, keyed, end)
    if [one[0] for one in shuffled] != [one[0] for one in keyed]:
        with pytest.raises(OutOfOrder, match="expected changes in order of time"):
            built(StateSystem.in_memory(start), NAMES, shuffled, end)


@given(histories(), st.lists(st.integers(0, 60), max_size=3))
@bounded(60)
def test_batches_may_be_cut_anywhere(history: tuple[int, list[Change], int], cuts: list[int]) -> None:
    start, changes, end = history
    system = StateSystem.in_memory(start)
    for name in NAMES:
        system.add(name)
    edges = [0, *sorted(cut % (len(changes) + 1) for cut in cuts), len(changes)]
    for begin, stop in pairwise(edges):
        system.apply(batch_of(changes[begin:stop]))
    system.close(end)
    assert told(system.query_2d(range(len(NAMES)))) == expected(*history)


@given(histories())
@bounded(40)
def test_without_a_history_there_is_only_what_lasts(history: tuple[int, list[Change], int]) -> None:
    start, changes, end = history
    system = StateSystem.without_history(start)
    for name in NAMES:
        system.add(name)
    system.apply(batch_of(changes))
    last = {name: next((v for _, n, v in reversed(changes) if n == name), None) for name in NAMES}
    assert [system.ongoing(quark).value for quark in range(len(NAMES))] == list(last.values())
    assert system.interval_count == 0
    system.close(end)
    assert [one.value for one in system.full_state(start)] == [None] * len(NAMES)
