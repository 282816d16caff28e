"""Lanes of a track: where their rows are, which of them a stretch of time may need, and what each row is in."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from dctv.record import record
from dctv.timeline.gathering import GatheredRows

NONE = -1


@record
class TimeWindow:
    """Which rows are wanted, by when they begin and end, in ns and inclusive; None is no bound."""

    begin: int | None = None
    """None begins before."""
    until: int | None = None
    """None begins after."""
    end: int | None = None
    """None ends before."""

    @property
    def earliest_end(self) -> int | None:
        """No row ends before: none ends before it begins."""
        return max((one for one in (self.begin, self.end) if one is not None), default=None)


EVERYTHING = TimeWindow()


@record(eq=False)
class Lane:
    """Rows one after another: none begins before the one before has ended."""

    track: int
    number: int
    first: int
    """The number of its first row within the track."""
    id: int
    """The number of its first row among those of the timeline."""
    rows: GatheredRows
    start: int
    stop: int
    """Where its rows are among those of its source."""

    def __len__(self) -> int:
        """Return how many rows it has."""
        return self.stop - self.start

    @property
    def begin(self) -> Any:
        """When its rows begin, ascending: numpy int64."""
        return self.rows.begin[self.start : self.stop]

    @property
    def duration(self) -> Any:
        """How long they last: numpy int64."""
        return self.rows.duration[self.start : self.stop]

    @property
    def codes(self) -> Any:
        """What they are called, as places among the names of the source, -1 for no name: numpy int32."""
        return self.rows.codes[self.start : self.stop]

    def within(self, window: TimeWindow) -> tuple[int, int]:
        """Return the first and the last but one of the rows that may be wanted; at most the first is not."""
        import numpy as np

        begin, first, stop = self.begin, 0, len(self)
        if window.earliest_end is not None:
            # Only the last row that begins before may still last then.
            first = max(int(np.searchsorted(begin, window.earliest_end, "left")) - 1, 0)
        if window.begin is not None:
            first = max(first, int(np.searchsorted(begin, window.begin, "left")))
        if window.until is not None:
            stop = int(np.searchsorted(begin, window.until, "right"))
        return first, max(first, stop)

    def row_at(self, time: int) -> int:
        """Return the last row that begins no later, -1 if there is none."""
        import numpy as np

        return int(np.searchsorted(self.begin, time, "right")) - 1

    def name(self, row: int) -> str | None:
        """Return what a row is called."""
        code = int(self.codes[row])
        return None if code < 0 else str(self.rows.names[code].as_py())

    def value(self, row: int) -> float | None:
        """Return the value of a row of a counter; None if it has none."""
        if self.rows.values is None:
            return None
        value = float(self.rows.values[self.start + row])
        return value if isfinite(value) else None


def above(lanes: Sequence[Lane], number: int, first: int, stop: int) -> tuple[Any, Any]:
    """Return what rows of a lane are directly in: the lane and the row there, both -1 where there is nothing.

    That is the row on the nearest lane above on which something lasts meanwhile, if that one begins no later and ends
    no earlier. So rows that are in one do not overlap. Both are numpy int64.
    """
    import numpy as np

    own = lanes[number]
    begin = own.begin[first:stop]
    end = begin + own.duration[first:stop]
    found = np.full(stop - first, NONE, np.int64)
    at = np.full(stop - first, NONE, np.int64)
    left = np.arange(stop - first)
    for upper in reversed(lanes[:number]):
        if not len(left):
            break
        if not len(upper):
            continue
        places = np.searchsorted(upper.begin, begin[left], "right") - 1
        known, after = np.maximum(places, 0), np.minimum(places + 1, len(upper) - 1)
        ends = np.where(places < 0, begin[left], upper.begin[known] + upper.duration[known])
        inside = (places >= 0) & (ends >= end[left])
        found[left[inside]] = upper.number
        at[left[inside]] = places[inside]
        free = (ends <= begin[left]) & ((places + 1 == len(upper)) | (upper.begin[after] >= end[left]))
        left = left[~inside & free]
    return found, at
