"""Find what a thread waited for until a point in time, by following wakeups back to their wakers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dctv.errors import UsageError
from dctv.timeline.timeline import Timeline
from dctv.web.details import place_of, source_of
from dctv.web.host import Host
from dctv.web.origins import KEYS, provider_of, shown_by
from dctv.web.result_cache import having
from dctv.web.shown_track import ShownTrack
from dctv.web.track_queries import dotted, run_query

MOST_STEPS = 2_000
_STATES = "thread_states"


def critical(host: Host, shown: ShownTrack, row: int) -> dict[str, Any]:
    """Follow the wakeups of a row's thread back through the time of that row.

    Raises:
        UsageError: the track has no such row, or the row belongs to no thread.
    """
    place = place_of(shown, row)
    source = source_of(host, shown, place)
    tids = {column["value"] for columns in source.rows for column in columns if column["name"] == "tid"} - {None}
    if shown.mount is None or len(tids) != 1:
        raise UsageError(
            f"`{shown.track.name}` does not belong to a single thread", hint="select a slice or a state of a thread"
        )
    stop = place.begin + max(place.duration, 1)
    return _followed(host, shown.mount, shown.timeline, tids.pop(), (place.begin, stop))


def critical_at(host: Host, mount: str, timeline: Timeline, tid: int, at: int) -> dict[str, Any]:
    """Follow the wakeups of a thread of a mounted trace back from a time, in ns."""
    return _followed(host, mount, timeline, tid, (min(timeline.begin, at), at + 1))


def _followed(host: Host, mount: str, timeline: Timeline, tid: int, between: tuple[int, int]) -> dict[str, Any]:
    start, stop = between
    path = f"{dotted(mount, 'critical_path')}({tid}, start=>{start}ns, duration=>{stop - start}ns)"
    # If there are too many, keep those closest to the time.
    sql = f"SELECT _ts, _duration, tid, comm, state, depth, reason FROM {path} ORDER BY _ts DESC LIMIT {MOST_STEPS}"
    rows = run_query(host, sql, MOST_STEPS).rows
    tracks = _tracks(host, mount, timeline, {row[2] for row in rows})
    steps = [
        {
            "from": str(begin),
            "duration": str(duration),
            "tid": of,
            "name": comm,
            "state": state,
            "depth": depth,
            "reason": reason,
            **_shown(mount, timeline, tracks.get(of), int(begin)),
        }
        for begin, duration, of, comm, state, depth, reason in reversed(rows)
    ]
    return {"steps": steps, "sql": sql}


def _tracks(host: Host, mount: str, timeline: Timeline, tids: Iterable[int]) -> Mapping[int, int]:
    """Return the tracks that show the states of threads."""
    provider = provider_of(mount, f"{mount}.timeline.{_STATES}")
    if provider is None:
        return {}
    rows = having(host, timeline, shown_by(provider, timeline), KEYS[0], sorted(tids))
    return dict(zip(rows.column(KEYS[0]).to_pylist(), rows.column("track").to_pylist(), strict=True))


def _shown(mount: str, timeline: Timeline, track: int | None, begin: int) -> dict[str, Any]:
    """Return the track and row that show the state of a thread at a time."""
    for lane in () if track is None else timeline.lanes(track):
        at = lane.row_at(begin)
        if at >= 0 and int(lane.begin[at]) + int(lane.duration[at]) > begin:
            return {"track": f"{mount}:{track}", "row": lane.first + at}
    return {"track": None if track is None else f"{mount}:{track}", "row": None}
