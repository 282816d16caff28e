"""Worked cases of state systems: changes that come in, and the states that follow."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from dctv.state import ROOT, AttributeNotFound, Interval, StateSystem, TimeOutOfRange, Value, WrongValue
from dctv.state.system import Kind
from tests.state.systems import spans, states_of

LARGEST = 2**63 - 1
PUSHED: list[tuple[int, Value]] = [(2, "A"), (4, 10), (6, None), (8, "D"), (10, LARGEST)]
POPPED: list[tuple[int, Value]] = [(11, LARGEST), (12, "D"), (14, None), (16, 10), (17, "A"), (20, None)]


@pytest.fixture(params=["memory", "disk", "opened"])
def finish(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Callable[[StateSystem], None]], StateSystem]:
    """Return what makes a history of some changes, in memory, on disk, or opened again."""

    def make(change: Callable[[StateSystem], None], start: int = 0) -> StateSystem:
        path = tmp_path / "history"
        system = StateSystem.in_memory(start) if request.param == "memory" else StateSystem.on_disk(path, start)
        change(system)
        return StateSystem.open(path) if request.param == "opened" else system

    return make


Finish = Callable[..., StateSystem]


def push_and_pop(system: StateSystem) -> None:
    """Values of a stack are of one type per level here, so each level has its own."""
    stack = system.add("s")
    for time, value in PUSHED:
        system.push(time, value, stack)
    assert [system.pop(time, stack) for time, _ in POPPED] == [value for _, value in POPPED]
    system.push(21, "A", stack)
    system.push(22, 10, stack)
    assert [system.pop(time, stack) for time in (24, 26, 28)] == [10, "A", None]
    system.close(30)


def test_case_1_push_and_pop(finish: Finish) -> None:
    system = finish(push_and_pop)
    stack = system.quark("s")
    assert states_of(system, "s") == [
        (0, 1, None),
        (2, 3, 1),
        (4, 5, 2),
        (6, 7, 3),
        (8, 9, 4),
        (10, 10, 5),
        (11, 11, 4),
        (12, 13, 3),
        (14, 15, 2),
        (16, 16, 1),
        (17, 20, None),
        (21, 21, 1),
        (22, 23, 2),
        (24, 25, 1),
        (26, 30, None),
    ]
    first, second = system.quark("s", "1"), system.quark("s", "2")
    assert (system.state(10, first).value, system.state(22, second).value) == ("A", 10)
    assert system.state(25, second).value is None
    tops = {time: system.stack_top(time, stack) for time in (10, 9, 13, 16, 25, 1, 19, 27)}
    known = {time: top.value for time, top in tops.items() if top is not None}
    assert known == {10: LARGEST, 9: "D", 13: None, 16: "A", 25: "A"}
    assert [one.value for one in system.full_state(10)] == [5, "A", 10, None, "D", LARGEST]
    assert [one.value for one in system.full_state(18)] == [None] * 6
    assert [one.value for one in system.full_state(21)] == [1, "A", None, None, None, None]
    assert system.kind(stack) == "int"


def test_a_stack_is_known_by_its_depth() -> None:
    system = StateSystem.in_memory()
    quark = system.add("no stack")
    system.modify(1, 0, quark, "int")
    system.modify(2, None, quark)
    system.close(3)
    with pytest.raises(WrongValue, match="no stack"):
        system.stack_top(1, quark)


def test_a_value_that_is_no_depth_takes_no_push() -> None:
    system = StateSystem.in_memory()
    quark = system.add("text")
    system.modify(1, "text", quark)
    with pytest.raises(WrongValue, match="no stack"):
        system.push(2, 1, quark)
    with pytest.raises(WrongValue, match="no stack"):
        system.pop(2, quark)


def two_attributes(system: StateSystem) -> None:
    text, number = system.add("String"), system.add("Integer")
    texts = [(60, "S1"), (90, "S2"), (130, "S3"), (140, "S4")]
    numbers = [(70, 0), (80, 1), (100, 2), (110, 3), (160, 4)]
    changes = [(t, v, text) for t, v in texts] + [(t, v, number) for t, v in numbers]
    for time, value, quark in sorted(changes, key=lambda change: change[0]):
        system.modify(time, value, quark)
    system.close(200)


@pytest.mark.parametrize("backwards", [False, True])
def test_case_2_several_attributes(finish: Finish, *, backwards: bool) -> None:
    system = finish(two_attributes, 50)
    text, number = system.quark("String"), system.quark("Integer")
    asked = ([text], [number], [text, number])
    over = [list(system.query_2d(quarks, first=50, last=200, backwards=backwards)) for quarks in asked]
    assert [len(found) for found in over] == [5, 6, 11]
    times = [50, 80, 110, 140, 170, 200]
    at = [spans(system.query_2d(quarks, times=times, backwards=backwards)) for quarks in asked]
    assert at[0] == [(50, 59, None), (60, 89, "S1"), (90, 129, "S2"), (140, 200, "S4")]
    assert at[1] == [(50, 69, None), (80, 99, 1), (110, 159, 3), (160, 200, 4)]
    assert sorted(at[2], key=str) == sorted(at[0] + at[1], key=str)
    # The end of a range that is turned round says where to begin.
    assert spans(system.query_2d([text], first=200, last=50)) == spans(over[0])


@pytest.mark.parametrize("time", [0, -(2**63)])
def test_case_2_times_before_the_begin(finish: Finish, time: int) -> None:
    system = finish(two_attributes, 50)
    with pytest.raises(TimeOutOfRange):
        list(system.query_2d([0, 1], first=time, last=200))
    with pytest.raises(TimeOutOfRange):
        list(system.query_2d([0, 1], times=[time, 100]))
    assert len(list(system.query_2d([0, 1], times=[200, 5000]))) == 2


def test_case_2_no_attributes_and_no_times(finish: Finish) -> None:
    system = finish(two_attributes, 50)
    with pytest.raises(AttributeNotFound):
        list(system.query_2d([2**31 - 1], first=50, last=200))
    with pytest.raises(AttributeNotFound):
        list(system.query_2d([2**31 - 1], times=[60]))
    assert list(system.query_2d([], first=50, last=200)) == []
    assert list(system.query_2d([0, 1], times=[])) == []


def ten_and_twenty(system: StateSystem) -> None:
    quark = system.add("x")
    system.modify(1200, 10, quark)
    system.modify(1500, 20, quark)
    system.close(2000)


@pytest.mark.parametrize(
    ("first", "last", "value"),
    [
        (0, 999, None),
        (2001, 5000, None),
        (1000, 1199, None),
        (1000, 1300, 10),
        (800, 2500, 10),
        (1300, 1800, 10),
        (1500, 1800, 20),
        (1800, 2500, 20),
    ],
)
def test_case_3_the_first_state_that_is_one(finish: Finish, first: int, last: int, value: Value) -> None:
    found = finish(ten_and_twenty, 1000).first_non_null(0, first, last)
    assert (None if found is None else found.value) == value


def test_case_3_states_one_after_the_other(finish: Finish) -> None:
    """An iterator that continues from its position to a given end."""
    system = finish(ten_and_twenty, 1000)
    assert spans(system.history(0, 1800)) == [(1500, 2000, 20)]
    assert spans(system.history(0, 1000, 1199)) == [(1000, 1199, None)]
    assert spans(system.history(0, 1000, 1200)) == [(1000, 1199, None), (1200, 1499, 10)]
    assert len(list(system.history(0))) == 3


def test_case_3_before_it_is_closed() -> None:
    """Upstream counts two intervals, those that ended; here the one that lasts comes too, if time is past its begin."""
    system = StateSystem.in_memory(1000)
    quark = system.add("x")
    system.modify(1200, 10, quark)
    system.modify(1500, 20, quark)
    assert list(system.history(quark)) == [Interval(0, 1000, 1199, None), Interval(0, 1200, 1499, 10)]


@pytest.mark.parametrize(
    ("resolution", "expected"),
    [(4, [(1, 6), (9, 12)]), (3, [(1, 6), (8, 8), (9, 12)]), (1, [(1, 6), (7, 7), (8, 8), (9, 12)])],
)
def test_case_4_resolutions(finish: Finish, resolution: int, expected: list[tuple[int, int]]) -> None:
    def change(system: StateSystem) -> None:
        quark = system.add("x")
        for time, value in ((1, 1), (7, 2), (8, 1), (9, 2)):
            system.modify(time, value, quark)
        system.close(12)

    system = finish(change, 1)
    assert [(one.start, one.end) for one in system.history(0, 2, 14, resolution)] == expected
    back = [(one.start, one.end) for one in system.history(0, 2, 14, resolution, backwards=True)]
    assert back == expected[::-1]


TREE = [
    ("Test",),
    ("Testabc",),
    ("Test\nabc",),
    ("Test", "Test"),
    ("Test", "Testabc"),
    ("Test", "Test\nabc"),
    ("Test", "Test\nabc", "Testabc"),
]


def test_case_5_attributes_below(finish: Finish) -> None:
    def change(system: StateSystem) -> None:
        assert [system.add(*names) for names in TREE] == list(range(7))
        system.close(1)

    system = finish(change)
    assert system.sub_attributes(ROOT, recursive=True) == [0, 3, 4, 5, 6, 1, 2]
    assert set(system.sub_attributes(ROOT, "(.*)abc(.*)")) == {1, 2}
    assert set(system.sub_attributes(ROOT, "(.*)abc(.*)", recursive=True)) == {1, 2, 4, 5, 6}
    assert system.sub_attributes() == [0, 1, 2]
    assert system.sub_attributes(ROOT, "abc") == []
    assert [system.path(quark) for quark in range(7)] == TREE
    assert [system.parent(quark) for quark in range(7)] == [-1, -1, -1, 0, 0, 0, 5]


@pytest.mark.parametrize(("kind", "part"), [("int", 1), ("long", 1), ("double", 1.0)])
def test_case_6_increments(kind: Kind, part: float) -> None:
    system = StateSystem.in_memory()
    quark = system.add("x")
    found = []
    for time, by in ((1, 3), (2, 1000), (3, -500)):
        system.increment(time, quark, by * part, kind)
        found.append(system.ongoing(quark).value)
    assert found == [3, 1003, 503]
    assert system.kind(quark) == kind


def test_case_7_ongoing_and_waiting_states() -> None:
    """`ongoing` returns a state that was just set: `state` answers only for times that can no longer change."""
    system = StateSystem.in_memory()
    quark = system.add("x")
    found = []
    system.modify(10, 10, quark)
    found.append(system.ongoing(quark).value)
    system.modify(20, 12, quark)
    found.append(system.ongoing(quark).value)
    for value in (14, 16):
        system.update_ongoing(value, quark)
        found.append(system.ongoing(quark).value)
    assert found == [10, 12, 14, 16]
    assert not system.wait_until_built(0.05)
    waiting = threading.Thread(target=system.wait_until_built)
    waiting.start()
    system.close(30)
    waiting.join(60)
    assert not waiting.is_alive()
    assert system.wait_until_built(0)
    assert states_of(system, "x") == [(0, 9, None), (10, 19, 10), (20, 30, 16)]
