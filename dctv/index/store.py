"""Collects the rows of decoded chunks, and writes them to a column store: one Parquet file per table, sorted by time.

Beside them stands `events.parquet`: times, names, categories, processes and threads of all events, in the order of the
view `events`. Files are called by numbers, since names of events may be anything.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dctv.contracts.chunks import FILE, DecodedChunk, Known
from dctv.contracts.reader import Chunks, TraceTable
from dctv.index.build import Stored
from dctv.index.stored import EVENTS, EVENTS_FILE, told
from dctv.types.schema import DURATION, TS, Schema

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

GROUP_ROWS = 122_880
"""Rows of a row group: what the engine gives one thread at a time."""

GROUP_BYTES = 64 << 20
"""Bytes of rows in memory that end a row group early."""

MEMORY = 48 << 20
"""Bytes of rows that wait in memory, by default."""

PAGE_BYTES = 8 << 20
"""Bytes of a page at most: a column of a row group mostly is one page, since nobody skips pages."""

SAMPLE = 1024
"""Rows of which a column's encoding is told."""

BLOOM_FROM = 64
"""Distinct texts from which on a Bloom filter pays: the dictionary of fewer is as fast to look through."""

Progress = Callable[[int, int], None]
"""Called with rows done and rows in all; raises Interrupted."""


class StoreSpool:
    """Rows of all chunks of a trace, on their way to its column store."""

    def __init__(self, folder: Path, progress: Progress | None = None, *, memory: int = MEMORY) -> None:
        """Begin to collect; what does not fit into `memory` goes to a file in the folder."""
        from dctv._kernels import EventSpool

        self._folder = folder
        self._memory = memory
        self._progress = progress or (lambda _done, _all: None)
        self._spool = EventSpool(str(folder), memory)

    def add(self, chunk: DecodedChunk) -> None:
        """Take a chunk, in the order of the trace.

        Raises:
            OSError: the folder cannot be written to.
        """
        file = chunk.checkpoint.file
        self._spool.add(file, [(f"raw_events.{name}", batch) for name, batch in chunk.events])
        self._spool.add_others(file, list(chunk.others))

    def write(self, chunks: Chunks, known: Known, folder: Path) -> Sequence[Stored]:
        """Write all tables to a folder that is there; after the last chunk.

        Raises:
            OSError: a folder cannot be written to.
        """
        self._spool.finish()
        tables = chunks.tables(known)
        rows = {name: count for name, count, _ in self._spool.tables()}
        writing = _Writing(folder, self._progress, 2 * sum(rows.get(name, 0) for name in tables))
        every = _Every(self._folder, self._memory // 2) if _pays(tables) else None
        try:
            stored = []
            for number, (name, table) in enumerate(tables.items(), 1):
                batches = self._finished(chunks, known, name, table, found=name in rows)
                if every is not None and table.event is not None:
                    batches = every.seen(batches, table)
                stored.append(writing.table(name, f"{number:04}.parquet", table.schema, batches))
            if every is not None:
                stored.append(writing.table(EVENTS, EVENTS_FILE, None, every.merged()))
        finally:
            writing.close()
            if every is not None:
                every.close()
        return stored

    def _finished(
        self, chunks: Chunks, known: Known, name: str, table: TraceTable, *, found: bool
    ) -> Iterator[pa.RecordBatch]:
        if not found:
            yield _empty(_arrow_schema(table.schema))
            return
        for batch in _batches(self._spool.merged(name)):
            yield chunks.finished(known, name, batch)

    def close(self) -> None:
        """Free everything."""
        self._spool.close()


def _batches(stream: Any) -> Iterator[pa.RecordBatch]:
    """Return the batches of a stream: an empty one if there are none, so that the columns are known."""
    import pyarrow as pa

    reader = pa.RecordBatchReader.from_stream(stream)
    some = False
    for batch in reader:
        some = True
        yield batch
    if not some:
        yield _empty(reader.schema)


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)


def _constant(text: str, rows: int) -> pa.Array:
    """Return a column of one text; made of bytes, since making arrays of Python's values loads pandas."""
    import pyarrow as pa

    encoded = text.encode()
    ends = pa.py_buffer(struct.pack("<2i", 0, len(encoded)))
    dictionary = pa.Array.from_buffers(pa.string(), 1, [None, ends, pa.py_buffer(encoded)])
    keys = pa.Array.from_buffers(pa.int32(), rows, [None, pa.py_buffer(bytes(4 * rows))])
    return pa.DictionaryArray.from_arrays(keys, dictionary)


def _arrow_schema(schema: Schema) -> pa.Schema:
    import pyarrow as pa

    types = {"BIGINT": pa.int64(), "UBIGINT": pa.uint64(), "DOUBLE": pa.float64(), "BOOLEAN": pa.bool_()}
    return pa.schema([(column.name, types.get(column.type, pa.string())) for column in schema.columns])


def _pays(tables: Mapping[str, TraceTable]) -> bool:
    """Whether all events should stand in one file too: where they do not already, and their columns fit."""
    return sum(table.event is not None for table in tables.values()) != 1 and _is_flat(tables)


def _is_flat(tables: Mapping[str, TraceTable]) -> bool:
    """Whether the columns of all events are of the types that they have in `events`, so that no cast can fail."""
    for table in tables.values():
        event = table.event
        if event is None:
            continue
        types = {column.name: column.type for column in table.schema.columns}
        numbers = (event.pid, event.tid, event.duration)
        if any(name is not None and types[name] != "BIGINT" for name in numbers):
            return False
        if event.category is not None and types[event.category] != "VARCHAR":
            return False
    return True


class _Every:
    """Times, names and places of all events: tables come in one after another, each in order of time."""

    def __init__(self, folder: Path, memory: int) -> None:
        from dctv._kernels import EventSpool

        self._spool = EventSpool(str(folder), memory)

    def seen(self, batches: Iterator[pa.RecordBatch], table: TraceTable) -> Iterator[pa.RecordBatch]:
        """Hand batches on, and keep what is to be kept of them."""
        import pyarrow as pa

        event = table.event
        assert event is not None
        sources = {TS: TS, DURATION: event.duration, "category": event.category, "pid": event.pid, "tid": event.tid}
        for batch in batches:
            named = event.named_by
            columns = {"name": _constant(event.name, len(batch)) if named is None else batch.column(named)}
            for target, source in sources.items():
                kind = pa.string() if target == "category" else pa.int64()
                columns[target] = pa.nulls(len(batch), kind) if source is None else batch.column(source)
            self._spool.add(0, [(EVENTS, pa.RecordBatch.from_pydict(columns))])
            yield batch

    def merged(self) -> Iterator[pa.RecordBatch]:
        """Return them in order of time, then of tables, then of rows."""
        import pyarrow as pa

        text, number = (pa.string(), "string"), (pa.int64(), "int64")
        kinds = {TS: number, DURATION: number, "name": text, "category": text, "pid": number, "tid": number}
        self._spool.finish()
        if not self._spool.tables():
            yield _empty(pa.schema([(name, kind) for name, (kind, _) in kinds.items()]))
            return
        for batch in _batches(self._spool.merged(EVENTS, [(name, kind) for name, (_, kind) in kinds.items()])):
            yield batch.drop_columns([FILE])

    def close(self) -> None:
        """Free everything."""
        self._spool.close()


class _Writing:
    """Writes tables, each group of rows in a second thread while the next one is made."""

    def __init__(self, folder: Path, progress: Progress, rows: int) -> None:
        self._folder = folder
        self._progress = progress
        self._rows = rows
        self._done = 0
        self._thread = ThreadPoolExecutor(1)
        self._last: Future[None] | None = None

    def table(self, name: str, file: str, schema: Schema | None, batches: Iterator[pa.RecordBatch]) -> Stored:
        """Write a table; return what is to be known of it."""
        path = self._folder / file
        writer: pq.ParquetWriter | None = None
        rows = 0
        try:
            for group in groups(batches):
                writer = writer or open_writer(path, group, sorted_by_time=schema is None or TS in schema.names)
                self._submit(writer, group)
                rows += len(group)
            self._wait()
        finally:
            self._settle()
            if writer is not None:
                writer.close()
        return Stored(name, file, rows, told(path))

    def _submit(self, writer: pq.ParquetWriter, group: pa.Table) -> None:
        self._wait()
        self._last = self._thread.submit(writer.write_table, group, row_group_size=max(1, len(group)))
        self._done += len(group)
        self._progress(min(self._done, self._rows), self._rows)

    def _wait(self) -> None:
        last, self._last = self._last, None
        if last is not None:
            last.result()

    def _settle(self) -> None:
        """Wait until the thread is idle, whatever came of it."""
        last, self._last = self._last, None
        if last is not None:
            last.exception()

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown()


def groups(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Put batches of one schema together to row groups; there is at least one, which may be empty."""
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    rows = size = 0
    some = False
    for given in batches:
        batch = given if not waiting or given.schema == waiting[0].schema else given.cast(waiting[0].schema)
        waiting.append(batch)
        rows += len(batch)
        size += batch.get_total_buffer_size()
        while rows >= GROUP_ROWS or size >= GROUP_BYTES:
            table = pa.Table.from_batches(waiting)
            some = True
            yield table.slice(0, GROUP_ROWS)
            waiting = table.slice(GROUP_ROWS).to_batches()
            rows, size = max(0, rows - GROUP_ROWS), 0
    if rows or not some:
        yield pa.Table.from_batches(waiting)


def open_writer(path: Path, first: pa.Table, *, sorted_by_time: bool) -> pq.ParquetWriter:
    """Begin a file; encodings and Bloom filters follow from its first row group."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    dictionaries: list[str] = []
    encodings: dict[str, str] = {}
    blooms: dict[str, dict[str, float]] = {}
    statistics: list[str] = []
    for field in first.schema:
        column = first.column(field.name)
        is_text = pa.types.is_string(field.type) or pa.types.is_dictionary(field.type)
        distinct = _distinct(column)
        if field.name not in {TS, DURATION} and distinct * 3 <= min(len(column), SAMPLE):
            dictionaries.append(field.name)
        elif pa.types.is_integer(field.type):
            encodings[field.name] = "DELTA_BINARY_PACKED"
        if not is_text:
            statistics.append(field.name)
        elif distinct >= BLOOM_FROM:
            values = len(column.chunk(0).dictionary) if pa.types.is_dictionary(field.type) else len(column)
            blooms[field.name] = {"ndv": max(1, min(values, GROUP_ROWS)), "fpp": 0.05}
            statistics.append(field.name)
    order = [pq.SortingColumn(0)] if sorted_by_time else None
    return pq.ParquetWriter(
        path,
        first.schema,
        compression="zstd",
        compression_level=1,
        use_dictionary=dictionaries or False,
        column_encoding=encodings or None,
        bloom_filter_options=blooms or None,
        sorting_columns=order,
        write_statistics=statistics or False,
        write_page_checksum=True,
        data_page_size=PAGE_BYTES,
        max_rows_per_page=GROUP_ROWS,
        store_schema=False,
    )


def _distinct(column: pa.ChunkedArray) -> int:
    """Count the values of a sample."""
    import pyarrow as pa

    part = column.slice(0, SAMPLE)
    chunks = [chunk.indices if pa.types.is_dictionary(part.type) else chunk for chunk in part.chunks]
    return len({value for chunk in chunks for value in chunk.to_pylist()})
