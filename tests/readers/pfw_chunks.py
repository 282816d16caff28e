"""The chunks of a DFTracer trace, put together again by the slowest and plainest means, against the whole load."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from dctv.contracts.chunks import FILE, LINE, DecodedChunk, TraceMetadata
from dctv.contracts.reader import LoadContext, LoadedTrace, TraceTable
from dctv.readers.dftracer import READER
from dctv.readers.dftracer_rows import chunks as dftracer_chunks

CHUNKS = dftracer_chunks.CHUNKS
CONTEXT = LoadContext({}, 2, lambda _done, _total: None)
assert CHUNKS.decode is not None
DECODE = CHUNKS.decode
TYPES = {"int": pa.int64(), "uint": pa.uint64(), "float": pa.float64(), "bool": pa.bool_()}

Passed = tuple[list[DecodedChunk], TraceMetadata]


def passed(paths: Sequence[Path], chunk_bytes: int) -> Passed:
    """All chunks of a pass that need not be done again, and the metadata then, which has been JSON between."""
    first = dftracer_chunks.start(paths, CONTEXT, None, chunk_bytes)
    chunks = list(first)
    entries = json.loads(json.dumps(first.metadata()))
    if first.again():
        second = dftracer_chunks.start(paths, CONTEXT, entries, chunk_bytes)
        chunks = list(second)
        assert not second.again()
        entries = json.loads(json.dumps(second.metadata()))
    hashes = [(chunk.checkpoint.file, *one_hash) for chunk in chunks for one_hash in chunk.hashes]
    return chunks, TraceMetadata(entries, hashes)


def final_type(kind: str) -> pa.DataType:
    """The Arrow type of a kind of values."""
    return TYPES.get(kind, pa.string())


def merged(name: str, batches: list[tuple[int, Any]], columns: Sequence[dict[str, Any]]) -> pa.RecordBatch:
    """Rows of many chunks under one schema, with the file of each, in order of time."""
    fields = [
        (c["name"], final_type(c["kind"])) for c in columns if any(c["name"] in b.schema.names for _, b in batches)
    ]
    tables = []
    for file, batch in batches:
        rows = batch.num_rows
        arrays = [
            plain(batch.column(column)).cast(kind) if column in batch.schema.names else pa.nulls(rows, kind)
            for column, kind in fields
        ]
        arrays.append(pa.array([file] * rows, pa.uint32()))
        tables.append(pa.table(arrays, names=[column for column, _ in fields] + [FILE]))
    whole = pa.concat_tables(tables)
    if "_ts" in whole.column_names and name != "metadata":
        times = whole.column("_ts").to_pylist()
        whole = whole.take(sorted(range(len(times)), key=times.__getitem__))
    return whole.combine_chunks().to_batches()[0]


def plain(array: Any) -> Any:
    """An array without a dictionary."""
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def gathered(chunks: Sequence[DecodedChunk], metadata: TraceMetadata) -> dict[str, Any]:
    """All tables as lists of columns."""
    tables: dict[str, list[tuple[int, Any]]] = {}
    for chunk in chunks:
        for name, batch in chunk.events:
            assert batch.schema.names[-1] == LINE
            kept = batch.drop_columns([LINE])
            tables.setdefault(f"raw_events.{name}", []).append((chunk.checkpoint.file, kept))
        for name, batch in chunk.others:
            tables.setdefault(name, []).append((chunk.checkpoint.file, batch))
    columns = {f"raw_events.{event['name']}": event["columns"] for event in metadata.entries["events"]}
    columns["metadata"] = metadata.entries["metadata"]
    return {
        name: CHUNKS.finished(metadata, name, merged(name, batches, columns[name])) for name, batches in tables.items()
    }


def plain_rows(table: TraceTable) -> list[dict[str, Any]]:
    """The rows of a small table, which has no Arrow table."""
    assert table.rows is not None
    return [dict(zip(table.schema.names, row, strict=True)) for row in table.rows()]


def rows(table: TraceTable) -> Any:
    """The rows of a table that has some, or none."""
    assert table.data is not None
    return table.data


def shown(data: Any) -> list[tuple[str, str, list[Any]]]:
    """Columns of a table with their types and values, dictionaries or not."""
    found = []
    for name, column in zip(data.schema.names, data.columns, strict=True):
        values = column.to_pylist()
        kind = "string" if pa.types.is_dictionary(column.type) else str(column.type)
        found.append((name, kind, [repr(value) for value in values]))
    return found


def assert_equal(paths: Sequence[Path], chunk_bytes: int, whole: LoadedTrace | None = None) -> Passed:
    """The pass over these files gives what the whole load gives."""
    whole = whole or READER.load(paths, CONTEXT)
    chunks, metadata = passed(paths, chunk_bytes)
    tables = dict(CHUNKS.tables(metadata))
    rest = CHUNKS.rest(metadata)
    assert [*tables, *rest.tables] == list(whole.tables)
    found = gathered(chunks, metadata)
    for name, table in whole.tables.items():
        if name in rest.tables:
            assert rest.tables[name].schema == table.schema
            assert plain_rows(rest.tables[name]) == plain_rows(table)
            continue
        assert tables[name].schema == table.schema
        assert tables[name].event == table.event
        assert tables[name].data is None
        if name in found:
            assert shown(found[name]) == shown(table.data), name
        else:
            assert rows(table).num_rows == 0
            assert shown(DECODE(paths, [], metadata, CONTEXT)[name].data) == shown(table.data)
    assert rest.diagnostics == whole.diagnostics
    assert (rest.last_ts, rest.properties) == (whole.last_ts, whole.properties)
    return chunks, metadata


def assert_lines(paths: Sequence[Path], texts: Sequence[bytes], chunks: Sequence[DecodedChunk]) -> None:
    """Chunks follow one another, and each line of them is an event or stands among the other lines."""
    ends = [0] * len(paths)
    lines = [0] * len(paths)
    for chunk in chunks:
        place = chunk.checkpoint
        assert (place.uc_offset, place.first_line) == (ends[place.file], lines[place.file])
        ends[place.file] += place.uc_size
        lines[place.file] += place.lines
        numbers = [n for _, batch in chunk.events for n in batch.column(LINE).to_pylist()]
        for packed in chunk.other_lines.values():
            numbers += list(memoryview(packed).cast("I"))
        assert sorted(numbers) == list(range(place.lines))
    assert ends == [len(text) for text in texts]


def assert_decode(
    paths: Sequence[Path], chosen: Sequence[DecodedChunk], metadata: TraceMetadata, whole: LoadedTrace
) -> None:
    """Single chunks decoded again give the rows of the whole load that stand in them."""
    tables = DECODE(paths, [chunk.checkpoint for chunk in chosen], metadata, CONTEXT)
    assert list(tables) == [name for name in whole.tables if name != "files"]
    found = gathered(chosen, metadata)
    for name, table in tables.items():
        assert table.schema == whole.tables[name].schema
        assert table.event == whole.tables[name].event
        expected = found[name] if name in found else rows(whole.tables[name]).slice(0, 0)
        assert shown(table.data) == shown(expected), name
