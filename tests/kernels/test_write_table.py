"""Streams -> Parquet files: what is read back, how files are laid out, and what goes wrong."""

from __future__ import annotations

import errno
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv._kernels import write_table
from tests.bounds import bounded

SCHEMA = pa.schema(
    {
        "_ts": pa.int64(),
        "a.b": pa.string(),
        "coded": pa.dictionary(pa.int32(), pa.string()),
        "u": pa.uint64(),
        "x": pa.float64(),
        "ok": pa.bool_(),
    }
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "_ts": st.integers(-(2**63), 2**63 - 1),
            "a.b": st.none() | st.text(st.characters(codec="utf-8"), max_size=5),
            "coded": st.none() | st.sampled_from(["", "é", "one"]),
            "u": st.none() | st.integers(0, 2**64 - 1),
            "x": st.none() | st.floats(allow_nan=False),
            "ok": st.none() | st.booleans(),
        }
    ),
    max_size=40,
)


def stream(rows: Sequence[Mapping[str, object]], step: int) -> pa.RecordBatchReader:
    batches = [pa.RecordBatch.from_pylist(list(rows[at : at + step]), SCHEMA) for at in range(0, len(rows), step)]
    return pa.RecordBatchReader.from_batches(SCHEMA, batches)


@bounded(80)
@given(rows=ROWS, step=st.integers(1, 50), group=st.sampled_from([1, 3, 1000]))
def test_rows_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, object]], step: int, group: int
) -> None:
    path = tmp_path_factory.mktemp("store") / "a.parquet"
    count, columns, parts = write_table(str(path), stream(rows, step), ascending=False, group_rows=group)
    assert (count, columns) == (len(rows), SCHEMA.names)
    assert pq.read_table(path).to_pylist() == rows
    metadata = pq.read_metadata(path)
    assert [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)] == [
        min(group, len(rows) - at) for at in range(0, len(rows), group)
    ]
    data = path.read_bytes()
    assert sum(size for _, size, _ in parts) == len(data)
    at = 0
    for _, size, checksum in parts:
        assert zlib.crc32(data[at : at + size]) == checksum
        at += size
    assert {column for column, _, _ in parts} == ({-1, *range(len(SCHEMA))} if rows else {-1})


def test_encodings_follow_from_the_values(tmp_path: Path) -> None:
    rows = [{"_ts": n, "a.b": f"text {n}", "coded": "one", "u": n % 3, "x": n / 7, "ok": True} for n in range(2000)]
    path = tmp_path / "a.parquet"
    write_table(str(path), stream(rows, 500), ascending=True)
    group = pq.read_metadata(path).row_group(0)
    column = {group.column(n).path_in_schema: group.column(n) for n in range(group.num_columns)}
    assert "DELTA_BINARY_PACKED" in column["_ts"].encodings
    assert {name for name, one in column.items() if one.has_dictionary_page} == {"coded", "u", "ok"} - {"ok"}
    assert {name for name, one in column.items() if one.statistics is not None} == set(column) - {"coded"}
    assert {one.compression for one in column.values()} == {"ZSTD"}
    assert [order.column_index for order in group.sorting_columns] == [0]


def test_rows_are_reported_and_a_report_can_end_it(tmp_path: Path) -> None:
    rows = [{"_ts": n} for n in range(10)]
    seen: list[int] = []
    write_table(str(tmp_path / "a"), stream(rows, 4), ascending=True, progress=seen.append)
    assert seen == [4, 4, 2]

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_table(str(tmp_path / "b"), stream(rows, 4), ascending=True, progress=stop)


def test_what_cannot_be_written_or_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="cannot write") as missing:
        write_table(str(tmp_path / "no" / "a"), stream([], 1), ascending=True)
    assert missing.value.errno == errno.ENOENT
    (tmp_path / "there").touch()
    with pytest.raises(OSError, match="cannot write") as there:
        write_table(str(tmp_path / "there"), stream([], 1), ascending=True)
    assert there.value.errno == errno.EEXIST
    with pytest.raises(OSError, match="cannot write") as full:
        write_table("/dev/full/x", stream([], 1), ascending=True)
    assert full.value.errno == errno.ENOTDIR

    def broken() -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pylist([{"_ts": 1}], SCHEMA)
        raise ValueError("no more rows")

    with pytest.raises(ValueError, match="no more rows"):
        write_table(str(tmp_path / "b"), pa.RecordBatchReader.from_batches(SCHEMA, broken()), ascending=True)
