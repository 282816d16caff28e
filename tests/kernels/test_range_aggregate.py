"""What lies in windows, against a look at all rows for each window, however the inputs are cut into batches."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv import _kernels as kernels
from tests.kernels import intervals_oracle as oracle
from tests.kernels.tables import KEY_SETS, KEYS, UNTIMED, Row, Table, make, rows

FIRST, LAST = -(2**63), 2**63 - 1
TYPES: dict[pa.DataType, list[Any]] = {
    pa.int8(): [-128, 0, 127],
    pa.int64(): [-(2**40), -1, 0, 2**40],
    pa.uint64(): [0, 1, 2**50],
    pa.float32(): [-0.5, 0.25, 3.0],
    pa.float64(): [-1.5, 0.5, 2.0**50],
    pa.decimal128(5, 2): [Decimal("-999.99"), Decimal("0.01")],
    pa.decimal128(38, 3): [Decimal(10**34), Decimal("-0.001"), Decimal(2)],
}


@st.composite
def _tables(draw: st.DrawFn, keys: list[str], kind: pa.DataType, *, events: bool, most: int = 40) -> Table:
    """Draw events or spans before and after time 0, with numbers."""
    choices = [KEYS[key][1] for key in keys]
    out: list[Row] = []
    for key in draw(st.sets(st.tuples(*(st.sampled_from(c) for c in choices)), max_size=3)) if keys else [()]:
        at = draw(st.integers(-40, 3))
        gaps = st.tuples(st.sampled_from([0, 0, 1, 5]), st.integers(1, 4))
        for gap, length in draw(st.lists(gaps, max_size=most)):
            value = draw(st.none() | st.sampled_from(TYPES[kind]))
            out.append((at + gap, *([] if events else [length]), *key, value))
            at += gap + (0 if events else length)
    times = ["_ts"] if events else ["_ts", "_duration"]
    fields = [*((name, pa.int64()) for name in times), *((f"k{n}", KEYS[key][0]) for n, key in enumerate(keys))]
    out.sort(key=lambda row: row[0])
    return Table((*fields, ("v", kind)), tuple(out), tuple(draw(st.lists(st.integers(0, 60), max_size=6))))


@st.composite
def _windows(draw: st.DrawFn, keys: list[str]) -> Table:
    """Draw windows that overlap each other, or contain no rows."""
    choices = [st.sampled_from(KEYS[key][1]) for key in keys]
    one = st.tuples(st.integers(-60, 200), st.sampled_from([1, 2, 7, 50, 1 << 50]), *choices)
    drawn = sorted(draw(st.lists(one, max_size=12)), key=lambda row: row[0])
    fields = [("_ts", pa.int64()), ("_duration", pa.int64()), *((f"k{n}", KEYS[key][0]) for n, key in enumerate(keys))]
    cuts = tuple(draw(st.lists(st.integers(0, 14), max_size=6)))
    return Table((*fields, ("w", pa.int64())), tuple((*row, n) for n, row in enumerate(drawn)), cuts)


def _aggregated(table: Any, windows: Any, aggregate: str, *, matched: int = 0, events: bool = False) -> list[Row]:
    names = [*windows.column_names, aggregate]
    options: dict[str, Any] = {"events": events, "matched": list(range(matched)), "aggregate": aggregate}
    return rows(kernels.range_aggregate(table, windows, names=names, **options))


def _sum(values: list[Any]) -> Any:
    with localcontext(prec=100):
        return sum(values)


_ORACLES: dict[str, Callable[[list[Any]], Any]] = {
    "sum": _sum,
    "mean": lambda values: float(sum(map(Fraction, values)) / len(values)),
    "min": min,
    "max": max,
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
}


def _of(aggregate: str, found: list[Row]) -> Any:
    values = [row[-1] for row in found]
    if aggregate == "count":
        return len(values)
    return _ORACLES[aggregate](values) if values else None


@UNTIMED
@given(st.data(), st.sampled_from(KEY_SETS), st.sampled_from(list(TYPES)))
def test_range_aggregate(data: st.DataObject, keys: list[str], kind: pa.DataType) -> None:
    events = data.draw(st.booleans())
    table = data.draw(_tables(keys, kind, events=events))
    matched = data.draw(st.integers(0, len(keys)))
    windows = data.draw(_windows(keys[:matched]))
    for aggregate in ("count", *_ORACLES):
        found = _aggregated(table.whole(), windows.whole(), aggregate, matched=matched, events=events)
        assert found == _aggregated(table.cut(), windows.cut(), aggregate, matched=matched, events=events)
        assert [row[:-1] for row in found] == list(windows.rows)
        for row in found:
            key = row[2 : 2 + matched]
            inside = oracle.in_window(row, table.rows, len(keys), key, of_events=events)
            expected = _of(aggregate, inside)
            if aggregate == "mean" and inside:
                expected = pytest.approx(expected, rel=1e-12, abs=1e-12 * max(abs(float(row[-1])) for row in inside))
            assert row[-1] == expected


@UNTIMED
@given(st.data(), st.sampled_from([[], ["int"], ["text"]]))
def test_windows_that_part_time(data: st.DataObject, keys: list[str]) -> None:
    """Each event is in one of them, so counts and sums add up to those of everything."""
    table = data.draw(_tables(keys, pa.int64(), events=True))
    cuts = sorted({-50, *data.draw(st.lists(st.integers(-49, 249), max_size=8)), 250})
    windows = make("_ts _duration", [(a, b - a) for a, b in pairwise(cuts)])
    values = [row[-1] for row in table.rows if row[-1] is not None]
    sums = _aggregated(table.cut(), windows.cut(), "sum", events=True)
    counts = _aggregated(table.cut(), windows.cut(), "count", events=True)
    assert sum(row[-1] or 0 for row in sums) == sum(values)
    assert sum(row[-1] for row in counts) == len(values)


def test_many_rows() -> None:
    """Ranges of any length over several blocks of nodes."""
    number = 300_000
    value = np.arange(number) * 7919 % 1009 - 500
    table = pa.table({"_ts": np.arange(number) * 10, "_duration": np.full(number, 10), "v": value})
    begins = np.sort(np.random.default_rng(1).integers(0, number, 400))
    lengths = np.random.default_rng(2).integers(1, number, 400)
    windows = pa.table({"_ts": begins * 10, "_duration": lengths * 10})
    for aggregate, own in (("sum", np.sum), ("min", np.min), ("max", np.max), ("count", len)):
        found = [row[-1] for row in _aggregated(table, windows, aggregate)]
        assert found == [own(value[a : a + n]) for a, n in zip(begins, lengths, strict=True)]


def test_the_ends_of_time() -> None:
    table = make("_ts _duration v", [(FIRST, 5, 1), (-1, 2, 2), (LAST - 4, 4, 4)])
    windows = make("_ts _duration", [(FIRST, 1), (FIRST, LAST), (FIRST + 5, 1), (0, LAST), (LAST - 1, 1)])
    assert [row[-1] for row in _aggregated(table.whole(), windows.whole(), "sum")] == [1, 1, None, 6, 4]
    events = make("_ts v", [(FIRST, 1), (LAST - 1, 2), (LAST, 4)])
    assert [row[-1] for row in _aggregated(events.whole(), windows.whole(), "sum", events=True)] == [1, 1, None, 2, 2]


def test_sums_never_wrap() -> None:
    table = make("_ts v", [(0, LAST), (1, LAST), (2, -LAST)])
    windows = make("_ts _duration", [(0, 3), (1, 2)])
    assert [row[-1] for row in _aggregated(table.whole(), windows.whole(), "sum", events=True)] == [LAST, 0]
    with pytest.raises(pa.ArrowInvalid, match=f"integer overflow: {2 * LAST} does not fit into 64 bits"):
        _aggregated(table.whole(), make("_ts _duration", [(0, 2)]).whole(), "sum", events=True)
    assert _aggregated(table.whole(), make("_ts _duration", [(0, 2)]).whole(), "mean", events=True)[0][-1] == float(
        LAST
    )
    most, least = Decimal(10**38 - 1), Decimal(1 - 10**38)
    wide = make("_ts v", [(0, most), (1, most), (2, least)], v=pa.decimal128(38, 0)).whole()
    assert _aggregated(wide, windows.whole(), "sum", events=True)[0][-1] == most
    with pytest.raises(pa.ArrowInvalid, match="decimal overflow: a sum has more than 38 digits"):
        _aggregated(wide, make("_ts _duration", [(0, 2)]).whole(), "sum", events=True)


def test_values_of_any_type() -> None:
    kind = pa.list_(pa.int64())
    table = make("_ts v", [(0, [1]), (0, [2]), (3, None), (4, [])], v=kind).whole()
    windows = make("_ts _duration", [(0, 4), (3, 1), (3, 9)]).whole()
    for aggregate, expected in (("count", [2, 0, 1]), ("first", [[1], None, []]), ("last", [[2], None, []])):
        assert [row[-1] for row in _aggregated(table, windows, aggregate, events=True)] == expected
    with pytest.raises(ValueError, match="expected numbers"):
        _aggregated(table, windows, "max", events=True)


def test_nan_is_larger_than_any_number() -> None:
    nan = float("nan")
    table = make("_ts v", [(0, nan), (1, 1.0), (2, float("-inf"))], v=pa.float64()).whole()
    windows = make("_ts _duration", [(0, 2), (0, 3)]).whole()
    assert [row[-1] for row in _aggregated(table, windows, "min", events=True)] == [1.0, float("-inf")]
    assert [str(row[-1]) for row in _aggregated(table, windows, "max", events=True)] == ["nan", "nan"]


@pytest.mark.parametrize("aggregate", ["median", ""])
def test_aggregates_that_are_none(aggregate: str) -> None:
    table, windows = make("_ts _duration v", []).whole(), make("_ts _duration", []).whole()
    with pytest.raises(ValueError, match="expected count, sum, min, max, mean, first, last"):
        _aggregated(table, windows, aggregate)


def test_inputs_that_do_not_fit() -> None:
    windows = make("_ts _duration k", [], k=pa.string()).whole()
    with pytest.raises(ValueError, match="table input has 2 columns, expected at least 3"):
        _aggregated(make("_ts _duration", []).whole(), windows, "count")
    with pytest.raises(ValueError, match="columns are matched that are not there"):
        _aggregated(make("_ts _duration v", []).whole(), windows, "count", matched=1)
    with pytest.raises(ValueError, match="partition column `k` is Int64, but Utf8 in the window input"):
        _aggregated(make("_ts _duration k v", []).whole(), windows, "count", matched=1)


def test_spans_that_overlap_are_refused() -> None:
    windows = make("_ts _duration", [(0, 1), (0, 1)]).whole()
    table = make("_ts _duration k v", [(0, 5, 3, 1), (2, 5, 4, 1), (4, 2, 3, None)]).whole()
    message = r"spans overlap: \[0, 5\) and \[4, 6\) in partition k=3 \(table input\)$"
    with pytest.raises(pa.ArrowInvalid, match=message):
        _aggregated(table, windows, "count")


def test_it_can_be_interrupted() -> None:
    cancel = kernels.Cancel()
    table, windows = make("_ts _duration v", [(0, 1, 1)]).whole(), make("_ts _duration", [(0, 1)]).whole()
    of: dict[str, Any] = {"events": False, "matched": [], "aggregate": "max", "names": ["a", "b", "max"]}
    stream = kernels.range_aggregate(table, windows, cancel=cancel, **of)
    cancel.set()
    with pytest.raises(pa.ArrowInvalid, match="interrupted"):
        rows(stream)
