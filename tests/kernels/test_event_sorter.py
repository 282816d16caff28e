"""`EventSorter` makes tables in order of time of chunks with other columns each, against a stable sort of Python's."""

from __future__ import annotations

import errno
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv._kernels import Cancel, EventMerger, EventSorter
from tests.bounds import bounded

NAMES = ("a", "b", "c")
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "int64": st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 300),
    "uint64": st.integers(0, 2**64 - 1),
    "double": st.floats(allow_nan=False),
    "bool": st.booleans(),
    "string": st.text(max_size=5) | st.sampled_from(["read", "write", ""]),
    "coded": st.sampled_from(["read", "write", "", "é"]),
    "null": st.none(),
}
TYPES = {
    "int64": pa.int64(),
    "uint64": pa.uint64(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "string": pa.string(),
    "coded": pa.dictionary(pa.int32(), pa.string()),
    "null": pa.null(),
}
TIMES = st.integers(-2, 6) | st.integers(-(2**63), 2**63 - 1)


@st.composite
def batches(draw: st.DrawFn) -> pa.RecordBatch:
    """Return rows with times, and some of the columns, each of any type."""
    rows = draw(st.integers(0, 7))
    columns: dict[str, pa.Array] = {"_ts": pa.array([draw(TIMES) for _ in range(rows)], pa.int64())}
    for name in draw(st.lists(st.sampled_from(NAMES), unique=True)):
        kind = draw(st.sampled_from(sorted(TYPES)))
        values = [draw(st.none() | VALUES[kind]) for _ in range(rows)]
        columns[name] = pa.array(values, TYPES["string" if kind == "coded" else kind])
        if kind == "coded":
            columns[name] = columns[name].dictionary_encode()
    batch = pa.RecordBatch.from_pydict(columns)
    start = draw(st.integers(0, rows))
    return batch.slice(start) if draw(st.booleans()) else batch


CHUNKS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["t", "u"]), batches()), max_size=12)


def mixed(kinds: set[str], values: list[Any]) -> str:
    """Return the type that holds the values of all chunks, by the rules of the decoders."""
    whole = [value for value in values if type(value) is int]
    if not kinds:
        return "string"
    if kinds == {"int64"}:
        return "int64"
    if kinds <= {"int64", "uint64"} and all(value >= 0 for value in whole):
        return "uint64"
    if kinds <= {"int64", "double"} and all(int(float(value)) == value for value in whole):
        return "double"
    return kinds.pop() if len(kinds) == 1 and kinds <= {"bool", "uint64"} else "string"


def as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def shown(value: Any, kind: str, source: str) -> Any:
    if value is None or kind == source:
        return value
    if kind == "string":
        return ("float", value) if source == "double" else as_text(value)
    return float(value) if kind == "double" else value


def plain(kind: pa.DataType) -> str:
    return "string" if pa.types.is_dictionary(kind) else str(kind)


def expected(chunks: list[tuple[int, pa.RecordBatch]], *, by_time: bool) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Return types and rows of a table, the slow way."""
    kinds: dict[str, set[str]] = {}
    seen: dict[str, list[Any]] = {}
    for _, batch in chunks:
        for field, column in zip(batch.schema, batch.columns, strict=True):
            values = [value for value in column.to_pylist() if value is not None]
            kinds.setdefault(field.name, set()).update({plain(field.type)} if values else set())
            seen.setdefault(field.name, []).extend(values)
    types = {name: mixed(set(found), seen[name]) for name, found in kinds.items()}
    rows = []
    for file, batch in chunks:
        sources = {field.name: plain(field.type) for field in batch.schema}
        for row in batch.to_pylist():
            row_values = {name: shown(row.get(name), kind, sources.get(name, "null")) for name, kind in types.items()}
            rows.append({**row_values, "dctv:file": file})
    if by_time:
        rows.sort(key=lambda row: int(row["_ts"]))
    return types, rows


def same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, tuple):
        return math.isclose(float(found), wanted[1], rel_tol=0) or float(found) == wanted[1]
    return type(found) is type(wanted) and found == wanted


def check(table: pa.Table, chunks: list[tuple[int, pa.RecordBatch]], *, by_time: bool = True) -> None:
    types, rows = expected(chunks, by_time=by_time)
    assert {field.name: plain(field.type) for field in table.schema} == {**types, "dctv:file": "uint32"}
    found = table.to_pylist()
    assert len(found) == len(rows)
    for one, other in zip(found, rows, strict=True):
        assert one.keys() == other.keys()
        assert all(same(one[name], other[name]) for name in other), (one, other)


def sorted_events(
    folder: Path, limit: int, chunks: list[tuple[int, str, pa.RecordBatch]], *, by_time: bool = True
) -> EventSorter:
    sorter = EventSorter(str(folder), limit)
    for file, name, batch in chunks:
        (sorter.add if by_time else sorter.add_others)(file, [(name, batch)])
    sorter.finish()
    return sorter


Told = list[tuple[str, str, str, list[int]]]


def read(sorter: EventSorter, name: str, columns: Told | None = None) -> pa.Table:
    return pa.RecordBatchReader.from_stream(sorter.merged(name, columns)).read_all()


def told(**columns: str) -> Told:
    return [(name, kind, name, []) for name, kind in columns.items()]


@bounded(150)
@given(chunks=CHUNKS, limit=st.sampled_from([0, 300, 2000, 1 << 26]), by_time=st.booleans())
def test_tables_are_sorted_whatever_their_chunks_are(
    tmp_path_factory: pytest.TempPathFactory,
    chunks: list[tuple[int, str, pa.RecordBatch]],
    limit: int,
    *,
    by_time: bool,
) -> None:
    folder = tmp_path_factory.mktemp("sorter")
    sorter = sorted_events(folder, limit, chunks, by_time=by_time)
    assert list(folder.iterdir()) == [], "the file has no name"
    names = list(dict.fromkeys(name for _, name, _ in chunks))
    rows = {name: [(file, batch) for file, one, batch in chunks if one == name] for name in names}
    assert sorter.tables() == [(name, sum(len(batch) for _, batch in rows[name]), by_time) for name in names]
    for name in names:
        check(read(sorter, name), rows[name], by_time=by_time)


@st.composite
def almost_sorted(draw: st.DrawFn) -> list[int]:
    """Return times in blocks that ascend, behind each some that belong into earlier ones, or far behind all."""
    times: list[int] = []
    now = 0
    for steps in draw(st.lists(st.lists(st.integers(0, 3), max_size=60), max_size=6)):
        for step in steps:
            now += step
            times.append(now)
        times += draw(st.lists(st.integers(-3, now) | st.sampled_from([2**62, -(2**63), 2**63 - 1]), max_size=4))
    return times


@bounded(150)
@given(times=almost_sorted(), cut=st.integers(1, 90), limit=st.sampled_from([300, 1 << 26]))
def test_rows_that_are_almost_in_order(
    tmp_path_factory: pytest.TempPathFactory, times: list[int], cut: int, limit: int
) -> None:
    rows = range(len(times))
    batch = pa.RecordBatch.from_pydict(
        {
            "_ts": pa.array(times, pa.int64()),
            "row": pa.array(rows, pa.int64()),
            "wide": pa.array([row << row % 50 for row in rows], pa.int64()),
            "sparse": pa.array([row if row % 3 else None for row in rows], pa.int64()),
            "flag": pa.array([row % 5 == 0 if row % 40 < 30 else None for row in rows], pa.bool_()),
            "text": pa.array([str(row) * (row % 4) if row % 7 else None for row in rows], pa.string()),
            "coded": pa.array([str(row % 9) if row % 4 else None for row in rows], pa.string()).dictionary_encode(),
        }
    )
    chunks = [(start % 3, batch.slice(start, cut)) for start in range(0, len(times), cut)]
    if chunks:
        folder = tmp_path_factory.mktemp("sorter")
        check(read(sorted_events(folder, limit, [(file, "t", chunk) for file, chunk in chunks]), "t"), chunks)


def test_many_rows_that_are_almost_in_order(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rows, block = 200_000, 3000
    times = np.cumsum(rng.integers(0, 50_000, rows))
    late = np.where(rng.random(rows) < 0.01, rng.integers(1, 5 * block, rows), 0)
    arrival = np.argsort((np.arange(rows) + late) // block, kind="stable")
    times, number = times[arrival], np.arange(rows)
    times[1000] = 2**60
    batch = pa.record_batch(
        {
            "_ts": times,
            "narrow": (number % 100).astype(np.int32),
            "mixed": np.where(number // 70_000 == 1, 2**40 * (number % 2), number % 1000),
            "sparse": pa.array(number.astype(np.int32), mask=number % 11 < 9),
            "coded": pa.array((number % 300).astype(str)).dictionary_encode(),
        }
    )
    chunks = [(0, "t", batch.slice(start, 30_001)) for start in range(0, rows, 30_001)]
    found = read(sorted_events(tmp_path, 1 << 26, chunks), "t").drop_columns(["dctv:file"])
    order = pa.array(np.argsort(times, kind="stable"))
    for name, column in zip(found.schema.names, found.columns, strict=True):
        assert column.combine_chunks().cast(pa.string()).equals(batch.column(name).cast(pa.string()).take(order)), name


def test_many_runs_are_merged_into_fewer_first(tmp_path: Path) -> None:
    chunks = [(n % 7, "t", pa.record_batch({"_ts": [n % 5, n % 3], "a": [n, -n]})) for n in range(300)]
    sorter = sorted_events(tmp_path, 0, chunks)
    assert sorter.spilled > 0
    check(read(sorter, "t"), [(file, batch) for file, _, batch in chunks])


def test_a_column_of_many_texts_gets_no_dictionary(tmp_path: Path) -> None:
    chunks = []
    for chunk in range(6):
        texts = [f"text {chunk * 2000 + n}" for n in range(2000)]
        batch = pa.record_batch({"_ts": list(range(2000)), "a": pa.array(texts).dictionary_encode(), "b": ["x"] * 2000})
        chunks.append((0, "t", batch))
    table = read(sorted_events(tmp_path, 1 << 18, chunks), "t")
    assert table.schema.field("a").type == pa.string()
    check(table, [(file, batch) for file, _, batch in chunks])


def test_memory_stays_below_the_limit_with_unique_texts(tmp_path: Path) -> None:
    limit = 1 << 20
    sorter = EventSorter(str(tmp_path), limit)
    for chunk in range(40):
        texts = [f"a rather long text that nobody repeats {chunk} {n}" for n in range(3000)]
        coded = pa.array(texts).dictionary_encode()
        sorter.add(0, [(f"t{chunk % 3}", pa.record_batch({"_ts": list(range(3000)), "a": coded}))])
    assert sorter.spilled > 3 * limit
    assert sorter.peak < 2.5 * limit


def test_lines_are_dropped_and_columns_can_be_declared(tmp_path: Path) -> None:
    batch = pa.record_batch({"_ts": [2, 1], "a": [5, 6], "b": [None, 7], "dctv:line": pa.array([0, 1], pa.uint32())})
    sorter = sorted_events(tmp_path, 1 << 20, [(3, "t", batch)])
    wanted = told(_ts="int64", b="string", a="double", c="bool")
    assert read(sorter, "t", wanted).to_pylist() == [
        {"_ts": 1, "b": "7", "a": 6.0, "c": None},
        {"_ts": 2, "b": None, "a": 5.0, "c": None},
    ]
    assert read(sorter, "never", wanted).schema.names == ["_ts", "b", "a", "c"]


@pytest.mark.parametrize("limit", [0, 1 << 20])
def test_columns_get_other_names_and_sums(tmp_path: Path, limit: int) -> None:
    batches = [(file, "t", pa.record_batch({"_ts": [9 - file], "a": [100], "b": [file]})) for file in (0, 1, 2)]
    sorter = sorted_events(tmp_path, limit, batches)
    wanted = [("_ts", "int64", "_ts", [-7]), ("n", "int64", "a", [1, 20, 300]), ("b", "int64", "b", [])]
    assert read(sorter, "t", wanted).to_pylist() == [
        {"_ts": 0, "n": 400, "b": 2},
        {"_ts": 1, "n": 120, "b": 1},
        {"_ts": 2, "n": 101, "b": 0},
    ]


EVENTS = st.lists(st.lists(st.tuples(st.integers(0, 9), st.integers(-5, 5)), max_size=30), max_size=5)


@bounded(100)
@given(tables=EVENTS, limit=st.sampled_from([0, 200, 1 << 20]))
def test_all_events_come_in_order_of_time_tables_and_rows(
    tmp_path_factory: pytest.TempPathFactory, tables: list[list[tuple[int, int]]], limit: int
) -> None:
    every = EventMerger(str(tmp_path_factory.mktemp("sorter")), limit)
    expected = []
    for number, rows in enumerate(tables):
        rows.sort(key=lambda row: row[0])
        times, pids = ([row[place] for row in rows] for place in (0, 1))
        batch = pa.record_batch({"_ts": pa.array(times, pa.int64()), "own": pa.array(pids, pa.int64())})
        stream = pa.RecordBatchReader.from_batches(batch.schema, [batch.slice(0, 7), batch.slice(7)])
        passed = every.through(stream, f"t{number}", [("_ts", "_ts"), ("pid", "own")])
        assert pa.RecordBatchReader.from_stream(passed).read_all().to_pylist() == batch.to_pylist()
        expected += [(time, number, place, pid) for place, (time, pid) in enumerate(rows)]
    found = pa.RecordBatchReader.from_stream(every.merged()).read_all().to_pylist()
    rest = {"_duration": None, "category": None, "tid": None}
    assert found == [{"_ts": ts, "name": f"t{table}", "pid": pid, **rest} for ts, table, _, pid in sorted(expected)]


def test_values_that_do_not_fit_the_declared_type_are_an_error(tmp_path: Path) -> None:
    sorter = sorted_events(tmp_path, 1 << 20, [(0, "t", pa.record_batch({"_ts": [1], "a": ["x"]}))])
    with pytest.raises(pa.ArrowInvalid, match="column `a` has values of kind Code, which cannot become Int"):
        read(sorter, "t", told(_ts="int64", a="int64"))


def test_events_without_times_are_refused(tmp_path: Path) -> None:
    sorter = EventSorter(str(tmp_path))
    for batch in (
        pa.record_batch({"a": [1]}),
        pa.record_batch({"_ts": pa.array([1, None])}),
        pa.record_batch({"_ts": ["x"]}),
    ):
        with pytest.raises(ValueError, match="a time is missing in `t`"):
            sorter.add(0, [("t", batch)])


def test_types_that_cannot_be_stored_are_refused(tmp_path: Path) -> None:
    sorter = EventSorter(str(tmp_path))
    with pytest.raises(ValueError, match=r"column `a` of `t`: .*cannot be stored"):
        sorter.add(0, [("t", pa.record_batch({"_ts": [1], "a": [[1]]}))])


def test_a_folder_that_cannot_be_made_is_an_error_of_the_system(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    sorter = EventSorter(str(tmp_path / "file" / "runs"), 0)
    sorter.add(0, [("t", pa.record_batch({"_ts": [1]}))])
    with pytest.raises(OSError, match=r"cannot spill to .*not a directory") as error:
        sorter.finish()
    assert error.value.errno == errno.ENOTDIR


def test_a_cancelled_sort_stops(tmp_path: Path) -> None:
    cancel = Cancel()
    sorter = EventSorter(str(tmp_path), cancel=cancel)
    sorter.add(0, [("t", pa.record_batch({"_ts": [1]}))])
    cancel.set()
    with pytest.raises(ValueError, match="interrupted"):
        sorter.add(0, [("t", pa.record_batch({"_ts": [1]}))])
    with pytest.raises(pa.ArrowInvalid, match="interrupted"):
        read(sorter, "t")


def test_a_table_can_be_taken_once(tmp_path: Path) -> None:
    sorter = sorted_events(tmp_path, 1 << 20, [(0, "t", pa.record_batch({"_ts": [1]}))])
    read(sorter, "t")
    with pytest.raises(KeyError):
        sorter.merged("t")
    sorter.close()


def test_there_may_be_ten_thousand_tables(tmp_path: Path) -> None:
    limit = 4 << 20
    sorter = EventSorter(str(tmp_path), limit)
    for chunk in range(3):
        rows = pa.record_batch({"_ts": [3 - chunk, 9], "a": ["x", None], "b": [chunk, 1 << 40]})
        sorter.add(chunk, [(f"t{n}", rows) for n in range(10_000)])
    sorter.finish()
    assert len(sorter.tables()) == 10_000
    assert sorter.spilled > 0
    found = read(sorter, "t9999").to_pydict()
    assert found == {
        "_ts": [1, 2, 3, 9, 9, 9],
        "a": ["x", "x", "x", None, None, None],
        "b": [2, 1, 0, 1 << 40, 1 << 40, 1 << 40],
        "dctv:file": [2, 1, 0, 0, 1, 2],
    }


@pytest.mark.parametrize("limit", [1 << 20, 64 << 20])
def test_many_rows_of_many_widths(tmp_path: Path, limit: int) -> None:
    rng = np.random.default_rng(7)
    sorter = EventSorter(str(tmp_path), limit)
    parts = []
    scales = [10, 2**7, 2**8, 2**15, 2**16, 2**31, 2**32, 2**62]
    for at in range(12):
        rows = int(rng.integers(1, 30_000))
        part = {
            "_ts": rng.integers(-(2**40), 2**40, rows) if at % 3 else np.arange(rows) + 2**50 - at,
            "wide": rng.integers(-scales[at % 8], scales[at % 8], rows),
            "far": rng.integers(0, scales[at % 4], rows) + 2**60,
            "falling": -(at * 30_000) - np.arange(rows),
        }
        parts.append(part)
        sorter.add(0, [("t", pa.record_batch(part))])
    sorter.finish()
    every = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = np.argsort(every["_ts"], kind="stable")
    found = pa.RecordBatchReader.from_stream(sorter.merged("t")).read_all()
    for name, values in every.items():
        assert np.array_equal(found[name].to_numpy(), values[order]), name
