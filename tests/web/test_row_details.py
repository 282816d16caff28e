"""Rows of tracks and all that is known of them: the rows of views that they show, what they are in, and arrows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from typing import Any

import pytest
from hypothesis import given

from dctv.errors import UsageError
from dctv.session import Session
from dctv.web import result_cache
from dctv.web.details import MOST_CHILDREN, details, place_of
from dctv.web.origins import provider_of
from dctv.web.shown_track import ShownTrack
from tests.bounds import bounded
from tests.timeline.rows import Row, timeline
from tests.timeline.test_timeline import some_rows
from tests.web.tracks import DATA, inside, places, session_with, shown

TRACES = {
    "dftracer/loader": "slices io",
    "perf/cpuclock.data": "samples",
    "perfetto/linux_sys_deflate.pftrace": "slices system_calls",
    "stdlib/browser.json": "counters",
    "stdlib/frames.trace.txt": "frames gc display_frames",
    "stdlib/kernel.trace.txt": "block block_queue_depth system_calls",
    "stdlib/marks.trace.txt": "async_slices instants",
    "stdlib/states.trace.txt": "cpu_idle cpu_irq cpu_running cpu_softirq thread_states",
    "trace_dat/live_marks.dat": "thread_states",
    "uftrace/switches": "calls",
}
"""Traces, and of which providers their rows are looked at."""
LONG = {"perfetto/linux_sys_deflate.pftrace", "trace_dat/live_marks.dat"}
"""Those that are left to CI: others have rows of the same providers."""
_FEW = 12
"""Rows of a track that are looked at."""
TWICE = {"io"}
"""Those that have each row on two tracks."""
NAMED = {"slices": "name", "async_slices": "name", "instants": "name", "thread_states": "state", "calls": "name"}
"""What names the rows of some providers."""


def _values(found: dict[str, Any]) -> dict[str, Any]:
    return {column["name"]: column["value"] for column in found["columns"]}


Mounted = Callable[[str], tuple[Session, list[ShownTrack]]]
"""From a trace to a session that has it as `t`, and the tracks of its timeline."""


@pytest.fixture(scope="module")
def mounted() -> Iterator[Mounted]:
    with ExitStack() as stack:

        @cache
        def of(trace: str) -> tuple[Session, list[ShownTrack]]:
            session = stack.enter_context(Session(index=False))
            session.mount(DATA / trace, "t")
            return session, shown(session.timeline("t"), "t")

        yield of


@pytest.mark.parametrize("trace", [pytest.param(one, marks=pytest.mark.ci if one in LONG else ()) for one in TRACES])
def test_rows_of_tracks_are_rows_of_views(mounted: Mounted, trace: str) -> None:
    """Each is found, and none for two."""
    session, tracks = mounted(trace)
    seen: dict[str, list[str]] = {}
    for one in tracks:
        provider = one.track.source.removeprefix("t.timeline.")
        rows = range(0, one.track.rows, one.track.rows // _FEW + 1)
        for row in rows if provider in TRACES[trace].split() else ():
            found = details(session, one, row)
            values = _values(found)
            assert found["others"] == []
            assert str(values["_ts"]) == found["from"]
            if values.get("_duration") is not None:
                assert str(values["_duration"]) == found["duration"]
            if provider in NAMED:
                assert values[NAMED[provider]] == found["name"]
            if "stack" in values:
                assert values["stack"].endswith(found["name"])
            seen.setdefault(provider, []).append(json.dumps(found["columns"]))
    assert set(seen) == set(TRACES[trace].split())
    for provider, rows_found in seen.items():
        assert max(Counter(rows_found).values()) <= (2 if provider in TWICE else 1), provider


def test_the_query_that_is_shown_gives_the_row(mounted: Mounted) -> None:
    session, tracks = mounted("stdlib/kernel.trace.txt")
    sources = set()
    for one in tracks:
        if one.track.source not in sources:
            sources.add(one.track.source)
            found = details(session, one, one.track.rows // 2)
            result = session.sql(found["sql"])
            names = [column.name for column in result.schema.columns]
            assert names == [column["name"] for column in found["columns"]]
            [row] = result.fetchall()
            assert list(row) == [column["value"] for column in found["columns"]]


def test_arguments_are_json(mounted: Mounted) -> None:
    session, tracks = mounted("stdlib/calls.pfw")
    found = details(session, next(one for one in tracks if one.track.source == "t.timeline.slices"), 0)
    assert found["arguments"] == {"hhash": "9", "hostname": "node1"}
    assert found["sql"] == "SELECT * FROM t.slices WHERE _ts = 0ns AND id = 1"


def test_arrows_lead_to_rows_and_back(mounted: Mounted) -> None:
    session, tracks = mounted("stdlib/flows.json")
    rows = {(one.id, row): details(session, one, row) for one in tracks for row in range(one.track.rows)}
    flows = session.sql("SELECT from_name, from_ts, to_name, to_ts FROM t.flows").fetchall()
    arrows = []
    for own, found in rows.items():
        for arrow in found["flows"]["out"]:
            other = rows[arrow["track"], arrow["row"]]
            assert other["name"] == arrow["name"]
            [back] = [one for one in other["flows"]["in"] if (one["track"], one["row"]) == own]
            arrows.append((back["name"], int(back["from"]), arrow["name"], int(arrow["from"])))
    assert sorted(arrows) == sorted(flows)
    assert len(arrows) > 3


def test_large_results_are_not_cached(mounted: Mounted, monkeypatch: pytest.MonkeyPatch) -> None:
    session, tracks = mounted("stdlib/flows.json")
    kept_ones = details(session, tracks[0], 0)
    assert kept_ones["flows"]["out"]
    monkeypatch.setattr(result_cache, "_cache", {})
    monkeypatch.setattr(result_cache, "MAX_CACHED_ROWS", 0)
    assert details(session, tracks[0], 0) == kept_ones
    [known] = result_cache._cache.values()
    assert [query for query in known if "flows" not in query] == []


@bounded(160)
@given(some_rows())
def test_parents_and_children_of_rows(rows: list[Row]) -> None:
    found = timeline(rows, end=50)
    with session_with(found) as (_, tracks):
        every = places(tracks)
        for one in (track for track in tracks if track.track.kind.value == "slices"):
            for place in [other for other in every if other.track == one.number]:
                ancestors, children, count = _related(one, place.row)
                assert ancestors == [(other.lane.number, other.row) for other in _above(every, place)]
                direct = [other for other in every if inside(every, other) is place]
                direct.sort(key=lambda other: (other.begin, other.row))
                assert children == [(other.lane.number, other.row) for other in direct]
                assert count == len(direct)


def _above(every: list[Any], place: Any) -> list[Any]:
    parent = inside(every, place)
    return [] if parent is None else [*_above(every, parent), parent]


def _related(one: ShownTrack, row: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]], int]:
    from dctv.web import details as module

    place = place_of(one, row)
    children, count = module._children(one.timeline, place)
    ancestors = module._ancestors(one.timeline, place)
    return [(a.lane.number, a.row) for a in ancestors], [(c.lane.number, c.row) for c in children], count


def test_the_number_of_listed_children_is_limited() -> None:
    rows = [Row(0, 1000, name="all", depth=0), *(Row(time, 1, name="one", depth=1) for time in range(1, 400))]
    with session_with(timeline(rows)) as (session, [one]):
        found = details(session, ShownTrack("g", one.timeline, one.number, "SELECT 0ns AS _ts"), 0)
    assert found["count_children"] == 399
    assert [int(child["from"]) for child in found["children"]] == list(range(1, MOST_CHILDREN + 1))


ALIKE = """[
{"name": "p", "ph": "X", "ts": 0, "dur": 9, "pid": 1, "tid": 1, "args": {"n": 0}},
{"name": "a", "ph": "X", "ts": 1, "dur": 0, "pid": 1, "tid": 1, "args": {"n": 1}},
{"name": "a", "ph": "X", "ts": 1, "dur": 0, "pid": 1, "tid": 1, "args": {"n": 2}},
{"name": "a", "ph": "X", "ts": 1, "dur": 2, "pid": 1, "tid": 1, "args": {"n": 3}},
{"name": "a", "ph": "X", "ts": 1, "dur": 2, "pid": 1, "tid": 1, "args": {"n": 4}},
{"name": "a", "ph": "X", "ts": 1, "dur": 2, "pid": 1, "tid": 2, "args": {"n": 5}}
]"""


def test_rows_that_look_the_same_are_distinguished(tmp_path: Any) -> None:
    file = tmp_path / "alike.json"
    file.write_text(ALIKE, encoding="utf-8")
    with Session(index=False) as session:
        session.mount(file, "t")
        depths, numbers = [], []
        for one in shown(session.timeline("t"), "t"):
            for row in range(one.track.rows):
                found = details(session, one, row)
                assert found["others"] == []
                numbers.append(found["arguments"]["n"])
                depths.append(_values(found)["depth"] == found["lane"])
    assert sorted(numbers) == [0, 1, 2, 3, 4, 5]
    assert all(depths)


def test_rows_of_a_select() -> None:
    select = "SELECT SPAN * FROM t.scheduler.timeslices_p_cpu;"
    with Session(index=False) as session:
        session.mount(DATA / "stdlib/waits.trace.txt", "t")
        made = session.sql(select).timeline()
        rows = session.sql(select).fetchall()
        details_of_rows = []
        for track in made.tracks:
            one = ShownTrack("+1", made, track.id, select)
            for row in range(track.rows):
                found = details(session, one, row)
                assert found["others"] == []
                details_of_rows.append(tuple(column["value"] for column in found["columns"]))
                assert str(details_of_rows[-1][0]) == found["from"]
    assert sorted(details_of_rows) == sorted(rows)


def test_states_of_a_state_system() -> None:
    with Session(index=False) as session:
        session.mount(DATA / "stdlib/waits.trace.txt", "t")
        for one in shown(session.timeline("t.state"), "t.state")[:6]:
            found = details(session, one, 0)
            values = _values(found)
            assert str(values["_ts"]) == found["from"]
            assert str(values["_duration"]) == found["duration"]
            assert values["path"] == "/".join(one.timeline.path(one.number))


def test_every_provider_names_the_view_of_its_rows() -> None:
    with Session(index=False) as session:
        for trace in ("perfetto/linux_sys_deflate.pftrace", "uftrace/switches"):
            session.mount(DATA / trace, trace[:3])
            names = [table.name for table in session.tables(f"{trace[:3]}.timeline") if table.name.count(".") == 2]
            for name in names:
                provider = provider_of(trace[:3], name)
                if name.endswith(".rows"):
                    assert provider is None
                    continue
                assert provider is not None, name
                view, own = session.columns(provider.view), session.columns(name)
                assert view is not None
                assert own is not None
                assert {"_ts", *provider.of.by} <= {*view.names} & {*own.names}


def test_a_missing_row() -> None:
    missing = pytest.raises(UsageError, match="the track `g:0` has no row 1")
    with session_with(timeline([Row(1, 2)])) as (session, [one]), missing:
        details(session, one, 1)
