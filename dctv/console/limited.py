"""Limit a result to its first rows, and find out whether there are more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dctv.contracts.writer import ResultRows
from dctv.types.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa


class Limited:
    """The first rows of a result; the rest is not read."""

    def __init__(self, rows: ResultRows, limit: int) -> None:
        self._rows = rows
        self._limit = limit
        self.cut: bool = False
        """Whether there are more rows; known once these have been read."""

    @property
    def schema(self) -> Schema:
        """Names, types and units of the columns."""
        return self._rows.schema

    def chunks(self) -> Iterator[list[list[object]]]:
        """Yield batches as one list of Python values per column."""
        left = self._limit
        for chunk in self._rows.chunks():
            count = len(chunk[0])
            self.cut = count > left
            if left and count:
                yield [values[:left] for values in chunk]
            if self.cut:
                return
            left -= count

    def reader(self) -> pa.RecordBatchReader:
        """Return the batches as Arrow."""
        import pyarrow as pa

        whole = self._rows.reader()
        return pa.RecordBatchReader.from_batches(whole.schema, self._batches(whole))

    def _batches(self, whole: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
        left = self._limit
        for batch in whole:
            self.cut = batch.num_rows > left
            yield batch.slice(0, left)
            if self.cut:
                return
            left -= batch.num_rows
