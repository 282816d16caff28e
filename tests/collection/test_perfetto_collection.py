"""Every Perfetto trace of the collection against counts by the protobuf, and Perfetto's slices and counters."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dctv.contracts.reader import LoadContext, LoadedTrace
from dctv.readers.perfetto import READER
from dctv.session import Session

ROOT = os.environ.get("DCTV_TRACES")
assert ROOT, "set DCTV_TRACES to the folder of the trace collection"
FOLDER = Path(ROOT) / "perfetto"
FILES = sorted(path for part in ("public", "live") for path in (FOLDER / part).iterdir() if path.is_file())
assert FILES, f"no traces in {FOLDER}"

STATELESS = {"clock_snapshot", "synchronization_marker", "extension_descriptor", "track_descriptor", "process_tree"}
"""Packets that change what is known, and give no rows of their own."""
MARKS = {"print", "tracing_mark_write"}
BESIDE_SLICES = {"thread_time", "thread_instruction_count"}
"""Counters whose values come with other events."""
STEPS = ("viz,benchmark", "Graphics.Pipeline.DrawAndSwap")
"""Asynchronous slices of the older kind with steps, whose times differ from Perfetto's; why is not known."""


@cache
def loaded(path: Path) -> LoadedTrace:
    return READER.load([path], LoadContext({}, 2, lambda _done, _total: None))


def truth(path: Path) -> tuple[dict[str, int], dict[str, Counter[str]]]:
    """Return the numbers of the first line, and counts by name of packets, ftrace events and track events."""
    lines = (FOLDER / "truth" / f"{path.parent.name}_{path.name}.counts.tsv").read_text().splitlines()
    numbers = {
        key: int(value) for key, _, value in (word.partition("=") for word in lines[0].split()) if value.isdigit()
    }
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for line in lines[1:]:
        kind, name, *_, count = line.split("\t")
        counts[kind][name.partition(":")[0] if kind == "track_event" else name] += int(count)
    return numbers, counts


def rows(path: Path, name: str) -> int:
    table = loaded(path).tables.get(name)
    return 0 if table is None else len(table.data)


def ids(path: Path) -> str:
    return path.name


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_nothing_is_skipped_or_unknown(path: Path) -> None:
    early = "events of the kernel from before its buffers were read are in `early`"
    counts = {one.reason: one.count for one in loaded(path).diagnostics}
    assert counts.pop(early, 0) == rows(path, "raw_events.early")
    assert counts == {}
    assert "raw_events.unknown_packet" not in loaded(path).tables


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_events_of_the_kernel_match_the_counts_of_protobuf(path: Path) -> None:
    numbers, counts = truth(path)
    wanted = counts["ftrace"].copy()
    wanted["sched_switch"] += numbers["compact_switch"]
    wanted["sched_waking"] += numbers["compact_waking"]
    early = loaded(path).tables.get("raw_events.early")
    wanted.subtract(early.data.column("name").to_pylist() if early is not None else ())
    marks = sum(len(t.data) for name, t in loaded(path).tables.items() if name.startswith("raw_events.print"))
    assert marks == sum(wanted.pop(name, 0) for name in MARKS)
    assert {name: rows(path, f"raw_events.{name}") for name in wanted} == dict(wanted)


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_packets_match_the_counts_of_protobuf(path: Path) -> None:
    _, counts = truth(path)
    kinds: Counter[str] = Counter()
    if (packets := loaded(path).tables.get("packets")) is not None:
        kinds.update(packets.data.column("kind").to_pylist())
    apart = STATELESS | {"ftrace_events", "track_event", "process_stats", "sys_stats", "gpu_counter_event", "(none)"}
    for kind, count in counts["packet"].items():
        if kind not in apart and kind != "android_log":
            assert kinds[kind] + rows(path, f"raw_events.{kind}") == count, kind
    assert int(loaded(path).properties["packets"]) == truth(path)[0]["packets"] + truth(path)[0]["compressed_packets"]


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_track_events_match_the_counts_of_protobuf(path: Path) -> None:
    _, counts = truth(path)
    event_counts = counts["track_event"]
    found = {name: rows(path, f"raw_events.{name}") for name in ("begin", "end", "instant", "mark")}
    if not event_counts:
        assert not any(found.values())
        return
    begins = rows(path, "raw_events.async_begin") + found["begin"]
    ends = rows(path, "raw_events.async_end") + found["end"]
    others = sum(rows(path, f"raw_events.{name}") for name in ("async_instant", "object_snapshot", "complete"))
    counters = 0
    if path.name == "chrome.pftrace":
        names = loaded(path).tables["raw_events.counter"].data.column("name").to_pylist()
        counters = sum(name not in BESIDE_SLICES for name in names)
    legacy = {"flow_begin", "flow_step", "flow_end"}
    arrows = 0
    for name in legacy:
        table = loaded(path).tables.get(f"raw_events.{name}")
        if table is not None:
            arrows += len(set(table.data.column("line").to_pylist()) - lines_of(path))
    assert begins + ends + found["instant"] + found["mark"] + others + counters + arrows == sum(event_counts.values())


@cache
def lines_of(path: Path) -> set[int]:
    """Return the numbers of all track events that are no lone arrows."""
    found: set[int] = set()
    for name, table in loaded(path).tables.items():
        if name.removeprefix("raw_events.") not in {"flow_begin", "flow_step", "flow_end"} and table.event is not None:
            found.update(table.data.column("line").to_pylist())
    return found


def answer(path: Path, begins: str) -> list[list[str]]:
    """Return the rows that Perfetto gave for a question."""
    answers = (FOLDER / "truth" / f"{path.parent.name}_{path.name}.tp.txt").read_text().split("\n-- ")
    (lines,) = (part.splitlines() for part in answers if part.startswith(begins))
    return [line.split("\t") for line in lines[2:]]


def asked(path: Path, question: str) -> list[tuple[Any, ...]]:
    with Session(index=False) as session:
        session.mount(str(path), "t")
        return [tuple(row.values()) for row in session.sql(question).arrow().to_pylist()]


def test_slices_of_chrome_match_perfetto() -> None:
    path = FOLDER / "public" / "chrome.pftrace"
    question = """
        SELECT category, name, COUNT(*) AS n, SUM(COALESCE(_duration, 0ns)) AS total FROM (
          SELECT category, name, _duration FROM t.slices
          UNION ALL SELECT category, name, _duration FROM t.async_slices
        ) GROUP BY category, name
    """
    found = {(category, name): (count, int(total or 0)) for category, name, count, total in asked(path, question)}
    expected = {
        (category, name): (int(n), int(total))
        for category, name, n, total, *_ in answer(path, "select category, name")
        if int(total) > 0
    }
    same = [key for key, value in expected.items() if found.get(key) == value]
    assert len(expected) > 200
    assert set(expected) - set(same) == {STEPS}


@pytest.mark.parametrize("name", ["androidBasicMemory.pftrace", "androidGpu.pftrace"])
def test_counters_match_perfetto(name: str) -> None:
    path = FOLDER / "public" / name
    counts: Counter[str] = Counter()
    sums: dict[str, float] = defaultdict(float)
    first: dict[str, float] = {}
    table = loaded(path).tables["raw_events.counter"].data
    for key, value in zip(table.column("name").to_pylist(), table.column("value").to_pylist(), strict=True):
        counts[key] += 1
        sums[key] += value
        first.setdefault(key, value)
    for kind, key, count, _, _, total in answer(path, "select t.type, t.name"):
        assert counts.pop(key) == int(count), key
        # Perfetto moves values of the GPU back to the time before, so that the first one is lost.
        lost = first[key] if kind == "gpu_counter" else 0
        assert sums[key] - lost == pytest.approx(float(total)), key
    assert not counts


def test_processes_and_threads_have_the_names_that_perfetto_gives() -> None:
    path = FOLDER / "public" / "androidBasicMemory.pftrace"
    found = {
        (row["pid"], row["name"]) for row in loaded(path).tables["process_names"].data.to_pylist() if row["pid"] != 0
    }
    names = {(int(pid), name) for pid, name, _ in answer(path, "select pid, name") if int(pid) != 0}
    assert found == names


def durations(edges: list[tuple[int, bool, str]]) -> list[int]:
    """Return how long it is from each begin to its end: ends close the last begin of their id that is open."""
    found: list[int] = []
    stacks: dict[str, list[int]] = defaultdict(list)
    for ts, begins, number in edges:
        if begins:
            stacks[number].append(ts)
        elif stacks[number]:
            found.append(ts - stacks[number].pop())
    return found


def test_steps_of_frames_differ_since_perfetto_puts_all_ids_on_one_stack() -> None:
    path = FOLDER / "public" / "chrome.pftrace"
    ((count, total, longest),) = [
        (int(n), int(total), int(longest))
        for category, name, n, total, _, longest, *_ in answer(path, "select category, name")
        if (category, name) == STEPS
    ]
    edges = """
        SELECT e._ts, e.line, e.begins, t.id FROM (
          SELECT _ts, line, track, name, TRUE AS begins FROM t.raw_events.async_begin
          UNION ALL SELECT _ts, line, track, name, FALSE FROM t.raw_events.async_end
        ) AS e JOIN t._tables.tracks AS t ON t.track = e.track
        WHERE e.name = 'Graphics.Pipeline.DrawAndSwap' ORDER BY e._ts, e.line
    """
    steps = "SELECT COUNT(*) FROM t.raw_events.async_instant WHERE name = 'Graphics.Pipeline.DrawAndSwap'"
    rows = asked(path, edges)
    as_perfetto = durations([(ts, begins, "") for ts, _, begins, _ in rows])
    as_told = durations([(ts, begins, number) for ts, _, begins, number in rows])
    assert (len(as_perfetto) + asked(path, steps)[0][0], sum(as_perfetto), max(as_perfetto)) == (count, total, longest)
    mine = "SELECT COUNT(*), SUM(_duration) FROM t.async_slices WHERE name = 'Graphics.Pipeline.DrawAndSwap'"
    assert asked(path, mine) == [(len(as_told), sum(as_told))]
    assert sum(as_told) > total
    assert max(as_told) < longest
