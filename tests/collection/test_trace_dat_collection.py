"""The trace.dat files of the collection, against trace-cmd's reports and the kernel's text of the same buffers."""

from __future__ import annotations

import gzip
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dctv.contracts.reader import LoadContext, LoadedTrace, Reader
from dctv.readers import ftrace_text, trace_dat
from dctv.session import Session
from tests.readers.trace_dat.trace_dat_agreement import HEXADECIMAL, agree

NAMES = ("lisa_sched_load", "live_marks", "live_marks_tgid", "live_overrun")
SAME_BUFFER = ("live_marks", "live_marks_tgid", "live_overrun")
LINE = re.compile(r" *(?P<comm>.*)-(?P<pid>\d+) +\[(?P<cpu>\d+)\] *(?P<ts>[\d.]+): (?P<event>[^:]+): *(?P<body>.*)$")


def root() -> Path:
    folder = os.environ.get("DCTV_TRACES")
    if folder is None:
        pytest.fail("the environment variable DCTV_TRACES does not say where the trace collection is")
    return Path(folder)


def load(path: Path, reader: Reader = trace_dat.READER) -> LoadedTrace:
    return reader.load([path], LoadContext({}, 2, lambda _done, _total: None))


def dat(name: str) -> LoadedTrace:
    return load(root() / "trace-cmd" / f"{name}.dat")


def truth(name: str, kind: str) -> str:
    folder = root() / "trace-cmd" / "truth"
    plain = folder / f"{name}.{kind}.txt"
    if plain.exists():
        return plain.read_text(errors="replace")
    return gzip.decompress((folder / f"{name}.{kind}.txt.gz").read_bytes()).decode(errors="replace")


def lines(name: str, kind: str) -> list[re.Match[str]]:
    return [found for line in truth(name, kind).splitlines() if (found := LINE.match(line))]


def events(trace: LoadedTrace) -> dict[str, list[dict[str, Any]]]:
    """Rows of all event tables by the names that trace-cmd has for them, with absolute times."""
    start = int(trace.properties["start_ns"])
    found: dict[str, list[dict[str, Any]]] = {}
    for name, table in trace.tables.items():
        if name.startswith("raw_events."):
            event = name.removeprefix("raw_events.").partition("|")[0]
            rows = table.data.to_pylist()
            found.setdefault(event, []).extend({**row, "_ts": row["_ts"] + start} for row in rows)
    return {name: sorted(rows, key=lambda row: row["_ts"]) for name, rows in found.items()}


def time_of(text: str) -> int:
    seconds, _, rest = text.partition(".")
    return int(seconds) * 1_000_000_000 + int(rest.ljust(9, "0")) if rest else int(seconds)


@pytest.mark.parametrize("name", NAMES)
def test_event_counts_match_the_report(name: str) -> None:
    wanted = dict(line.rsplit(" ", 1) for line in truth(name, "counts").splitlines() if not line.startswith("#"))
    assert {event: len(rows) for event, rows in events(dat(name)).items()} == {k: int(v) for k, v in wanted.items()}


@pytest.mark.parametrize("name", NAMES)
def test_events_have_the_times_cpus_and_threads_of_the_report(name: str) -> None:
    wanted: dict[str, list[tuple[int, int, str, int]]] = {}
    for line in lines(name, "report"):
        key = (time_of(line["ts"]), int(line["cpu"]), line["comm"], int(line["pid"]))
        wanted.setdefault(line["event"], []).append(key)
    found = {
        event: [(row["_ts"], row["cpu"], row["common_comm"], row["common_pid"]) for row in rows]
        for event, rows in events(dat(name)).items()
    }
    assert {event: sorted(rows) for event, rows in found.items()} == {k: sorted(v) for k, v in wanted.items()}


@pytest.mark.parametrize("name", NAMES)
def test_fields_have_the_raw_values_of_the_report(name: str) -> None:
    rows_of = {
        (event, row["_ts"], row["cpu"]): row
        for event, rows in events(dat(name)).items()
        for row in rows
        if event not in {"print", "sys_enter"}
    }
    compared: Counter[str] = Counter()
    for line in lines(name, "report_raw"):
        row = rows_of.get((line["event"], time_of(line["ts"]), int(line["cpu"])))
        if row is None:
            continue
        body = line["body"]
        for key, value in row.items():
            column = key.removesuffix("_number").removeprefix("field_")
            printed = re.search(rf"(?:^| ){column}=(.*?)(?= \w+=|$)", body)
            if printed is None or key in {"_ts", "cpu"} or f"{key}_number" in row:
                continue
            text = printed[1]
            if isinstance(value, int):
                radix = 16 if column in HEXADECIMAL else 10
                assert int(text, 16 if text.startswith("0x") else radix) == value, (line[0], key)
            else:
                assert text == (value or "(null)"), (line[0], key)
            compared[line["event"]] += 1
    assert compared["sched_switch"] > 100


def test_lost_events_are_reported() -> None:
    diagnostics = {one.reason: (one.count, one.example) for one in dat("live_overrun").diagnostics}
    assert diagnostics == {
        "events lost by the kernel": (16300, "cpu 0: 10419, cpu 1: 5881"),
        "events overwritten in the kernel's buffer": (16300, "cpu 0: 10419, cpu 1: 5881"),
    }


@pytest.mark.parametrize("name", ["lisa_sched_load", "live_marks", "live_marks_tgid"])
def test_no_other_diagnostics_are_reported(name: str) -> None:
    assert dat(name).diagnostics == []


def test_properties() -> None:
    properties = dat("live_marks").properties
    assert properties["kernel"] == "6.18.44-fc-v669"
    assert properties["tool"] == "trace-cmd 3.1.6 not-a-git-repo"
    assert (properties["clock"], properties["cpus"], properties["host"]) == ("local", "2", "vm")
    assert dat("live_marks_tgid").properties["clock"] == "boottime"
    assert dat("live_overrun").properties["clock"] == "monotonic"


@pytest.mark.parametrize("name", SAME_BUFFER)
def test_tables_agree_with_the_text_of_the_same_buffer(name: str) -> None:
    text = load(root() / "ftrace-text" / f"{name}.trace.txt", ftrace_text.READER)
    assert agree(dat(name), text) > 5000


@pytest.mark.parametrize("name", NAMES)
def test_mounted_from_the_index_it_gives_the_same(name: str, tmp_path: Path) -> None:
    path = root() / "trace-cmd" / f"{name}.dat"
    counts = []
    for index in (False, True, True):
        with Session(index=index, index_dir=tmp_path) as session:
            session.mount(str(path), "t")
            asked = session.sql("SELECT name, COUNT(*) AS n FROM t.events GROUP BY name ORDER BY name")
            counts.append(asked.fetchall())
    assert counts[0] == counts[1] == counts[2]
    assert sum(n for _, n in counts[0]) == len(lines(name, "report"))
