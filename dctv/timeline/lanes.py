"""Lanes of a track: their rows, the rows that a time range may need, and each row's parent."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from dctv.record import record
from dctv.timeline.gathering import GatheredRows

NONE = -1


@record
class TimeWindow:
    """Bounds on the begins and ends of rows, in ns and inclusive; None is no bound."""

    begin: int | None = None
    """Minimum begin."""
    until: int | None = None
    """Maximum begin."""
    end: int | None = None
    """Minimum end."""

    @property
    def earliest_end(self) -> int | None:
        """The effective minimum end: no row ends before it begins."""
        return max((one for one in (self.begin, self.end) if one is not None), default=None)


EVERYTHING = TimeWindow()


@record(eq=False)
class Lane:
    """Consecutive rows: none begins before the previous one has ended."""

    track: int
    number: int
    first: int
    """The number of its first row in the track."""
    id: int
    """The number of its first row in the timeline."""
    rows: GatheredRows
    start: int
    stop: int
    """The range of its rows among those of its source."""

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.stop - self.start

    @property
    def begin(self) -> Any:
        """The begins of its rows, ascending: numpy int64."""
        return self.rows.begin[self.start : self.stop]

    @property
    def duration(self) -> Any:
        """Their durations: numpy int64."""
        return self.rows.duration[self.start : self.stop]

    @property
    def codes(self) -> Any:
        """Their names, as indexes into the names of the source, -1 for no name: numpy int32."""
        return self.rows.codes[self.start : self.stop]

    def within(self, window: TimeWindow) -> tuple[int, int]:
        """Return the range of rows in the window, end exclusive; at most its first row is outside."""
        import numpy as np

        begin, first, stop = self.begin, 0, len(self)
        if window.earliest_end is not None:
            # Of the rows that begin earlier, only the last one may still last then.
            first = max(int(np.searchsorted(begin, window.earliest_end, "left")) - 1, 0)
        if window.begin is not None:
            first = max(first, int(np.searchsorted(begin, window.begin, "left")))
        if window.until is not None:
            stop = int(np.searchsorted(begin, window.until, "right"))
        return first, max(first, stop)

    def row_at(self, time: int) -> int:
        """Return the last row that begins at a time or before, -1 if there is none."""
        import numpy as np

        return int(np.searchsorted(self.begin, time, "right")) - 1

    def name(self, row: int) -> str | None:
        """Return the name of a row."""
        code = int(self.codes[row])
        return None if code < 0 else str(self.rows.names[code].as_py())

    def value(self, row: int) -> float | None:
        """Return the value of a row of a counter; None if it has none."""
        if self.rows.values is None:
            return None
        value = float(self.rows.values[self.start + row])
        return value if isfinite(value) else None


def parents_of(lanes: Sequence[Lane], number: int, first: int, stop: int) -> tuple[Any, Any]:
    """Return the parents of a lane's rows: their lanes and rows, both -1 for rows without a parent.

    The parent is the row on the nearest lane above that is busy at the time, if it begins no later and ends no earlier.
    So rows with the same parent do not overlap. Both results are numpy int64.
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
        clamped, after = np.maximum(places, 0), np.minimum(places + 1, len(upper) - 1)
        ends = np.where(places < 0, begin[left], upper.begin[clamped] + upper.duration[clamped])
        inside = (places >= 0) & (ends >= end[left])
        found[left[inside]] = upper.number
        at[left[inside]] = places[inside]
        free = (ends <= begin[left]) & ((places + 1 == len(upper)) | (upper.begin[after] >= end[left]))
        left = left[~inside & free]
    return found, at
