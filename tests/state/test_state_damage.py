"""Damaged files, killed builders, two builders, full disks: the right answer or an error in words."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dctv.state import HistoryDamaged, Interval, StateSystem, Value
from tests.bounds import EXPLORE

FLIPS = 1000
KILLS = 200 if EXPLORE else 20
ATTRIBUTES = 6
END = 12_000


def build(path: Path) -> None:
    """Write a history that has blocks of each type, and of several sizes."""
    draw = random.Random(5)
    system = StateSystem.on_disk(path, identity=b"what it is of")
    quarks = [system.add("top", str(number)) for number in range(ATTRIBUTES)]
    for when in range(1, END):
        quark = draw.choice(quarks)
        states: list[Value] = [when, when % 3, when * 0.5, f"text {when % 50}", None, draw.randrange(-(2**40), 2**40)]
        system.modify(when, states[quark - 1], quark, "int" if quark == quarks[1] else None)
    system.close(END)


Answers = tuple[list[Interval], list[Interval], list[Interval], list[Interval]]


def answers(path: Path) -> Answers:
    """Ask a history all kinds of questions."""
    system = StateSystem.open(path, b"what it is of")
    over = list(system.query_2d(range(system.attribute_count)))
    at = list(system.query_2d(range(system.attribute_count), times=range(0, END, 37), backwards=True))
    full = system.full_state(END // 2)
    return over, at, full, list(system.history(1, resolution=500))


def survives(path: Path, data: bytes, right: Answers) -> bool:
    """Ask a damaged history; say whether it answered, which must then be right."""
    path.write_bytes(data)
    try:
        found = answers(path)
    except HistoryDamaged:
        return False
    assert found == right
    return True


def test_damaged_files(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    build(whole)
    data, right = whole.read_bytes(), answers(whole)
    draw = random.Random(EXPLORE and time.time_ns())
    for number in range(FLIPS):
        found = bytearray(data)
        for _ in range(draw.choice([1, 1, 1, 2, 8])):
            place = draw.choice([draw.randrange(len(data)), len(data) - 1 - draw.randrange(400)])
            found[place] ^= draw.choice([1 << draw.randrange(8), 255])
        # Every byte counts, so that damage is always found by asking for everything.
        assert survives(tmp_path / f"{number % 2}", bytes(found), right) == (bytes(found) == data), number


def test_files_that_are_cut_off(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    build(whole)
    data, right = whole.read_bytes(), answers(whole)
    sizes = {0, 1, 7, 8, 31, 32, 39, 40, 41, *range(len(data) - 64, len(data)), *range(0, len(data), len(data) // 100)}
    for size in sorted(sizes):
        assert not survives(tmp_path / "cut", data[:size], right)
        assert not survives(tmp_path / "cut", data[:size] + bytes(len(data) - size), right)
    assert not survives(tmp_path / "cut", data + b"\0", right)
    assert survives(tmp_path / "cut", data, right)


def test_undamaged_parts_still_answer(tmp_path: Path) -> None:
    """A block is looked at when it is first asked for; damage elsewhere does not matter until then."""
    path = tmp_path / "history"
    build(path)
    right = StateSystem.open(path).state(END, 6)
    data = bytearray(path.read_bytes())
    data[60] ^= 4
    path.write_bytes(data)
    opened = StateSystem.open(path)
    assert opened.state(END, 6) == right
    with pytest.raises(HistoryDamaged, match="checksum of a block"):
        list(opened.query_2d(range(7)))


BUILDER = """
import sys
from pathlib import Path
from dctv.state import StateSystem
system = StateSystem.on_disk(Path(sys.argv[1]))
quarks = [system.add(str(number)) for number in range(20)]
print("begun", flush=True)
for time in range(1, 60_000):
    system.modify(time, time * 7919, quarks[time % 20])
system.close(60_000)
print("closed", flush=True)
"""


@pytest.mark.ci
def test_a_killed_builder_leaves_no_complete_file(tmp_path: Path) -> None:
    """A child is killed after a random time; what it leaves opens only if it had closed its history."""
    draw = random.Random()
    took = 0.0
    for number in range(KILLS + 1):
        path = tmp_path / str(number)
        with subprocess.Popen([sys.executable, "-c", BUILDER, str(path)], stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "begun\n"
            started = time.perf_counter()
            if number:
                time.sleep(draw.random() * took * 1.1)
                child.send_signal(signal.SIGKILL)
            closed = child.stdout.read() == "closed\n"
        took = took or time.perf_counter() - started
        opens = not closed or len(list(StateSystem.open(path).query_2d(range(20)))) == 60_019
        assert opens
        if not closed:
            whole_or_refused(path)
        path.unlink()


def whole_or_refused(path: Path) -> None:
    """Open what a killed builder left: it may be whole, if the child was killed before it could say so."""
    try:
        found = list(StateSystem.open(path).query_2d(range(20)))
    except HistoryDamaged:
        return
    assert len(found) == 60_019


def test_two_builders_of_one_file(tmp_path: Path) -> None:
    path = tmp_path / "history"
    first = StateSystem.on_disk(path)
    with pytest.raises(FileExistsError):
        StateSystem.on_disk(path)
    with pytest.raises(HistoryDamaged):
        StateSystem.open(path)
    quark = first.add("x")
    first.modify(5, 1, quark)
    first.close(9)
    assert StateSystem.open(path).state(7, 0).value == 1
    with pytest.raises(FileExistsError):
        StateSystem.on_disk(path)
    assert StateSystem.open(path).state(7, 0).value == 1


LIMITED = """
import json, resource, sys
from pathlib import Path
from dctv.errors import DctvError
from dctv.state import StateSystem
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
path = Path(sys.argv[1])
system = StateSystem.on_disk(path)
quark = system.add("x")
found = []
try:
    for time in range(1, 400_000):
        system.modify(time, time * 7919 % 2**40, quark)
    system.close(400_000)
except OSError as error:
    found.append(type(error).__name__)
for time in (1, 1000, 100_000, 399_000):
    try:
        found.append(system.state(time, quark).value == time * 7919 % 2**40)
    except (OSError, DctvError) as error:
        found.append(type(error).__name__)
try:
    StateSystem.open(path)
except DctvError as error:
    found.append(type(error).__name__)
print(json.dumps(found))
"""


@pytest.mark.parametrize("limit", [4096, 1_500_000])
def test_a_file_that_cannot_grow(tmp_path: Path, limit: int) -> None:
    """A file size limit ends writing like a full disk: that is an error, without wrong answers or leftovers."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path / "history"), str(limit)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    failed, *answers, left = json.loads(done.stdout)
    assert (failed, left) == ("OSError", "HistoryDamaged")
    assert set(answers) <= {True, "OSError", "TimeOutOfRange", "HistoryClosed", "HistoryDamaged"}
