"""Cuts of real recordings of kernel 6.18, with figures counted by other means."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from pathlib import Path

from dctv.contracts.reader import LoadContext, LoadedTrace
from dctv.readers.ftrace_text import load

DATA = Path(__file__).parents[2] / "data" / "ftrace"


def sample(name: str) -> LoadedTrace:
    return load([DATA / name], LoadContext({}, 2, lambda _done, _total: None))


def counts(trace: LoadedTrace) -> dict[str, int]:
    return {n.removeprefix("raw_events."): len(t.data) for n, t in trace.tables.items() if t.event is not None}


def test_marks_with_a_plain_recount() -> None:
    text = gzip.decompress((DATA / "live_marks.trace.txt.gz").read_bytes()).decode()
    names = Counter(re.findall(r"^.{16}-\d+ +\[\d+\] \S+ +\d+\.\d+: (\w+):", text, re.M))
    letters = Counter(re.findall(r": tracing_mark_write: ([A-Z])(?:\||$)", text, re.M))
    marks = names.pop("tracing_mark_write")
    assert sum(letters.values()) == marks
    trace = sample("live_marks.trace.txt.gz")
    assert counts(trace) == names | {f"print|{letter}": n for letter, n in letters.items()}
    assert list(trace.diagnostics) == []
    switches = trace.tables["raw_events.sched_switch"].data
    assert "VM Periodic Tas" in switches.column("next_comm").to_pylist()
    assert trace.last_ts == 671_434_000


def test_processes() -> None:
    trace = sample("live_marks_tgid.trace.txt")
    text = (DATA / "live_marks_tgid.trace.txt").read_text()
    expected = re.findall(r"-(\d+) +\( *(\d+)\).*tracing_mark_write: B\|(\d+)\|(.*)$", text, re.M)
    assert {(thread != process) for thread, process, _, _ in expected} == {True, False}
    marks = trace.tables["raw_events.print|B"].data.select(["common_pid", "common_tgid", "pid", "name"])
    assert [tuple(map(str, row.values())) for row in marks.to_pylist()] == expected


def test_lost_events() -> None:
    trace = sample("live_lost.trace_pipe.txt")
    assert [(d.reason, d.count) for d in trace.diagnostics] == [("events lost by the kernel", 3279 + 7994)]
    assert sum(counts(trace).values()) == 59
