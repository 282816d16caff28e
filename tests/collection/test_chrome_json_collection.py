"""Every trace of events in JSON of the collection against counts by a plain JSON parser and by another tool."""

from __future__ import annotations

import os
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from dctv import readers as registry
from dctv.contracts.head import head_of
from dctv.contracts.reader import LoadContext, LoadedTrace, Reader
from dctv.contracts.registry import scan
from dctv.errors import TraceError
from dctv.readers.chrome_json import READER
from dctv.session import Session

ROOT = os.environ.get("DCTV_TRACES")
assert ROOT, "set DCTV_TRACES to the folder of the trace collection"
FOLDER = Path(ROOT) / "chrome-json"
NO_TRACES = {"catapult/dashboard_test_points.json", "catapult/google_cloud_trace.json"}
FILES = sorted(
    path
    for path in FOLDER.rglob("*")
    if path.name.endswith((".json", ".json.gz", ".zip")) and path.parent.name not in {"truth", "truth_tp"}
)
TRACES = [path for path in FILES if str(path.relative_to(FOLDER)) not in NO_TRACES]
assert TRACES, f"no traces in {FOLDER}"

PHASES = {
    "complete": "X",
    "begin": "B",
    "end": "E",
    "instant": "i",
    "counter": "C",
    "flow_begin": "s",
    "flow_step": "t",
    "flow_end": "f",
    "sample": "P",
    "object_new": "N",
    "object_snapshot": "O",
    "object_delete": "D",
    "mark": "R",
    "clock_sync": "c",
}
"""By table the phase of its events, where they have no column `ph`."""

Count = Counter[tuple[str, str, str]]


def ids(path: Path) -> str:
    return str(path.relative_to(FOLDER))


def truth(path: Path) -> tuple[Count, dict[tuple[str, str, str], float]] | None:
    name = f"{path.parent.name}_{path.name}.counts.tsv"
    lines = (FOLDER / "truth" / name).read_text().splitlines() if (FOLDER / "truth" / name).exists() else None
    if lines is None:
        return None
    counts: Count = Counter()
    durations: dict[tuple[str, str, str], float] = {}
    for line in lines[2:]:
        phase, cat, name, count, dur = line.split("\t")
        key = ("i" if phase == "I" else phase, cat, name)
        counts[key] += int(count)
        durations[key] = durations.get(key, 0.0) + float(dur)
    return counts, durations


@cache
def loaded(path: Path) -> LoadedTrace:
    return READER.load([path], LoadContext({}, 2, lambda _done, _total: None))


def shown(value: object) -> str:
    """Write a value as the truth does: `None` where there is none."""
    return str(value)


def found(trace: LoadedTrace) -> tuple[Count, dict[tuple[str, str, str], float]]:
    counts: Count = Counter()
    durations: dict[tuple[str, str, str], float] = {}
    for name, table in trace.tables.items():
        if not name.startswith("raw_events."):
            continue
        lines = set()
        for row in table.data.to_pylist():
            if row["line"] in lines:
                continue
            if row.get("weight") is not None:
                # The truth counts `traceEvents` only, not the list `samples`.
                continue
            lines.add(row["line"])
            phase = row.get("ph") or PHASES[name.removeprefix("raw_events.")]
            key = (phase, shown(row["cat"]), shown(row["name"]))
            counts[key] += 1
            durations[key] = durations.get(key, 0.0) + (row.get("dur") or 0) / 1000
    metadata = trace.tables.get("metadata")
    for row in metadata.data.to_pylist() if metadata else ():
        counts["M", shown(row["cat"]), shown(row["name"])] += 1
    unread = trace.tables.get("unread")
    for row in unread.data.to_pylist() if unread else ():
        assert row["reason"] == "event is empty"
        counts["None", "None", "None"] += 1
    return counts, durations


@pytest.mark.parametrize("path", TRACES, ids=ids)
def test_events_match_the_counts_of_a_json_parser(path: Path) -> None:
    trace = loaded(path)
    expected = truth(path)
    if expected is None:
        assert len(trace.tables) > 1
        return
    counts, durations = expected
    got, got_durations = found(trace)
    assert got == counts
    for key, total in durations.items():
        assert got_durations.get(key, 0.0) == pytest.approx(total, abs=0.01 * counts[key]), key


def test_one_reader_takes_each_trace() -> None:
    readers = scan(registry, Reader)
    others = sorted(path for path in (FOLDER.parent / "dftracer").rglob("*") if path.name.endswith((".pfw", ".pfw.gz")))
    assert others
    for path in TRACES + [path for path in others if path.stat().st_size and path.parent.name != "truth"]:
        head = head_of(path)
        if not head.text.strip():
            continue
        wanted = "dftracer" if ".pfw" in path.name else "chrome-json"
        taken = [name for name, reader in readers.items() if not reader.general and reader.sniff(head)]
        assert taken == [wanted], path


@pytest.mark.parametrize("path", TRACES, ids=ids)
def test_every_trace_is_mounted_and_queried(path: Path) -> None:
    with Session(index=False) as session:
        session.mount(str(path), "t")
        (mounted,) = session.sql("SELECT COUNT(*) FROM t.events").fetchall()
        trace = loaded(path)
        assert mounted[0] == sum(len(table.data) for table in trace.tables.values() if table.event is not None)


@pytest.mark.parametrize("name", sorted(NO_TRACES))
def test_files_that_are_no_traces_are_refused_with_a_message(name: str) -> None:
    with Session(index=False) as session, pytest.raises(TraceError, match="has no known format"):
        session.mount(str(FOLDER / name), "t")
