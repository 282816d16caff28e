"""Calls that were left by a jump are over: events after them are in no call."""

from __future__ import annotations

from pathlib import Path

from tests.command_line import run
from tests.readers.uftrace.uftrace_directory import ENTRY, EXIT, Directory, calls, record, task_event

JUMPED = calls((100, "main"), (110, "_setjmp"), (120, None), (130, "a"), (140, "b"))
SECOND = record(150, EXIT, "_setjmp", 1)
EXITED = "/* linux:task-exit */"


def replayed(folder: Path, data: bytes, time: int) -> list[str]:
    files = {"perf-cpu0.dat": task_event(4, time, 1)}
    return run("replay", Directory({1: data}, files=files).write(folder), "--no-index", "-f", "none").out.splitlines()


def test_an_event_after_all_calls_is_not_shown(tmp_path: Path) -> None:
    lines = replayed(tmp_path / "d", JUMPED + SECOND + record(160, EXIT, "main", 0), 170)
    assert lines == ["main() {", "  _setjmp();", "  a() {", "    b() {", "  } /* _setjmp */", "} /* main */"]


def test_an_event_in_an_unfinished_call_is_shown(tmp_path: Path) -> None:
    data = JUMPED + SECOND + record(160, ENTRY, "c", 1)
    lines = replayed(tmp_path / "d", data, 170)
    assert lines[4:7] == ["  } /* _setjmp */", "  c() {", f"    {EXITED}"]


def test_an_event_between_the_ends_of_callers_is_shown(tmp_path: Path) -> None:
    data = record(100, ENTRY, "b", 2) + record(110, EXIT, "b", 2) + record(120, EXIT, "a", 1)
    lines = replayed(tmp_path / "d", data + record(140, EXIT, "main", 0), 130)
    assert lines == ["    b();", "  } /* a */", f"  {EXITED}", "} /* main */"]
