"""Every CTF trace of the collection: each event of the reference tool's text, its time, name and values of fields."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from dctv.contracts.reader import LoadContext, LoadedTrace
from dctv.errors import TraceError
from dctv.readers.ctf import READER
from tests.collection.babeltrace_text import Chosen, Event, flat, read, same


def collection() -> Path:
    folder = os.environ.get("DCTV_TRACES")
    if folder is None:
        pytest.fail("the environment variable DCTV_TRACES does not say where the trace collection is")
    return Path(folder) / "ctf"


def folders() -> list[str]:
    """Return the folders of traces, relative to the collection's."""
    if "DCTV_TRACES" not in os.environ:
        return [""]
    root = Path(os.environ["DCTV_TRACES"]) / "ctf"
    return sorted(str(one.parent.relative_to(root)) for one in root.rglob("metadata"))


FOLDERS = folders()
REFUSED = [one for one in FOLDERS if one.startswith("babeltrace/fail/") and not one.endswith("/trace")] or [""]
NO_TRUTH = "tracecompass/CTF2-vl-ints"
MOUNTED = [one for one in FOLDERS if one not in REFUSED and one != NO_TRUTH] or [""]
CONVERTED = "tracecompass/CTF2-7.0-"


def truth_of(folder: str, ending: str) -> Path | None:
    """Return the text of a trace; those of CTF 2, which the tool cannot read, are others' in the newer format."""
    folder = folder.replace(CONVERTED, "babeltrace/succeed/")
    root = collection() / "truth"
    names = [folder.replace("/", "_"), *(part.replace("/", "_") for part in [folder.rsplit("/ust/", 1)[0]])]
    found = (root / f"{name}{ending}{packed}" for name in names for packed in ("", ".gz"))
    return next((one for one in found if one.exists()), None)


def lines(path: Path | None) -> Iterator[str]:
    if path is not None:
        raw = path.read_bytes()
        yield from (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode().splitlines(keepends=True)


def load(folder: Path) -> LoadedTrace:
    assert READER.folder is not None
    paths = READER.folder(folder)
    assert paths, f"{folder} is not told to be a trace"
    return READER.load(paths, LoadContext({}, 2, lambda _done, _total: None))


Row = tuple[int, int, str, dict[str, Any]]


def rows(trace: LoadedTrace) -> list[Row]:
    """Return all events in the order of the trace: time since 1970, number, table, columns."""
    start = int(trace.properties.get("start_unix_ns", trace.properties["start_ns"]))
    found: list[Row] = []
    for name, table in trace.tables.items():
        if not name.startswith("raw_events."):
            continue
        nested = {one.name for one in table.schema.columns if one.type == "JSON"}
        for row in table.data.to_pylist():
            values = {k: json.loads(v) if k in nested and v is not None else v for k, v in row.items()}
            found.append((row["_ts"] + start, row["line"], name.removeprefix("raw_events."), values))
    return sorted(found, key=lambda row: row[:2])


def different(event: Event, row: Row) -> str:
    """Return in words how a row differs from an event of the text; empty if it does not."""
    ts, _, name, columns = row
    if event.ts is not None and event.ts != ts:
        return f"time {ts} is not {event.ts}"
    if name not in (event.name, event.name.rpartition(":")[2]):
        return f"{name} is not {event.name}"
    for scope in event.scopes:
        for field, truth in flat(scope):
            names = ["cpu" if field == "cpu_id" else field, f"field_{field}", f"context_{field}"]
            if isinstance(truth, Chosen):
                names = [one for one in columns if one.startswith(f"{field}_")]
            if not any(one in columns and same(truth, columns[one]) for one in names):
                return f"{field} is {[columns.get(one) for one in names]}, not {truth}"
    return ""


def matched(events: list[Event], found: list[Row]) -> Iterator[str]:
    """Give the differences; events of equal time may stand in any order."""
    assert len(events) == len(found)
    at = 0
    for _, equal in groupby(events, key=lambda event: event.ts):
        group = list(equal)
        left = found[at : at + len(group)]
        at += len(group)
        if group[0].ts is None:
            yield from filter(None, map(different, group, left))
            continue
        for event in group:
            place = next((i for i, row in enumerate(left) if not different(event, row)), None)
            if place is None:
                yield different(event, left[0])
            else:
                left.pop(place)


@pytest.mark.parametrize("folder", MOUNTED)
def test_every_event_is_that_of_the_reference_tool(folder: str) -> None:
    trace = load(collection() / folder)
    found = rows(trace)
    counts = truth_of(folder, ".counts")
    assert counts is not None
    names = dict(line.rsplit(" ", 1) for line in counts.read_text().splitlines()[1:])
    text = truth_of(folder, ".txt")
    if folder == "babeltrace/fail/invalid-packet-size/trace":
        # The tool refuses it, since its packet is said to be larger than the file; here what is there is read.
        assert len(found) == 10
        assert [(one.reason, one.incomplete) for one in trace.diagnostics] == [("a packet is cut off", True)]
        return
    if folder == "babeltrace/succeed/sequence":
        # The list of counts takes the last word only.
        names = {"sequence event": names["event"]}
    assert Counter(row[2] for row in found) == Counter(
        {
            name if name in {r[2] for r in found} else name.rpartition(":")[2]: int(count)
            for name, count in names.items()
        }
    )
    events = list(read(lines(text), frozenset(names)))
    if folder == "tracecompass/CTF2-7.0-debug-info":
        # Whoever converted it changed this text, in the stream itself.
        events[1].scopes[-1]["path"] = "/libhello_so"
    assert list(matched(events, found))[:5] == []


LOST = re.compile(r"Tracer discarded (\d+) (event|packet)")


@pytest.mark.parametrize("folder", MOUNTED)
def test_losses_are_counted_as_the_reference_tool_does(folder: str) -> None:
    trace = load(collection() / folder)
    expected: Counter[str] = Counter()
    for line in lines(truth_of(folder, ".err")):
        for count, what in LOST.findall(line):
            expected[{"event": "events discarded by the tracer", "packet": "packets lost by the tracer"}[what]] += int(
                count
            )
    found: Counter[str] = Counter()
    for one in trace.diagnostics:
        if "tracer" in one.reason:
            found[one.reason] += one.count
    assert found == expected


@pytest.mark.parametrize("folder", REFUSED)
def test_metadata_that_the_reference_tool_refuses_are_refused(folder: str) -> None:
    with pytest.raises(TraceError, match=r"^error: cannot read `.*metadata`: "):
        load(collection() / folder)


def varying(data: bytes, signed: list[bool]) -> Iterator[int]:
    """Decode numbers of 7 bits a byte, the lowest first; the highest bit of the last byte is the sign."""
    at = 0
    for one in signed:
        value = bits = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << bits
            bits += 7
            if byte < 128:
                break
        value &= (1 << 64) - 1
        bits = min(bits, 64)
        yield value - (1 << bits) if one and value >> (bits - 1) & 1 else value
    assert at == len(data)


def test_numbers_of_varying_length() -> None:
    folder = collection() / NO_TRUTH
    (row,) = rows(load(folder))
    names = [name for name in row[3] if name not in {"_ts", "line"}]
    values = varying((folder / "stream").read_bytes(), [name.startswith("vi") for name in names])
    assert [row[3][name] for name in names] == list(values)
