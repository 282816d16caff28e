"""Combine timelines of several traces into one, with a common clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from dctv.record import replace
from dctv.timeline.track import Track, TrackKind

if TYPE_CHECKING:
    import pyarrow as pa


class JoinedTimeline(Protocol):
    """Tracks, and their cells in any window."""

    @property
    def tracks(self) -> tuple[Track, ...]:
        """All of them, from the top."""

    @property
    def begin(self) -> int:
        """The begin of the first row, in ns."""

    @property
    def end(self) -> int:
        """The end of the last row."""

    def cells(self, tracks: Sequence[int], start: int, stop: int, step: int) -> pa.Table:
        """Return the cells of some tracks, in the form of `Scene`."""


def joined(timelines: Mapping[str, JoinedTimeline]) -> JoinedTimeline:
    """Return a timeline with a named group for each of several; a single one is unchanged."""
    (*_, last) = timelines.values()
    return last if len(timelines) == 1 else _Joined(timelines)


class _Joined:
    def __init__(self, timelines: Mapping[str, JoinedTimeline]) -> None:
        self._parts = list(timelines.values())
        self._starts: list[int] = []
        found: list[Track] = []
        for name, timeline in timelines.items():
            top = len(found)
            self._starts.append(top + 1)
            found.append(Track(top, None, name, TrackKind.GROUP, 0, 0, 0, None, None, None, name))
            found += [_moved(track, top) for track in timeline.tracks]
        self.tracks = tuple(found)
        filled = [part for part in self._parts if part.tracks] or self._parts
        self.begin = min(part.begin for part in filled)
        self.end = max(part.end for part in filled)

    def cells(self, tracks: Sequence[int], start: int, stop: int, step: int) -> pa.Table:
        """Return the cells of some tracks, from all timelines."""
        import pyarrow as pa
        from pyarrow import compute

        tables = []
        for first, part in zip(self._starts, self._parts, strict=True):
            own = [track - first for track in tracks if 0 <= track - first < len(part.tracks)]
            table = part.cells(own, start, stop, step)
            moved = compute.add(table.column("track"), pa.scalar(first, pa.int64()))
            tables.append(table.set_column(table.column_names.index("track"), "track", moved))
        return pa.concat_tables(tables).unify_dictionaries()


def _moved(track: Track, top: int) -> Track:
    parent = top if track.parent is None else top + 1 + track.parent
    return replace(track, id=top + 1 + track.id, parent=parent, depth=track.depth + 1)
