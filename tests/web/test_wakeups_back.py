"""Wake-ups followed back from rows and moments of threads."""

from __future__ import annotations

import pytest

from dctv.errors import UsageError
from dctv.session import Session
from dctv.web import critical as module
from dctv.web.critical import critical, critical_at
from dctv.web.details import details
from dctv.web.shown_track import ShownTrack
from tests.web.tracks import DATA, shown

COLUMNS = "_ts, _duration, tid, comm, state, depth, reason"


def _tracks(session: Session) -> dict[str, ShownTrack]:
    session.mount(DATA / "stdlib/waits.trace.txt", "t")
    return {"/".join(one.timeline.path(one.number)): one for one in shown(session.timeline("t"), "t")}


def _told(steps: list[dict[str, object]]) -> list[tuple[object, ...]]:
    names = ("from", "duration", "tid", "name", "state", "depth", "reason")
    return [tuple(step[name] for name in names) for step in steps]


def test_a_row_is_followed_back_while_it_lasts() -> None:
    with Session(index=False) as session:
        tracks = _tracks(session)
        one = next(track for path, track in tracks.items() if path.endswith("11)/State"))
        followed = 0
        for row in range(one.track.rows):
            found = critical(session, one, row)
            place = details(session, one, row)
            start, length = place["from"], place["duration"]
            query = f"SELECT {COLUMNS} FROM t.critical_path(11, start=>{start}ns, duration=>{length}ns) ORDER BY _ts"
            expected = [(str(a), str(b), *rest) for a, b, *rest in session.sql(query).fetchall()]
            assert _told(found["steps"]) == expected
            assert int(found["steps"][0]["from"]) == int(start)
            followed += len({step["tid"] for step in found["steps"]}) > 1
            by_id = {track.id: track for track in tracks.values()}
            for step in found["steps"]:
                if step["row"] is not None:
                    shown_there = details(session, by_id[step["track"]], step["row"])
                    values = {column["name"]: column["value"] for column in shown_there["columns"]}
                    assert values["tid"] == step["tid"]
                    begin = int(shown_there["from"])
                    assert begin <= int(step["from"]) < begin + int(shown_there["duration"])
        assert followed


def test_a_moment_is_followed_back_to_the_begin() -> None:
    with Session(index=False) as session:
        one = next(iter(_tracks(session).values()))
        found = critical_at(session, "t", one.timeline, 11, 100_000)
        steps = found["steps"]
        assert steps[0]["from"] == "0"
        assert int(steps[-1]["from"]) + int(steps[-1]["duration"]) == 100_001
        ends = [int(step["from"]) + int(step["duration"]) for step in steps]
        assert [str(end) for end in ends[:-1]] == [step["from"] for step in steps[1:]]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "MOST_STEPS", 2)
            assert critical_at(session, "t", one.timeline, 11, 100_000)["steps"] == steps[-2:]
        rows = session.sql(found["sql"]).fetchall()
        assert [str(row[0]) for row in reversed(rows)] == [step["from"] for step in steps]


def test_a_moment_of_a_trace_aligned_below_0_is_followed_back() -> None:
    with Session(index=False) as session:
        session.mount(DATA / "stdlib/waits.trace.txt", "t")
        session.mount(DATA / "stdlib/waits.trace.txt", "u", align=-90_000)
        found = critical_at(session, "t", session.timeline("t"), 11, 80_000)["steps"]
        moved = critical_at(session, "u", session.timeline("u"), 11, -10_000)["steps"]
    assert len(found) > 1
    assert [int(step["from"]) - 90_000 for step in found] == [int(step["from"]) for step in moved]


def test_rows_without_a_thread_are_not_followed() -> None:
    with Session(index=False) as session:
        session.mount(DATA / "stdlib/states.trace.txt", "t")
        one = next(one for one in shown(session.timeline("t"), "t") if one.track.source == "t.timeline.cpu_idle")
        with pytest.raises(UsageError, match="`Idle state` does not belong to a single thread"):
            critical(session, one, 0)
