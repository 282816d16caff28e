"""What a picture shows: tracks, the cells of a window of time, and where that window stands in the trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dctv.errors import UsageError
from dctv.record import record
from dctv.timeline.track import Track

if TYPE_CHECKING:
    import pyarrow as pa

_LEAST, _MOST = -(2**63), 2**63 - 1


@record(eq=False)
class Scene:
    """All that a picture is made of."""

    tracks: Sequence[Track]
    """A tree, read from above: a parent comes before its children."""
    cells: pa.Table
    """Cells of one track and lane do not overlap and come in order; they may reach out of the window.

    track, lane, _ts, _duration: int64; count: how many rows a cell stands for, 1 is a true span; row; name; total and
    longest in ns; filled: how many ns of it are in the state that it is named after; min, max, mean, last: of counters.
    """
    start: int
    """The window, in ns."""
    stop: int
    step: int
    """How long a cell of several rows may last, in ns; at most a pixel."""
    title: str
    origin: int | None = None
    """When the trace begins, in ns: what times are told from; None for when the first of the tracks begins."""

    @property
    def zero(self) -> int:
        """The time that is written as 0, in ns."""
        if self.origin is not None:
            return self.origin
        return min((track.first for track in self.tracks if track.first is not None), default=self.start)


def check_window(start: int, stop: int) -> None:
    """Refuse a window that has no room.

    Raises:
        UsageError: it does not end after its begin, or its ends are no times.
    """
    if stop <= start:
        raise UsageError(
            f"the window must end after it begins, found {start} ns to {stop} ns", hint="give the earlier time first"
        )
    for end in (start, stop):
        if not _LEAST <= end <= _MOST:
            raise UsageError(f"a window's ends are times of 64 bits in ns, found {end}")


def step_of(start: int, stop: int, columns: int) -> int:
    """Return the longest step for cells, a power of two ns, of which a window has at least so many."""
    return 1 << (max((stop - start) // max(columns, 1), 1).bit_length() - 1)
