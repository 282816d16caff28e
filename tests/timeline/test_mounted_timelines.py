"""Timelines of bundled traces, in Python and in SQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from dctv.errors import UsageError
from dctv.session import Session
from tests.timeline.agreement import faults

DATA = Path(__file__).parents[1] / "data"
TRACES = (
    "stdlib/calls.pfw",
    "stdlib/flows.json",
    "stdlib/frames.trace.txt",
    "stdlib/kernel.trace.txt",
    "stdlib/memory.pftrace",
    "perf/cpuclock.data",
    pytest.param("trace_dat/live_marks.dat", marks=pytest.mark.ci),
    "uftrace/switches",
)


@pytest.mark.parametrize("trace", TRACES)
def test_no_row_is_lost(trace: str) -> None:
    with Session() as session:
        session.mount(DATA / trace, "t")
        assert session.timeline("t").tracks
        assert not list(faults(session, "t"))


def test_the_table_of_tracks_is_the_tree() -> None:
    with Session() as session:
        session.mount(DATA / "stdlib/states.trace.txt", "a.b")
        timeline = session.timeline("a.b")
        assert session.timeline("a.b") is timeline
        rows = session.sql("SELECT track, parent, depth, name, kind, rows, first, last FROM a.b.timeline").fetchall()
        assert [row[0] for row in rows] == list(range(len(timeline.tracks)))
        for row, track in zip(rows, timeline.tracks, strict=True):
            expected = track.parent, track.depth, track.name, track.kind.value, track.rows, track.first, track.last
            assert row[1:] == expected
            assert track.parent is None or track.parent < track.id
        assert str(session.sql("SELECT first FROM a.b.timeline").schema.columns[0].unit) == "ns"


def test_a_trace_without_events_has_no_tracks(tmp_path: Path) -> None:
    empty = tmp_path / "empty.json"
    empty.write_text('{"traceEvents": []}')
    with Session() as session:
        session.mount(empty, "t")
        assert session.timeline("t").tracks == ()
        assert session.sql("SELECT COUNT(*) FROM t.timeline").fetchall() == [(0,)]


def test_a_name_of_no_trace() -> None:
    with Session() as session, pytest.raises(UsageError, match="no trace is mounted and no state system made as `t`"):
        session.timeline("t")


@pytest.mark.parametrize(
    "table",
    [
        "{}.timeline",
        "{}.timeline.rows",
        "{}.state.timeline.rows",
        "{}.state.attributes",
        "dctv.state_range({}.state, of=>'max')",
    ],
)
def test_one_query_reads_two_traces(table: str) -> None:
    with Session() as session:
        session.mount(DATA / "stdlib/states.trace.txt", "a")
        session.mount(DATA / "stdlib/flows.json", "b")
        each = [session.sql(f"SELECT COUNT(*) FROM {table.format(name)}").fetchall()[0][0] for name in "ab"]
        both = " UNION ALL ".join(f"SELECT '{name}' AS t, * FROM {table.format(name)}" for name in "ab")
        found = session.sql(f"SELECT t, COUNT(*) FROM ({both}) AS q GROUP BY t ORDER BY t").fetchall()
        assert each[0] != each[1]
        assert dict(found) == {name: count for name, count in zip("ab", each, strict=True) if count}


def test_one_query_reads_two_ranges_of_one_system() -> None:
    with Session() as session:
        session.mount(DATA / "stdlib/states.trace.txt", "a")
        ranges = [f"(SELECT * FROM dctv.state_range(a.state, of=>'max', stop=>{stop}ns))" for stop in (0, 10**6)]
        each = [sorted(map(repr, session.sql(one).fetchall())) for one in ranges]
        assert each[0] != each[1]
        assert sorted(map(repr, session.sql(" UNION ALL ".join(ranges)).fetchall())) == sorted(each[0] + each[1])


@pytest.mark.parametrize("table", ["a.state", "a.timeline.rows"])
@pytest.mark.parametrize(
    "query",
    [
        "SELECT COUNT(*) FROM {0} UNION ALL SELECT COUNT(*) FROM {0}",
        "SELECT (SELECT COUNT(*) FROM {0}) UNION ALL SELECT COUNT(*) FROM {0} AS x WHERE EXISTS (SELECT 1 FROM {0})",
    ],
)
def test_one_query_reads_the_same_rows_twice(table: str, query: str) -> None:
    with Session() as session:
        session.mount(DATA / "stdlib/states.trace.txt", "a")
        (one,) = session.sql(f"SELECT COUNT(*) FROM {table}").fetchall()
        assert session.sql(query.format(table)).fetchall() == [one, one]
        assert session.sql(f"EXPLAIN ANALYZE {query.format(table)}").fetchall()
