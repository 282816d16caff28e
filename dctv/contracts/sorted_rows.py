"""Collect the rows of decoded chunks, and return each table of the trace sorted by time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dctv.contracts.chunks import RAW, DecodedChunk, TraceMetadata
from dctv.contracts.reader import ARROW_TYPES, ChunkReader
from dctv.types.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa


class SortedRows:
    """The rows of all chunks of a trace, by table."""

    def __init__(self, folder: Path, memory: int) -> None:
        """Create a sorter; rows that do not fit into `memory` bytes go to a file in the folder."""
        from dctv._kernels import EventSorter

        self._sorter = EventSorter(str(folder), memory)
        self.counts: dict[str, int] = {}
        """The number of rows of each table of a chunk, after `finish`."""

    def add(self, chunk: DecodedChunk) -> None:
        """Add a chunk, in trace order.

        Raises:
            OSError: the folder cannot be written to.
        """
        file = chunk.checkpoint.file
        self._sorter.add(file, [(f"{RAW}{name}", batch) for name, batch in chunk.events])
        self._sorter.add_others(file, list(chunk.others))

    def finish(self) -> None:
        """Declare that no chunks follow.

        Raises:
            OSError: the folder cannot be written to.
        """
        self._sorter.finish()
        self.counts = {name: rows for name, rows, _ in self._sorter.tables()}

    @contextmanager
    def taken(self, chunks: ChunkReader, metadata: TraceMetadata, name: str, schema: Schema) -> Iterator[Any]:
        """Take a table out; yield the stream of its final rows, and raise the error that ends the stream."""
        if chunks.stored is not None:
            columns = [(one.name, one.type, one.decoded, one.added) for one in chunks.stored(metadata, name)]
            yield self._sorter.merged(name, columns)
            return
        if not self.counts.get(name):
            shown = [(one.name, ARROW_TYPES.get(one.type, "string"), one.name, ()) for one in schema.columns]
            yield self._sorter.merged(name, shown)
            return
        finished = _Finished(chunks, metadata, name, self._sorter.merged(name))
        try:
            yield finished.stream()
        except Exception:
            if finished.error is not None:
                raise finished.error from None
            raise

    def close(self) -> None:
        """Release everything; streams that were taken can still be read."""
        self._sorter.close()


class _Finished:
    """The rows of a table as its format finishes them."""

    def __init__(self, chunks: ChunkReader, metadata: TraceMetadata, name: str, rows: Any) -> None:
        self._chunks = chunks
        self._metadata = metadata
        self._name = name
        self._rows = rows
        self.error: BaseException | None = None
        """The error of finishing: a stream passes only its text."""

    def stream(self) -> pa.RecordBatchReader:
        import pyarrow as pa

        batches = self._batches(pa.RecordBatchReader.from_stream(self._rows))
        first = next(batches)
        return pa.RecordBatchReader.from_batches(first.schema, _of_one_schema(first, batches))

    def _batches(self, reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
        try:
            for batch in reader:
                yield self._chunks.finished(self._metadata, self._name, batch)
        except (Exception, KeyboardInterrupt) as error:
            self.error = error
            raise


def _of_one_schema(first: pa.RecordBatch, rest: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    for batch in rest:
        yield batch if batch.schema == first.schema else batch.cast(first.schema)
