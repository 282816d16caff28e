"""A replay of a range of time has the columns of uftrace, and ends with the calls that were open at its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line import run
from tests.readers.uftrace.uftrace_directory import Directory, calls

LEFT = ["", "uftrace stopped tracing with remaining functions", "=" * 48]
TASKS = (*Directory().tasks, "TASK timestamp=0.000000050 tid=2 pid=1")
ONE = calls((1000, "main"), (2000, "a"), (3000, "b"), (4000, None), (5000, None), (6000, "c"))
TWO = calls((1500, "b"), (9000, None))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Directory({1: ONE, 2: TWO}, tasks=TASKS).write(tmp_path_factory.mktemp("ranges") / "d")


def left(folder: Path, *options: str) -> list[str]:
    """The lines after those of calls."""
    lines = run("replay", folder, "--no-index", *options).out.splitlines()
    return lines[lines.index("") :] if "" in lines else []


def test_a_range_ends_with_its_open_calls(folder: Path) -> None:
    assert left(folder, "-r", "~2.5us") == [*LEFT, "task: 1", "[2] b", "[1] a", "[0] main", "", "task: 2", "[0] b", ""]
    assert left(folder, "-r", "900ns~2.5us") == [*LEFT, "task: 1", "[1] b", "[0] a", ""]
    assert left(folder, "-r", "~0.000003500") == left(folder, "-r", "~2.5us")
    assert left(folder, "-r", "1.8us~4.2us") == []


def test_without_an_end_calls_are_open_that_were_never_left(folder: Path) -> None:
    assert left(folder) == [*LEFT, "task: 1", "[1] c", "[0] main", ""]
    assert left(folder, "-r", "1us~") == [*LEFT, "task: 1", "[0] c", ""]


def test_other_threads_are_left_out(folder: Path) -> None:
    assert left(folder, "--tid", "2") == []
    assert left(folder, "--tid", "2", "-r", "~2.5us") == [*LEFT, "task: 2", "[0] b", ""]


def test_times_come_first(folder: Path) -> None:
    def head(*options: str) -> list[str]:
        return run("replay", folder, "--no-index", *options).out.splitlines()[0].split()

    assert head("-r", "1us~") == ["#", "ELAPSED", "DURATION", "TID", "FUNCTION"]
    assert head("-r", "0.000001~") == ["#", "TIMESTAMP", "DURATION", "TID", "FUNCTION"]
    assert head("-r", "1us~", "-f", "elapsed,tid,duration") == ["#", "DURATION", "TID", "ELAPSED", "FUNCTION"]
