"""Every trace of perf of the collection against what perf itself says of it: records by kind, samples, stacks."""

from __future__ import annotations

import os
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dctv.contracts.reader import LoadContext, LoadedTrace
from dctv.readers import collapsed_stacks, perf_data, perf_script
from dctv.session import Session

ROOT = os.environ.get("DCTV_TRACES")
assert ROOT, "set DCTV_TRACES to the folder of the trace collection"
FOLDER = Path(ROOT) / "perf"
LIVE, PUBLIC, TRUTH = FOLDER / "live", FOLDER / "public", FOLDER / "truth"
FILES = sorted(
    path
    for path in (*LIVE.glob("*.data"), *PUBLIC.glob("*/*"))
    if path.name not in {"README.md", "timestamp.txt"} and not path.name.endswith(".txt")
)
assert FILES, f"no traces in {FOLDER}"

UNREAD = {"piped.corrupted.zero_size_sample-3.2", "sleep.compressed2.pipe.data"}
"""Ends of names of traces that perf does not read whole either: a record of size 0, a message behind the records."""
KINDS = {
    "MMAP": "mmap",
    "MMAP2": "mmap",
    "COMM": "comm",
    "EXIT": "exit",
    "FORK": "fork",
    "KSYMBOL": "ksymbol",
    "BPF_EVENT": "bpf_event",
    "LOST_SAMPLES": "lost_samples",
}
HEAD = re.compile(r"^\s*(?P<comm>.+?)\s+(?:\d+/)?(?P<tid>\d+)\s+(?:\[\d+\]\s+)?(?P<time>\d+\.\d+):")


@cache
def loaded(path: Path) -> LoadedTrace:
    reader = perf_data.READER
    return reader.load([path], LoadContext({}, 2, lambda _done, _total: None))


def text(path: Path, reader: Any) -> LoadedTrace:
    trace: LoadedTrace = reader.load([path], LoadContext({}, 2, lambda _done, _total: None))
    return trace


def count(trace: LoadedTrace, name: str) -> int:
    table = trace.tables.get(f"raw_events.{name}")
    return 0 if table is None else len(table.data)


def samples(trace: LoadedTrace) -> int:
    """Count samples, those of tracepoints among them."""
    others = {*KINDS.values(), "lost", "switch", "namespaces", "cgroup", "throttle", "unthrottle", "read"}
    names = (name.removeprefix("raw_events.") for name in trace.tables if name.startswith("raw_events."))
    return sum(count(trace, name) for name in names if name not in others)


def truth_of(path: Path) -> Path:
    if path.parent == LIVE:
        return LIVE / path.name.replace(".data", ".records.txt")
    return TRUTH / f"{path.parent.name}_{path.name}.records.txt"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_records(path: Path) -> None:
    trace = loaded(path)
    assert any(note.incomplete for note in trace.diagnostics) is path.name.endswith(tuple(UNREAD))
    truth_rows = truth_of(path)
    if not truth_rows.exists():
        assert samples(trace) > 0
        return
    expected: Counter[str] = Counter()
    for line in truth_rows.read_text().splitlines():
        number, kind = line.split()
        name = kind.removeprefix("PERF_RECORD_")
        expected["sample" if name == "SAMPLE" else KINDS.get(name, "")] += int(number)
    del expected[""]
    found = {name: count(trace, name) for name in set(KINDS.values())} | {"sample": samples(trace)}
    if "compressed2" in path.name:
        # The perf that told the truth does not know records packed so, so that it saw but those beside them.
        assert all(found[name] >= number for name, number in expected.items())
        return
    assert {name: number for name, number in found.items() if number} == dict(expected)


def lines_of(path: Path) -> list[tuple[str, int, int]]:
    """Comm, thread and time in microseconds of each sample that perf printed, sorted."""
    found = []
    for line in path.read_text(errors="replace").splitlines():
        match = HEAD.match(line)
        if match and not line.startswith("\t"):
            found.append((match["comm"], int(match["tid"]), int(match["time"].replace(".", ""))))
    return sorted(found)


SCRIPTS = [
    (path, script)
    for path in FILES
    for script in (path.with_suffix(".script.txt"), TRUTH / f"{path.parent.name}_{path.name}.script.txt")
    if script.exists()
]
assert SCRIPTS


@pytest.mark.parametrize(("path", "script"), SCRIPTS, ids=lambda path: path.name)
def test_threads_and_times(path: Path, script: Path) -> None:
    expected = lines_of(script)
    for trace in (loaded(path), text(script, perf_script.READER)):
        start = int(trace.properties["start_ns"])
        found = []
        for name, table in trace.tables.items():
            columns = set(table.data.column_names)
            who = next((pair for pair in (("common_comm", "common_pid"), ("comm", "tid")) if {*pair} <= columns), None)
            if not name.startswith("raw_events.") or who is None or name in {"raw_events.comm", "raw_events.record"}:
                continue
            rows = zip(*(table.data.column(column).to_pylist() for column in (*who, "_ts")), strict=True)
            found += [(comm, tid, (start + ts) // 1000) for comm, tid, ts in rows]
        assert sorted(found) == expected


def test_stacks_match_the_usual_script() -> None:
    found: Counter[str] = Counter()
    table = text(LIVE / "cpuclock.script.txt", perf_script.READER).tables["raw_events.sample"].data
    for comm, stack, period in zip(
        *(table.column(name).to_pylist() for name in ("comm", "stack", "period")), strict=True
    ):
        found[f"{comm};{stack}"] += period
    collapsed = text(LIVE / "cpuclock.collapsed.txt", collapsed_stacks.READER).tables["raw_events.sample"].data
    expected = dict(zip(collapsed.column("stack").to_pylist(), collapsed.column("period").to_pylist(), strict=True))
    assert sum(found.values()) == sum(expected.values())
    assert dict(found) == expected


def test_the_text_of_others() -> None:
    trace = text(PUBLIC / "ms" / "perf.data.txt", perf_script.READER)
    expected = sum(1 for line in (PUBLIC / "ms" / "perf.data.txt").read_text().splitlines() if line[:1].strip())
    assert count(trace, "sample") == expected
    assert [one.reason for one in trace.diagnostics] == ["file ends in the middle of a line"]


@pytest.mark.parametrize("path", [LIVE / "tracepoints.data", LIVE / "cpuclock.script.txt"], ids=lambda path: path.name)
def test_mounts(path: Path) -> None:
    with Session() as session:
        session.mount(str(path), "t")
        ((number,),) = session.sql("SELECT COUNT(*) FROM t.samples.samples").fetchall()
        assert number == {"tracepoints.data": 77, "cpuclock.script.txt": 1411}[path.name]


def test_tracepoints() -> None:
    trace = loaded(LIVE / "tracepoints.data")
    expected = {
        line.split()[1].rstrip(":").rpartition(":")[2]: int(line.split()[0])
        for line in (LIVE / "tracepoints.counts").read_text().splitlines()
    }
    expected["sample"] = expected.pop("cpu-clock")
    assert {name: count(trace, name) for name in expected} == expected
    same = text(LIVE / "tracepoints.script.txt", perf_script.READER)
    columns = ["prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio"]
    by_data, by_text = (t.tables["raw_events.sched_switch"].data.select(columns).to_pylist() for t in (trace, same))
    assert by_data == by_text
