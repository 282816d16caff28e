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
