"""Find the wall clock's time in the marks of Android's atrace: `trace_event_clock_sync: realtime_ts=1448979311493`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dctv.types.schema import TS

MARKS = "print|trace_event_clock_sync"
"""The table of these marks."""
_MILLISECOND = 10**6
_LAST = 2**63

ClockMark = tuple[int, int]
"""The time of a mark in ns of the trace's clock, and in ms of Unix time."""


def first_mark(batch: Any) -> ClockMark | None:
    """Return the first mark of the wall clock in rows with absolute times.

    Marks of time 0 have none in the text, so they tell nothing.
    """
    return min(_marks(batch), default=None)


def _marks(batch: Any) -> Iterator[ClockMark]:
    import pyarrow as pa  # heavy

    rows = pa.record_batch(batch)
    if "realtime_ts" not in rows.schema.names:
        return
    for time, value in zip(rows[TS].to_pylist(), rows["realtime_ts"].to_pylist(), strict=True):
        if time and isinstance(value, int) and 0 < value * _MILLISECOND < _LAST:
            yield time, value


def unix_start(mark: ClockMark, start_ns: int) -> int | None:
    """Return the Unix time in ns of a time of the trace's clock, None if it does not fit 64 bits."""
    time, value = mark
    start = value * _MILLISECOND - (time - start_ns)
    return start if -_LAST <= start < _LAST else None
