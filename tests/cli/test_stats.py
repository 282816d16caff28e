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
events  start  end     length
------  -----  ------  ------
     9  1ms    1.11ms  110us

timed  sum    mean          stddev        min  p50  p90    p99    max
-----  -----  ------------  ------------  ---  ---  -----  -----  -----
    9  233us  25.8888889us  37.4386741us  1us  5us  100us  100us  100us

from      to         events
--------  ---------  ------
512ns     1.023us         2
1.024us   2.047us         1
2.048us   4.095us         1
4.096us   8.191us         1
8.192us   16.383us        1
16.384us  32.767us        1
32.768us  65.535us        0
65.536us  131.071us       2

category  events
--------  ------
POSIX          5
app            3
STDIO          1

name      category  events  timed  sum    mean   stddev  min    p50    p90    p99    max
--------  --------  ------  -----  -----  -----  ------  -----  -----  -----  -----  -----
read      POSIX          2      2  3us    1.5us  500ns   1us    1us    2us    2us    2us
app       app            1      1  5us    5us    0ns     5us    5us    5us    5us    5us
close     POSIX          1      1  90us   90us   0ns     90us   90us   90us   90us   90us
fwrite    STDIO          1      1  10us   10us   0ns     10us   10us   10us   10us   10us
open      POSIX          1      1  4us    4us    0ns     4us    4us    4us    4us    4us
pread64   POSIX          1      1  20us   20us   0ns     20us   20us   20us   20us   20us
readlink  POSIX          1      1  1us    1us    0ns     1us    1us    1us    1us    1us
train     app            1      1  100us  100us  0ns     100us  100us  100us  100us  100us

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


def test_figures_match_the_events(tmp_path: Path) -> None:
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


def test_a_missing_trace(tmp_path: Path) -> None:
    ran = run("stats", tmp_path / "none.pfw")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == f"error: no such file or folder: `{tmp_path}/none.pfw`\n"


def test_an_incompletely_read_trace(tmp_path: Path) -> None:
    write_trace(tmp_path / "a.pfw.gz", 2000, 1)
    broken = tmp_path / "broken.pfw.gz"
    broken.write_bytes((tmp_path / "a.pfw.gz").read_bytes()[:10_000])
    ran = run("stats", broken, "--section", "times")
    assert ran.code == 3
    assert ran.err.endswith("hint: --allow-partial accepts traces that were not read completely\n")
    assert run("stats", broken, "--section", "times", "--allow-partial").code == 0


def test_the_environment_sets_the_index_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("index", CALLS, "--index-dir", tmp_path).code == 0
    monkeypatch.setattr(measure, "measured", None)
    ran = run("stats", CALLS, DCTV_INDEX_DIR=str(tmp_path))
    assert (ran.code, ran.out.splitlines()[2].split()[0]) == (0, "9")


def test_programs_get_numbers_of_ns() -> None:
    ran = run("stats", "--no-index", CALLS, "--section", "times", "--format", "csv")
    assert ran.out == "events,start [ns],end [ns],length [ns]\n9,1000000,1110000,110000\n"
