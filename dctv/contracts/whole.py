"""Build the tables of a trace in memory from decoded chunks: whole, or with the rows of some chunks."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from dctv.contracts.chunks import CHUNK_BYTES, FILE, DecodedChunk, TraceMetadata
from dctv.contracts.reader import ARROW_TYPES, ChunkReader, LoadContext, LoadedTrace, StoredColumn, TraceTable
from dctv.record import replace
from dctv.types.schema import Kind

RAW = "raw_events."
"""Begins the names of tables of raw events."""

MUCH_TEXT = 1 << 30
"""Columns with at least this many bytes of text have 64-bit offsets: 32-bit ones end at 2 GiB."""

Parts = dict[str, list[Any]]
"""Decoded rows by table, a batch of each chunk."""


def load(chunks: ChunkReader, paths: Sequence[Path], context: LoadContext) -> LoadedTrace:
    """Read the files of one trace; `_ts` 0 is the earliest event of all."""
    run = chunks.start(paths, context, None, CHUNK_BYTES)
    parts, hashes = _read(run)
    if run.again():
        hints = run.metadata()
        parts.clear()
        run = chunks.start(paths, context, hints, CHUNK_BYTES)
        parts, hashes = _read(run)
    metadata = TraceMetadata(run.metadata(), hashes)
    rest = chunks.rest(metadata)
    return replace(rest, tables={**_tables(chunks, metadata, parts), **rest.tables})


def tables(chunks: ChunkReader, metadata: TraceMetadata, run: Iterable[DecodedChunk]) -> dict[str, TraceTable]:
    """Return the tables of a trace with known metadata, with the rows of some of its chunks."""
    return _tables(chunks, metadata, _read(run)[0])


def _read(run: Iterable[DecodedChunk]) -> tuple[Parts, list[tuple[int, str, str, str]]]:
    import pyarrow as pa

    parts: Parts = {}
    hashes: list[tuple[int, str, str, str]] = []
    for chunk in run:
        number = chunk.checkpoint.file
        hashes += [(number, *entry) for entry in chunk.hashes]
        for name, rows in [*((f"{RAW}{name}", rows) for name, rows in chunk.events), *chunk.others]:
            batch = pa.record_batch(rows)
            file = pa.repeat(_numbers([number])[0], batch.num_rows)
            parts.setdefault(name, []).append(batch.append_column(FILE, file))
    return parts, hashes


def _tables(chunks: ChunkReader, metadata: TraceMetadata, parts: Parts) -> dict[str, TraceTable]:
    found = {}
    for name, table in chunks.tables(metadata).items():
        batches = [chunks.finished(metadata, name, batch) for batch in parts.pop(name, ())]
        data = joined(table, batches)
        found[name] = replace(table, data=data if table.schema.kind is Kind.REGULAR else in_time(data))
    return found


def joined(table: TraceTable, batches: Sequence[Any]) -> Any:
    """Put batches below each other that differ in nothing but in how they hold texts."""
    import pyarrow as pa

    fields = []
    for place, column in enumerate(table.schema.columns):
        arrays = [batch.column(place) for batch in batches]
        plain = pa.field(column.name, ARROW_TYPES.get(column.type, "string"))
        if sum(array.nbytes for array in arrays if pa.types.is_string(array.type)) > MUCH_TEXT:
            plain = pa.field(column.name, pa.large_string())
        same = arrays and all(array.type == arrays[0].type for array in arrays)
        coded = same and pa.types.is_dictionary(arrays[0].type)
        fields.append(pa.field(column.name, arrays[0].type) if coded else plain)
    schema = pa.schema(fields)
    return pa.Table.from_batches([batch.cast(schema) for batch in batches], schema).unify_dictionaries()


def in_time(data: Any) -> Any:
    """Return an Arrow table sorted by time; equal times stay in order."""
    import pyarrow as pa
    from pyarrow import compute

    if len(data) < 2:
        return data
    times = data.column(0).combine_chunks()
    if compute.all(compute.less_equal(times[:-1], times[1:])).as_py():
        return data
    order = compute.sort_indices(times)
    # `take` of many chunks is four times as slow. Columns are combined one by one, so each reuses memory of the last.
    arrays = [column.combine_chunks().take(order) for column in data.columns]
    return pa.Table.from_arrays(arrays, schema=data.schema)


def finished_by(
    stored: Callable[[TraceMetadata, str], Sequence[StoredColumn]], metadata: TraceMetadata, table: str, batch: Any
) -> Any:
    """Convert decoded rows of a table, `FILE` last, to its columns by renaming and adding offsets only."""
    import pyarrow as pa
    from pyarrow import compute

    decoded = dict(zip(batch.schema.names, batch.columns, strict=True))
    columns = stored(metadata, table)
    arrays = []
    for column in columns:
        kind = pa.field("", column.type).type
        values = decoded.get(column.decoded)
        if values is None:
            values = pa.nulls(batch.num_rows, kind)
        elif values.type != kind and not (pa.types.is_string(kind) and pa.types.is_dictionary(values.type)):
            values = values.cast(kind)
        if column.added:
            added = _numbers(column.added)
            values = compute.add(values, added[0] if len(added) == 1 else added.take(decoded[FILE]))
        arrays.append(values)
    return pa.RecordBatch.from_arrays(arrays, names=[column.name for column in columns])


def _numbers(values: Sequence[int]) -> Any:
    """Return an array; `pyarrow.array` would import pandas to see whether it is given something of that."""
    import pyarrow as pa

    return pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(array("q", values))])
