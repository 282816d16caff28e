"""Every ftrace text of the collection against counts by other programs, and one buffer as two tools print it."""

from __future__ import annotations

import gzip
import os
import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from dctv.contracts.reader import Head, LoadContext, LoadedTrace
from dctv.errors import TraceError
from dctv.readers.ftrace_events.chunks import start
from dctv.readers.ftrace_text import load, sniff
from tests.readers.ftrace_text.ftrace_reading import event_counts

ROOT = os.environ.get("DCTV_TRACES")
assert ROOT, "set DCTV_TRACES to the folder of the trace collection"
FOLDER = Path(ROOT) / "ftrace-text"
FILES = sorted(p for p in FOLDER.iterdir() if p.is_file())
assert FILES, f"no traces in {FOLDER}"

PACKED = "catapult_compressed_atrace.txt"
"""Its counts were taken without unpacking it; it holds what the next one holds."""
UNPACKED = "catapult_decompressed_atrace.txt"
NO_EVENT = {
    "line is not an event",
    "line of a stack trace",
    "line has a time but no event name",
    "time is negative or too large",
    "line is longer than 1 MiB",
    "event name beyond the 4096 that are read",
}


@cache
def loaded(path: Path) -> LoadedTrace:
    return load([path], LoadContext({}, 2, lambda _done, _total: None))


def passed(path: Path) -> Mapping[str, Any]:
    run = start([path], LoadContext({}, 1, lambda _done, _total: None))
    assert sum(1 for _ in run)
    return run.metadata()


def events(trace: LoadedTrace) -> int:
    return sum(len(t.data) for t in trace.tables.values() if t.event is not None)


def truth(name: str) -> dict[str, int]:
    lines = (FOLDER / "truth" / f"{name.removesuffix('.gz')}.counts.txt").read_text().splitlines()
    counts: Counter[str] = Counter()
    for line in lines[1:]:
        event, _, count = line.rpartition(" ")
        counts[re.split(r"\(| ->", event)[0]] += int(count)
    return dict(counts)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_event_counts_match_other_programs(path: Path) -> None:
    counts: Counter[str] = Counter()
    for event, _, count in event_counts(loaded(path)):
        counts[event] += count
    assert counts == truth(UNPACKED if path.name == PACKED else path.name)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_every_line_is_an_event_a_header_or_counted(path: Path) -> None:
    (statistics,) = passed(path)["files"]
    trace = loaded(path)
    skipped = sum(d.count for d in trace.diagnostics if d.reason in NO_EVENT)
    assert statistics["lines"] == events(trace) + statistics["blank"] + statistics["headers"] + skipped
    if path.suffix in {".html", ".gz"} or path.name == PACKED:
        return
    lines = path.read_bytes().decode("utf-8", "replace").removesuffix("\n").split("\n")
    assert statistics["lines"] == len(lines)
    assert statistics["blank"] == sum(not line.strip() for line in lines)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_formats_are_recognized_by_content(path: Path) -> None:
    raw = path.read_bytes()[: 1 << 16]
    text = gzip.decompress(path.read_bytes())[: 1 << 16] if raw.startswith(b"\x1f\x8b") else raw
    assert sniff(Head(Path("x"), raw, text))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_threads_and_time_are_in_order(path: Path) -> None:
    trace = loaded(path)
    for table in trace.tables.values():
        if table.event is None:
            continue
        times = table.data.column("_ts").to_pylist()
        assert times == sorted(times)
        assert 0 <= times[0] <= times[-1] <= trace.last_ts


def test_lost_events_of_a_pipe() -> None:
    (found,) = loaded(FOLDER / "live_lost.trace_pipe.txt.gz").diagnostics
    assert (found.reason, found.count) == ("events lost by the kernel", 3279 + 7994 + 924)


def test_overwritten_events() -> None:
    (found,) = loaded(FOLDER / "live_overrun.trace.txt").diagnostics
    assert (found.reason, found.count) == ("events overwritten in the kernel's buffer", 27181 - 10881)


def test_packed_and_unpacked_are_the_same() -> None:
    packed, unpacked = (loaded(FOLDER / name) for name in (PACKED, UNPACKED))
    assert list(packed.tables) == list(unpacked.tables)
    assert event_counts(packed) == event_counts(unpacked)
    for name in packed.tables.keys() - {"event_counts"}:
        assert packed.tables[name].data.to_pylist() == unpacked.tables[name].data.to_pylist()


def report(name: str) -> LoadedTrace:
    found = sorted((Path(str(ROOT)) / "trace-cmd" / "truth").glob(f"{name}.txt*"))
    with TemporaryDirectory() as folder:
        text = found[0].read_bytes()
        path = Path(folder) / "report.txt"
        path.write_bytes(gzip.decompress(text) if found[0].suffix == ".gz" else text)
        return load([path], LoadContext({}, 2, lambda _done, _total: None))


def rows(trace: LoadedTrace, table: str, drop: set[str]) -> list[dict[str, Any]]:
    data = trace.tables[table].data
    return [{k: v for k, v in row.items() if k not in drop} for row in data.to_pylist()]


@pytest.mark.parametrize("name", ["live_marks", "live_marks_tgid", "live_overrun"])
def test_one_buffer_as_two_tools_print_it(name: str) -> None:
    by_kernel = loaded(FOLDER / f"{name}.trace.txt")
    by_tool = report(f"{name}.report")
    assert set(by_kernel.tables) == set(by_tool.tables)
    drop = {"_ts", "line", "common_flags", "common_tgid", "common_comm", "ret", "prev_state"}
    for table in by_kernel.tables.keys() - {"event_counts"}:
        kernel_rows, tool_rows = rows(by_kernel, table, drop), rows(by_tool, table, drop)
        order = [repr(sorted(r.items())) for r in kernel_rows]
        assert Counter(order) == Counter(repr(sorted(r.items())) for r in tool_rows)
        exact = by_tool.tables[table].data.column("_ts").to_pylist()
        rounded = by_kernel.tables[table].data.column("_ts").to_pylist()
        assert all(abs(a - b) <= 1000 for a, b in zip(exact, rounded, strict=True))


def test_a_page_with_a_plain_recount() -> None:
    path = FOLDER / "catapult_android_systrace.html"
    text = path.read_text(encoding="utf-8", errors="replace")
    trace = loaded(path)
    switches = re.findall(
        r"-(\d+) +\[(\d+)\] (\d+)\.(\d{6}): sched_switch: .* ==> next_comm=(.*) next_pid=(\d+) ", text
    )
    start = min(int(s) * 1_000_000 + int(us) for s, us in re.findall(r"\] (\d+)\.(\d{6}): ", text))
    table = trace.tables["raw_events.sched_switch"].data
    found = table.select(["common_pid", "cpu", "_ts", "next_comm", "next_pid"]).to_pylist()
    assert [tuple(row.values()) for row in found] == [
        (int(pid), int(cpu), (int(s) * 1_000_000 + int(us) - start) * 1000, comm, int(next_pid))
        for pid, cpu, s, us, comm, next_pid in switches
    ]
    marks = re.findall(r": 0: (B)\|(\d+)\|(.*?)\\n\\$|: 0: (C)\|(\d+)\|(.*)\|(-?\d+)\\n\\$", text, re.M)
    begins = [(int(m[1]), m[2]) for m in marks if m[0]]
    counters = [(int(m[4]), m[5], int(m[6])) for m in marks if m[3]]
    names = ["pid", "name"]
    assert [tuple(r.values()) for r in trace.tables["raw_events.print|B"].data.select(names).to_pylist()] == begins
    names.append("value")
    assert [tuple(r.values()) for r in trace.tables["raw_events.print|C"].data.select(names).to_pylist()] == counters
    assert trace.last_ts < 6_000_000_000


def test_cut_copies_of_every_file_load_or_say_why(tmp_path: Path) -> None:
    for path in FILES:
        raw = path.read_bytes()
        for share in (3, 2):
            copy = tmp_path / "cut"
            copy.write_bytes(raw[: len(raw) // share])
            if path.suffix == ".html":
                with suppress(TraceError):
                    load([copy], LoadContext({}, 2, lambda _done, _total: None))
                continue
            trace = load([copy], LoadContext({}, 2, lambda _done, _total: None))
            assert 0 <= events(trace) <= events(loaded(path))
