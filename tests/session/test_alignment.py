"""Traces aligned by their clocks, by Unix time or by an offset."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import pytest

from dctv.errors import DctvError
from dctv.session import Session

DATA = Path(__file__).parents[1] / "data"


def event(ts: int, name: str) -> str:
    return json.dumps(
        {"id": 1, "name": name, "cat": "c", "pid": 1, "tid": 1, "ts": ts, "dur": 5, "ph": "X", "args": {}}
    )


def pfw(path: Path, *starts: int) -> str:
    path.write_text("[\n" + "".join(f"{event(ts, f'e{ts}')}\n" for ts in starts))
    return str(path)


def times(session: Session, table: str) -> list[int]:
    return [row["_ts"] for row in session.sql(f"SELECT _ts FROM {table}").arrow().to_pylist()]


@pytest.mark.parametrize("index", [False, True])
def test_two_traces_of_unix_time(index: Literal[True, False], tmp_path: Path) -> None:
    first, second = pfw(tmp_path / "a.pfw", 1000, 1010), pfw(tmp_path / "b.pfw", 1007, 1020)
    with Session(index=index, index_dir=tmp_path / "index") as session:
        session.sql(f"MOUNT TRACE '{first}' AS a; MOUNT TRACE '{second}' AS b WITH (align=>'a')")
        session.sql(f"MOUNT TRACE '{second}' AS own")
        assert times(session, "a.events") == [0, 10_000]
        assert times(session, "b.events") == [7_000, 20_000]
        assert times(session, "b.raw_events.e1007") == [7_000]
        assert times(session, "own.events") == [0, 13_000]
        assert times(session, "b.last_ts") == [25_000]
        found = session.sql("SELECT value FROM b.properties WHERE key IN ('start_ns', 'offset_ns') ORDER BY key")
        assert found.arrow().to_pylist() == [{"value": "7000"}, {"value": "1000000"}]
        assert times(session, "b.events WHERE _ts > 10us") == [20_000]
        assert times(session, "b.events WHERE name = 'e1007'") == [7_000]


def test_a_trace_that_began_earlier_has_times_below_zero(tmp_path: Path) -> None:
    first, second = pfw(tmp_path / "a.pfw", 1000), pfw(tmp_path / "b.pfw", 990)
    with Session() as session:
        session.mount(first, "a")
        session.mount(second, "b", align="a")
        assert times(session, "b.events") == [-10_000]
        session.mount(first, "c", align="b")
        assert times(session, "c.events") == [0]


def test_an_offset(tmp_path: Path) -> None:
    with Session() as session:
        session.sql(f"MOUNT TRACE '{pfw(tmp_path / 'a.pfw', 5, 6)}' AS a WITH (align=>2ms)")
        assert times(session, "a.events") == [2_000_000, 2_001_000]
        session.sql(f"MOUNT TRACE '{tmp_path / 'a.pfw'}' AS b WITH (align=>-1us)")
        assert times(session, "b.events") == [-1000, 0]


@pytest.mark.parametrize("align", [2**63 - 6001, 2**63, -(2**63), 10**30])
def test_offsets_beyond_64_bits(align: int, tmp_path: Path) -> None:
    with Session() as session:
        with pytest.raises(DctvError) as caught:
            session.mount(pfw(tmp_path / "a.pfw", 5, 6), "a", align=align)
        assert f"shifts the trace by {align:,} ns, to times that do not fit 64 bits" in caught.value.message
        session.mount(tmp_path / "a.pfw", "a", align=2**63 - 6002)
        assert times(session, "a.events") == [2**63 - 6002, 2**63 - 5002]


PERIODS = {
    "ftrace/live_marks.trace.txt.gz": (
        "SUM(_duration) FROM TRACE.quantize()",
        "SUM(busy), SUM(known) FROM TRACE.scheduler.cpu_utilisation_by(100ms)",
        "SUM(running), MAX(utilisation) <= 1 FROM TRACE.scheduler.thread_utilisation_by(100ms)",
        "COUNT(*), SUM(number) FROM TRACE.state.cpu_usage",
    ),
    "stdlib/disk.trace.txt": ("SUM(requests), COUNT(*), MAX(rate) FROM TRACE.block.bandwidth_by(5ms)",),
    "stdlib/waits.trace.txt": ("COUNT(*), SUM(_duration), SUM(depth) FROM TRACE.critical_path(11)",),
    "dftracer/loader": ("ROUND(SUM(bytes_read)), ROUND(SUM(bytes_written)) FROM TRACE.io.bandwidth_by(10ms)",),
}
"""What does not depend on where a trace lies in time, by a trace that has it."""


@pytest.mark.parametrize("name", PERIODS)
def test_periods_cover_a_trace_wherever_it_lies(name: str) -> None:
    with Session() as session:
        session.mount(DATA / name, "own")
        for number, offset in enumerate((-10_000_000, -350_000_000, -1_000_000_000)):
            session.mount(DATA / name, f"moved_{number}", align=offset)
            for query in PERIODS[name]:
                own, moved = (
                    session.sql("SELECT " + query.replace("TRACE", trace)).fetchall()
                    for trace in ("own", f"moved_{number}")
                )
                assert moved == own, (query, offset)


def test_periods_of_aligned_traces_share_their_boundaries(tmp_path: Path) -> None:
    with Session() as session:
        session.mount(pfw(tmp_path / "a.pfw", 0, 20), "a", align=-13_000)
        assert times(session, "a.quantize(10us)") == [-20_000, -10_000, 0, 10_000]
        session.mount(tmp_path / "a.pfw", "b", align=13_000)
        assert times(session, "b.quantize(20us)") == [0, 20_000]


@pytest.mark.parametrize(
    ("align", "words", "hint"),
    [
        ("x", "found no mount `x` to align with", "there are: table"),
        (
            "table",
            "found no clock to align by: `b` has the clock realtime and `table` has no known clock",
            "give an offset: align=>5ms",
        ),
    ],
)
def test_mounts_that_cannot_be_aligned(align: str, words: str, hint: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("_ts,x\n5,a\n")
    with Session() as session:
        session.mount(str(tmp_path / "t.csv"), "table")
        with pytest.raises(DctvError) as caught:
            session.mount(pfw(tmp_path / "b.pfw", 990), "b", align=align)
        assert (caught.value.message, caught.value.hint) == (words, hint)
        rows: list[Any] = session.sql("SELECT * FROM table.raw_events.t").arrow().to_pylist()
        assert len(rows) == 1


def test_mounts_of_one_clock_are_aligned_with_a_note(tmp_path: Path) -> None:
    first, second = pfw(tmp_path / "a.pfw", 1000, 1010), pfw(tmp_path / "b.pfw", 1007, 1020)
    with Session() as session:
        session.mount(first, "a")
        session.sql(f"MOUNT TRACE '{second}' AS b WITH (align=>'clock')")
        assert session.warnings() == ["aligned `b` with `a` by the clock realtime: it begins at 7000 ns"]
        assert times(session, "b.events") == [7_000, 20_000]


def test_ftrace_with_marks_of_the_wall_clock_is_aligned_by_unix_time(tmp_path: Path) -> None:
    line = " t-1 [000] {}: tracing_mark_write: {}\n"
    for name, time, unix in (("a", "5.0", 1_700_000_000_000), ("b", "9.0", 1_700_000_002_500)):
        mark = line.format(time, f"trace_event_clock_sync: realtime_ts={unix}")
        (tmp_path / name).write_text("# tracer: nop\n" + mark + line.format(time, "I|1|x"))
    with Session() as session:
        session.mount(tmp_path / "a", "a")
        session.mount(tmp_path / "b", "b", align="a")
        assert times(session, "b.instants") == [2_500_000_000]
        found = session.sql("SELECT (b.wall_clock(_ts) - a.wall_clock(0s)) IN ms FROM b.instants").fetchall()
        assert found == [(2500,)]


def test_the_scheduler_clock_has_several_names() -> None:
    with Session() as session:
        session.mount("tests/data/trace_dat/live_marks.dat", "cmd")
        session.mount("tests/data/perf/cpuclock.data", "perf", align="clock")
        (word,) = session.warnings()
        assert word.startswith("aligned `perf` with `cmd` by the clock perf and local: it begins at ")
        starts = {
            name: next(
                int(row["value"])
                for row in session.sql(f"SELECT key, value FROM {name}.properties").arrow().to_pylist()
                if row["key"] == "start_ns"
            )
            for name in ("cmd", "perf")
        }
        assert starts["cmd"] == starts["perf"]


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (None, "found no mount to align with by the clock"),
        (
            "t.csv",
            "found no clock that all mounts are known to share: "
            "`b` has the clock realtime and `other` has no known clock",
        ),
        (
            "tests/data/trace_dat/live_marks.dat",
            "found no clock that all mounts are known to share: "
            "`b` has the clock realtime and `other` has the clock local",
        ),
    ],
)
def test_different_clocks_are_refused(other: str | None, words: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("_ts,x\n5,a\n")
    with Session() as session:
        if other is not None:
            session.mount(str(tmp_path / other) if other == "t.csv" else other, "other")
        with pytest.raises(DctvError) as caught:
            session.mount(pfw(tmp_path / "b.pfw", 990), "b", align="clock")
        assert caught.value.message.partition(", recorded")[0] == words
