"""Merge streams of Arrow batches that are each in order of time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_LATEST = 2**63 - 1
"""The time of rows without one."""


def merged(streams: Sequence[Iterator[pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of streams with the same columns in order of the first column, a time in which each is sorted.

    Rows of one time come in the order of the streams. NULL counts as the latest time.
    """
    heads = [_Head(stream) for stream in streams]
    while heads := [head for head in heads if head.fill()]:
        # All earlier rows have been read. Rows at this time may continue in the next batch.
        bound = min(head.last for head in heads)
        yield from _together([head.before(bound) for head in heads])
        for head in heads:
            yield from head.at(bound)


class _Head:
    """The next rows of a stream."""

    def __init__(self, stream: Iterator[pa.RecordBatch]) -> None:
        self._stream = stream
        self._batch: pa.RecordBatch | None = None
        self._times: np.ndarray[Any, Any]

    @property
    def last(self) -> int:
        """The time of the last row that was read."""
        return int(self._times[-1])

    def fill(self) -> bool:
        """Read more if no rows are left; return whether there are any."""
        while self._batch is None or not self._batch.num_rows:
            self._batch = next(self._stream, None)
            if self._batch is None:
                return False
            self._times = _times(self._batch)
        return True

    def before(self, time: int) -> pa.RecordBatch:
        """Take the rows before a time of those that were read."""
        return self._take(int(self._times.searchsorted(time)))

    def at(self, time: int) -> Iterator[pa.RecordBatch]:
        """Take all rows of a time; earlier ones have been taken."""
        while self.fill() and self._times[0] == time:
            yield self._take(int(self._times.searchsorted(time, side="right")))

    def _take(self, rows: int) -> pa.RecordBatch:
        assert self._batch is not None
        taken = self._batch.slice(0, rows)
        self._batch, self._times = self._batch.slice(rows), self._times[rows:]
        return taken


def _together(batches: Sequence[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of batches in order of time, as one batch."""
    import pyarrow as pa

    some = [batch for batch in batches if batch.num_rows]
    if len(some) < 2:
        yield from some
        return
    table = pa.Table.from_batches(some).combine_chunks()
    (whole,) = table.to_batches()
    yield whole.take(pa.array(_times(whole).argsort(kind="stable")))


def _times(batch: pa.RecordBatch) -> np.ndarray[Any, Any]:
    times: np.ndarray[Any, Any] = batch.column(0).fill_null(_LATEST).to_numpy(zero_copy_only=False)
    return times
