"""The rows of chunks become one table in order of time, however each chunk holds its texts."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pyarrow as pa
import pytest

from dctv.contracts.chunks import RAW, Checkpoint, DecodedChunk, TraceMetadata
from dctv.contracts.reader import ChunkReader, LoadedTrace, StoredColumn, TraceTable
from dctv.contracts.whole import finished_by, tables
from dctv.types.schema import TS, ColumnType, Kind, Schema

TABLE = TraceTable(Schema(Kind.EVENT, (ColumnType(TS, "BIGINT"), ColumnType("text", "VARCHAR"))), None)
METADATA = TraceMetadata({"start_ns": 10}, ())


def stored(_metadata: TraceMetadata, _table: str) -> list[StoredColumn]:
    return [StoredColumn(TS, "int64", TS, (-10,)), StoredColumn("text", "string", "text")]


CHUNKS = ChunkReader(
    dimensions={},
    start=lambda *_: pytest.fail("the chunks are given"),
    tables=lambda _: {f"{RAW}x": TABLE},
    finished=partial(finished_by, stored),
    lineage=lambda *_: {},
    rest=lambda _: LoadedTrace({}, (), 0),
    decode=None,
    stored=stored,
)


def chunk(number: int, times: list[int], texts: list[str | None], *, coded: bool) -> DecodedChunk:
    array = pa.array(texts, pa.string())
    rows = pa.record_batch([pa.array(times, pa.int64()), array.dictionary_encode() if coded else array], [TS, "text"])
    return DecodedChunk(Checkpoint(0, number, 0, 0, 0, 0, 0, None, 0, 0, len(times), packed=False), [("x", rows)])


@pytest.mark.parametrize("coded", [(False, False), (True, False), (False, True), (True, True)])
def test_texts_of_several_chunks(coded: tuple[bool, bool]) -> None:
    run = [chunk(0, [10, 11, 12], ["a", None, "b"], coded=coded[0]), chunk(1, [13, 14], ["b", "c"], coded=coded[1])]
    data = tables(CHUNKS, METADATA, run)[f"{RAW}x"].data
    assert data.to_pydict() == {TS: [0, 1, 2, 3, 4], "text": ["a", None, "b", "b", "c"]}


def test_no_chunk() -> None:
    data = tables(CHUNKS, METADATA, [])[f"{RAW}x"].data
    assert (data.num_rows, data.schema.types) == (0, [pa.int64(), pa.string()])


def test_a_chunk_without_rows() -> None:
    data = tables(replace(CHUNKS, stored=None), METADATA, [chunk(0, [], [], coded=False)])[f"{RAW}x"].data
    assert (data.num_rows, data.schema.types) == (0, [pa.int64(), pa.string()])


def test_equal_times_stay_in_order() -> None:
    run = [chunk(0, [13, 11], ["a", "b"], coded=False), chunk(1, [13, 11], ["c", "d"], coded=False)]
    data = tables(CHUNKS, METADATA, run)[f"{RAW}x"].data
    assert data.to_pydict() == {TS: [1, 1, 3, 3], "text": ["b", "d", "a", "c"]}
