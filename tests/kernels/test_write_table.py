"""Streams as Parquet files: reading back, file layout, and failures."""

from __future__ import annotations

import errno
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import duckdb
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
    made = write_table(str(path), stream(rows, step), ascending=False, group_rows=group)
    assert (made.rows, made.columns) == (len(rows), SCHEMA.names)
    assert pq.read_table(path).to_pylist() == rows
    metadata = pq.read_metadata(path)
    assert [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)] == [
        min(group, len(rows) - at) for at in range(0, len(rows), group)
    ]
    data = path.read_bytes()
    assert (sum(size for _, size, _ in made.parts), made.checksum) == (len(data), zlib.crc32(data))
    at = 0
    for _, size, checksum in made.parts:
        assert zlib.crc32(data[at : at + size]) == checksum
        at += size
    assert {column for column, _, _ in made.parts} == ({-1, *range(len(SCHEMA))} if rows else {-1})


WHOLE = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.integers(-3, 3), st.sampled_from([-(2**63), 2**63 - 1, 2**31, -(2**31)])
)


@bounded(60)
@given(
    part=st.lists(st.none() | WHOLE, min_size=1, max_size=40),
    step=st.integers(0, 2**40),
    number=st.sampled_from([1, 2, 32, 33, 128, 129, 130, 160, 161, 257, 700]),
    is_whole=st.booleans(),
)
def test_whole_numbers_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, part: list[int | None], step: int, number: int, *, is_whole: bool
) -> None:
    def drawn(at: int) -> int | None:
        value = part[at % len(part)]
        if value is None:
            return 0 if is_whole else None
        return (value + at * step + 2**63) % 2**64 - 2**63

    values = [drawn(at) for at in range(number)]
    unsigned = [None if value is None else value % 2**64 for value in values]
    schema = pa.schema([pa.field("n", pa.int64(), not is_whole), pa.field("u", pa.uint64(), not is_whole)])
    batch = pa.RecordBatch.from_pydict({"n": values, "u": unsigned}, schema)
    path = tmp_path_factory.mktemp("store") / "a.parquet"
    write_table(str(path), pa.RecordBatchReader.from_batches(schema, [batch]), ascending=False)
    assert pq.read_table(path).to_pydict() == {"n": values, "u": unsigned}
    assert duckdb.read_parquet(str(path)).fetchall() == list(zip(values, unsigned, strict=True))
    group = pq.read_metadata(path).row_group(0)
    for place, column in enumerate((values, unsigned)):
        known = [value for value in column if value is not None]
        statistics = group.column(place).statistics
        assert statistics.null_count == len(column) - len(known)
        assert not known or (statistics.min, statistics.max) == (min(known), max(known))


def test_few_texts_are_coded_however_varied_the_first_rows_are(tmp_path: Path) -> None:
    texts = [f"text {n}" for n in range(900)]
    array = pa.array([texts[n % len(texts)] for n in range(4000)]).dictionary_encode()
    table = pa.table({"coded": array.cast(pa.dictionary(pa.int32(), pa.string()))})
    write_table(str(tmp_path / "a"), table.to_reader(), ascending=False)
    assert pq.read_metadata(tmp_path / "a").row_group(0).column(0).has_dictionary_page
    assert pq.read_table(tmp_path / "a")["coded"].to_pylist() == array.to_pylist()


def test_objects_get_no_bloom_filter(tmp_path: Path) -> None:
    rows = range(2000)
    table = pa.table({"word": [f"text {n}" for n in rows], "args": [f'{{"n": {n}}}' for n in rows]})
    write_table(str(tmp_path / "a"), table.to_reader(), ascending=False)
    question = f"SELECT path_in_schema, bloom_filter_length FROM parquet_metadata('{tmp_path / 'a'}')"
    lengths = dict(duckdb.execute(question).fetchall())
    assert lengths["word"] > 0
    assert lengths["args"] is None


def test_encodings_follow_from_the_values(tmp_path: Path) -> None:
    rows = [{"_ts": n, "a.b": f"text {n}", "coded": "one", "u": n % 3, "x": n / 7, "ok": True} for n in range(2000)]
    path = tmp_path / "a.parquet"
    write_table(str(path), stream(rows, 500), ascending=True)
    group = pq.read_metadata(path).row_group(0)
    column = {group.column(n).path_in_schema: group.column(n) for n in range(group.num_columns)}
    assert "DELTA_BINARY_PACKED" in column["_ts"].encodings
    assert {name for name, one in column.items() if one.has_dictionary_page} == {"coded", "u", "ok"} - {"ok"}
    assert {name for name, one in column.items() if one.statistics is not None} == set(column) - {"coded", "x"}
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


def test_failures_to_write_or_read_are_errors(tmp_path: Path) -> None:
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
