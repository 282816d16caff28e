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


def test_times_stay_as_they_are_unless_somebody_asks() -> None:
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


def test_files_of_arrow_have_timestamps(tmp_path: Path) -> None:
    for zone, name in (("local", "UTC"), ("Europe/Berlin", "Europe/Berlin")):
        assert asked(FIRST, "--time", zone, "--format", "parquet", "-o", tmp_path / "x.parquet").code == 0
        table = pq.read_table(tmp_path / "x.parquet")
        assert table.schema.field("_ts").type == pa.timestamp("ns", name)
        assert table["_ts"].cast("int64").to_pylist() == [1700000000000000000, 1700000000000005000]


def test_what_has_no_known_clock_stays_as_it_is() -> None:
    text = "SELECT _ts FROM t.events LIMIT 1"
    ran = run("query", f"t={CLOCKLESS}", "--no-index", "--format", "csv", text, "--time", "utc")
    why = "`t` does not tell when it began: it has no known clock"
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
    each = run("query", "SELECT 1 AS x", "--each", str(REQUESTS), "--time", "utc")
    assert (each.code, each.err) == (
        2, "error: --time does not go with --each, whose traces begin at different times\n",
    )  # fmt: skip


def test_the_prompt() -> None:
    script = f".mode csv\n.set time utc\n{FIRST};\n.maxrows 1\n.last\n.set time trace\n{FIRST};\n.set time nowhere\n"
    ran = run("repl", f"t={REQUESTS}", "--no-index", stdin=script)
    first = "_ts,name\n2023-11-14 22:13:20.000000000+00,checkout\n2023-11-14 22:13:20.000005000+00,accepted\n"
    assert ran.out == f"{first}\n{first}\n_ts [ns],name\n0,checkout\n"
    assert "found the zone `nowhere`" in ran.err


def test_results_tell_when_they_began() -> None:
    with dctv.Session(index=False) as session:
        session.mount(REQUESTS, "t")
        assert session.sql(FIRST).start_unix_ns() == 1700000000000000000
        with pytest.raises(dctv.BindError, match="not known which trace"):
            session.sql("SHOW MOUNTS").start_unix_ns()


@bounded(1200)
@given(st.integers(-(2**61), 2**61), st.sampled_from(["utc", "Europe/Berlin", "Asia/Kathmandu", "America/St_Johns"]))
def test_texts_are_those_of_python(ns: int, zone: str) -> None:
    seconds, rest = divmod(ns, 10**9)
    there = (EPOCH + timedelta(seconds=seconds)).astimezone(UTC if zone == "utc" else ZoneInfo(zone))
    offset = there.isoformat()[19:].removesuffix(":00")
    (text,) = Texts(zone).of(pa.array([ns], pa.timestamp("ns", "UTC"))).to_pylist()
    assert text == f"{there:%Y-%m-%d %H:%M:%S}.{rest:09}{offset}"
