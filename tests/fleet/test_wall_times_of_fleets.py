"""`--time` over many traces: each row's time is by the start of its own trace."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dctv
from tests.command_line import ROOT, Ran, run

PATTERN = ROOT / "tests/data/stdlib/[cr]*.[pj]*"
"""One trace that began in 1970, and one of 2023."""
WITH_CLOCKLESS = ROOT / "tests/data/stdlib/[cnr]*.[pj]*"
OF_1970, OF_2023 = "1970-01-01 00:00:00.001000000+00", "2023-11-14 22:13:20.000000000+00"


def asked(sql: str, *words: str | Path, pattern: Path = PATTERN) -> Ran:
    return run("query", f"runs=@{pattern}", "--no-index", "--format", "csv", "--time", "utc", *words, sql)


def column(ran: Ran, name: str) -> list[str]:
    head, *lines = (line.split(",") for line in ran.out.splitlines())
    return [line[head.index(name)] for line in lines]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT _ts, _trace FROM runs.events",
        "SELECT * FROM runs.slices",
        "SELECT _trace, _ts FROM runs.slices UNION ALL SELECT _trace, _ts FROM runs.events",
        "SELECT _ts, _trace FROM (SELECT * FROM runs.events ORDER BY _ts LIMIT 100)",
        "SELECT EVENT name FROM runs.events",
        "SELECT a._trace, b._ts FROM runs.events AS a JOIN runs.events AS b USING (_trace)",
        "SELECT a._trace, b._ts FROM runs.events AS a JOIN runs.events AS b ON a._ts = b._ts AND b._trace = a._trace",
        "SELECT * FROM dctv.concurrency((SELECT * FROM runs.slices WHERE _duration > 0ns))",
        "SELECT _ts, _trace FROM dctv.as_events(runs.slices)",
        "SELECT * FROM runs.quantize(1s)",
    ],
)
def test_times_are_by_the_start_of_the_rows_trace(sql: str) -> None:
    ran = asked(sql)
    plain = run("query", f"runs=@{PATTERN}", "--no-index", "--format", "csv", sql)
    assert (ran.code, plain.code, "counts from" in ran.err) == (0, 0, False)
    starts = {True: datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC), False: datetime(1970, 1, 1, 0, 0, 0, 1000, UTC)}
    times = [
        (starts["jaeger" in trace], int(ts))
        for ts, trace in zip(column(plain, "_ts [ns]"), column(plain, "_trace"), strict=True)
    ]
    expected = [
        f"{start + timedelta(microseconds=ts // 1000):%Y-%m-%d %H:%M:%S.%f}{ts % 1000:03}+00" for start, ts in times
    ]
    assert sorted(column(ran, "_ts")) == sorted(expected)
    assert {"1970", "2023"} == {one[:4] for one in expected}


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT _ts FROM runs.events", "and no column `_trace` beside it tells which"),
        ("SELECT _ts, _trace AS t FROM runs.events", "and no column `_trace` beside it tells which"),
        ("SELECT name AS _trace, _ts FROM runs.events", "and no column `_trace` beside it tells which"),
        (
            "SELECT a._trace, b._ts FROM runs.events AS a JOIN runs.events AS b ON a._ts = b._ts",
            "and no column `_trace` beside it tells which",
        ),
        (
            "SELECT a._trace, b._trace, a._ts FROM runs.events AS a JOIN runs.events AS b USING (_trace)",
            "and 2 columns are called `_trace`",
        ),
        ("SELECT _trace, MIN(_ts) AS _ts FROM runs.events GROUP BY 1", "`_ts` is computed here"),
    ],
)
def test_times_of_unknown_traces_are_unchanged(sql: str, why: str) -> None:
    ran = asked(sql)
    assert ran.code == 0
    assert column(ran, "_ts [ns]")[0].isdecimal()
    assert ran.err.startswith("warning: `_ts` counts from the beginning of the trace: ")
    assert why in ran.err


def test_traces_without_a_clock() -> None:
    ran = asked("SELECT DISTINCT _trace, _ts FROM runs.events WHERE _ts = 0s ORDER BY 1", pattern=WITH_CLOCKLESS)
    assert column(ran, "_ts") == [OF_1970, "", OF_2023]
    assert ran.err == (
        "warning: `_ts` is NULL where a trace does not record when it began, such as "
        f"{ROOT / 'tests/data/stdlib/nesting.json'}\n"
    )
    none = asked("SELECT _trace, _ts FROM runs.events", pattern=ROOT / "tests/data/stdlib/nesting.js*")
    assert none.err == (
        "warning: `_ts` counts from the beginning of the trace: no trace of `runs` records when it began\n"
    )


def test_files_have_timestamps(tmp_path: Path) -> None:
    sql = "SELECT _trace, _ts FROM runs.events WHERE _ts = 0s ORDER BY 1"
    assert asked(sql, "--format", "parquet", "-o", tmp_path / "x.parquet", pattern=WITH_CLOCKLESS).code == 0
    table = pq.read_table(tmp_path / "x.parquet")
    assert table.schema.field("_ts").type == pa.timestamp("ns", "UTC")
    assert {*table["_ts"].cast("int64").to_pylist()} == {1_000_000, None, 1_700_000_000_000_000_000}


def test_the_prompt() -> None:
    first = "SELECT _trace, _ts FROM runs.events WHERE _ts = 0s ORDER BY 1;"
    script = f".mode csv\n.set time utc\n{first}\n.set time trace\n{first}\n"
    ran = run("repl", f"runs=@{PATTERN}", "--no-index", stdin=script)
    lines = [line.rpartition(",")[2] for line in ran.out.splitlines() if "stdlib" in line]
    assert list(dict.fromkeys(lines)) == [OF_1970, OF_2023, "0"]


def test_results_know_the_starts() -> None:
    with dctv.Session(index=False) as session:
        session.mount_traces(WITH_CLOCKLESS, "runs")
        found = session.sql("SELECT _trace, _ts FROM runs.events").time_zero()
        assert not isinstance(found, int)
        assert sorted(found.values()) == [1_000_000, 1_700_000_000_000_000_000]
        with pytest.raises(dctv.BindError, match="several traces"):
            session.sql("SELECT _trace, _ts FROM runs.events").start_unix_ns()
        session.mount(ROOT / "tests/data/stdlib/requests.jaeger.json", "t")
        assert session.sql("SELECT _ts FROM t.events").time_zero() == 1_700_000_000_000_000_000
        with pytest.raises(dctv.BindError, match="belongs to traces of `runs` and `t`"):
            session.sql("SELECT _ts FROM t.events UNION ALL SELECT _ts FROM runs.events").time_zero()
