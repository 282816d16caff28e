"""Arrow streams read as Python values, against pyarrow's own conversion and the engine's texts."""

from __future__ import annotations

import decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from dctv import _kernels as kernels


def columns(table: pa.Table) -> list[list[Any]]:
    """Join the batches' lists."""
    out: list[list[Any]] = [[] for _ in table.schema]
    for batch in kernels.rows(table):
        for column, values in zip(out, batch, strict=True):
            column.extend(values)
    return out


SAME: list[tuple[pa.DataType, list[Any]]] = [
    (pa.int8(), [-128, None, 127]),
    (pa.int64(), [-(1 << 63), (1 << 63) - 1, None]),
    (pa.uint64(), [(1 << 64) - 1, 0, None]),
    (pa.float32(), [0.5, None, -1.0]),
    (pa.float64(), [1e300, None, float("inf")]),
    (pa.bool_(), [True, None, False]),
    (pa.string(), ["", "å∂ƒ", None, "a\0b"]),
    (pa.large_string(), ["x", None]),
    (pa.string_view(), ["short", "a text that is longer than twelve bytes", None]),
    (pa.binary(), [b"\0\xff", None, b""]),
    (pa.binary(2), [b"ab", None]),
    (pa.dictionary(pa.int8(), pa.string()), ["a", None, "b", "a"]),
    (pa.decimal128(10, 2), [decimal.Decimal("-1.50"), None, decimal.Decimal("0.00")]),
    (pa.decimal256(60, 0), [decimal.Decimal(10**50), None]),
    (pa.list_(pa.int16()), [[1, None], [], None]),
    (pa.large_list(pa.string()), [["a"], None]),
    (pa.list_(pa.int8(), 2), [[1, 2], None]),
    (pa.struct([("a", pa.int8()), ("b", pa.list_(pa.string()))]), [{"a": 1, "b": ["x"]}, None, {"a": None, "b": None}]),
    (pa.null(), [None, None]),
]


@pytest.mark.parametrize(("kind", "values"), SAME, ids=lambda value: str(value)[:30])
def test_values(kind: pa.DataType, values: list[Any]) -> None:
    table = pa.table({"x": pa.array(values, kind)})
    assert columns(table) == [values]
    assert columns(table.slice(1)) == [values[1:]]
    assert [type(value) for value in columns(table)[0]] == [type(value) for value in values]


def test_maps() -> None:
    table = pa.table({"x": pa.array([[("a", 1), ("b", None)], None, []], pa.map_(pa.string(), pa.int8()))})
    assert columns(table) == [[{"a": 1, "b": None}, None, {}]]


TEXTS = [
    "DATE '1999-01-02'",
    "DATE '0044-03-15 (BC)'",
    "DATE '12345-12-31'",
    "DATE '2000-02-29'",
    "DATE '1900-03-01'",
    "DATE 'infinity'",
    "DATE '-infinity'",
    "TIME '01:02:03.5'",
    "TIME '23:59:59'",
    "TIMESTAMP '1999-01-02 03:04:05.678'",
    "TIMESTAMP '1969-12-31 23:59:59.000001'",
    "TIMESTAMP '0044-03-15 (BC) 01:02:03'",
    "TIMESTAMP 'infinity'",
    "TIMESTAMP_S '1999-01-02 03:04:05'",
    "TIMESTAMP_MS '1999-01-02 03:04:05.12'",
    "TIMESTAMP_NS '1999-01-02 03:04:05.123456789'",
    "TIMESTAMPTZ '1999-01-02 03:04:05.5+00'",
    "TIMESTAMPTZ '1999-07-02 23:04:05+00'",
    "INTERVAL '1 year 2 months 3 days 04:05:06.789'",
    "INTERVAL '-1 day'",
    "INTERVAL '0 day'",
    "INTERVAL '-5 seconds'",
    "INTERVAL '1 month -3 days -00:00:01.5'",
    "INTERVAL '100 hours'",
    "INTERVAL '-25 months'",
]


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata", "America/New_York"])
def test_times_look_as_the_engine_prints_them(zone: str) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"SET TimeZone = '{zone}'")
        for text in TEXTS:
            [(wanted,)] = connection.sql(f"SELECT ({text})::VARCHAR").fetchall()
            assert columns(connection.sql(f"SELECT {text} AS x").to_arrow_table()) == [[wanted]], text


def test_schema() -> None:
    table = pa.table({"a": pa.array([1], pa.int64()), "b": pa.array(["x"], pa.string())})
    wanted = [("a", "Int64"), ("b", "Utf8")]
    assert kernels.schema(table.schema) == kernels.rows(table).schema == wanted


def test_a_failing_stream_raises() -> None:
    def batches() -> Any:
        yield pa.record_batch({"x": [1]})
        message = "disk is gone"
        raise RuntimeError(message)

    reader = pa.RecordBatchReader.from_batches(pa.schema([("x", pa.int64())]), batches())
    found = kernels.rows(reader)
    assert next(found) == [[1]]
    with pytest.raises(ValueError, match="disk is gone"):
        next(found)
    assert list(found) == []
