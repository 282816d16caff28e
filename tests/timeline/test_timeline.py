"""Timelines of random rows against brute force, and their tracks in a tree."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.errors import UsageError
from dctv.timeline.timeline import Timeline
from dctv.timeline.track import TrackKind
from tests.bounds import bounded
from tests.timeline.rows import Row, indexed, timeline

FIRST, LAST = -(2**63), 2**63 - 1
UNTIMED = bounded(100)
KINDS = {"a": "slices", "b": "instants", "c": "states", "d": "counter"}


def cells(found: Timeline, start: int, stop: int, step: int) -> list[dict[str, Any]]:
    """Return the cells of all tracks."""
    rows: list[dict[str, Any]] = found.cells(range(len(found.tracks)), start, stop, step).to_pylist()
    return rows


@st.composite
def some_rows(draw: st.DrawFn) -> list[Row]:
    """Draw rows of tracks of all kinds, which may overlap."""
    drawn = draw(
        st.lists(
            st.tuples(
                st.integers(-20, 60), st.none() | st.integers(0, 30), st.sampled_from("abcd"), st.sampled_from("xyz")
            ),
            max_size=25,
        )
    )
    rows = []
    for number, (ts, duration, track, name) in enumerate(drawn):
        kind = KINDS[track]
        length = 0 if kind == "instants" else duration
        value = float(number) if kind == "counter" else None
        rows.append(Row(ts, length, ("all", track), kind, None if kind == "counter" else name, value=value))
    return rows


@UNTIMED
@given(some_rows(), st.integers(0, 25), st.sampled_from([1, 2, 8, 64, 1 << 40]))
def test_no_row_is_lost_or_counted_twice(rows: list[Row], cut: int, step: int) -> None:
    """However far away, and however rows come in batches."""
    found = timeline(rows, min(cut, len(rows)), end=50)
    assert sum(track.rows for track in found.tracks) == len(rows)
    made = cells(found, FIRST, LAST, step)
    by_name = {track.id: track.name for track in found.tracks}
    for name in KINDS:
        own = [row for row in rows if row.path[-1] == name]
        assert sum(cell["count"] for cell in made if by_name[cell["track"]] == name) == len(own)
    assert cells(timeline(rows, end=50), FIRST, LAST, step) == made
    begins = [row.ts for row in rows]
    ends = [row.ts + (max(50 - row.ts, 0) if row.duration is None else row.duration) for row in rows]
    assert (found.begin, found.end) == (min(begins, default=0), max(ends, default=0))


@UNTIMED
@given(some_rows())
def test_from_nearby_all_rows_are_seen(rows: list[Row]) -> None:
    found = timeline(rows, end=50)
    by_name = {track.id: track.name for track in found.tracks}
    made = [cell for cell in cells(found, FIRST, LAST, 1) if cell["longest"] is not None]
    seen = {(by_name[cell["track"]], cell["_ts"], cell["longest"], cell["name"]) for cell in made if cell["count"] == 1}
    expected = {
        (row.path[-1], row.ts, max(50 - row.ts, 0) if row.duration is None else row.duration, row.name)
        for row in rows
        if row.kind != "counter"
    }
    # Spans of no length that begin together are one cell.
    assert seen <= expected
    assert {one for one in expected if one[2]} <= seen


def test_cells_of_each_kind() -> None:
    found = timeline(
        [
            Row(0, 10, ("s",), name="f"),
            Row(2, 3, ("s",), name="g", depth=1),
            Row(6, 3, ("s",), name="h", depth=1),
            Row(0, 0, ("i",), "instants", name="mark"),
            Row(1, 0, ("i",), "instants", name=None),
            Row(0, 3, ("t",), "states", name="running"),
            Row(3, 5, ("t",), "states", name="sleeping"),
            Row(0, 4, ("c",), "counter", name=None, value=2.0, unit="B"),
            Row(4, None, ("c",), "counter", name=None, value=4.0, unit="B"),
        ],
        end=8,
    )
    tracks = {track.name: (track.kind, track.lanes, track.rows, track.unit) for track in found.tracks}
    assert tracks == {
        "s": (TrackKind.SLICES, 2, 3, None),
        "t": (TrackKind.STATES, 1, 2, None),
        "c": (TrackKind.COUNTER, 1, 2, "B"),
        "i": (TrackKind.INSTANTS, 1, 2, None),
    }
    of = {track.id: track.name for track in found.tracks}
    shown = [{key: value for key, value in cell.items() if value is not None} for cell in cells(found, 0, 10, 8)]
    for cell in shown:
        cell["track"] = of[cell["track"]]
    assert shown == [
        {
            "track": "s",
            "lane": 0,
            "_ts": 0,
            "_duration": 10,
            "count": 1,
            "row": 0,
            "total": 10,
            "longest": 10,
            "name": "f",
        },
        {
            "track": "s",
            "lane": 1,
            "_ts": 2,
            "_duration": 7,
            "count": 2,
            "row": 1,
            "total": 6,
            "longest": 3,
            "name": "g",
        },
        {
            "track": "t",
            "lane": 0,
            "_ts": 0,
            "_duration": 8,
            "count": 2,
            "row": 1,
            "total": 8,
            "longest": 5,
            "filled": 5,
            "name": "sleeping",
        },
        {
            "track": "c",
            "lane": 0,
            "_ts": 0,
            "_duration": 8,
            "count": 2,
            "row": 1,
            "min": 2.0,
            "max": 4.0,
            "last": 4.0,
            "mean": 3.0,
        },
        {
            "track": "i",
            "lane": 0,
            "_ts": 0,
            "_duration": 1,
            "count": 2,
            "row": 0,
            "total": 0,
            "longest": 0,
            "name": "mark",
        },
    ]
    units = found.cells([], 0, 1, 1).schema
    assert {field.name for field in units if field.metadata} == {"_ts", "_duration", "total", "longest", "filled"}


def test_tracks_are_in_the_order_in_which_people_look_for_them() -> None:
    rows = [
        Row(0, 5, ("Processes", "idle (9)", "main", "Slices"), ranks=(1, None, 0, 1)),
        Row(0, 9, ("Processes", "busy (10)", "worker 10", "Slices"), ranks=(1, None, None, 1)),
        Row(0, 9, ("Processes", "busy (10)", "worker 9", "Slices"), ranks=(1, None, None, 1)),
        Row(0, 1, ("Processes", "busy (10)", "main", "Slices"), ranks=(1, None, 0, 1)),
        Row(0, 1, ("Processes", "busy (10)", "main", "State"), "states", "sleeping", ranks=(1, None, 0, 0)),
        Row(0, 1, ("CPUs", "CPU 10"), ranks=(0, 10)),
        Row(0, 1, ("CPUs", "CPU 9"), ranks=(0, 9)),
    ]
    found = timeline(rows)
    assert [(track.depth, track.name) for track in found.tracks] == [
        (0, "CPUs"),
        (1, "CPU 9"),
        (1, "CPU 10"),
        (0, "Processes"),
        (1, "busy (10)"),
        (2, "main"),
        (3, "State"),
        (3, "Slices"),
        (2, "worker 9"),
        (3, "Slices"),
        (2, "worker 10"),
        (3, "Slices"),
        (1, "idle (9)"),
        (2, "main"),
        (3, "Slices"),
    ]
    assert [track.parent for track in found.tracks[:6]] == [None, 0, 0, None, 3, 4]
    assert found.path(7) == ("Processes", "busy (10)", "main", "Slices")


def test_names_that_contain_separators() -> None:
    paths = [("a\x1fb",), ("a", "b"), ("a\x1e.b",), ("a\x1e", "b"), ("a",), ("a\x1f", "b"), ("a", "\x1fb")]
    rows = [Row(ts, path=path) for ts in range(3) for path in paths]
    # In a batch of their own, names without any of it, too.
    for cuts in ((), (2,), (1, 2, 3, 4, 5, 9)):
        found = timeline(rows, *cuts)
        assert Counter(found.path(track.id) for track in found.tracks for _ in range(track.rows)) == Counter(
            row.path for row in rows
        )


def test_a_thread_that_waits_is_not_busy() -> None:
    waits = Row(0, 900, ("a", "State"), "states", "sleeping")
    runs = Row(0, 5, ("b", "State"), "states", "running")
    assert [track.name for track in timeline([waits, runs]).tracks] == ["b", "State", "a", "State"]


def test_rows_of_one_name_from_two_sources() -> None:
    found = Timeline([indexed([Row(0, 5)], source="one"), indexed([Row(1, 5), Row(2, 1)], source="two")])
    assert [(track.name, track.source, track.rows) for track in found.tracks] == [
        ("track", "one", 1),
        ("track", "two", 2),
    ]
    assert [(cell["track"], cell["_ts"]) for cell in cells(found, 0, 10, 1)] == [(0, 0), (1, 1), (1, 2)]


def test_spans_that_do_not_end() -> None:
    found = timeline(
        [
            Row(5, None),
            Row(2000, None, ("late",)),
            Row(LAST - 1, 5, ("far",)),
            Row(FIRST, LAST, ("early",)),
            Row(FIRST, None, ("first",)),
            Row(7, -3, ("none",)),
        ]
    )
    assert {track.name: (track.first, track.last) for track in found.tracks} == {
        "track": (5, 1000),
        "late": (2000, 2000),
        "far": (LAST - 1, LAST),
        "early": (FIRST, -1),
        "first": (FIRST, -1),
        "none": (7, 7),
    }


def test_more_states_than_are_added_up() -> None:
    """Then the longest one gives a cell its name."""
    rows = [Row(number, 1, kind="states", name=f"state {number}") for number in range(65)]
    (cell,) = cells(timeline([*rows, Row(65, 2, kind="states", name="long")]), 0, 100, 128)
    assert (cell["count"], cell["name"], cell["filled"]) == (66, "long", None)
    (cell,) = cells(timeline(rows[:64]), 0, 100, 128)
    assert (cell["count"], cell["name"], cell["filled"]) == (64, "state 0", 1)


def test_no_rows() -> None:
    for found in (timeline([]), Timeline()):
        assert (found.tracks, found.begin, found.end) == ((), 0, 0)
        assert cells(found, 0, 1, 1) == []
    with pytest.raises(UsageError, match="there is no track 0") as raised:
        Timeline().cells([0], 0, 1, 1)
    assert raised.value.hint == "the timeline has no tracks"


def test_ten_thousand_tracks_and_long_names() -> None:
    long = "n" * 1_000_000
    rows = [Row(number, 2, (f"track {number}",)) for number in range(10_000)]
    found = timeline([*rows, Row(0, 1, (long, "x" * 70_000), name=long)])
    assert len(found.tracks) == 10_002
    made = cells(found, 0, 20_000, 1)
    assert len(made) == 10_001
    assert [cell["name"] for cell in made if cell["name"] != "name"] == [long]
    deep = timeline([Row(0, 1, tuple(f"level {level}" for level in range(5000)))])
    assert deep.path(4999)[-1] == "level 4999"


@pytest.mark.parametrize(
    ("window", "message"),
    [
        ((0, 1, 0), "expected a step of more than 0 ns, found 0 ns"),
        ((0, 1, -5), "expected a step of more than 0 ns, found -5 ns"),
        ((0, 1, 1 << 63), f"expected a step of more than 0 ns, found {1 << 63} ns"),
        ((1, 0, 1), "`stop`, 0 ns, comes before `start`, 1 ns"),
        ((0, 1 << 63, 1), f"`stop` is not a time: {1 << 63} ns"),
        ((FIRST - 1, 0, 1), f"`start` is not a time: {FIRST - 1} ns"),
    ],
)
def test_windows_that_are_none(window: tuple[int, int, int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        timeline([Row(0)]).cells([0], *window)


def test_a_cell_that_is_too_long() -> None:
    found = timeline([Row(0, 5), Row(LAST - 1, 1)])
    assert found.cells([0], 0, LAST, LAST)["count"].to_pylist() == [2]
    far = timeline([Row(-LAST, LAST - 1), Row(-1, 3)])
    with pytest.raises(UsageError, match="is longer than a duration can say") as raised:
        far.cells([0], -LAST, LAST, LAST)
    assert raised.value.hint == "take a smaller step"


def test_tracks_that_are_none() -> None:
    with pytest.raises(UsageError, match="there is no track -1") as raised:
        timeline([Row(0)]).cells([0, -1], 0, 1, 1)
    assert raised.value.hint == "the timeline has 1 tracks, numbered from 0"


def test_windows_outside() -> None:
    found = timeline([Row(0, 5), Row(7, 1)])
    assert cells(found, -10, 0, 1) == cells(found, 8, 100, 1) == []
    assert [cell["_ts"] for cell in cells(found, 3, 3, 1)] == [0]
