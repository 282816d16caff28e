"""Every view of the standard library on every trace of its format, and its figures against those of other programs."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dctv import readers
from dctv.catalog.mount import HIDDEN
from dctv.catalog.stdlib import EVERY, modules
from dctv.contracts.reader import Reader
from dctv.contracts.registry import scan
from dctv.session import Session
from dctv.types.schema import DURATION, TS, Kind
from tests.collection.ftrace_lines import COLLECTION, FTRACE
from tests.declared_keys import duplicates

DFTRACER = COLLECTION / "dftracer"
TRACES = {
    "ftrace-text": sorted(p for p in FTRACE.iterdir() if p.is_file()),
    "dftracer": sorted(
        p for p in DFTRACER.rglob("*.pfw*") if p.name.endswith((".pfw", ".pfw.gz")) and p.stat().st_size
    ),
}
FOLDERS = ("samples/v1_cm1", "samples/v1_dist", "samples/v4.3_real/fork", "live/aggregated_v2.2.0", "dlio")
TRACES["dftracer"] += [DFTRACER / folder for folder in FOLDERS]
# Files of one folder, up to 47 of them, are of one program and have the same events.
FIRST = {path.parent: path for path in reversed(TRACES["dftracer"])}.values()
CASES = [("ftrace-text", path) for path in TRACES["ftrace-text"]] + [
    ("dftracer", path) for path in TRACES["dftracer"] if path in FIRST or path.is_dir()
]
assert all(TRACES.values()), f"no traces in {COLLECTION}"


def test_every_view_has_its_words() -> None:
    for module in modules():
        assert module.doc.endswith("."), module.parts
        assert module.formats, module.parts
        assert set(module.formats) <= {*scan(readers, Reader), EVERY}, module.parts
        assert all(module.columns.values()), module.parts


@pytest.mark.parametrize(("reader", "path"), CASES, ids=[str(path.relative_to(COLLECTION)) for _, path in CASES])
def test_every_view_works(reader: str, path: Path) -> None:
    """Views that the trace has inputs for run; of others, which never have rows, the columns are looked at."""
    with Session() as session:
        session.mount(str(path), "t")
        for module in modules():
            if not module.covers(reader) or module.parts[0] in HIDDEN or module.parameters:
                continue
            name = ".".join(("t", *module.parts))
            schema = session.columns(name)
            assert schema is not None, name
            names = [column.name for column in schema.columns]
            assert set(names) - {TS, DURATION} == set(module.columns) - {TS, DURATION}, name
            _, is_partitioned, key = name.partition("_p_")
            if is_partitioned:
                assert schema.kind is Kind.SPAN, name
                assert "_".join(schema.partitions) == key, name
            if not any(message.startswith(f"`{name}` is empty") for message in session.warnings()):
                assert session.sql(f"SELECT * FROM {name}").arrow().schema.names == names, name
        assert list(duplicates(session)) == []


@cache
def perfetto(path: Path) -> list[list[str]] | None:
    """Return Perfetto's rows of name, count, sum of durations; None if it cannot read the trace or left rows out."""
    text = (FTRACE / "truth" / f"{path.name}.tp.txt").read_text()
    tables = dict(re.findall(r"^-- (.+)\n((?:(?!-- ).*\n?)*)", text, re.M))
    table = next(t for q, t in tables.items() if q.startswith("select category, name, count(*)"))
    rows = [line.split("\t") for line in table.splitlines()[1:]]
    return None if not rows or "ERROR" in table or len(rows) >= 400 else [[r[1], r[2], r[3]] for r in rows]


READABLE = [p for p in TRACES["ftrace-text"] if (FTRACE / "truth" / f"{p.name}.tp.txt").is_file() and perfetto(p)]


@pytest.mark.parametrize("path", READABLE, ids=lambda p: p.name)
def test_slices_match_perfetto(path: Path) -> None:
    """Marks of moments count as slices without length there, and its times, read as floats, are 1 ns off at times."""
    found: dict[str, list[int]] = {}
    with Session() as session:
        session.mount(str(path), "t")
        for sql in (
            "SELECT name, COUNT(*), SUM(COALESCE(_duration, 0ns)) FROM t.slices GROUP BY name",
            "SELECT name, COUNT(*), SUM(COALESCE(_duration, 0ns)) FROM t.async_slices GROUP BY name",
            "SELECT name, COUNT(*), 0 FROM t.instants GROUP BY name",
        ):
            for name, count, time in session.sql(sql).fetchall():
                entry = found.setdefault(name, [0, 0])
                entry[0] += count
                entry[1] += time
    expected = {name: (int(count), int(time)) for name, count, time in perfetto(path) or []}
    assert {name: count for name, (count, _) in found.items()} == {name: count for name, (count, _) in expected.items()}
    for name, (count, time) in found.items():
        assert abs(time - expected[name][1]) <= count, name


SAMPLES = json.loads((DFTRACER / "samples" / "truth.json").read_text())


@pytest.mark.parametrize("name", [n for n in sorted(SAMPLES) if SAMPLES[n]["events"]])
def test_dftracer_sums(name: str) -> None:
    truth = SAMPLES[name]
    factor = {"NS": 1, "US": 1000, "MS": 10**6, "S": 10**9}[truth["time_unit"]]
    with Session() as session:
        session.mount(str(DFTRACER / "samples" / name), "t")
        ((count, time),) = session.sql("SELECT COUNT(*), SUM(_duration) FROM t.slices").fetchall()
        assert (count, time or 0) == (truth["dur_count"], truth["dur_sum"] * factor)
        names = session.sql("SELECT name, COUNT(*), SUM(_duration) FROM t.slices GROUP BY name").fetchall()
        timed = {n: [c, s * factor] for n, (c, s) in truth["names"].items() if s}
        assert timed.items() <= {n: [c, s] for n, c, s in names}.items()
        ((events, calls, first),) = session.sql(
            "SELECT SUM(events), SUM(io_calls), MIN(first_ts) FROM t.processes.summary"
        ).fetchall()
        assert (events, first) == (truth["events"], 0)
        assert session.sql("SELECT COUNT(*) FROM t.io.calls").fetchall() == [(calls,)]
        assert session.sql("SELECT COALESCE(SUM(calls), 0) FROM t.io.by_path").fetchall() == [(calls,)]


def records(path: Path) -> Iterator[dict[str, Any]]:
    """Read the lines that hold one record each."""
    data = path.read_bytes()
    for line in (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines():
        with suppress(ValueError):
            record = json.loads(line.strip().removesuffix(b","))
            if isinstance(record, dict):
                yield record


MOVERS = dict.fromkeys(("read", "pread", "pread64", "fread"), "read")
MOVERS |= dict.fromkeys(("write", "pwrite", "pwrite64", "fwrite"), "write")


@pytest.mark.parametrize(
    "name",
    [
        "dftracer_test-trace.pfw.gz",
        "samples/v0_dlp/test.pfw",
        "samples/v1_cm1/cm1-DEFAULT-3537780-preload.pfw.gz",
        "samples/v1_dist/test-trace-dist-1.pfw.gz",
        "samples/v4.3_real/two-members-136k.pfw.gz",
    ],
)
def test_bytes_and_paths(name: str) -> None:
    paths: dict[str, set[str]] = {}
    moved: Counter[tuple[str, str | None]] = Counter()
    kept = list(records(DFTRACER / name))
    for record in kept:
        if record["name"] == "FH":
            paths.setdefault(str(record["args"]["value"]), set()).add(record["args"]["name"])
    calls = [r for r in kept if r.get("cat") in ("POSIX", "STDIO") and "dur" in r]
    for record in calls:
        args = record["args"]
        known = paths.get(str(args.get("fhash")), set())
        path = args.get("fname", next(iter(known)) if len(known) == 1 else None)
        if record["name"] in MOVERS:
            amount = max(0, int(args["ret"])) * (int(args["size"]) if record["cat"] == "STDIO" else 1)
            moved[MOVERS[record["name"]], path] += amount
    with Session() as session:
        session.mount(str(DFTRACER / name), "t")
        found = session.sql("SELECT path, bytes_read, bytes_written FROM t.io.by_path").fetchall()
        assert session.sql("SELECT COUNT(*) FROM t.io.calls").fetchall() == [(len(calls),)]
        sums = session.sql("SELECT SUM(bytes_read), SUM(bytes_written) FROM t.processes.summary").fetchall()
    assert sum(moved.values()) > 0
    assert sums == [tuple(sum(n for (d, _), n in moved.items() if d == way) for way in ("read", "write"))]
    for path, *amounts in found:
        assert amounts == [moved["read", path], moved["write", path]], path
