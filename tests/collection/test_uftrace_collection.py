"""Every uftrace data directory of the collection, against what uftrace itself printed of it."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dctv.contracts.reader import LoadContext, LoadedTrace
from dctv.readers.uftrace import READER
from dctv.readers.uftrace_files.files import folder_files
from dctv.session import Session

RECORD = re.compile(r"(\d+)\.(\d+) +(\d+): \[(entry|exit |event)\] (.*)\(([0-9a-f]+)\)(?: depth: (\d+))?$")
FIELDS = re.compile(
    r" *(?P<dur>[\d.]+ (?:us|ms| s|s))? +\[ *(?P<tid>\d+)\] +(?P<addr>[0-9a-f]+)? +"
    r"(?P<sec>\d+)\.(?P<nsec>\d{9}) .*? \| "
    r"(?P<indent> *)(?P<text>.*)$"
)
FLAT = re.compile(
    r"\[\d+\] (?P<kind>==>|<==) (?P<tid>\d+)/(?P<depth>\d+): ip \((?P<name>.*)\), "
    r"time \((?P<time>\d+)(?::(?P<dur>\d+))?\)"
)
UNITS = (("us", 1000), ("ms", 1000), ("s", 1000), ("m", 60), ("h", 60))
EVENT_NAMES = {
    "linux:sched-out (pre-empted)": "linux:sched-out",
    "linux:schedule (pre-empted)": "linux:schedule",
}


def root() -> Path:
    folder = os.environ.get("DCTV_TRACES")
    if folder is None:
        pytest.fail("the environment variable DCTV_TRACES does not say where the trace collection is")
    return Path(folder)


def names(pattern: str) -> list[str]:
    folder = os.environ.get("DCTV_TRACES")
    return sorted(str(p.relative_to(folder)) for p in Path(folder).glob(pattern)) if folder else [""]


SMALL = [name.removesuffix("/uftrace.data") for name in names("uftrace/small/*/uftrace.data")]
ALL = [*names("uftrace/*/*/uftrace.data"), *names("uftrace_goldens/data-*")]


def load(folder: Path) -> LoadedTrace:
    files = folder_files(folder)
    assert files
    return READER.load(files, LoadContext({}, 2, lambda _done, _total: None))


def rows(trace: LoadedTrace, table: str = "raw_events.call") -> list[dict[str, Any]]:
    """Rows of an event table with absolute times."""
    start = int(trace.properties["start_ns"])
    found: list[dict[str, Any]] = trace.tables[table].data.to_pylist() if table in trace.tables else []
    return [{**row, "_ts": row["_ts"] + start} for row in found]


def shown(ns: int) -> str:
    """A duration as uftrace prints it, which cuts off digits."""
    small = 0
    for unit, limit in UNITS:
        ns, small = divmod(ns, limit)
        if ns < 1000 or unit == "h":
            return f"{ns}.{small:03} {unit}"
    raise AssertionError


def entries_and_exits(text: str) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for line in text.splitlines():
        if (m := RECORD.match(line)) and m[4] != "event":
            found[int(m[3]), m[4].strip(), int(m[1]) * 10**9 + int(m[2]), m[5], int(m[6], 16), int(m[7])] += 1
    return found


def records_of(trace: LoadedTrace) -> Counter[tuple[Any, ...]]:
    """The calls of a raw dump, computed from the table."""
    found: Counter[tuple[Any, ...]] = Counter()
    for row in rows(trace):
        rest = (row["name"], row["addr"], row["depth"])
        if row["state"] != "entered":
            found[row["tid"], "entry", row["_ts"], *rest] += 1
        if row["state"] in {None, "entered"}:
            found[row["tid"], "exit", row["_ts"] + row["dur"], *rest] += 1
    return found


def inherited(trace: LoadedTrace) -> Counter[tuple[Any, ...]]:
    """Entries of calls that were open when a process was forked: not recorded in the child."""
    return Counter(
        (row["tid"], "entry", row["_ts"], row["name"], row["addr"], row["depth"])
        for row in rows(trace)
        if row["state"] in {"left", "open", "inherited"}
    )


def odd_threads(calls: list[dict[str, Any]]) -> set[int]:
    """Threads of which entries or exits are missing: uftrace shows addresses and times of other calls in them."""
    return {row["tid"] for row in calls if row["state"] is not None}


@pytest.mark.parametrize("name", ALL)
def test_mounts_whole(name: str) -> None:
    with Session() as session:
        session.mount(str(root() / name), "t")
        ((calls,),) = session.sql("SELECT COUNT(*) FROM t.raw_events.call").fetchall()
        ((events,),) = session.sql("SELECT COUNT(*) FROM t.events").fetchall()
    trace = load(root() / name)
    assert calls == len(rows(trace)) == int(trace.properties["calls"]) > 0
    assert events == sum(len(t.data) for n, t in trace.tables.items() if n.startswith("raw_events."))
    assert not any(one.incomplete for one in trace.diagnostics)


@pytest.mark.parametrize("name", SMALL)
def test_every_record_is_in_a_call(name: str) -> None:
    trace = load(root() / name / "uftrace.data")
    truth = entries_and_exits((root() / name / "truth" / "dump.txt").read_text())
    found = records_of(trace)
    assert not truth - found
    assert not found - truth - inherited(trace)
    assert int(trace.properties["entries"]) + int(trace.properties["exits"]) == truth.total()


@pytest.mark.parametrize("name", SMALL)
def test_flat_replay(name: str) -> None:
    trace = load(root() / name / "uftrace.data")
    truth = [
        m for line in (root() / name / "truth" / "replay_flat.txt").read_text().splitlines() if (m := FLAT.match(line))
    ]
    assert truth
    calls = rows(trace)
    odd = odd_threads(calls)
    begins = {(r["tid"], r["_ts"], r["name"], r["depth"]) for r in calls}
    ends = {(r["tid"], r["_ts"] + r["dur"], r["name"]): r for r in calls if r["state"] in {None, "entered"}}
    for m in truth:
        tid, time, depth = int(m["tid"]), int(m["time"]), int(m["depth"])
        if m["kind"] == "==>":
            assert (tid, time, m["name"], depth) in begins
        else:
            row = ends[tid, time, m["name"]]
            assert tid in odd or row["dur"] == int(m["dur"])


@pytest.mark.parametrize("name", SMALL)
def test_replay_line_by_line(name: str) -> None:
    compare_replay(load(root() / name / "uftrace.data"), (root() / name / "truth" / "replay_fields.txt").read_text())


def compare_replay(trace: LoadedTrace, text: str) -> None:
    """Entry, exit and leaf lines, with their times, modules, arguments and results."""
    calls = rows(trace)
    odd = odd_threads(calls)
    starts = {(r["tid"], r["_ts"]): r for r in calls if r["state"] != "entered"}
    ends = {(r["tid"], r["_ts"] + r["dur"]): r for r in calls if r["state"] in {None, "entered"}}
    seen = 0
    for line in text.splitlines():
        m = FIELDS.match(line)
        if m is None or m["text"].startswith("/*"):
            assert m is not None or line.startswith("#") or not line.strip()
            continue
        seen += 1
        key = (int(m["tid"]), int(m["sec"]) * 10**9 + int(m["nsec"]))
        if m["text"].startswith("}"):
            row = ends[key]
            result = "" if row["retval"] is None else f" = {row['retval']};"
            assert m["text"] == f"}}{result} /* {row['name']} */"
            assert key[0] in odd or m["dur"] == shown(row["dur"])
        else:
            row = starts[key]
            head = f"{row['name']}{row['args'] or '()'}"
            result = "" if row["retval"] is None else f" = {row['retval']}"
            assert m["text"] in {f"{head} {{", f"{head}{result};"}
            assert key[0] in odd or m["dur"] is None or m["dur"] == shown(row["dur"])
        assert key[0] in odd or int(m["addr"], 16) == row["addr"]
        assert key[0] in odd or f" {row['module']} | " in line
    assert seen > 2


@pytest.mark.parametrize("name", SMALL)
def test_report(name: str) -> None:
    trace = load(root() / name / "uftrace.data")
    calls = rows(trace)
    count = Counter(r["name"] for r in calls if r["state"] not in {"left", "lost", "inherited"})
    selfs: Counter[str] = Counter()
    for row in calls:
        if row["state"] is None:
            selfs[row["name"]] += row["self"]
    odd = {r["name"] for r in calls if r["state"] is not None} | {
        c["name"] for r in calls if r["state"] is not None for c in calls if c["id"] == r["parent"]
    }
    seen = set()
    for line in (root() / name / "truth" / "report.txt").read_text().splitlines()[2:]:
        cells = re.match(r" +([\d.]+ \S+) +([\d.]+ \S+) +(\d+)  (.*?) *$", line)
        assert cells
        if cells[4].startswith("linux:schedule"):
            continue
        seen.add(cells[4])
        assert count[cells[4]] == int(cells[3]), cells[4]
        if cells[4] not in odd:
            assert shown(selfs[cells[4]]) == cells[2], cells[4]
    assert seen == {name for name, n in count.items() if n}


@pytest.mark.parametrize("name", SMALL)
def test_events_of_the_kernel(name: str) -> None:
    """Each event that uftrace reports; dctv also keeps those of other tasks."""
    trace = load(root() / name / "uftrace.data")
    truth: Counter[tuple[Any, ...]] = Counter()
    for line in (root() / name / "truth" / "dump.txt").read_text().splitlines():
        if m := re.match(r"(\d+)\.(\d+) +(\d+): \[event\] (linux:.*)\((\d+)\)$", line):
            truth[EVENT_NAMES.get(m[4], m[4]), int(m[3]), int(m[1]) * 10**9 + int(m[2])] += 1
    found: Counter[tuple[Any, ...]] = Counter()
    for table in trace.tables:
        kind = table.removeprefix("raw_events.")
        for row in rows(trace, table) if kind.startswith("linux:") else ():
            if kind == "linux:schedule":
                found["linux:sched-out", row["tid"], row["_ts"]] += 1
                found["linux:sched-in", row["tid"], row["_ts"] + row["dur"]] += 1
            else:
                found[kind, row["tid"], row["_ts"]] += 1
    assert not truth - found


def goldens() -> list[dict[str, Any]]:
    folder = os.environ.get("DCTV_TRACES")
    return list(json.loads((Path(folder) / "uftrace_goldens" / "manifest.json").read_text())) if folder else []


@pytest.mark.parametrize("case", [c for c in goldens() if c["args"] == ["dump"]], ids=lambda c: str(c["data"]))
def test_golden_dump(case: dict[str, Any]) -> None:
    folder = root() / "uftrace_goldens"
    trace = load(folder / case["data"])
    truth = entries_and_exits((folder / case["file"]).read_text())
    found = records_of(trace)
    assert not truth - found
    assert not found - truth - inherited(trace)


LINE = re.compile(r" *(?P<dur>[\d.]+ \S+)? +\[ *(?P<tid>\d+)\] \| (?P<indent> *)(?P<text>.*)$")
PLAIN = (["replay"], ["replay", "-F", "main"])


@pytest.mark.parametrize("case", [c for c in goldens() if c["args"] in PLAIN], ids=lambda c: f"{c['id']}-{c['data']}")
def test_golden_replay(case: dict[str, Any]) -> None:
    """Calls in the order of entries, as the lines that begin them show them."""
    folder = root() / "uftrace_goldens"
    trace = load(folder / case["data"])
    truth = []
    for line in (folder / case["file"]).read_text().splitlines():
        m = LINE.match(line)
        if m and not m["text"].startswith(("}", "/*")):
            truth.append(
                (int(m["tid"]), m["text"].removesuffix(" {").removesuffix(";"), m["dur"], m["text"][-1] == "{")
            )
    calls = sorted((r for r in rows(trace) if r["state"] is None), key=lambda r: r["id"])
    by_id = {r["id"]: r for r in calls}
    if "-F" in case["args"]:
        calls = [r for r in calls if within_main(r, by_id)]
    found = []
    for (_, _, _, opens), row in zip(truth, calls, strict=True):
        result = "" if opens or row["retval"] is None else f" = {row['retval']}"
        found.append(
            (row["tid"], f"{row['name']}{row['args'] or '()'}{result}", None if opens else shown(row["dur"]), opens)
        )
    assert found == truth


def within_main(row: dict[str, Any], by_id: dict[int, dict[str, Any]]) -> bool:
    while row["name"] != "main" and row["parent"] is not None:
        row = by_id[row["parent"]]
    return bool(row["name"] == "main")
