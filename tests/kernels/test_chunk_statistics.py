"""Statistics of chunks against a brute-force oracle in plain Python."""

from __future__ import annotations

import json
import math
import re
import struct
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv._kernels import Bloom, Sketch, chunk_statistics, pack_lines, unpack_lines
from tests.bounds import bounded

Events = list[tuple[str, pa.RecordBatch]]
LONG = 1 << 63

INTS = st.one_of(st.integers(-LONG, LONG - 1), st.integers(-3, 3), st.sampled_from([2**53, 2**53 + 1, -LONG, LONG - 1]))
UINTS = st.one_of(st.integers(0, 2 * LONG - 1), st.integers(0, 3), st.just(2 * LONG - 1))
FLOATS = st.one_of(st.floats(), st.sampled_from([0.0, -0.0, 1.0, 0.5, 2.0**53, 2.0**63, 1e22, 1e-5, 1e300, math.nan]))
TEXTS = st.one_of(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), st.sampled_from(["", "a", "1", "é"]))
COLUMNS: dict[str, tuple[st.SearchStrategy[Any], pa.DataType]] = {
    "int": (INTS, pa.int64()),
    "narrow": (st.one_of(st.integers(-(1 << 31), (1 << 31) - 1), st.integers(-3, 3)), pa.int32()),
    "uint": (UINTS, pa.uint64()),
    "float": (FLOATS, pa.float64()),
    "bool": (st.booleans(), pa.bool_()),
    "text": (TEXTS, pa.utf8()),
    "coded": (TEXTS, pa.dictionary(pa.int32(), pa.utf8())),
    "null": (st.none(), pa.null()),
}


def canonical(value: Any) -> str:
    """Write a value as indexes know it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        return str(int(value))
    return value if isinstance(value, str) else repr(value)


def wanted_dimension(values: Sequence[Any], *, counted: bool = True) -> dict[str, Any]:
    """Work out a row of `chunk_dimension_stats` from all values of a chunk."""
    there = [value for value in values if value is not None]
    counts = Counter(map(canonical, there))
    row: dict[str, Any] = {
        "null_count": len(values) - len(there),
        "value_type": wanted_type(there),
        "min_value": None,
        "max_value": None,
        "distinct_count": len(counts) if counted or not there else -1,
    }
    bounded_values = not any(isinstance(value, float) and not math.isfinite(value) for value in there)
    if there and bounded_values and row["value_type"] != "mixed":
        ordered = sorted(there, key=order)
        row["min_value"], row["max_value"] = canonical(ordered[0]), canonical(ordered[-1])
    return row


def wanted_type(values: Sequence[Any]) -> str:
    """Name the type of values."""
    kinds = {type(value) for value in values}
    if kinds <= {str} or kinds <= {bool}:
        return "string"
    if kinds <= {int, float}:
        if float in kinds:
            return "double"
        return "int" if min(values) < 0 else "uint"
    return "mixed"


def order(value: Any) -> Any:
    """Give what values are ordered by."""
    return value.encode() if isinstance(value, str) else Fraction(value)


def wanted_counts(values: Sequence[Any]) -> dict[str, int]:
    """Count values by their texts."""
    return Counter(canonical(value) for value in values if value is not None)


def read_counts(blob: bytes) -> dict[str, int]:
    """Read a dictionary."""
    raw = zlib.decompress(blob)
    (n,) = struct.unpack_from("<I", raw)
    at, counts = 4, {}
    for _ in range(n):
        (size,) = struct.unpack_from("<H", raw, at)
        key = raw[at + 2 : at + 2 + size].decode()
        (counts[key],) = struct.unpack_from("<Q", raw, at + 2 + size)
        at += 10 + size
    assert at == len(raw)
    return counts


def table(name: str, columns: Mapping[str, tuple[Sequence[Any], pa.DataType]]) -> tuple[str, pa.RecordBatch]:
    """Build the events of one name."""
    return name, pa.record_batch({key: pa.array(values, type=kind) for key, (values, kind) in columns.items()})


def events_of(rows: dict[str, list[dict[str, Any]]], kinds: dict[str, pa.DataType] | None = None) -> Events:
    """Build events from rows by name; lines count through all rows."""
    line = 0
    events = []
    for name, members in rows.items():
        known = {"_ts": pa.int64(), "dur": pa.int64(), "cat": pa.utf8(), **(kinds or {})}
        columns: dict[str, tuple[Sequence[Any], pa.DataType]] = {
            key: ([row.get(key) for row in members], known[key]) for key in known
        }
        columns["dctv:line"] = (range(line, line + len(members)), pa.uint32())
        line += len(members)
        events.append(table(name, columns))
    return events


def dimension(result: dict[str, Any], name: str) -> dict[str, Any]:
    """Find the row of a dimension."""
    return next(row for row in result["dimensions"] if row["dimension"] == name)


@st.composite
def any_column(draw: st.DrawFn) -> tuple[list[Any], pa.DataType] | None:
    """Draw a column of any type, or none."""
    values, kind = draw(st.sampled_from(list(COLUMNS.values())))
    if draw(st.integers(0, 5)) == 0:
        return None
    return draw(st.lists(st.one_of(st.none(), values), max_size=12)), kind


@bounded(300)
@given(st.lists(any_column(), max_size=3))
def test_dimensions_match_all_values(parts: list[tuple[list[Any], pa.DataType] | None]) -> None:
    events: Events = []
    values: list[Any] = []
    for number, part in enumerate(parts):
        size = len(part[0]) if part else 3
        columns: dict[str, tuple[Sequence[Any], pa.DataType]] = {
            "_ts": (range(size), pa.int64()),
            "dctv:line": (range(size), pa.uint32()),
        }
        if part:
            columns["x"] = part
        events.append(table(f"e{number}", columns))
        values += part[0] if part else [None] * 3
    row = dimension(chunk_statistics(events, [("args.x", "x")]), "args.x")
    wanted = wanted_dimension(values)
    assert {key: row[key] for key in wanted} == wanted
    counts = wanted_counts(values)
    assert read_counts(row["value_counts"]) == counts
    assert row["num_entries"] == len(counts)
    if not counts:
        assert (row["bloom_data"], row["value_hashes"]) == (None, b"")
        return
    bloom = Bloom.from_bytes(row["bloom_data"])
    assert all(map(bloom.may_contain, counts))
    plain = Bloom(1024, 0.01)
    for text in counts:
        plain.add(text)
    assert row["bloom_data"] == plain.to_bytes()
    assert len(row["value_hashes"]) == 8 * len(counts)


ROWS = st.dictionaries(
    st.sampled_from(["read", "write", 'a "quoted" \\ \n name', "é"]),
    st.lists(
        st.fixed_dictionaries(
            {
                "_ts": st.one_of(st.integers(-5, 5), st.integers(-LONG, LONG - 1)),
                "dur": st.one_of(st.none(), st.integers(0, 9), st.integers(0, LONG - 1)),
                "cat": st.sampled_from([None, "POSIX", "STDIO", ""]),
            }
        ),
        max_size=12,
    ),
)


def test_narrow_times_and_durations_say_the_same() -> None:
    found = []
    for kind in (pa.int64(), pa.int32()):
        columns: dict[str, tuple[Sequence[Any], pa.DataType]] = {
            "_ts": ([5, 7, 9], kind),
            "dur": ([(1 << 31) - 1, None, 3], kind),
            "cat": ([1, -1, 1], kind),
            "dctv:line": (range(3), pa.uint32()),
        }
        found.append(chunk_statistics([table("e", columns)], [("cat", "cat")]))
    assert found[0] == found[1]
    assert found[0]["statistics"]["max_end_ns"] == 5 + (1 << 31) - 1


@bounded(200)
@given(ROWS, st.sampled_from([pa.utf8(), pa.dictionary(pa.int32(), pa.utf8())]))
def test_the_summary_matches_all_events(rows: dict[str, list[dict[str, Any]]], texts: pa.DataType) -> None:
    result = chunk_statistics(events_of(rows, {"cat": texts}), [])
    found = result["statistics"]
    everything = [(name, row) for name, members in rows.items() for row in members]
    times = [row["_ts"] for _, row in everything]
    ends = [min(row["_ts"] + (row["dur"] or 0), LONG - 1) for _, row in everything]
    assert found["total_events"] == len(everything)
    assert (found["min_timestamp_ns"], found["max_timestamp_ns"]) == (
        min(times, default=None),
        max(times, default=None),
    )
    assert found["max_end_ns"] == max(ends, default=None)
    check_durations(found, everything)
    for key, values, counted in (
        ("name", [name for name, _ in everything], True),
        ("ts", times, False),
        ("dur", [row["dur"] for _, row in everything], False),
    ):
        wanted = wanted_dimension(values, counted=counted)
        assert {part: dimension(result, key)[part] for part in wanted} == wanted
    check_lines(result["event_ranges"], everything)


def check_durations(found: dict[str, Any], everything: list[tuple[str, dict[str, Any]]]) -> None:
    """Compare the figures of durations, of all events and by name."""
    durations = [row["dur"] for _, row in everything if row["dur"] is not None]
    assert found["duration_count"] == len(durations)
    assert found["duration_sum_ns"] == str(sum(durations))
    assert found["duration_min_ns"] == min(durations, default=None)
    assert found["duration_max_ns"] == max(durations, default=None)
    mean = Fraction(sum(durations), max(len(durations), 1))
    squares = sum((value - mean) ** 2 for value in durations)
    assert found["duration_mean"] == pytest.approx(float(mean), rel=1e-15)
    assert found["duration_m2"] == pytest.approx(float(squares), rel=1e-14, abs=0)
    assert (found["duration_sketch"] is None) == (not durations)
    assert json.loads(found["duration_histogram"]) == histogram(durations)
    names: dict[str, list[int]] = {}
    for name, row in everything:
        if row["dur"] is not None:
            names.setdefault(name, []).append(row["dur"])
    assert json.loads(found["name_duration_counts"]) == {name: len(values) for name, values in names.items()}
    assert json.loads(found["name_duration_sums"]) == {name: str(sum(values)) for name, values in names.items()}
    assert json.loads(found["name_duration_sum_sqs"]) == {
        name: str(sum(value * value for value in values)) for name, values in names.items()
    }
    assert json.loads(found["name_duration_ranges"]) == {
        name: [min(values), max(values)] for name, values in names.items()
    }
    for name, bins in json.loads(found["name_duration_histograms"]).items():
        assert bins + [0] * (65 - len(bins)) == histogram(names[name])
        assert bins[-1] > 0
    sketches = read_sketches(found["name_duration_sketches"])
    assert sketches == {name: sketch_of(values) for name, values in names.items()}
    assert (found["duration_sketch"] or b"\x01\x00") == sketch_of(durations)


def read_sketches(blob: bytes) -> dict[str, bytes]:
    """Read the sketches of names."""
    raw = zlib.decompress(blob)
    (n,) = struct.unpack_from("<I", raw)
    at, sketches = 4, {}
    for _ in range(n):
        (size,) = struct.unpack_from("<I", raw, at)
        name = raw[at + 4 : at + 4 + size].decode()
        at += 4 + size
        (size,) = struct.unpack_from("<I", raw, at)
        sketches[name] = raw[at + 4 : at + 4 + size]
        at += 4 + size
    assert at == len(raw)
    return sketches


def sketch_of(values: list[int]) -> bytes:
    """Build a sketch value by value."""
    sketch = Sketch()
    for value in values:
        sketch.add(value)
    return sketch.to_bytes()


def histogram(values: list[int]) -> list[int]:
    """Count values by their number of bits."""
    counts = Counter(value.bit_length() for value in values)
    return [counts[bits] for bits in range(65)]


def check_lines(ranges: list[tuple[str, str, bytes, int]], everything: list[tuple[str, dict[str, Any]]]) -> None:
    """Compare line numbers by category and name."""
    wanted: dict[tuple[str, str], list[int]] = {}
    for line, (name, row) in enumerate(everything):
        wanted.setdefault((row["cat"] or "", name), []).append(line)
    assert {(cat, name): unpack_lines(packed, number) for cat, name, packed, number in ranges} == wanted
    assert all(number == len(wanted[cat, name]) for cat, name, _, number in ranges)


def test_batches_of_one_name_are_one() -> None:
    one = events_of({"read": [{"_ts": 1, "dur": 5, "cat": "b"}]})
    two = events_of({"": [], "read": [{"_ts": 2, "dur": 7, "cat": "a"}, {"_ts": 3, "dur": 7, "cat": "a"}]})
    result = chunk_statistics(two + one, [])
    assert json.loads(result["statistics"]["name_duration_counts"]) == {"read": 3}
    assert json.loads(result["statistics"]["name_category"]) == {"read": "a"}
    assert [(cat, name, unpack_lines(lines, 9), n) for cat, name, lines, n in result["event_ranges"]] == [
        ("a", "read", [0, 1], 2),
        ("b", "read", [0], 1),
    ]
    assert dimension(result, "name")["null_count"] == 0


def test_too_many_names_give_no_sums_by_name() -> None:
    rows = {f"n{i}": [{"_ts": i, "dur": i}] for i in range(1025)}
    result = chunk_statistics(events_of(rows), [])
    found = result["statistics"]
    by_name = {key: value for key, value in found.items() if key.startswith("name_")}
    assert by_name.pop("name_duration_sketches") is None
    assert set(by_name.values()) == {"{}"}
    assert result["event_ranges"] == []
    assert (found["total_events"], found["duration_sum_ns"]) == (1025, str(sum(range(1025))))
    assert found["duration_sketch"] == sketch_of(list(range(1025)))
    assert dimension(result, "name")["distinct_count"] == 1025


def test_only_asked_dimensions_without_a_summary() -> None:
    result = chunk_statistics(
        events_of({"read": [{"_ts": 1}]}), [("cat", "cat"), ("name", ""), ("cat", "x")], summary=False
    )
    assert [row["dimension"] for row in result["dimensions"]] == ["cat", "name"]
    assert (result["statistics"], result["event_ranges"]) == (None, [])


def test_too_large_dictionaries_are_left_out_but_counted() -> None:
    values = [f"{number:064x}" for number in range(3000)]
    name, batch = table(
        "e", {"_ts": (range(3000), pa.int64()), "dctv:line": (range(3000), pa.uint32()), "x": (values, pa.utf8())}
    )
    row = dimension(chunk_statistics([(name, batch)], [("x", "x")]), "x")
    assert (row["distinct_count"], row["value_counts"]) == (3000, None)
    assert len(row["bloom_data"]) == len(Bloom(3000, 0.01).to_bytes())
    assert all(map(Bloom.from_bytes(row["bloom_data"]).may_contain, values))


def test_a_dictionary_may_have_4096_bytes() -> None:
    sizes = {}
    for number in range(250, 500, 5):
        values = [str(pow(7, value, 2**61 - 1)) for value in range(number)]
        raw = struct.pack("<I", number)
        for value in sorted(values):
            raw += struct.pack("<H", len(value)) + value.encode() + struct.pack("<Q", 1)
        columns: dict[str, tuple[Sequence[Any], pa.DataType]] = {
            "_ts": (range(number), pa.int64()),
            "dctv:line": (range(number), pa.uint32()),
            "x": (values, pa.utf8()),
        }
        blob = dimension(chunk_statistics([table("e", columns)], [("x", "x")]), "x")["value_counts"]
        sizes[number] = None if blob is None else len(blob)
        assert blob is None or zlib.decompress(blob) == raw
    kept = [size for size in sizes.values() if size is not None]
    assert 4000 < max(kept) <= 4096
    assert None in sizes.values()


def test_long_texts_have_no_range_and_longer_ones_no_dictionary() -> None:
    for size, bounds, dictionary in (
        (65_536, False, False),
        (65_535, False, True),
        (4097, False, True),
        (4096, True, True),
    ):
        columns: dict[str, tuple[Sequence[Any], pa.DataType]] = {
            "_ts": ([1], pa.int64()),
            "dctv:line": ([0], pa.uint32()),
            "x": (["y" * size], pa.utf8()),
        }
        row = dimension(chunk_statistics([table("e", columns)], [("x", "x")]), "x")
        assert (row["value_counts"] is not None) == dictionary
        assert (row["min_value"] is not None) == bounds
        assert row["distinct_count"] == 1


def test_very_many_values_are_no_longer_counted() -> None:
    size = (1 << 17) + 1
    columns = {
        "_ts": (range(size), pa.int64()),
        "dctv:line": (range(size), pa.uint32()),
        "x": (range(size), pa.int64()),
    }
    row = dimension(chunk_statistics([table("e", columns), table("f", columns)], [("x", "x")]), "x")
    assert (row["distinct_count"], row["bloom_data"], row["value_hashes"], row["value_counts"]) == (
        -1,
        None,
        None,
        None,
    )
    assert (row["min_value"], row["max_value"], row["null_count"]) == ("0", str(size - 1), 0)


def test_large_dictionaries_of_a_column_may_have_nulls_and_unused_texts() -> None:
    coded = pa.DictionaryArray.from_arrays(
        pa.array([2, None, 1, 0], pa.int32()), pa.array(["a", None, "c", *"defghijkl"])
    )
    batch = pa.record_batch(
        {"_ts": pa.array(range(4)), "dctv:line": pa.array(range(4), pa.uint32()), "x": coded, "cat": coded}
    )
    result = chunk_statistics([("e", batch)], [("x", "x")])
    row = dimension(result, "x")
    assert read_counts(row["value_counts"]) == {"a": 1, "c": 1}
    assert row["null_count"] == 2
    assert [(cat, count) for cat, _, _, count in result["event_ranges"]] == [("", 2), ("a", 1), ("c", 1)]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"dctv:line": ([0], pa.uint32())}, "there is no column `_ts` (in `e`)"),
        ({"_ts": ([0], pa.int64())}, "there is no column `dctv:line` (in `e`)"),
        ({"_ts": (["x"], pa.utf8()), "dctv:line": ([0], pa.uint32())}, "the column `_ts` must be int64 (in `e`)"),
        (
            {"_ts": ([0], pa.int64()), "dur": ([-1], pa.int64()), "dctv:line": ([0], pa.uint32())},
            "a duration is negative (in `e`)",
        ),
        (
            {"_ts": ([0], pa.int64()), "dur": ([0.5], pa.float64()), "dctv:line": ([0], pa.uint32())},
            "the column `dur` must be int64 (in `e`)",
        ),
        (
            {"_ts": ([0], pa.int64()), "dctv:line": ([0], pa.int64())},
            "the column `dctv:line` must be uint32 without nulls (in `e`)",
        ),
        (
            {"_ts": ([0], pa.int64()), "dctv:line": ([0], pa.uint32()), "x": ([[1]], pa.list_(pa.int64()))},
            "the column `x` of `e` is List(Int64), which is no type of a dimension",
        ),
    ],
)
def test_impossible_events_are_refused(columns: dict[str, tuple[list[Any], pa.DataType]], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        chunk_statistics([table("e", columns)], [("x", "x")])


@bounded(50)
@given(st.lists(st.integers(0, 2**32 - 1)))
def test_lines_are_packed_and_unpacked(lines: list[int]) -> None:
    lines.sort()
    packed = pack_lines(lines)
    assert unpack_lines(packed, len(lines)) == lines
    if lines:
        with pytest.raises(ValueError, match="these are no packed line numbers"):
            unpack_lines(packed, len(lines) - 1)


@pytest.mark.parametrize(
    "packed",
    [b"", b"x", zlib.compress(b"\x80"), zlib.compress(b"\xff\xff\xff\xff\x0f\x01"), zlib.compress(bytes(10**6))],
)
def test_invalid_packed_lines_are_refused(packed: bytes) -> None:
    with pytest.raises(ValueError, match="these are no packed line numbers"):
        unpack_lines(packed, 10)
