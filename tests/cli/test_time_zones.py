"""`--time` and `.set time`: times of traces and timestamps by the wall clock of a zone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dctv
from dctv.console.wall_times import Texts
from tests.bounds import bounded
from tests.command_line import ROOT, Ran, run

REQUESTS = ROOT / "tests/data/stdlib/requests.jaeger.json"
CLOCKLESS = ROOT / "tests/data/ftrace/live_marks_tgid.trace.txt"
FIRST = "SELECT _ts, name FROM t.events LIMIT 2"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def asked(*words: str | Path) -> Ran:
    return run("query", f"t={REQUESTS}", "--no-index", "--format", "csv", *words)


@pytest.fixture(autouse=True)
def in_kolkata(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Asia/Kolkata")
        time.tzset()
        yield
    time.tzset()


def test_times_are_unchanged_without_a_time_zone() -> None:
    for words in ((), ("--time", "trace"), ("--time", "TRACE")):
        assert asked(FIRST, *words).out == "_ts [ns],name\n0,checkout\n5000,accepted\n"


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        ("utc", "2023-11-14 22:13:20.000005000+00"),
        ("local", "2023-11-15 03:43:20.000005000+05:30"),
        ("America/New_York", "2023-11-14 17:13:20.000005000-05"),
    ],
)
def test_the_column_of_times(zone: str, expected: str) -> None:
    ran = asked(FIRST, "--time", zone)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[0] == "_ts,name"
    assert ran.out.splitlines()[2] == f"{expected},accepted"


def test_timestamps_of_every_precision() -> None:
    text = """SELECT t.wall_clock(1ns) AS ns, TIMESTAMP '2024-07-01 00:00:00' AS us,
      TIMESTAMP_MS '2024-07-01 00:00:00' AS ms, TIMESTAMP_S '2024-07-01 00:00:00' AS s,
      TIMESTAMPTZ '2024-07-01 00:00:00+02' AS tz, TIMESTAMP 'infinity' AS inf, TIMESTAMP '290000-01-01' AS far,
      TIMESTAMP_S '1880-01-01 00:00:00' AS sun, DATE '2024-07-01' AS day, NULL::TIMESTAMP AS no"""
    ran = asked(text, "--time", "Europe/Berlin", "--format", "line")
    assert ran.out.splitlines() == [
        " ns = 2023-11-14 23:13:20.000000001+01",
        " us = 2024-07-01 02:00:00.000000+02",
        " ms = 2024-07-01 02:00:00.000+02",
        "  s = 2024-07-01 02:00:00+02",
        " tz = 2024-07-01 00:00:00.000000+02",
        "inf = infinity",
        "far = 290000-01-01 00:00:00.000000+00",
        "sun = 1880-01-01 00:53:28+00:53:28",
        "day = 2024-07-01",
        " no = NULL",
    ]


def test_lists_and_structs_of_timestamps_are_unchanged(tmp_path: Path) -> None:
    sql = "SELECT [TIMESTAMP_NS '2024-05-01 10:00:00'] AS x, {'a': TIMESTAMP '2024-05-01 10:00:00'} AS y"
    ran = asked(sql, "--time", "utc")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == asked(sql).out
    path = tmp_path / "x.parquet"
    assert run("query", sql, "--time", "utc", "-o", path).code == 0
    assert pq.read_table(path)["x"].to_pylist() == [[datetime(2024, 5, 1, 10)]]


def test_files_of_arrow_have_timestamps(tmp_path: Path) -> None:
    for zone, name in (("local", "UTC"), ("Europe/Berlin", "Europe/Berlin")):
        assert asked(FIRST, "--time", zone, "--format", "parquet", "-o", tmp_path / "x.parquet").code == 0
        table = pq.read_table(tmp_path / "x.parquet")
        assert table.schema.field("_ts").type == pa.timestamp("ns", name)
        assert table["_ts"].cast("int64").to_pylist() == [1700000000000000000, 1700000000000005000]


def test_times_of_unknown_clocks_are_unchanged() -> None:
    text = "SELECT _ts FROM t.events LIMIT 1"
    ran = run("query", f"t={CLOCKLESS}", "--no-index", "--format", "csv", text, "--time", "utc")
    why = "`t` does not record when it began: it has no known clock"
    assert ran == Ran(0, "_ts [ns]\n0\n", f"warning: `_ts` counts from the beginning of the trace: {why}\n")
    computed = asked("SELECT _ts + 1ns AS _ts FROM t.events LIMIT 1", "--time", "utc")
    assert computed.out == "_ts [ns]\n1\n"
    assert "`_ts` is computed here" in computed.err
    assert asked("SELECT _ts IN ms AS _ts FROM t.events LIMIT 1", "--time", "utc") == Ran(0, "_ts [ms]\n0\n", "")


def test_wrong_zones() -> None:
    ran = asked(FIRST, "--time", "Europ/Berlin")
    assert (ran.code, ran.err) == (
        2,
        "error: found the zone `Europ/Berlin`, expected trace, utc, local or a zone such as Europe/Berlin\n"
        "hint: did you mean `Europe/Berlin`?\n",
    )
    assert asked(FIRST, "--time", "../etc/passwd").code == 2


def test_the_prompt() -> None:
    script = f".mode csv\n.set time utc\n{FIRST};\n.maxrows 1\n.last\n.set time trace\n{FIRST};\n.set time nowhere\n"
    ran = run("repl", f"t={REQUESTS}", "--no-index", stdin=script)
    first = "_ts,name\n2023-11-14 22:13:20.000000000+00,checkout\n2023-11-14 22:13:20.000005000+00,accepted\n"
    assert ran.out == f"{first}\n{first}\n_ts [ns],name\n0,checkout\n"
    assert "found the zone `nowhere`" in ran.err


def test_results_have_their_wall_clock_start() -> None:
    with dctv.Session(index=False) as session:
        session.mount(REQUESTS, "t")
        assert session.sql(FIRST).start_unix_ns() == 1700000000000000000
        with pytest.raises(dctv.BindError, match="not known which trace"):
            session.sql("SHOW MOUNTS").start_unix_ns()


@bounded(1200)
@given(st.integers(-(2**61), 2**61), st.sampled_from(["utc", "Europe/Berlin", "Asia/Kathmandu", "America/St_Johns"]))
def test_texts_match_python(ns: int, zone: str) -> None:
    seconds, rest = divmod(ns, 10**9)
    there = (EPOCH + timedelta(seconds=seconds)).astimezone(UTC if zone == "utc" else ZoneInfo(zone))
    offset = there.isoformat()[19:].removesuffix(":00")
    (text,) = Texts(zone).of(pa.array([ns], pa.timestamp("ns", "UTC"))).to_pylist()
    assert text == f"{there:%Y-%m-%d %H:%M:%S}.{rest:09}{offset}"


def later(folder: Path) -> Path:
    """Write the same trace again, of a run that began 100 s later."""
    text = REQUESTS.read_text(encoding="utf-8")
    (folder / "a.json").write_text(text, encoding="utf-8")
    (folder / "b.json").write_text(text.replace("17000000", "17000001"), encoding="utf-8")
    return folder


def test_each_trace_has_its_own_beginning(tmp_path: Path) -> None:
    words = ("query", "--each", "*.json", "--format", "csv", "SELECT _ts, name FROM t.events LIMIT 1")
    folder = later(tmp_path)
    ran = run(*words, "--time", "America/New_York", "--checkpoint", "done", cwd=folder)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "_trace,_ts,name", "a.json,2023-11-14 17:13:20.000000000-05,checkout",
        "b.json,2023-11-14 17:15:00.000000000-05,checkout",
    ]  # fmt: skip
    utc = run(*words, "--time", "utc", "--checkpoint", "done", cwd=folder)
    assert utc.err == "2 of 2 traces were done before\n"
    assert utc.out.splitlines()[2] == "b.json,2023-11-14 22:15:00.000000000+00,checkout"
    bare = run(*words, "--checkpoint", "done", cwd=folder)
    assert (bare.err, bare.out.splitlines()[1:]) == ("", ["a.json,0,checkout", "b.json,0,checkout"])


def test_each_trace_in_a_file(tmp_path: Path) -> None:
    folder = later(tmp_path)
    words = ("--time", "Europe/Berlin", "-o", "x.parquet", "SELECT _ts FROM t.events LIMIT 1")
    assert run("query", "--each", "*.json", *words, cwd=folder).code == 0
    found = pq.read_table(folder / "x.parquet")
    assert found.schema.field("_ts").type == pa.timestamp("ns", "Europe/Berlin")
    start = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert found["_ts"].to_pylist() == [start, start + timedelta(seconds=100)]


def test_each_of_traces_without_a_clock(tmp_path: Path) -> None:
    (later(tmp_path) / "c.json").write_bytes(CLOCKLESS.read_bytes())
    words = ("query", "--each", "*.json", "--time", "utc", "--format", "csv", "SELECT _ts FROM t.events LIMIT 1")
    ran = run(*words, cwd=tmp_path)
    assert ran.code == 2
    assert ran.err.startswith("error: c.json: `t` does not record when it began")
    assert [line.partition(",")[0] for line in ran.out.splitlines()] == ["_trace", "a.json", "b.json"]


def test_events_that_match_a_filter() -> None:
    ran = run("view", REQUESTS, "--no-index", "--time", "utc", "--format", "csv", "--limit", "2")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[2].startswith("2023-11-14 22:13:20.000005000+00,,accepted,")
    ran = run("view", REQUESTS, "--time", "utc")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: records keep the times of the trace\nhint: use --time with")


def test_summaries(tmp_path: Path) -> None:
    words = ("stats", REQUESTS, "--section", "times", "--format", "csv", "--index-dir", tmp_path)
    start, end = "2023-11-15 03:43:20.000000000+05:30", "2023-11-15 03:43:20.000900000+05:30"
    expected = f"events,start,end,length [ns]\n4,{start},{end},900000\n"
    assert run(*words, "--time", "local").out == expected
    assert run("index", REQUESTS, "--index-dir", tmp_path).code == 0
    assert run(*words, "--time", "local") == Ran(0, expected, "")
    assert run(*words).out.splitlines()[1] == "4,1700000000000000000,1700000000000900000,900000"
    ran = run("stats", CLOCKLESS, "--section", "times", "--time", "utc")
    assert ran.err == "warning: the trace does not record when it began: it has no known clock\n"
    assert "1647.12" in ran.out
    assert run("stats", CLOCKLESS, "--time", "nowhere").code == 2
