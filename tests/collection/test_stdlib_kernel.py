"""System calls, wakeups and critical paths of real traces against a simple parser of their lines."""

from __future__ import annotations

import gzip
import re
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from dctv.session import Session
from tests.collection.ftrace_lines import COLLECTION, FTRACE

CALL = re.compile(r"^\s*.{1,16}-(\d+)\s+\[\d+\]\s+\S+\s+([\d.]+): sys_(\w+?)(?:\((.*)\)| -> (0x[0-9a-f]+))\s*$")
NUMBER = re.compile(r"^\s*.+?-(\d+)\s+\[\d+\]\s+\S+\s+([\d.]+): sys_(enter|exit): NR (-?\d+)(?: \(.*\)| = (-?\d+))\s*$")


def _signed(text: str) -> int:
    value = int(text, 16)
    return value - (1 << 64) if value >> 63 else value


def _paired(steps: list[tuple[int, int, str, int | None]]) -> list[tuple[int, int | None, int, str, int | None]]:
    """Pair entries (without a result) and exits of each thread: time, length, thread, name, result."""
    open_: dict[int, tuple[int, str]] = {}
    calls: list[tuple[int, int | None, int, str, int | None]] = []
    for ts, tid, name, ret in steps:
        before = open_.pop(tid, None)
        if before is not None:
            ended = ret is not None and before[1] == name
            calls.append((before[0], ts - before[0] if ended else None, tid, before[1], ret if ended else None))
        if ret is None:
            open_[tid] = (ts, name)
    calls += [(ts, None, tid, name, None) for tid, (ts, name) in open_.items()]
    return calls


def test_calls_by_name() -> None:
    path = FTRACE / "tci_ftrace_syscalls.txt"
    steps = []
    for line in path.read_text().splitlines():
        if found := CALL.match(line):
            tid, ts, name, _, ret = found.groups()
            steps.append((int(ts.replace(".", "")), int(tid), name, None if ret is None else _signed(ret)))
    assert len(steps) > 800
    first = min(ts for ts, *_ in steps)
    wanted = [((ts - first) * 1000, None if d is None else d * 1000, *rest) for ts, d, *rest in _paired(steps)]
    with Session() as session:
        session.mount(str(path), "t")
        rows = session.sql("SELECT _ts, _duration, tid, name, ret FROM t.syscalls.calls").fetchall()
    assert sorted(map(repr, rows)) == sorted(map(repr, wanted))


def test_calls_by_number() -> None:
    path = FTRACE / "live_lost.trace_pipe.txt.gz"
    steps: list[tuple[int, int, str, int | None]] = []
    first: int | None = None
    for line in gzip.decompress(path.read_bytes()).decode(errors="replace").splitlines():
        stamp = re.search(r"\s(\d+\.\d{6}): \w+:", line)
        if stamp:
            at = int(stamp[1].replace(".", ""))
            first = at if first is None else min(first, at)
        if found := NUMBER.match(line):
            tid, ts, kind, number, ret = found.groups()
            steps.append((int(ts.replace(".", "")), int(tid), number, None if kind == "enter" else int(ret)))
    assert len(steps) > 7000
    assert first is not None
    wanted = [((ts - first) * 1000, None if d is None else d * 1000, *rest) for ts, d, *rest in _paired(steps)]
    with Session() as session:
        session.mount(str(path), "t")
        sql = "SELECT _ts, _duration, tid, number::STRING, ret FROM t.syscalls.calls"
        rows = session.sql(sql).fetchall()
        names = session.sql("SELECT DISTINCT name FROM t.syscalls.calls WHERE name LIKE 'NR %'").fetchall()
    assert sorted(map(repr, rows)) == sorted(map(repr, wanted))
    assert not names


@pytest.mark.parametrize("name", ["tci_trace-critical-path.txt", "lisa_trace.txt", "live_marks.trace.txt"])
def test_critical_paths_cover_time_once_and_name_who_ran(name: str) -> None:
    with Session() as session:
        session.mount(str(FTRACE / name), "t")
        (end,) = session.sql("SELECT unitless(_ts) + 1 FROM t.last_ts").fetchall()[0]
        tids = session.sql("SELECT tid FROM t.scheduler.states GROUP BY tid ORDER BY COUNT(*) DESC, tid LIMIT 5")
        sql = "SELECT _ts, _ts + _duration, tid, cpu FROM t.scheduler.timeslices"
        ran = defaultdict(list)
        for start, stop, tid, cpu in session.sql(sql).fetchall():
            ran[tid, cpu].append((start, stop))
        for (tid,) in tids.fetchall():
            path = session.sql(f"SELECT _ts, _duration, tid, cpu, state FROM t.critical_path({tid})").fetchall()
            assert path[0][0] == 0
            assert all(a[0] + a[1] == b[0] for a, b in pairwise(path))
            assert path[-1][0] + path[-1][1] == end
            for start, length, own, cpu, state in path:
                if state == "running" and ran[own, cpu]:
                    last = max(stop for _, stop in ran[own, cpu])
                    within = any(a <= start and start + length <= b for a, b in ran[own, cpu])
                    assert within or start + length > last


TRACE = COLLECTION / "ctf" / "babeltrace" / "succeed" / "lttng-tracefile-rotation"


def _switches(path: Path) -> list[tuple[int, int, int, int]]:
    """Read nanoseconds, CPU, thread before and after of each switch as the reference tool prints it."""
    found: list[tuple[int, int, int, int]] = []
    data = path.read_bytes()
    for line in (gzip.decompress(data) if path.suffix == ".gz" else data).decode().splitlines():
        if " sched_switch: " in line:
            h, m, s, ns = (int(x) for x in re.findall(r"(\d+):(\d+):(\d+)\.(\d+)\]", line)[0])
            cpu, before, after = (
                int(re.findall(rf"{key} = (-?\d+)", line)[0]) for key in ("cpu_id", "prev_tid", "next_tid")
            )
            found.append((((h * 60 + m) * 60 + s) * 10**9 + ns, cpu, before, after))
    return found


def test_timeslices_of_lttng() -> None:
    """Under names of its own: `prev_tid` and `next_tid`."""
    truth = next((COLLECTION / "ctf" / "truth").glob("babeltrace_succeed_lttng-tracefile-rotation_kernel.txt*"))
    busy: dict[tuple[int, int], int] = defaultdict(int)
    since: dict[int, tuple[int, int]] = {}
    for ts, cpu, _, after in _switches(truth):
        if cpu in since and since[cpu][1]:
            busy[cpu, since[cpu][1]] += ts - since[cpu][0]
        since[cpu] = (ts, after)
    with Session() as session:
        session.mount(str(TRACE), "t")
        sql = "SELECT cpu, tid, SUM(_duration) FROM t.scheduler.timeslices GROUP BY cpu, tid"
        assert {(c, t): int(d) for c, t, d in session.sql(sql).fetchall()} == dict(busy)
