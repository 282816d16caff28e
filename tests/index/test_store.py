"""From chunks in a column store, the engine reads the same rows, types and order; damage never goes unnoticed."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.contracts.chunks import Checkpoint, DecodedChunk, TraceMetadata
from dctv.contracts.reader import ChunkReader, EventColumns, TraceTable
from dctv.engines.sql.duckdb import write
from dctv.errors import Interrupted
from dctv.index import store
from dctv.index.build import WrittenTable
from dctv.index.store import StoreSorter
from dctv.index.stored import EVENTS, damage, relation, stored_metadata
from dctv.types.schema import ColumnType, Kind, Schema
from tests.bounds import bounded

START = 1_700_000_000_000_000_000
COLUMNS = {"_ts": "BIGINT", "dur": "BIGINT", "cat": "VARCHAR", "pid": "BIGINT", "tid": "BIGINT"}
ARGS = {"size": "UBIGINT", "ratio": "DOUBLE", "ok": "BOOLEAN", "path": "VARCHAR"}
ARROW = {
    "BIGINT": pa.int64(),
    "UBIGINT": pa.uint64(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "VARCHAR": pa.string(),
}

Row = dict[str, Any]


def batch(rows: list[Row], types: Mapping[str, str]) -> pa.RecordBatch:
    names = [name for name in types if name in ("_ts", "cat") or any(row.get(name) is not None for row in rows)]
    columns = {name: pa.array([row.get(name) for row in rows], ARROW[types[name]]) for name in names}
    for name in ("cat", "path"):
        if name in columns:
            columns[name] = columns[name].dictionary_encode()
    return pa.RecordBatch.from_pydict(columns)


def schema(types: Mapping[str, str], kind: Kind = Kind.EVENT) -> Schema:
    return Schema(kind, tuple(ColumnType(name, one) for name, one in types.items()))


class Format:
    """A format with tables `a` and `b` of events, and `metadata`."""

    types: Mapping[str, str] = COLUMNS | ARGS
    meta: Mapping[str, str] = {"key": "VARCHAR", "value": "BIGINT"}

    def tables(self, _: TraceMetadata) -> Mapping[str, TraceTable]:
        tables = {}
        for name in ("b", "a.x"):
            event = EventColumns(name, category="cat", pid="pid", tid="tid", duration="dur")
            tables[f"raw_events.{name}"] = TraceTable(schema(self.types), None, event)
        return {**tables, "metadata": TraceTable(schema(self.meta, Kind.REGULAR), None)}

    def finished(self, _: TraceMetadata, table: str, rows: pa.RecordBatch) -> pa.RecordBatch:
        types = self.meta if table == "metadata" else self.types
        found = {}
        for name, kind in types.items():
            column = rows.column(name) if name in rows.schema.names else pa.nulls(len(rows), ARROW[kind])
            plain = column if not pa.types.is_null(column.type) else column.cast(ARROW[kind])
            found[name] = plain.cast(ARROW[kind]) if column.null_count == len(column) else plain
        if "_ts" in found:
            found["_ts"] = pa.array([time - START for time in found["_ts"].to_pylist()], pa.int64())
        return pa.RecordBatch.from_pydict(found)

    def chunks(self) -> ChunkReader:
        def unused(*_: Any) -> Any:
            raise AssertionError

        return ChunkReader({}, unused, self.tables, self.finished, unused, unused, unused)


def chunk(file: int, events: Mapping[str, list[Row]], others: list[Row], types: Mapping[str, str]) -> DecodedChunk:
    place = Checkpoint(file, 0, 0, 0, 0, 0, 0, None, 0, 0, 0, packed=False)
    decoded = [(name, batch(rows, types)) for name, rows in events.items() if rows]
    meta = pa.RecordBatch.from_pylist(others, pa.schema([("key", pa.string()), ("value", pa.int64())]))
    return DecodedChunk(place, decoded, [("metadata", meta)] if others else [])


def build(
    folder: Path, chunks: list[DecodedChunk], form: Format, memory: int = 1 << 20
) -> dict[str, tuple[Path, WrittenTable]]:
    sorter = StoreSorter(folder / "runs", lambda _done, _all: None, memory=memory)
    for one in chunks:
        sorter.add(one)
    (folder / "store").mkdir(parents=True)
    stored = sorter.write(form.chunks(), TraceMetadata({"start_ns": START}, ()), folder / "store")
    sorter.close()
    return {one.name: (folder / "store" / one.file, one) for one in stored}


def rows_of(path: Path, names: list[str]) -> list[tuple[Any, ...]]:
    return duckdb.execute(write(relation(path, names))).fetchall()


TIMES = st.integers(0, 9) | st.integers(0, 10**12)
ROWS = st.fixed_dictionaries(
    {"_ts": TIMES.map(lambda time: START + time), "cat": st.sampled_from(["POSIX", "é", None])},
    optional={
        "dur": st.integers(0, 2**62),
        "pid": st.integers(0, 2**31),
        "tid": st.integers(-5, 5),
        "size": st.integers(0, 2**64 - 1),
        "ratio": st.floats(allow_nan=False, allow_infinity=False),
        "ok": st.booleans(),
        "path": st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=9),
    },
)
META = st.fixed_dictionaries({"key": st.sampled_from("xyz"), "value": st.none() | st.integers(-9, 9)})
CHUNKS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.dictionaries(st.sampled_from(["a.x", "b"]), st.lists(ROWS, max_size=6)),
        st.lists(META, max_size=3),
    ),
    max_size=6,
)


@bounded(60)
@given(chunks=CHUNKS, memory=st.sampled_from([0, 1 << 20]), group=st.sampled_from([2, 5, 1000]))
def test_stored_rows_are_read_back(
    tmp_path_factory: pytest.TempPathFactory,
    chunks: list[tuple[int, dict[str, list[Row]], list[Row]]],
    memory: int,
    group: int,
) -> None:
    form = Format()
    folder = tmp_path_factory.mktemp("trace") / "index=1[*]?'x"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "GROUP_ROWS", group)
        found = build(folder, [chunk(*one, form.types) for one in chunks], form, memory)
    assert list(found) == ["raw_events.b", "raw_events.a.x", "metadata", "events"]
    every = []
    for number, name in enumerate(["b", "a.x"]):
        rows = [row for _, events, _ in chunks for row in events.get(name, [])]
        rows.sort(key=lambda row: int(row["_ts"]))
        path, metadata = found[f"raw_events.{name}"]
        assert rows_of(path, list(form.types)) == [
            tuple(row.get(c) if c != "_ts" else row["_ts"] - START for c in form.types) for row in rows
        ]
        assert metadata.rows == len(rows)
        each = enumerate(rows)
        every += [
            (row["_ts"] - START, number, at, (row.get("dur"), name, row.get("cat"), row.get("pid"), row.get("tid")))
            for at, row in each
        ]
    meta = [(row["key"], row["value"]) for _, _, others in chunks for row in others]
    assert rows_of(found["metadata"][0], ["key", "value"]) == meta
    flat = rows_of(found[EVENTS][0], ["_ts", "_duration", "name", "category", "pid", "tid"])
    assert flat == [(ts, *rest) for ts, _, _, rest in sorted(every, key=lambda one: one[:3])]


def small(folder: Path) -> dict[str, tuple[Path, WrittenTable]]:
    rows = [
        {
            "_ts": START + n * 7,
            "dur": n,
            "cat": "POSIX",
            "pid": n % 3,
            "path": f"/some/file {n % 200}",
            "size": n * n,
            "ratio": n / 7,
        }
        for n in range(3000)
    ]
    return build(folder, [chunk(0, {"b": rows}, [{"key": "x", "value": 1}], Format.types)], Format())


def test_types_match_arrow_tables_in_memory(tmp_path: Path) -> None:
    found = small(tmp_path)
    names = list(Format.types)
    query = write(relation(found["raw_events.b"][0], names))
    described = duckdb.execute(f"DESCRIBE {query}").fetchall()
    assert {row[0]: row[1] for row in described} == Format.types
    assert [
        row[1] for row in duckdb.execute(f"DESCRIBE {write(relation(found[EVENTS][0], ['_ts', 'name']))}").fetchall()
    ] == ["BIGINT", "VARCHAR"]


def test_a_column_can_be_called_otherwise_and_times_narrow_it(tmp_path: Path) -> None:
    path, _ = small(tmp_path)["raw_events.b"]
    query = write(relation(path, ["_ts", "dur"], ["_ts", "length"], (7, 21)))
    assert duckdb.execute(query).fetchall() == [(7, 1), (14, 2), (21, 3)]
    assert duckdb.execute(f"DESCRIBE {query}").fetchall()[1][0] == "length"


def test_files_say_how_they_are_sorted_and_carry_checksums(tmp_path: Path) -> None:
    path, _ = small(tmp_path)["raw_events.b"]
    group = pq.read_metadata(path).row_group(0)
    assert [column.column_index for column in group.sorting_columns] == [0]
    assert all(group.column(n).statistics.has_min_max for n in (0, 1, 3))
    probe = duckdb.execute(
        "SELECT bloom_filter_excludes FROM parquet_bloom_probe(?, 'path', '/some/other')", [str(path)]
    )
    assert probe.fetchall() == [(True,)]


def test_any_flipped_bit_is_noticed(tmp_path: Path) -> None:
    path, metadata = small(tmp_path)["raw_events.b"]
    whole = path.read_bytes()
    assert damage(path, metadata.columns) is None
    dice = random.Random(4)
    for _ in range(300):
        broken = bytearray(whole)
        broken[dice.randrange(len(whole))] ^= 1 << dice.randrange(8)
        path.write_bytes(broken)
        assert (
            damage(path, metadata.columns) == f"1 of {len(stored_metadata(metadata.columns).parts)} parts are damaged"
        )
    for size in (0, 5, len(whole) - 1):
        path.write_bytes(whole[:size])
        assert damage(path, metadata.columns) == "its size has changed"
    path.unlink()
    assert damage(path, metadata.columns) == "no such file or directory"


def test_damage_of_a_column_does_not_harm_the_others(tmp_path: Path) -> None:
    path, metadata = small(tmp_path)["raw_events.b"]
    parts = stored_metadata(metadata.columns)
    number = parts.numbers["dur"]
    at = sum(size for _, size, _ in parts.parts[: [column for column, _, _ in parts.parts].index(number)])
    broken = bytearray(path.read_bytes())
    broken[at + 3] ^= 1
    path.write_bytes(broken)
    assert damage(path, metadata.columns, ["_ts", "pid"]) is None
    assert damage(path, metadata.columns, ["_ts", "dur"]) is not None
    assert 0 < parts.bytes_of(["pid"]) < parts.bytes_of(["pid", "dur"]) < path.stat().st_size


def test_events_that_could_not_be_cast_make_no_flat_table(tmp_path: Path) -> None:
    class Odd(Format):
        types: Mapping[str, str] = COLUMNS | {"pid": "VARCHAR"}

    found = build(tmp_path, [chunk(0, {"b": [{"_ts": START, "pid": "one"}]}, [], Odd.types)], Odd())
    assert list(found) == ["raw_events.b", "raw_events.a.x", "metadata"]


def test_an_interrupt_ends_the_writing(tmp_path: Path) -> None:
    def stop(_done: int, _all: int) -> None:
        raise Interrupted("interrupted")

    sorter = StoreSorter(tmp_path / "runs", stop)
    sorter.add(chunk(0, {"b": [{"_ts": START}]}, [], Format.types))
    with pytest.raises(Interrupted):
        sorter.write(Format().chunks(), TraceMetadata({}, ()), tmp_path)
    sorter.close()
