"""Build the tables of a trace in memory from decoded chunks: whole, or with the rows of some chunks."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from dctv.contracts.chunks import CHUNK_BYTES, FILE, DecodedChunk, TraceMetadata
from dctv.contracts.reader import ChunkReader, LoadContext, LoadedTrace, StoredColumn, TraceTable
from dctv.contracts.sorted_rows import SortedRows
from dctv.record import replace


def load(chunks: ChunkReader, paths: Sequence[Path], context: LoadContext) -> LoadedTrace:
    """Read the files of one trace; `_ts` 0 is the earliest event of all."""
    run = chunks.start(paths, context, None, CHUNK_BYTES)
    rows, hashes = _read(run)
    if run.again():
        hints = run.metadata()
        rows.close()
        run = chunks.start(paths, context, hints, CHUNK_BYTES)
        rows, hashes = _read(run)
    metadata = TraceMetadata(run.metadata(), hashes)
    rest = chunks.rest(metadata)
    return replace(rest, tables={**_tables(chunks, metadata, rows), **rest.tables})


def tables(chunks: ChunkReader, metadata: TraceMetadata, run: Iterable[DecodedChunk]) -> dict[str, TraceTable]:
    """Return the tables of a trace with known metadata, with the rows of some of its chunks."""
    return _tables(chunks, metadata, _read(run)[0])


def _read(run: Iterable[DecodedChunk]) -> tuple[SortedRows, list[tuple[int, str, str, str]]]:
    # Without a limit nothing is written, so there is no folder.
    rows = SortedRows(Path(), sys.maxsize)
    hashes: list[tuple[int, str, str, str]] = []
    for chunk in run:
        hashes += [(chunk.checkpoint.file, *entry) for entry in chunk.hashes]
        rows.add(chunk)
    rows.finish()
    return rows, hashes


def _tables(chunks: ChunkReader, metadata: TraceMetadata, rows: SortedRows) -> dict[str, TraceTable]:
    import pyarrow as pa

    found = {}
    for name, table in chunks.tables(metadata).items():
        with rows.taken(chunks, metadata, name, table.schema) as stream:
            # `pyarrow.table` would import pandas, to check for a data frame.
            data = pa.RecordBatchReader.from_stream(stream).read_all()
            found[name] = replace(table, data=data.unify_dictionaries())
    return found


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
