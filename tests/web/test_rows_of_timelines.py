"""The rows of timelines as tables, against brute force."""

from __future__ import annotations

from math import isnan
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dctv.session import Session
from dctv.timeline.lanes import TimeWindow
from dctv.timeline.table import COLUMNS, table_of
from tests.bounds import bounded
from tests.timeline.rows import Row, timeline
from tests.timeline.test_timeline import some_rows
from tests.web.tracks import DATA, inside, places, session_with, shown

TIMES = st.integers(-25, 95)


def _expected(rows: list[Row]) -> list[tuple[Any, ...]]:
    found = timeline(rows, end=50)
    every = places(shown(found, "g"))
    placed = []
    for one in every:
        above = inside(every, one)
        values = one.lane.rows.values
        value = None if values is None else float(values[one.lane.start + one.at])
        number = one.lane.id + one.at
        parent = (None, None) if above is None else (above.lane.id + above.at, above.name)
        value = None if value is None or isnan(value) else value
        placed.append((one.track, one.lane.number, one.row, one.begin, one.duration, one.name, value, number, *parent))
    return placed


@bounded(200)
@given(some_rows())
def test_all_rows_have_their_parents(rows: list[Row]) -> None:
    expected = _expected(rows)
    found = table_of(timeline(rows, end=50)).read_all().to_pylist()
    assert [tuple(row.values()) for row in found] == expected
    assert [row[7] for row in sorted(expected, key=lambda row: row[7])] == list(range(len(rows)))
    for column in COLUMNS:
        alone = table_of(timeline(rows, end=50), [column]).read_all()
        assert alone.column_names == [column]
        assert alone.column(0).to_pylist() == [row[COLUMNS.index(column)] for row in expected]


@bounded(200)
@given(some_rows(), st.none() | TIMES, st.none() | TIMES, st.none() | TIMES)
def test_a_window_leaves_out_no_row_that_is_in_it(
    rows: list[Row], begin: int | None, until: int | None, end: int | None
) -> None:
    found = timeline(rows, end=50)
    read = table_of(found, window=TimeWindow(begin, until, end)).read_all().to_pylist()
    every = table_of(found).read_all().to_pylist()

    def wanted(row: dict[str, Any]) -> bool:
        after = (begin is None or row["_ts"] >= begin) and (until is None or row["_ts"] <= until)
        return after and (end is None or row["_ts"] + row["_duration"] >= end)

    assert [row for row in read if wanted(row)] == [row for row in every if wanted(row)]
    assert len(read) <= sum(map(wanted, every)) + sum(track.lanes for track in found.tracks)


CONDITIONS = st.sampled_from(
    [
        "TRUE",
        "track = 1",
        "track IN (1, 2, 99)",
        "track IN (2, 3) AND track != 3",
        "track = 1 OR track = 2",
        "NOT (track = 1)",
        "lane = 1 AND name = 'x'",
    ]
)
TIMED = st.sampled_from(
    [
        "_ts >= {0}ns",
        "_ts + _duration > {0}ns AND _ts < {1}ns",
        "_ts < {1}ns AND (_ts >= {0}ns OR _ts + _duration > {0}ns)",
        "_ts BETWEEN {0}ns AND {1}ns",
        "_ts = {0}ns OR _ts = {1}ns",
        "NOT (_ts < {0}ns)",
        "_ts + _duration <= {1}ns",
        "_ts > {0}ns OR name = 'y'",
    ]
)


@bounded(160)
@given(some_rows(), CONDITIONS, TIMED, TIMES, TIMES)
def test_conditions_mean_the_same_where_rows_are_left_out(
    rows: list[Row], condition: str, timed: str, first: int, second: int
) -> None:
    where = f"({condition}) AND ({timed.format(first, second)})"
    with session_with(timeline(rows, end=50)) as (session, _):
        found = session.sql(f"SELECT * FROM g.timeline.rows WHERE {where} ORDER BY id").fetchall()
        session.sql("SET rewrite = 'off'")
        assert session.sql(f"SELECT * FROM g.timeline.rows WHERE {where} ORDER BY id").fetchall() == found


def test_other_tracks_and_times_are_not_read() -> None:
    rows = [Row(time, 1, (track,)) for track in "abc" for time in range(100)]
    with session_with(timeline(rows)) as (session, _):
        query = "FROM g.timeline.rows WHERE track IN (1, 2) AND _ts >= 90ns AND _ts < 95ns"
        plan = "\n".join(row[0] for row in session.sql(f"EXPLAIN SELECT name {query}").fetchall())
        assert session.sql(f"SELECT COUNT(*) {query}").fetchall() == [(10,)]
    assert "rows of 2 tracks, from 90 ns, until 94 ns" in plan


def test_rows_of_a_select_match_its_timeline() -> None:
    with Session(index=False) as session:
        session.mount(DATA / "stdlib/waits.trace.txt", "t")
        for select, options in (
            ("SELECT SPAN * FROM t.scheduler.timeslices_p_cpu", {}),
            ("SELECT SPAN * FROM t.scheduler.timeslices_p_cpu", {"value": "prio"}),
            ("SELECT SPAN * FROM t.scheduler.thread_states_p_tid", {"name": "comm"}),
            (
                "SELECT EVENT tid, comm FROM dctv.as_events((SELECT * FROM t.scheduler.wakeups ORDER BY _ts))",
                {"name": "comm"},
            ),
        ):
            expected = (
                table_of(session.sql(select).timeline(options.get("name"), options.get("value"))).read_all().to_pylist()
            )
            arguments = "".join(f", {key}=>'{value}'" for key, value in options.items())
            found = session.sql(f"SELECT * FROM dctv.timeline_rows(({select}){arguments}) ORDER BY track, row").arrow()
            assert found.to_pylist() == expected
            assert expected
