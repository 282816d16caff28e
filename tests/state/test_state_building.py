"""Queries while a history is built: their answers still hold when it is complete."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.state import Interval, OutOfOrder, StateSystem, TimeOutOfRange
from dctv.state.interval import intervals_of
from tests.bounds import bounded
from tests.state.systems import batch_of

ATTRIBUTES = 3


def holds(early: Interval, late: Interval) -> bool:
    """Return whether an early answer matches the final one: only the end of an ongoing state may have grown."""
    same = (early.quark, early.start, early.value) == (late.quark, late.start, late.value)
    return same and (early.end <= late.end if early.ongoing else early.end == late.end)


STEPS = st.tuples(st.integers(0, 4), st.integers(0, ATTRIBUTES - 1), st.one_of(st.none(), st.integers(0, 3)))
ASKED = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 10**6), st.integers(0, 10**6)), max_size=20)


@given(st.lists(STEPS, max_size=40), ASKED, st.sampled_from(["memory", "disk"]))
@bounded(80)
def test_answers_stay_valid_while_building(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[int, int, int | None]],
    asked: list[tuple[int, int, int]],
    kind: str,
) -> None:
    path = tmp_path_factory.mktemp("held") / "history"
    system = StateSystem.in_memory() if kind == "memory" else StateSystem.on_disk(path)
    for number in range(ATTRIBUTES):
        system.add(str(number))
    answers: list[tuple[int, Interval]] = []
    over: list[tuple[int, int, list[Interval]]] = []
    now = 0
    for place, (step, quark, value) in enumerate(steps):
        now += step
        system.modify(now, value, quark)
        for _, one, other in (row for row in asked if row[0] == place):
            with pytest.raises(TimeOutOfRange, match="so far from 0 to"):
                system.state(system.safe_time + 1, quark)
            if system.safe_time < 0:
                continue
            first, last = sorted((one % (system.safe_time + 1), other % (system.safe_time + 1)))
            answers.extend((first, system.state(first, each)) for each in range(ATTRIBUTES))
            answers.extend((last, each) for each in system.full_state(last))
            over.append((first, last, list(system.query_2d(range(ATTRIBUTES), first=first, last=last))))
    system.close(now + 1)
    for time, early in answers:
        assert time in early
        assert holds(early, system.state(time, early.quark))
    for first, last, rows in over:
        late = list(system.query_2d(range(ATTRIBUTES), first=first, last=last))
        assert len(rows) == len(late)
        assert all(holds(early, one) for early, one in zip(rows, late, strict=True))


@given(st.lists(STEPS, max_size=40), st.lists(st.integers(0, 5), min_size=1, max_size=60))
@bounded(80)
def test_an_answer_that_is_read_while_more_comes(steps: list[tuple[int, int, int | None]], turns: list[int]) -> None:
    """It ends with what was known when it was asked for."""
    system = StateSystem.in_memory()
    for number in range(ATTRIBUTES):
        system.add(str(number))
    now = 0
    open_ = []
    for place, (step, quark, value) in enumerate(steps):
        now += step
        system.modify(now, value, quark)
        if system.safe_time >= 0 and turns[place % len(turns)] == 0:
            open_.append((system.safe_time, system.batches_2d(range(ATTRIBUTES))))
    readers = [(until, list(intervals_of(reader))) for until, reader in open_]
    system.close(now + 1)
    for until, rows in readers:
        late = list(system.query_2d(range(ATTRIBUTES), last=until))
        assert len(rows) == len(late)
        assert all(early.start == one.start and early.value == one.value for early, one in zip(rows, late, strict=True))


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_others_ask_while_one_builds(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "history"
    system = StateSystem.in_memory() if kind == "memory" else StateSystem.on_disk(path)
    quarks = [system.add(str(number)) for number in range(8)]
    system.modify(1, 0, 0)

    def ask() -> list[Interval]:
        found: list[Interval] = []
        while system.end is None:
            time = system.safe_time
            found.extend(system.full_state(time // 2))
            found.extend(system.state(time, quark) for quark in quarks)
            found.extend(system.query_2d(quarks, times=[time // 3, time]))
        return found

    with ThreadPoolExecutor() as pool:
        asking = [pool.submit(ask) for _ in range(2)]
        for begin in range(2, 60_000, 500):
            rows = [(time, str(time * 7 % 8), time // 40) for time in range(begin, begin + 500)]
            system.apply(batch_of(rows))
        system.close(70_000)
        answers = [one.result(120) for one in asking]
    for found in answers:
        assert found
        for early in found[:: max(1, len(found) // 3000)]:
            assert holds(early, system.state(early.start, early.quark))


REFUSED = """
import sys, threading
import pyarrow as pa
from dctv.state import StateSystem, WrongValue
sys.setswitchinterval(1e-6)
system = StateSystem.in_memory()
quark = system.add("x")
system.modify(5, 1, quark)
wrong = pa.record_batch({"time": [6], "quark": [quark], "value": ["a text"]})
done = threading.Event()
def ask():
    while not done.is_set():
        system.name(quark), system.safe_time
threading.Thread(target=ask, daemon=True).start()
for _ in range(5000):
    try:
        system.apply(wrong)
    except WrongValue:
        continue
    raise SystemExit("the change was made")
done.set()
"""
PLAYED_AGAIN = """
import pathlib, sys, tempfile, threading
import pyarrow as pa
from dctv.state import PartialStateSystem
sys.setswitchinterval(1e-6)
rows = pa.record_batch({"time": list(range(1, 400)), "path": ["a"] * 399, "value": list(range(399))})
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "history"
    system = PartialStateSystem.build(path, lambda a, b: [rows.slice(max(a - 1, 0), b - a + 1)], granularity=3)
    system.apply(rows)
    system.close(500)
    def ask():
        for time in range(500):
            system.state(time, 0)
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    while asking.is_alive():
        system.add("a")
"""


@pytest.mark.parametrize("program", [REFUSED, PLAYED_AGAIN], ids=["refused", "played again"])
def test_threads_do_not_wait_for_each_other_for_ever(program: str) -> None:
    """Each program ends at once; in a separate process, since a deadlock of threads would stop everything."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]


def test_states_that_become_known_later_are_the_exception() -> None:
    """`update_ongoing` replaces the state since the last change, even if another one was set."""
    system = StateSystem.in_memory()
    quark = system.add("x")
    system.modify(5, 1, quark)
    system.modify(9, 1, system.add("y"))
    assert system.state(7, quark) == Interval(quark, 5, 8, 1, ongoing=True)
    system.update_ongoing(2, quark)
    assert system.state(7, quark) == Interval(quark, 5, 8, 2, ongoing=True)
    with pytest.raises(OutOfOrder):
        system.modify(8, 3, quark)
