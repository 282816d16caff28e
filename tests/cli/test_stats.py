"""`dctv stats`: what it prints, that it is right, and how it fails."""

from __future__ import annotations

import gzip
import json
import random
import statistics
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from dctv.cli import measure
from tests.command_line import ROOT, run

CALLS = ROOT / "tests" / "data" / "stdlib" / "calls.pfw"

WHOLE = """\
events  start [ns]  end [ns]  length [ns]
------  ----------  --------  -----------
     9     1000000   1110000       110000

timed  sum [ns]   mean [ns]  stddev [ns]  min [ns]  p50 [ns]  p90 [ns]  p99 [ns]  max [ns]
-----  --------  ----------  -----------  --------  --------  --------  --------  --------
    9    233000  25888.8889   37438.6741      1000      5000    100000    100000    100000

from [ns]  to [ns]  events
---------  -------  ------
      512     1023       2
     1024     2047       1
     2048     4095       1
     4096     8191       1
     8192    16383       1
    16384    32767       1
    32768    65535       0
    65536   131071       2

category  events
--------  ------
POSIX          5
app            3
STDIO          1

name      category  events  timed  sum [ns]  mean [ns]  stddev [ns]  min [ns]  p50 [ns]  p90 [ns]  p99 [ns]  max [ns]
--------  --------  ------  -----  --------  ---------  -----------  --------  --------  --------  --------  --------
read      POSIX          2      2      3000       1500          500      1000      1000      2000      2000      2000
app       app            1      1      5000       5000            0      5000      5000      5000      5000      5000
close     POSIX          1      1     90000      90000            0     90000     90000     90000     90000     90000
fwrite    STDIO          1      1     10000      10000            0     10000     10000     10000     10000     10000
open      POSIX          1      1      4000       4000            0      4000      4000      4000      4000      4000
pread64   POSIX          1      1     20000      20000            0     20000     20000     20000     20000     20000
readlink  POSIX          1      1      1000       1000            0      1000      1000      1000      1000      1000
train     app            1      1    100000     100000            0    100000    100000    100000    100000    100000

pid  events
---  ------
  5       6
  7       3
"""


def test_a_small_trace() -> None:
    ran = run("stats", CALLS)
    assert (ran.code, ran.err, ran.out) == (0, "", WHOLE)


def write_trace(path: Path, events: int, seed: int) -> list[dict[str, Any]]:
    """Write a trace and return its events."""
    chance = random.Random(seed)
    rows = []
    for i in range(events):
        name = chance.choice(["read", "read", "write", "step"])
        row: dict[str, Any] = {
            "id": i,
            "name": name,
            "cat": "APP" if name == "step" else "POSIX",
            "ph": "X",
            "args": {},
        }
        row |= {"pid": chance.randrange(3), "tid": 1, "ts": 10_000 + 7 * i}
        if name != "write" or i % 2:
            row["dur"] = int(chance.lognormvariate(3, 4))
        rows.append(row)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    return rows


def sections(out: str) -> list[list[dict[str, Any]]]:
    """Read the tables of the JSON format."""
    decoder, found, at = json.JSONDecoder(), [], 0
    while at < len(out):
        table, at = decoder.raw_decode(out, at)
        at += 1
        names = [column["name"] for column in table["columns"]]
        found.append([dict(zip(names, row, strict=True)) for row in table["rows"]])
    return found


def test_figures_are_those_of_the_events(tmp_path: Path) -> None:
    first = write_trace(tmp_path / "a.pfw.gz", 1500, 1)
    rows = first + write_trace(tmp_path / "b.pfw.gz", 300, 2)
    ran = run("stats", tmp_path, "--format", "json")
    assert (ran.code, ran.err) == (0, "")
    times, durations, histogram, categories, names, processes = sections(ran.out)
    start = min(row["ts"] for row in rows) * 1000
    end = max(row["ts"] + row.get("dur", 0) for row in rows) * 1000
    assert times == [{"events": 1800, "start": start, "end": end, "length": end - start}]
    assert durations == [spread(rows)]
    lengths = [row["dur"] * 1000 for row in rows if "dur" in row]
    counts = Counter(length.bit_length() for length in lengths)
    assert histogram == [
        {"from": 2**bits // 2, "to": 2**bits - 1, "events": counts[bits]}
        for bits in range(min(counts), max(counts) + 1)
    ]
    assert {row["category"]: row["events"] for row in categories} == Counter(row["cat"] for row in rows)
    assert {row["pid"]: row["events"] for row in processes} == Counter(row["pid"] for row in rows)
    assert [row["events"] for row in names] == sorted((row["events"] for row in names), reverse=True)
    for found in names:
        own = [row for row in rows if row["name"] == found["name"]]
        head = {"name": own[0]["name"], "category": own[0]["cat"], "events": len(own)}
        assert found == {**head, **spread(own)}


def spread(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Work out the figures of durations."""
    lengths = sorted(row["dur"] * 1000 for row in rows if "dur" in row)
    ranks = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
    return {
        "timed": len(lengths),
        "sum": sum(lengths),
        "mean": pytest.approx(statistics.fmean(lengths), rel=1e-8),
        "stddev": pytest.approx(statistics.pstdev(lengths), rel=1e-8),
        "min": lengths[0],
        "max": lengths[-1],
        **{name: lengths[-int(len(lengths) - len(lengths) * q) - 1] for name, q in ranks.items()},
    }


def test_several_files_are_one_trace(tmp_path: Path) -> None:
    write_trace(tmp_path / "a.pfw.gz", 20, 1)
    write_trace(tmp_path / "b.pfw.gz", 10, 2)
    ran = run("stats", tmp_path / "a.pfw.gz", tmp_path / "b.pfw.gz", "--section", "times", "--format", "csv")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[1].split(",")[0] == "30"


def test_a_trace_without_events(tmp_path: Path) -> None:
    path = tmp_path / "empty.pfw"
    path.write_text('{"id":0,"name":"HH","cat":"dftracer","pid":5,"tid":5,"ph":"M","args":{"name":"n","value":9}}\n')
    ran = run("stats", path, "--format", "json")
    assert (ran.code, ran.err) == (0, "")
    times, durations, *others = sections(ran.out)
    assert times == [{"events": 0, "start": None, "end": None, "length": None}]
    assert durations[0]["timed"] == 0
    assert [value for key, value in durations[0].items() if key != "timed"] == [None] * 8
    assert others == [[], [], [], []]


def test_events_without_durations() -> None:
    ran = run("stats", ROOT / "tests" / "data" / "ftrace" / "live_marks_tgid.trace.txt", "--format", "json")
    assert (ran.code, ran.err) == (0, "")
    times, durations, histogram, categories, *_ = sections(ran.out)
    assert durations[0]["timed"] == 0
    assert histogram == []
    assert categories == [{"category": None, "events": times[0]["events"]}]


def test_sums_may_exceed_64_bits(tmp_path: Path) -> None:
    path = tmp_path / "long.pfw"
    record = '{"id":0,"name":"x","cat":"c","pid":5,"tid":5,"ts":0,"dur":9000000000000000,"ph":"X","args":{}}\n'
    path.write_text(3 * record)
    for format_name, sign in (("json", "[3,27000000000000000000,"), ("csv", "3,27000000000000000000,")):
        ran = run("stats", path, "--section", "durations", "--format", format_name)
        assert (ran.code, ran.err) == (0, "")
        assert sign in ran.out
    out = tmp_path / "out.parquet"
    ran = run("stats", path, "--section", "durations", "-o", out)
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    table = pq.read_table(out)
    assert table.column("sum").to_pylist() == [Decimal(27_000_000_000_000_000_000)]
    assert table.schema.field("sum").metadata == {b"unit": b"ns"}


def test_a_format_for_one_result_takes_one_section() -> None:
    ran = run("stats", CALLS, "--format", "parquet")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "error: a file of format `parquet` holds one result\nhint: choose one --section\n"


def test_a_trace_that_is_not_there(tmp_path: Path) -> None:
    ran = run("stats", tmp_path / "none.pfw")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == f"error: no such file or folder: `{tmp_path}/none.pfw`\n"


def test_a_trace_not_read_whole(tmp_path: Path) -> None:
    write_trace(tmp_path / "a.pfw.gz", 2000, 1)
    broken = tmp_path / "broken.pfw.gz"
    broken.write_bytes((tmp_path / "a.pfw.gz").read_bytes()[:10_000])
    ran = run("stats", broken, "--section", "times")
    assert ran.code == 3
    assert ran.err.endswith("hint: --allow-partial accepts traces that were not read whole\n")
    assert run("stats", broken, "--section", "times", "--allow-partial").code == 0


def test_the_environment_tells_where_indexes_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("index", CALLS, "--index-dir", tmp_path).code == 0
    monkeypatch.setattr(measure, "measured", None)
    ran = run("stats", CALLS, DCTV_INDEX_DIR=str(tmp_path))
    assert (ran.code, ran.out.splitlines()[2].split()[0]) == (0, "9")
