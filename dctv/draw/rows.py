"""Assign tracks to rows of a picture, as far as there is room."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.record import record
from dctv.timeline.track import Track, TrackKind

LANES = 16
"""The maximum number of lanes drawn per track."""
LANE, MORE, GAP = 18, 16, 4
_HEIGHTS = {TrackKind.GROUP: 22, TrackKind.COUNTER: 40, TrackKind.INSTANTS: 18, TrackKind.STATES: LANE}


@record
class TrackRow:
    """A track in a picture."""

    track: Track
    y: int
    height: int
    lanes: int
    """The number of drawn lanes."""

    @property
    def more(self) -> int:
        """The number of omitted lanes."""
        return max(self.track.lanes - self.lanes, 0) if self.track.kind is TrackKind.SLICES else 0

    @property
    def last(self) -> int:
        """The lower edge, where the next row begins."""
        return self.y + self.height + (GAP if self.track.kind is not TrackKind.GROUP else 0)


@record
class TrackRows:
    """All tracks in a picture."""

    rows: Sequence[TrackRow]
    left_out: int
    """The number of omitted tracks, without groups."""
    last: int
    """Their lower edge."""


def place_rows(tracks: Sequence[Track], top: int, bottom: int | None) -> TrackRows:
    """Place tracks below each other, as far as there is room."""
    rows: list[TrackRow] = []
    y = top
    for number, track in enumerate(tracks):
        row = _row(track, y, bottom)
        if row is None:
            left_out = sum(other.kind is not TrackKind.GROUP for other in tracks[number:])
            return TrackRows(rows, left_out, y)
        rows.append(row)
        y = row.last
    return TrackRows(rows, 0, y)


def _row(track: Track, y: int, bottom: int | None) -> TrackRow | None:
    if track.kind is not TrackKind.SLICES:
        height = _HEIGHTS[track.kind]
        return TrackRow(track, y, height, 1) if bottom is None or y + height <= bottom else None
    lanes = max(track.lanes, 1)
    shown = min(lanes, LANES)
    if bottom is not None and y + _height(lanes, shown) > bottom:
        shown = (bottom - y - MORE) // LANE
    return TrackRow(track, y, _height(lanes, shown), shown) if shown > 0 else None


def _height(lanes: int, shown: int) -> int:
    return shown * LANE + (MORE if lanes > shown else 0)
