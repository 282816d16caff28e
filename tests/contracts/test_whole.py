"""Batches of chunks become one table, however each of them holds its texts."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dctv.contracts import whole
from dctv.contracts.reader import TraceTable
from dctv.types.schema import TS, ColumnType, Kind, Schema

TABLE = TraceTable(Schema(Kind.EVENT, (ColumnType(TS, "BIGINT"), ColumnType("text", "VARCHAR"))), None)
TEXTS: list[list[str | None]] = [["a", None, "b"], ["b", "c", "c"]]


def batch(texts: list[str | None], *, coded: bool) -> pa.RecordBatch:
    array = pa.array(texts, pa.string())
    times = pa.array(range(len(texts)), pa.int64())
    return pa.record_batch([times, array.dictionary_encode() if coded else array], [TS, "text"])


@pytest.mark.parametrize("coded", [(False, False), (True, False), (False, True), (True, True)])
def test_texts_of_several_chunks(coded: tuple[bool, bool]) -> None:
    batches = [batch(texts, coded=one) for texts, one in zip(TEXTS, coded, strict=True)]
    data = whole.joined(TABLE, batches)
    assert data.column("text").to_pylist() == TEXTS[0] + TEXTS[1]
    assert pa.types.is_dictionary(data.schema.field("text").type) is all(coded)


def test_no_chunk() -> None:
    data = whole.joined(TABLE, [])
    assert (data.num_rows, data.schema.types) == (0, [pa.int64(), pa.string()])


def test_much_text_gets_long_offsets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "MUCH_TEXT", 8)
    data = whole.joined(TABLE, [batch(texts, coded=False) for texts in TEXTS])
    assert data.schema.field("text").type == pa.large_string()
    assert data.column("text").to_pylist() == TEXTS[0] + TEXTS[1]


def test_equal_times_stay_in_order() -> None:
    times = pa.array([3, 1, 3, 1], pa.int64())
    data = whole.in_time(pa.table([times, pa.array(["a", "b", "c", "d"])], [TS, "text"]))
    assert data.column("text").to_pylist() == ["b", "d", "a", "c"]
