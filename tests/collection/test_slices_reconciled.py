"""Slices of traces that Perfetto reads otherwise: as many and as long as its own, once what it does to them is done."""

from __future__ import annotations

from pathlib import Path

import pytest

from dctv.record import record
from dctv.session import Session
from tests.collection.ftrace_lines import COLLECTION

LASTING = (
    "SELECT _ts, _duration, track, name, category FROM t.slices WHERE _duration > 0ns UNION ALL"
    " SELECT _ts, _duration, track, name, category FROM t.async_slices WHERE _duration > 0ns"
)


@record
class Trace:
    """Results of Perfetto's trace_processor for a trace."""

    path: str
    reason: str
    """Why it is not what dctv tells by depth."""
    slices: int
    total: int
    unfinished: int
    counted: int
    """How many slices the reason is of."""


def _traces(*reasons: str) -> list[Trace]:
    found = []
    for line in Path(__file__).with_name("slices_reconciled.tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            path, reason, *figures = line.split("\t")
            if reason in reasons:
                found.append(Trace(path, reason, *map(int, figures)))
    return found


def _asked(trace: Trace, sql: str) -> list[tuple[int, ...]]:
    with Session() as session:
        session.mount(str(COLLECTION / trace.path), "t")
        return session.sql(sql).fetchall()


def _lasting(condition: str = "TRUE", lengths: str = "_duration") -> str:
    return f"SELECT COUNT(*), COALESCE(UNITLESS(SUM({lengths})), 0) FROM ({LASTING}) WHERE {condition}"


@pytest.mark.parametrize("trace", _traces("unfinished", "threads", "ids"), ids=lambda trace: trace.path)
def test_slices_of_tracks_that_are_others_there_are_as_many_and_as_long(trace: Trace) -> None:
    [known] = _asked(trace, _lasting("name != 'Graphics.Pipeline.DrawAndSwap'" if trace.reason == "ids" else "TRUE"))
    [(count, _)] = _asked(trace, _lasting())
    assert known == (trace.slices, trace.total)
    assert count - known[0] == trace.counted


@pytest.mark.parametrize("trace", _traces("rounded"), ids=lambda trace: trace.path)
def test_slices_begin_and_end_at_microseconds_of_the_text(trace: Trace) -> None:
    """Perfetto reads some times as a nanosecond less; the sum of these of lengths is `counted`."""
    [(count, total)] = _asked(trace, _lasting())
    assert (count, total - trace.counted) == (trace.slices, trace.total)
    assert total % 1000 == 0


@pytest.mark.parametrize("trace", _traces("negative", "negative, overlapping"), ids=lambda trace: trace.path)
def test_slices_before_the_time_0_are_left_out_there(trace: Trace) -> None:
    [(start,)] = _asked(trace, "SELECT value::INT64 FROM t.properties WHERE key = 'start_ns'")
    [(count, total), (every, _)] = [*_asked(trace, _lasting(f"_ts >= {-start}ns")), *_asked(trace, _lasting())]
    assert every - count == 1
    if trace.reason == "negative":
        assert (count, total) == (trace.slices, trace.total)
    else:
        assert count - trace.slices == trace.counted


@pytest.mark.parametrize("trace", _traces("overlapping", "equal begins"), ids=lambda trace: trace.path)
def test_slices_that_overlap_are_dropped_there(trace: Trace) -> None:
    """`counted` is what Perfetto says that it dropped."""
    with Session() as session:
        session.mount(str(COLLECTION / trace.path), "t")
        rows = session.sql(
            "SELECT track, _ts, _duration FROM t.slices WHERE _duration > 0ns ORDER BY track, _ts, _duration DESC, id"
        ).fetchall()
        others = session.sql("SELECT COUNT(*) FROM t.async_slices").fetchall()
    assert others == [(0,)]
    assert len(rows) - trace.counted == trace.slices
    if trace.reason == "overlapping":
        assert _without_overlapping(rows) == (trace.slices, trace.total)


def _without_overlapping(rows: list[tuple[int, int, int]]) -> tuple[int, int]:
    """Count slices and add up their lengths, but for those that begin within another one and end after it."""
    count, total, last = 0, 0, None
    around: list[int] = []
    for track, begin, length in rows:
        around = [end for end in around if end > begin] if track == last else []
        last = track
        if not around or begin + length <= around[-1]:
            count, total = count + 1, total + length
            around.append(begin + length)
    return count, total


@pytest.mark.parametrize("trace", _traces("old phases"), ids=lambda trace: trace.path)
def test_slices_of_the_phases_s_and_f_are_left_out_there(trace: Trace) -> None:
    with Session() as session:
        session.mount(str(COLLECTION / trace.path), "t")
        [threads, others] = [
            session.sql(f"SELECT COUNT(*), COALESCE(UNITLESS(SUM(_duration)), 0) FROM t.{view} WHERE _duration > 0ns")
            for view in ("slices", "async_slices")
        ]
        assert threads.fetchall() == [(trace.slices, trace.total)]
        assert others.fetchall()[0][0] == trace.counted


@pytest.mark.parametrize("trace", _traces("other names", "cut"), ids=lambda trace: trace.path)
def test_ends_close_slices_of_other_names_here(trace: Trace) -> None:
    """`counted` is how many do. As many slices begin; which of them end, and when, differs."""
    [(rows,)] = _asked(
        trace,
        "SELECT (SELECT COUNT(*) FROM t.slices WHERE NOT _duration <=> 0ns)"
        " + (SELECT COUNT(*) FROM t.async_slices WHERE NOT _duration <=> 0ns)",
    )
    [(closed,)] = _asked(
        trace,
        "SELECT COUNT(*) FROM (SELECT name, end_line FROM t._built.slices UNION ALL"
        " SELECT name, end_line FROM t._built.async_slices) AS s"
        " JOIN (SELECT line, name FROM t._parts.slice_ends UNION ALL SELECT line, name FROM t._parts.async_ends) AS e"
        " ON e.line = s.end_line WHERE e.name != s.name",
    )
    assert rows == trace.slices + trace.unfinished
    assert closed == trace.counted


@pytest.mark.parametrize("trace", _traces("unread"), ids=lambda trace: trace.path)
def test_traces_that_are_not_read_there_have_slices(trace: Trace) -> None:
    [(count, _)] = _asked(trace, _lasting())
    assert count == trace.counted
