"""Partial histories: what they keep, what they refuse, and that they are as small as they say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.state import AttributeNotFound, HistoryClosed, PartialStateSystem, StateSystem, TimeOutOfRange, WrongValue
from tests.bounds import bounded
from tests.state.systems import Change, batch_of, built, replay_of, told

CHANGES: list[Change] = [(time, "ab"[time % 2], time % 5) for time in range(1, 400)]


REFUSED: list[tuple[type[Exception], Callable[[StateSystem], object]]] = [
    (AttributeNotFound, lambda one: list(one.query_2d([2], first=1, last=2))),
    (AttributeNotFound, lambda one: list(one.query_2d([2], times=[]))),
    (AttributeNotFound, lambda one: one.range_max(2, 0, 1)),
    (AttributeNotFound, lambda one: one.state(0, 2)),
    (TimeOutOfRange, lambda one: list(one.query_2d([0], first=-1))),
    (TimeOutOfRange, lambda one: list(one.query_2d([0], times=[-1, 4]))),
    (TimeOutOfRange, lambda one: one.state(501, 0)),
    (TimeOutOfRange, lambda one: one.full_state(-1)),
    (TimeOutOfRange, lambda one: one.range_min(0, 20, 10)),
    (TimeOutOfRange, lambda one: one.range_average(0, 20, 10)),
    (TimeOutOfRange, lambda one: one.range_max(0, 501, 510)),
    (HistoryClosed, lambda one: one.ongoing(0)),
    (HistoryClosed, lambda one: one.modify(600, 1, 0)),
]


def partial(folder: Path, changes: list[Change], granularity: int) -> PartialStateSystem:
    system = PartialStateSystem.build(folder / "partial", replay_of(changes), granularity=granularity)
    built(system, "ab", changes, 500)
    return system


@pytest.mark.parametrize("granularity", [1, 2, 7, 10_000])
def test_a_partial_history_refuses_what_a_full_one_refuses(tmp_path: Path, granularity: int) -> None:
    for system in (built(StateSystem.in_memory(), "ab", CHANGES, 500), partial(tmp_path, CHANGES, granularity)):
        assert len(list(system.query_2d([0], first=30, last=10))) == 11
        assert list(system.query_2d([0], first=600, last=700)) == []
        for kind, ask in REFUSED:
            with pytest.raises(kind):
                ask(system)


def test_a_partial_history_refuses_changes_that_it_cannot_replay(tmp_path: Path) -> None:
    system = PartialStateSystem.build(tmp_path / "partial", replay_of(CHANGES))
    quark = system.add("a")
    update = pa.record_batch({"time": [1], "path": ["a"], "action": ["update"], "value": [1]})
    for change in (
        lambda: system.update_ongoing(1, quark),
        lambda: system.later(5, "modify", quark, 1),
        lambda: system.apply(update),
        lambda: system.apply(pa.table(update)),
        lambda: system.modify_mipmap(5, 1, quark, 2),
    ):
        with pytest.raises(WrongValue, match="partial history"):
            change()
    system.modify(5, 1, quark)
    with pytest.raises(HistoryClosed, match="when it is closed"):
        system.state(0, quark)


def test_fewer_checkpoints_make_it_smaller(tmp_path: Path) -> None:
    """Kept are states that last over two checkpoints; `a` changes each time, `b` each 150th."""
    changes: list[Change] = [(time, "ab"[time % 150 == 0], time) for time in range(1, 40_000)]
    sizes, kept = [], []
    for granularity in (10, 100, 1000):
        folder = tmp_path / str(granularity)
        folder.mkdir()
        system = PartialStateSystem.build(folder / "partial", replay_of(changes), granularity=granularity)
        built(system, "ab", changes, 50_000)
        sizes.append((folder / "partial").stat().st_size)
        kept.append(system.interval_count)
    assert kept == [267, 133, 0]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < 1000


ACTIONS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from(["modify", "push", "pop", "offer", "poll", "increment", "remove"]),
        st.sampled_from("pq"),
        st.integers(0, 3),
    ),
    max_size=60,
)


@given(ACTIONS, st.sampled_from([1, 2, 7, 1000]))
@bounded(60)
def test_changes_of_every_action_are_replayed(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, str, str, int]], granularity: int
) -> None:
    """Stacks and numbers go on where they were: `p` is a stack, `q` a number."""
    rows = []
    time = 0
    for step, action, name, value in steps:
        time += step
        fits = action == "remove" or (action in ("modify", "increment")) == (name == "q")
        rows.extend([(time, action, name, value)] if fits else [])

    def changes(first: int, last: int) -> list[pa.RecordBatch]:
        inside = [row for row in rows if first <= row[0] <= last]
        kinds = {"time": pa.int64(), "action": pa.string(), "path": pa.string(), "value": pa.int64()}
        columns = zip(*inside, strict=True) if inside else ([] for _ in kinds)
        arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds.values(), strict=True)]
        return [pa.record_batch(arrays, names=list(kinds))]

    path = tmp_path_factory.mktemp("partial") / "partial"
    full = StateSystem.in_memory()
    part = PartialStateSystem.build(path, changes, granularity=granularity)
    for system in (full, part):
        for name in "pq":
            system.add(name)
        system.apply(changes(0, time)[0])
        system.close(time + 1)
    for now in range(time + 2):
        right = told(full.full_state(now))
        assert told(part.full_state(now)) == right
        if now % 5 == 0:
            alone = PartialStateSystem.open_partial(path, changes)
            assert told(alone.full_state(now)) == right
    quarks = range(full.attribute_count)
    assert told(part.query_2d(quarks)) == told(full.query_2d(quarks))


def test_batches_cover_the_requested_time(tmp_path: Path) -> None:
    """A part is made again once, with those beside it unless they are at hand."""
    asked: list[tuple[int, int]] = []

    def replay(first: int, last: int) -> list[pa.RecordBatch]:
        asked.append((first, last))
        return [batch_of([one for one in CHANGES if first <= one[0] <= last])]

    system = PartialStateSystem.build(tmp_path / "partial", replay, granularity=100)
    built(system, "ab", CHANGES, 500)
    for time in (150, 160, 170, 250, 50, 450):
        system.state(time, 0)
    assert asked == [(0, 300), (201, 500), (0, 100), (301, 500)]


def test_no_more_changes_are_read_than_are_needed(tmp_path: Path) -> None:
    read: list[int] = []

    def replay(first: int, last: int) -> Iterator[pa.RecordBatch]:
        for one in CHANGES:
            if first <= one[0] <= last:
                read.append(one[0])
                yield batch_of([one])

    system = PartialStateSystem.build(tmp_path / "partial", replay, granularity=100)
    built(system, "ab", CHANGES, 500)
    system.full_state(150)
    assert read == list(range(1, 203))


def test_other_changes_than_before_are_noticed(tmp_path: Path) -> None:
    system = PartialStateSystem.build(tmp_path / "partial", replay_of([]), granularity=100)
    built(system, "ab", CHANGES, 500)
    with pytest.raises(WrongValue, match="not those that the history was built of"):
        system.state(150, 0)
