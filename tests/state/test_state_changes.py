"""Stacks, queues, removals, later changes, pools and names against models in Python."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.errors import UsageError
from dctv.state import (
    ROOT,
    AttributeNotFound,
    AttributePool,
    HistoryClosed,
    OutOfOrder,
    StateSystem,
    Value,
    WrongValue,
    escape,
    split,
)
from tests.bounds import bounded
from tests.state.systems import spans, states_of

NUMBERS = st.one_of(st.none(), st.integers(-3, 3))
STEPS = st.lists(st.tuples(st.integers(0, 3), st.booleans(), NUMBERS), max_size=80)


@given(STEPS, st.sampled_from(["stack", "queue"]))
@bounded(150)
def test_stacks_and_queues_are_lists(steps: list[tuple[int, bool, Value]], shape: str) -> None:
    system = StateSystem.in_memory()
    quark = system.add("s")
    put, take = (system.offer, system.poll) if shape == "queue" else (system.push, system.pop)
    model: list[Value] = []
    after: dict[int, list[Value]] = {0: []}
    time = 0
    for step, adds, value in steps:
        time += step
        if adds:
            put(time, value, quark)
            model.append(value)
        else:
            wanted = model.pop(0 if shape == "queue" else -1) if model else None
            assert take(time, quark) == wanted
        assert system.ongoing(quark).value == (len(model) or None)
        assert system.peek(quark) == (model[0] if model else None)
        after[time] = list(model)
    system.close(time + 1)
    held: list[Value] = []
    for now in range(time + 2):
        held = after.get(now, held)
        depth, *values = [one.value for one in system.full_state(now)]
        assert (depth or 0) == len(held)
        assert values == [*held, *[None] * (len(values) - len(held))]
        top = system.stack_top(now, quark)
        assert (top is None) == (not held)
        assert top is None or top.value == held[-1]


PATHS = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=4).map(tuple)


@given(st.lists(PATHS, min_size=1, max_size=12), st.integers(0, 11))
@bounded(100)
def test_removal_includes_children(paths: list[tuple[str, ...]], removed: int) -> None:
    system = StateSystem.in_memory()
    for path in paths:
        system.add(*path)
    quarks = range(system.attribute_count)
    for quark in quarks:
        system.modify(5, quark, quark)
    top = system.path(removed % len(quarks))
    system.remove(9, removed % len(quarks))
    system.close(12)
    for quark in quarks:
        gone = system.path(quark)[: len(top)] == top
        states = [(0, 4, None), (5, 8, quark), (9, 12, None)] if gone else [(0, 4, None), (5, 12, quark)]
        assert states_of(system, *system.path(quark)) == states
    assert system.attribute_count == len(quarks)


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 4)), max_size=20),
    st.lists(st.tuples(st.integers(0, 30), st.integers(5, 9)), max_size=20),
)
@bounded(100)
def test_later_changes_apply_in_order(now: list[tuple[int, int]], later: list[tuple[int, int]]) -> None:
    """Each is made before the first other change that is not earlier; those left over when the history ends."""
    system, plain = StateSystem.in_memory(), StateSystem.in_memory()
    for one in (system, plain):
        one.add("x")
    waiting = sorted(later, key=lambda change: change[0])
    for time, value in later:
        system.later(time, "modify", 0, value)
    for time, value in sorted(now, key=lambda change: change[0]):
        system.modify(time, value, 0)
        while waiting and waiting[0][0] <= time:
            plain.modify(*waiting.pop(0), 0)
        plain.modify(time, value, 0)
    for time, value in waiting:
        plain.modify(time, value, 0)
    for one in (system, plain):
        one.close(31)
    assert spans(system.query_2d([0])) == spans(plain.query_2d([0]))


def test_later_changes_of_every_action() -> None:
    system = StateSystem.in_memory()
    stack, count = system.add("stack"), system.add("count")
    system.later(5, "push", stack, 1)
    system.later(7, "push", stack, 2)
    system.later(9, "pop", stack)
    system.later(40, "remove", stack)
    system.later(6, "increment", count, 3)
    system.modify(6, "now", system.add("other"))
    assert system.ongoing(count).value == 3
    assert system.ongoing(stack).value == 1
    with pytest.raises(OutOfOrder, match="asked for at 6"):
        system.later(5, "modify", count, 3)
    system.close(20)
    assert system.end == 40
    assert states_of(system, "stack") == [(0, 4, None), (5, 6, 1), (7, 8, 2), (9, 39, 1), (40, 40, None)]


def test_out_of_order_changes_have_no_effect() -> None:
    system = StateSystem.in_memory()
    one, other = system.add("one"), system.add("other")
    system.modify(10, 1, one)
    for change in (system.modify, system.push, system.offer):
        with pytest.raises(OutOfOrder, match="a change at 9 comes after one at 10"):
            change(9, 2, other)
    for act in (system.pop, system.poll, system.remove):
        with pytest.raises(OutOfOrder):
            act(9, one)
    system.modify(10, 2, other)
    system.close(11)
    assert states_of(system, "one") == [(0, 9, None), (10, 11, 1)]
    assert states_of(system, "other") == [(0, 9, None), (10, 11, 2)]


def test_a_closed_history_takes_no_changes() -> None:
    system = StateSystem.in_memory()
    quark = system.add("x")
    system.close(5)
    for change in (
        lambda: system.modify(6, 1, quark),
        lambda: system.later(6, "modify", quark, 1),
        lambda: system.update_ongoing(1, quark),
        lambda: system.close(7),
        lambda: system.apply(pa.record_batch({"time": [6], "quark": [0], "value": [1]})),
        lambda: system.ongoing(quark),
    ):
        with pytest.raises(HistoryClosed, match="the history is closed"):
            change()


def test_a_history_that_was_given_up() -> None:
    system = StateSystem.in_memory()
    quark = system.add("x")
    system.modify(5, 1, quark)
    reading = system.query_2d([quark])
    system.give_up()
    assert not system.wait_until_built(0)
    for ask in (
        lambda: system.state(1, quark),
        lambda: system.full_state(1),
        lambda: list(system.query_2d([quark])),
        lambda: list(reading),
        lambda: system.modify(6, 2, quark),
        lambda: system.range_max(quark, 0, 1),
    ):
        with pytest.raises(HistoryClosed, match="given up"):
            ask()


def test_columns_of_changes() -> None:
    """Paths or quarks, actions or none, and the first value that is there."""
    system = StateSystem.in_memory()
    changes = {
        "time": pa.array([1, 2, 3, 4, 5, 6]),
        "path": pa.array(["a", "a", "b/c", "b/c", "b\\/c", "a"]).dictionary_encode(),
        "action": pa.array(["push", "push", "increment", "increment", None, "pop"]),
        "whole": pa.array([7, 8, 2, 3, None, None]),
        "text": pa.array([None, None, None, None, "here", None]),
    }
    assert system.apply(pa.table(changes)) == 6
    system.close(9)
    assert states_of(system, "a") == [(0, 0, None), (1, 1, 1), (2, 5, 2), (6, 9, 1)]
    assert states_of(system, "b", "c") == [(0, 2, None), (3, 3, 2), (4, 9, 5)]
    assert states_of(system, "b/c") == [(0, 4, None), (5, 9, "here")]
    assert states_of(system, "b") == [(0, 9, None)]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"path": ["a"], "value": [1]}, "no column `time`"),
        ({"time": [1.5], "path": ["a"], "value": [1]}, "whole numbers of ns, found"),
        ({"time": [1], "path": ["a"], "value": pa.array([2**63], pa.uint64())}, "9223372036854775808"),
        ({"time": [1], "value": [1]}, "no column `path`"),
        ({"time": pa.array([None], pa.int64()), "path": ["a"], "value": [1]}, "no time"),
        ({"time": [1], "path": ["a"], "value": [b"1"]}, "a state cannot be a Binary"),
        ({"time": [1], "path": ["a"], "action": ["modfy"], "value": [1]}, "unknown action `modfy`, expected one of"),
        ({"time": [1], "path": ["a"], "action": ["increment"], "value": ["x"]}, "cannot add a string"),
    ],
)
def test_columns_that_do_not_fit(changes: dict[str, object], words: str) -> None:
    with pytest.raises(WrongValue, match=words):
        StateSystem.in_memory().apply(pa.record_batch(changes))


def test_times_of_other_units_become_ns() -> None:
    system = StateSystem.in_memory()
    system.apply(pa.record_batch({"time": pa.array([3], pa.timestamp("us")), "path": ["a"], "value": [1]}))
    assert system.ongoing(0).start == 3000


def test_changes_of_no_attribute() -> None:
    system = StateSystem.in_memory()
    for quark in (0, -1, -2, None):
        changes = pa.record_batch({"time": [1], "quark": pa.array([quark], pa.int64()), "value": [1]})
        with pytest.raises(AttributeNotFound):
            system.apply(changes)


def test_sorting_goes_over_all_parts_of_a_table() -> None:
    system = StateSystem.in_memory()
    late, early = ({"time": [time], "path": ["a"], "value": [time]} for time in (9, 3))
    system.apply(pa.concat_tables([pa.table(late), pa.table(early)]), sort=True)
    system.close(10)
    assert states_of(system, "a") == [(0, 2, None), (3, 8, 3), (9, 10, 9)]


@pytest.mark.parametrize(("order", "expected"), [("fifo", ["0", "1", "2", "1", "0"]), ("priority", list("01201"))])
def test_pools_reuse_freed_attributes(order: str, expected: list[str]) -> None:
    system = StateSystem.in_memory()
    base = system.add("lanes")
    pool = AttributePool(system, base, "priority" if order == "priority" else "fifo")
    first, second, third = (pool.take() for _ in range(3))
    system.modify(1, "busy", second)
    pool.release(2, second)
    pool.release(3, first)
    again = [pool.take(), pool.take()]
    assert [system.name(quark) for quark in (first, second, third, *again)] == expected
    assert pool.take() == third + 1
    with pytest.raises(UsageError, match="not taken from this pool"):
        pool.release(4, base)
    system.close(5)
    assert states_of(system, "lanes", "1") == [(0, 0, None), (1, 1, "busy"), (2, 5, None)]


ODD = [
    *("", " ", "/", "//", "a/b", "/a", "a/", "\\", "\\\\", "\\/", "/\\", "a\\", "\\n", "*", "**", "a*", "..", "."),
    *("...", "../..", "\0", "\0a", "a\0b", "\n", "a\nb", "\r\n", "\t", "é", "ß", "日本語", "\N{GRINNING FACE}"),
    *("\u202e", "\ufeff", "e\u0301", "\x1b[0m", "'", '"', "`", "$x", "%s", "-1", "NULL", "x" * 300, "<a>&amp;"),
]


def test_there_are_44_odd_names() -> None:
    assert len(set(ODD)) == len(ODD) == 44


def test_odd_names_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "history"
    system = StateSystem.on_disk(path)
    quarks = [system.add("Threads", name, "Status") for name in ODD]
    for time, quark in enumerate(quarks):
        system.modify(time, time, quark)
    system.close(len(ODD))
    for found in (system, StateSystem.open(path)):
        assert [found.quark("Threads", name, "Status") for name in ODD] == quarks
        assert [found.path(quark) for quark in quarks] == [("Threads", name, "Status") for name in ODD]
        assert [found.state(len(ODD), quark).value for quark in quarks] == list(range(len(ODD)))
        assert len(found.quarks("Threads", "*", "Status")) == len(ODD)
        assert found.quarks("Threads", "*", "..") == [found.quark("Threads")]
        assert found.quarks("..", "..", "Threads") == [found.quark("Threads")]
        assert found.quarks("Threads", "a*") == [found.quark("Threads", "a*")]
        assert found.quarks() == [ROOT]


@given(st.lists(st.one_of(st.sampled_from(ODD), st.text(max_size=8)), min_size=1, max_size=4))
@bounded(200)
def test_paths_in_one_text(names: list[str]) -> None:
    if any("\ud800" <= letter <= "\udfff" for letter in "".join(names)):
        names = ["a"]
    assert split(escape(names)) == names
    system = StateSystem.in_memory()
    system.apply(pa.record_batch({"time": [1], "path": [escape(names)], "value": [1]}))
    assert system.path(system.attribute_count - 1) == tuple(names)


def test_missing_attributes() -> None:
    system = StateSystem.in_memory()
    system.add("CPUs", "0", "Status")
    with pytest.raises(AttributeNotFound, match="no attribute `CPUs/0/State`") as caught:
        system.quark("CPUs", "0", "State")
    assert caught.value.hint == "did you mean `Status`?"
    assert system.find("CPUs", "1") == -2
    assert system.find("0", "Status", below=0) == 2
    assert system.quarks("CPUs", "1", "*") == []
    assert system.find() == ROOT
    for quark in (3, -2, 2**31 - 1):
        with pytest.raises(AttributeNotFound):
            system.name(quark)
        with pytest.raises(AttributeNotFound):
            system.add_below(quark, "x")
