"""The contents of a picture: tracks, the cells in a time window, and the position of the window in the trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dctv.errors import UsageError
from dctv.record import record
from dctv.timeline.track import Track

if TYPE_CHECKING:
    import pyarrow as pa

    from dctv.draw.joined import JoinedTimeline

_LEAST, _MOST = -(2**63), 2**63 - 1


@record(eq=False)
class Scene:
    """The input of a picture."""

    tracks: Sequence[Track]
    """A tree, from the top: a parent comes before its children."""
    cells: pa.Table
    """Cells of one track and lane do not overlap and are ordered; they may extend beyond the window.

    track, lane, _ts, _duration: int64; count: how many rows a cell represents, 1 for a single span; row; name; total
    and longest in ns; filled: how many ns of it are in the named state; min, max, mean, last: for counters.
    """
    start: int
    """The window, in ns."""
    stop: int
    step: int
    """The maximum length of a cell of several rows, in ns; at most a pixel."""
    title: str
    origin: int | None = None
    """The begin of the trace, in ns, from which times are counted; None for the begin of the first track."""

    @property
    def zero(self) -> int:
        """The time that is shown as 0, in ns."""
        if self.origin is not None:
            return self.origin
        return min((track.first for track in self.tracks if track.first is not None), default=self.start)


def check_window(start: int, stop: int) -> None:
    """Reject an empty window.

    Raises:
        UsageError: it does not end after its begin, or its ends do not fit into 64 bits.
    """
    if stop <= start:
        raise UsageError(
            f"the window must end after it begins, found {start} ns to {stop} ns", hint="give the earlier time first"
        )
    for end in (start, stop):
        if not _LEAST <= end <= _MOST:
            raise UsageError(f"a window's ends are times of 64 bits in ns, found {end}")


def cells_in(timeline: JoinedTimeline, tracks: Sequence[int], start: int, stop: int, step: int) -> pa.Table:
    """Return the cells of tracks in a window; one that reaches the timeline's end has what happens at that moment."""
    last = stop + 1 if stop == timeline.end < _MOST else stop
    return timeline.cells(tracks, start, last, step)


def step_of(start: int, stop: int, columns: int) -> int:
    """Return the longest step for cells, a power of two ns, that gives the window at least this many."""
    return 1 << (max((stop - start) // max(columns, 1), 1).bit_length() - 1)
