"""Timelines of rows in sessions, and their tracks as the page shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dctv.contracts.lazy import Lazy
from dctv.run.tracks import show
from dctv.session import Session
from dctv.timeline.timeline import Timeline
from dctv.web.origins import RowPlace
from dctv.web.shown_track import ShownTrack

DATA = Path(__file__).parents[1] / "data"


@contextmanager
def session_with(timeline: Timeline, name: str = "g") -> Iterator[tuple[Session, list[ShownTrack]]]:
    """Open a session in which a timeline has a name."""
    with Session(index=False) as session:
        show(session._context.catalog, (name,), Lazy.of(timeline), "made for a test")
        yield session, shown(timeline, name)


def shown(timeline: Timeline, name: str) -> list[ShownTrack]:
    """Return the tracks of a timeline that have rows."""
    return [ShownTrack(name, timeline, track.id, mount=name) for track in timeline.tracks if track.rows]


def places(tracks: Sequence[ShownTrack]) -> list[RowPlace]:
    """Return all rows of tracks."""
    return [
        RowPlace(one.number, lane, at)
        for one in tracks
        for lane in one.timeline.lanes(one.number)
        for at in range(len(lane))
    ]


def inside(places: Sequence[RowPlace], place: RowPlace) -> RowPlace | None:
    """Return what a row is directly in, by its definition."""
    begin, end = place.begin, place.begin + place.duration
    for number in reversed(range(place.lane.number)):
        lane = [one for one in places if one.track == place.track and one.lane.number == number]
        before = [one for one in lane if one.begin <= begin]
        if before and before[-1].begin + before[-1].duration >= end:
            return before[-1]
        if any(one.begin < end and one.begin + one.duration > begin for one in lane):
            return None
    return None
