"""Tables of a selection and its flame graph, against brute force."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.errors import UsageError
from dctv.session import Session
from dctv.timeline.track import TrackKind
from dctv.web.area import Area
from dctv.web.flame import flame
from dctv.web.origins import RowPlace
from dctv.web.selection import selection
from dctv.web.shown_track import ShownTrack
from dctv.web.track_queries import run_query
from tests.bounds import bounded
from tests.timeline.rows import Row, timeline
from tests.timeline.test_timeline import some_rows
from tests.web.tracks import DATA, inside, places, session_with, shown

SECOND = 10**9
TRACES = ("dftracer/loader", "perf/cpuclock.data", "stdlib/browser.json", "trace_dat/live_marks.dat")


def _within(tracks: list[ShownTrack], kind: TrackKind, start: int, stop: int) -> dict[RowPlace, int]:
    """Return the rows of a kind that last or begin between two times, and for how long they do."""
    found = {}
    for one in places([track for track in tracks if track.track.kind is kind]):
        end = one.begin + one.duration
        if one.begin < stop and (one.begin >= start or end > start):
            found[one] = min(end, stop) - max(one.begin, start)
    return found


def _rows(tables: list[dict[str, Any]], title: str) -> list[list[Any]]:
    found: list[list[Any]] = next((table["rows"] for table in tables if table["title"] == title), [])
    return found


def _by_name(times: dict[RowPlace, int]) -> dict[str | None, list[int]]:
    found: dict[str | None, list[int]] = defaultdict(list)
    for place, time in times.items():
        found[place.name].append(time)
    return found


def _slices(tracks: list[ShownTrack], start: int, stop: int) -> list[list[Any]]:
    times = _within(tracks, TrackKind.SLICES, start, stop)
    every = places(tracks)
    below: dict[str | None, int] = defaultdict(int)
    for place, time in times.items():
        above = inside(every, place)
        if above is not None:
            below[above.name] += time
    rows: list[list[Any]] = [
        [
            name,
            len(own),
            sum(own),
            sum(own) - below[name],
            pytest.approx(sum(own) / len(own)),
            pytest.approx(np.quantile(own, 0.5)),
            pytest.approx(np.quantile(own, 0.99)),
            max(own),
        ]
        for name, own in _by_name(times).items()
    ]
    return sorted(rows, key=lambda row: (-row[2], row[0]))


def _states(tracks: list[ShownTrack], start: int, stop: int) -> list[list[Any]]:
    times = _within(tracks, TrackKind.STATES, start, stop)
    whole = sum(times.values())
    rows: list[list[Any]] = [
        [name, len(own), sum(own), pytest.approx(sum(own) / whole) if whole else None]
        for name, own in _by_name(times).items()
    ]
    return sorted(rows, key=lambda row: (-row[2], row[0]))


def _counter(tracks: list[ShownTrack], start: int, stop: int) -> list[Any] | None:
    times = _within(tracks, TrackKind.COUNTER, start, stop)
    if not times:
        return None
    values = {place: float(place.lane.rows.values[place.lane.start + place.at]) for place in times}
    ordered = sorted(times, key=lambda place: place.begin)
    first = [values[one] for one in ordered if one.begin == ordered[0].begin]
    last = [values[one] for one in ordered if one.begin == ordered[-1].begin]
    whole = sum(times.values())
    mean = sum(values[one] * time for one, time in times.items()) / whole if whole else None
    return [len(times), mean, min(values.values()), max(values.values()), first, last]


@bounded(160)
@given(some_rows(), st.integers(-25, 60), st.integers(0, 50))
def test_tables_match_sums_of_the_rows(rows: list[Row], start: int, length: int) -> None:
    stop = start + length
    with session_with(timeline(rows, end=50)) as (session, tracks):
        tables = selection(session, Area(tracks, start, stop))["tables"]
        assert _rows(tables, "Slices by name") == _slices(tracks, start, stop)
        assert _rows(tables, "Time in states") == _states(tracks, start, stop)
        counter = _counter(tracks, start, stop)
        if counter is None:
            assert not _rows(tables, "Counters")
        else:
            [[label, count, mean, least, most, first, last, rate]] = _rows(tables, "Counters")
            assert label == "all / d"
            assert [count, least, most] == [counter[0], *counter[2:4]]
            assert mean == (None if counter[1] is None else pytest.approx(counter[1]))
            assert first in counter[4]
            assert last in counter[5]
            assert rate == pytest.approx((last - first) / max(length, 1) * SECOND)
        moments = _by_name(_within(tracks, TrackKind.INSTANTS, start, stop))
        counted = sorted(((name, len(own)) for name, own in moments.items()), key=lambda row: (-row[1], row[0]))
        expected = [[name, count, pytest.approx(count / max(length, 1) * SECOND)] for name, count in counted]
        assert _rows(tables, "Instants by name") == expected


def test_states_are_also_summed_by_track() -> None:
    rows = [Row(0, 4, ("a", "b"), "states", "on"), Row(4, 12, ("a", "b"), "states", "off")]
    rows += [Row(2, 8, ("a", "c"), "states", "on")]
    with session_with(timeline(rows)) as (session, tracks):
        tables = selection(session, Area(tracks, 2, 12))["tables"]
    assert _rows(tables, "Time in states by track") == [
        ["a / b", "off", 1, 8, 0.8],
        ["a / b", "on", 1, 2, 0.2],
        ["a / c", "on", 1, 8, 1.0],
    ]
    units = [[(column["name"], column["unit"]) for column in table["columns"] if column["unit"]] for table in tables]
    assert units == [[("total", "ns")], [("total", "ns")]]


def test_counters_keep_their_units() -> None:
    rows = [Row(0, 10, ("a",), "counter", None, value=3.0, unit="kHz")]
    rows += [Row(0, 5, ("b",), "counter", None, value=2.0, unit="frobs"), Row(5, 5, ("b",), "counter", None, value=8.0)]
    with session_with(timeline(rows)) as (session, tracks):
        tables = selection(session, Area(tracks, 0, 10))["tables"]
    units = {table["title"]: [column["unit"] for column in table["columns"]] for table in tables}
    assert units["Counters in kHz"] == [None, None, *["kHz"] * 5, "kHz/s"]
    assert _rows(tables, "Counters in kHz")[0][2:] == [3.0] * 5 + [0.0]
    assert units["Counters"][-1] == "1/s"
    assert _rows(tables, "Counters") == [["b", 2, 5.0, 2.0, 8.0, 2.0, 8.0, 6 * SECOND / 10]]


@pytest.mark.parametrize("trace", TRACES)
def test_the_displayed_queries_give_the_displayed_tables(trace: str) -> None:
    with Session(index=False) as session:
        session.mount(DATA / trace, "t")
        tracks = shown(session.timeline("t"), "t")
        begin, end = tracks[0].timeline.begin, tracks[0].timeline.end
        stop = begin + (end - begin) * 3 // 4
        tables = selection(session, Area(tracks, begin, stop))["tables"]
        kinds = {one.track.kind.value for one in tracks} - {"counter", "instants"}
        assert kinds <= {table["kind"] for table in tables}
        for table in tables:
            assert table["rows"]
            found = run_query(session, table["sql"]).table()
            assert found == {key: table[key] for key in found}
        for of in ("slices", "samples"):
            graph = flame(session, Area(tracks, begin, stop), of, invert=True)
            if graph["sql"]:
                again = run_query(session, graph["sql"], 20_000).rows
                frames = [(frame["value"], frame["count"]) for frame in graph["frames"]]
                assert [(str(row[3]), row[5]) for row in again] == frames


@pytest.mark.parametrize("options", [{}, {"value": "prio"}])
def test_tracks_of_a_select_have_tables_too(options: dict[str, Any]) -> None:
    select = "SELECT SPAN * FROM t.scheduler.timeslices_p_cpu;"
    with Session(index=False) as session:
        session.mount(DATA / "stdlib/waits.trace.txt", "t")
        made = session.sql(select).timeline(**options)
        tracks = [ShownTrack("+1", made, one.id, select, value=options.get("value")) for one in made.tracks if one.rows]
        [table] = selection(session, Area(tracks, 0, 200_000))["tables"]
        rows = session.sql("SELECT COUNT(*) AS n, MIN(prio) AS p FROM t.scheduler.timeslices_p_cpu").fetchall()
        assert sum(row[1] for row in table["rows"]) == rows[0][0]
        if options:
            assert [row[0] for row in table["rows"]] == ["cpu 0", "cpu 1"]
            assert min(row[3] for row in table["rows"]) == rows[0][1]
        assert run_query(session, table["sql"]).rows == table["rows"]


def _stacks(tracks: list[ShownTrack], start: int, stop: int) -> dict[tuple[str | None, ...], list[int]]:
    """Return for each stack of names its count, and its time without nested slices."""
    times = _within(tracks, TrackKind.SLICES, start, stop)
    every = places(tracks)
    names: dict[tuple[int, int], tuple[str | None, ...]] = {}
    found: dict[tuple[str | None, ...], list[int]] = defaultdict(lambda: [0, 0])
    for place, time in sorted(times.items(), key=lambda one: one[0].lane.number):
        above = inside(every, place)
        stack = (*(() if above is None else names[above.track, above.row]), place.name)
        names[place.track, place.row] = stack
        found[stack][0] += 1
        found[stack][1] += time
        if above is not None:
            found[stack[:-1]][1] -= time
    return found


def _of_frames(frames: list[dict[str, Any]]) -> dict[tuple[str | None, ...], list[int]]:
    """Return counts and own values of frames by their stacks, and see that values add up."""
    stacks: list[tuple[str | None, ...]] = []
    values = [int(frame["self"]) for frame in frames]
    for frame in frames:
        assert frame["id"] == len(stacks)
        assert frame["parent"] is None or frame["parent"] < frame["id"]
        stacks.append((*(() if frame["parent"] is None else stacks[frame["parent"]]), frame["name"]))
    for frame in reversed(frames):
        assert values[frame["id"]] == int(frame["value"])
        if frame["parent"] is not None:
            values[frame["parent"]] += values[frame["id"]]
    return {stack: [frame["count"], int(frame["self"])] for stack, frame in zip(stacks, frames, strict=True)}


@bounded(160)
@given(some_rows(), st.integers(-25, 60), st.integers(0, 50))
def test_flame_graphs_match_sums_of_the_rows(rows: list[Row], start: int, length: int) -> None:
    with session_with(timeline(rows, end=50)) as (session, tracks):
        expected = _stacks(tracks, start, start + length)
        graph = flame(session, Area(tracks, start, start + length))
        assert _of_frames(graph["frames"]) == expected
        assert graph["total"] == str(sum(own for _, own in expected.values()))
        assert graph["unit"] == "ns"
        inverted = flame(session, Area(tracks, start, start + length), invert=True)
    assert inverted["total"] == graph["total"]
    below: dict[tuple[str | None, ...], list[int]] = defaultdict(lambda: [0, 0])
    for stack, (count, own) in expected.items():
        for depth in range(1, len(stack) + 1):
            key = stack[::-1][:depth]
            below[key][0] += count
            below[key][1] += own if depth == len(stack) else 0
    assert _of_frames(inverted["frames"]) == below


def test_a_name_with_a_semicolon_is_one_frame() -> None:
    rows = [Row(0, 10, name="a;b", depth=0), Row(2, 3, name="c;", depth=1)]
    with session_with(timeline(rows)) as (session, tracks):
        frames = flame(session, Area(tracks, 0, 10), invert=True)["frames"]
    assert [(frame["name"], frame["parent"], frame["value"]) for frame in frames] == [
        ("a;b", None, "7"),
        ("c;", None, "3"),
        ("a;b", 1, "3"),
    ]


def test_slices_without_a_name_are_frames() -> None:
    rows = [Row(0, 10, name=None, depth=0), Row(2, 3, name="", depth=1), Row(5, 4, name="a", depth=1)]
    with session_with(timeline(rows)) as (session, tracks):
        graphs = [flame(session, Area(tracks, 0, 20), invert=invert)["frames"] for invert in (False, True)]
    found = [[(frame["name"], frame["parent"], frame["value"]) for frame in frames] for frames in graphs]
    assert found == [
        [(None, None, "10"), ("a", 0, "4"), ("", 0, "3")],
        [("a", None, "4"), (None, 0, "4"), (None, None, "3"), ("", None, "3"), (None, 3, "3")],
    ]


def test_flame_graphs_of_samples_cover_the_requested_tracks() -> None:
    with Session(index=False) as session:
        session.mount(DATA / "perf/cpuclock.data", "t")
        tracks = [one for one in shown(session.timeline("t"), "t") if one.track.source == "t.timeline.samples"]
        assert len(tracks) > 1
        whole = flame(session, Area(tracks, 0, 10**12), "samples")
        parts = [flame(session, Area([one], 0, 10**12), "samples") for one in tracks]
        assert [int(part["total"]) for part in parts] == [one.track.rows for one in tracks]
        assert int(whole["total"]) == sum(int(part["total"]) for part in parts)
        assert whole["unit"] == "samples"


def test_samples_of_several_events_are_not_added_up() -> None:
    with Session(index=False) as session:
        session.mount(DATA / "stdlib/two_events.perf.txt", "t")
        session.mount(DATA / "perf/cpuclock.data", "p")
        area = Area(shown(session.timeline("t"), "t"), 0, 3500)
        graph = flame(session, area, "samples")
        assert (graph["event"], graph["total"]) == ("cycles:u", "2")
        assert graph["events"] == [{"name": "cycles:u", "samples": 2}, {"name": "instructions:u", "samples": 2}]
        graph = flame(session, area, "samples", event="instructions:u", invert=True)
        assert _of_frames(graph["frames"]) == {
            ("work",): [2, 0],
            ("work", "main"): [1, 1],
            ("work", "work"): [1, 0],
            ("work", "work", "main"): [1, 1],
        }
        tables = {table["title"]: table for table in selection(session, area)["tables"]}
        assert {title: (table["event"], table["rows"]) for title, table in tables.items()} == {
            "Samples of cycles:u by function": ("cycles:u", [["main", 1, 2], ["work", 1, 1]]),
            "Samples of instructions:u by function": ("instructions:u", [["work", 2, 2], ["main", 0, 2]]),
        }
        with pytest.raises(UsageError, match="no sample is of the event `cycles`") as raised:
            flame(session, area, "samples", event="cycles")
        assert raised.value.hint == "samples are of cycles:u (2), instructions:u (2)"
        both = Area([*area.tracks, *shown(session.timeline("p"), "p")], 0, 10**12)
        events = flame(session, both, "samples")["events"]
        assert [event["name"] for event in events] == ["cpu-clock:u", "cycles:u", "instructions:u"]
        assert flame(session, both, "samples", event="cycles:u")["total"] == "3"
        assert {table["event"] for table in selection(session, both)["tables"]} == {None, "cycles:u", "instructions:u"}


def test_traces_that_were_moved_are_summed_where_they_are_shown() -> None:
    with Session(index=False) as session:
        for name in ("a", "b"):
            session.mount(DATA / "stdlib/calls.pfw", name)
        tracks = [*shown(session.timeline("a"), "a"), *shown(session.timeline("b"), "b")]
        own, other = ([one for one in tracks if one.name == name] for name in ("a", "b"))
        moved = {"b": 30_000}
        alone = {"a": Area(own, 40_000, 90_000), "b": Area(other, 10_000, 60_000)}
        expected = [
            {**table, "title": f"{name}: {table['title']}"}
            for name, area in alone.items()
            for table in selection(session, area)["tables"]
        ]
        assert selection(session, Area(tracks, 40_000, 90_000, moved))["tables"] == expected
        assert len({table["title"] for table in expected}) == len(expected)
        parts = [flame(session, area) for area in alone.values()]
        graph = flame(session, Area(tracks, 40_000, 90_000, moved))
        assert graph["total"] == str(sum(int(part["total"]) for part in parts))
        assert graph["total"] != flame(session, Area(tracks, 40_000, 90_000))["total"]
        assert graph["sql"] == ";\n".join(part["sql"] for part in parts)


def test_invalid_selections_are_refused() -> None:
    with session_with(timeline([Row(1, 2)])) as (session, tracks):
        with pytest.raises(UsageError, match="`to`, 1 ns, comes before `from`, 2 ns"):
            selection(session, Area(tracks, 2, 1))
        with pytest.raises(UsageError, match="expected frames of `slices` or `samples`, found `calls`"):
            flame(session, Area(tracks, 1, 2), "calls")
        assert selection(session, Area(tracks, 50, 60))["tables"] == []
        assert selection(session, Area([], 50, 60))["tables"] == []
