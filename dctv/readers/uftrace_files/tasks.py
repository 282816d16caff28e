"""Parse `task.txt` and the maps of a uftrace data directory into tasks, sessions (program runs) and their libraries."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from dctv.patterns import pattern
from dctv.record import record

_TASK = pattern(r"TASK timestamp=(\d+)\.(\d+) tid=(\d{1,18}) pid=(\d{1,18})\b", re.ASCII)
_FORK = pattern(r"FORK timestamp=(\d+)\.(\d+) pid=(\d{1,18}) ppid=(\d{1,18})\b", re.ASCII)
_SESSION = pattern(r'SESS timestamp=(\d+)\.(\d+) (?:tid=\d+ )?[^i]*id=(\d{1,18}) sid=(\S+) exename="(.*)"', re.ASCII)
_DLOPEN = pattern(
    r'DLOP timestamp=(\d+)\.(\d+) tid=(\d+) sid=(\S+) base=(?:0x)?([0-9a-fA-F]{1,16}) libname="(.*)"', re.ASCII
)
_MAP = pattern(
    r"([0-9a-fA-F]+)-([0-9a-fA-F]+)\s+(\S+)\s+[0-9a-fA-F]+\s+\S+\s+\d+\s+(\S+)(?:\s+build-id:(\S*))?", re.ASCII
)
_MAX_BYTES = 256 << 20


@record
class TaskThread:
    """A thread."""

    tid: int
    pid: int
    ppid: int | None
    """The parent process; None for threads and the first process."""
    start: int
    """In ns."""


@record
class Mapping:
    """A file mapped by a program."""

    start: int
    end: int
    path: str
    build_id: str


@record
class LoadedLibrary:
    """A library loaded at run time."""

    time: int
    base: int
    path: str


@record
class ProgramSession:
    """A program since its exec."""

    start: int
    pid: int
    sid: str
    exename: str
    maps: tuple[Mapping, ...]
    libraries: tuple[LoadedLibrary, ...]


@record
class Tasks:
    """The contents of all these files."""

    tasks: tuple[TaskThread, ...]
    sessions: tuple[ProgramSession, ...]
    sessions_of: dict[int, list[tuple[int, int]]]
    """For each thread: times, and the session number from then on."""
    bad: tuple[tuple[str, str], ...]
    """Files and lines that were not understood."""


@record
class _Lines:
    tasks: list[TaskThread]
    again: list[tuple[int, int]]
    sessions: list[tuple[int, int, str, str]]
    libraries: dict[str, list[LoadedLibrary]]
    bad: list[tuple[str, str]]


def read_tasks(folder: Path) -> Tasks:
    """Read `task.txt` and its maps; a missing file means no tasks."""
    lines = _Lines([], [], [], {}, [])
    for line in _lines_of(folder / "task.txt"):
        if line.strip() and not _line(line, lines):
            lines.bad.append(("task.txt", line))
    sessions = []
    for start, pid, sid, exename in sorted(lines.sessions, key=lambda one: one[0]):
        maps = tuple(_maps(folder / f"sid-{sid}.map")) if "/" not in sid else ()
        libraries = sorted(lines.libraries.get(sid, ()), key=lambda one: one.time)
        sessions.append(ProgramSession(start, pid, sid, exename, maps, tuple(libraries)))
    return Tasks(tuple(lines.tasks), tuple(sessions), _sessions_of(lines, sessions), tuple(lines.bad))


def _lines_of(path: Path) -> Iterable[str]:
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES)
    except FileNotFoundError:
        return []
    return text.decode("utf-8", "replace").split("\n")


def _line(line: str, lines: _Lines) -> bool:
    if found := _TASK.match(line):
        time, (tid, pid) = _time(found), (int(found[3]), int(found[4]))
        _task(TaskThread(tid, pid, None, time), pid, lines)
    elif found := _SESSION.match(line):
        lines.sessions.append((_time(found), int(found[3]), found[4], found[5]))
    elif found := _FORK.match(line):
        time, (tid, ppid) = _time(found), (int(found[3]), int(found[4]))
        _task(TaskThread(tid, tid, ppid, time), ppid, lines)
    elif found := _DLOPEN.match(line):
        lines.libraries.setdefault(found[4], []).append(LoadedLibrary(_time(found), int(found[5], 16), found[6]))
    else:
        return False
    return True


def _time(found: re.Match[str]) -> int:
    return min(int(found[1][:12]) * 10**9 + int(found[2][:9]), 2**63 - 1)


def _task(task: TaskThread, _pid: int, lines: _Lines) -> None:
    """Add a task; a repeated task has executed another program."""
    if any(one.tid == task.tid for one in lines.tasks):
        lines.again.append((task.tid, task.start))
    else:
        lines.tasks.append(task)


def _maps(path: Path) -> Iterable[Mapping]:
    """Return one mapping per file, which merges its adjacent segments."""
    last: Mapping | None = None
    for line in _lines_of(path):
        found = _MAP.match(line)
        if found is None or found[4].startswith("["):
            continue
        start, end = (min(int(one, 16), 2**64 - 1) for one in found.group(1, 2))
        if last is not None and last.path == found[4]:
            last = Mapping(last.start, end, last.path, last.build_id)
            continue
        if last is not None:
            yield last
        last = Mapping(start, end, found[4], found[5] or "")
    if last is not None:
        yield last


def _sessions_of(lines: _Lines, sessions: list[ProgramSession]) -> dict[int, list[tuple[int, int]]]:
    """Return the program that each task runs over time: its own, or else that of the process that created it."""
    found: dict[int, list[tuple[int, int]]] = {}
    starts = {task.tid: [task.start] for task in lines.tasks}
    for tid, time in lines.again:
        starts[tid].append(time)
    for task in lines.tasks:
        own = task.ppid or task.pid
        times: list[tuple[int, int]] = []
        for at, time in enumerate(starts[task.tid]):
            number = _session_at(sessions, own if at == 0 else task.pid, time)
            if number is None and (parent := found.get(own)):
                number = next((one for start, one in reversed(parent) if start <= time), parent[0][1])
            if number is not None:
                times.append((time, number))
        found[task.tid] = times
    return found


def _session_at(sessions: list[ProgramSession], pid: int, time: int) -> int | None:
    return next((at for at in reversed(range(len(sessions))) if _runs(sessions[at], pid, time)), None)


def _runs(session: ProgramSession, pid: int, time: int) -> bool:
    return session.pid == pid and session.start <= time
