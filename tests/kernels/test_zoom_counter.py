"""Values in steps of time, against brute force over every unit of time, however the input is cut into batches."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

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
    pa.int64(): [FIRST, -1, 0, LAST],
    pa.uint64(): [0, 1, 2**63, 2**64 - 1],
    pa.float32(): [-0.5, 0.0, 3.25],
    pa.float64(): [-1e300, 0.1, 0.2, 1e300],
    pa.decimal128(5, 2): [Decimal("-999.99"), Decimal("0.01")],
    pa.decimal128(38, 0): [Decimal(10**38 - 1), Decimal(-(10**38) + 1), Decimal(2)],
}
MADE = ("min", "max", "last", "mean")


@st.composite
def counters(draw: st.DrawFn, keys: list[str], kind: pa.DataType) -> Table:
    """Draw spans of up to a few partitions, before and after time 0, with numbers."""
    choices = [KEYS[key][1] for key in keys]
    known = st.none() | st.sampled_from(TYPES[kind])
    out: list[Row] = []
    for key in draw(st.sets(st.tuples(*(st.sampled_from(c) for c in choices)), max_size=3)) if keys else [()]:
        at = draw(st.integers(-30, 3))
        for gap, length in draw(st.lists(st.tuples(st.sampled_from([0, 0, 1, 5]), st.integers(1, 15)), max_size=6)):
            out.append((at + gap, length, *key, draw(known)))
            at += gap + length
    fields = [("_ts", pa.int64()), ("_duration", pa.int64()), *((f"k{n}", KEYS[key][0]) for n, key in enumerate(keys))]
    out.sort(key=lambda row: row[0])
    return Table((*fields, ("v", kind)), tuple(out), tuple(draw(st.lists(st.integers(0, 14), max_size=6))))


def _zoomed(table: Any, parts: int = 0, **options: Any) -> list[Row]:
    names = ["_ts", "_duration", *(f"k{n}" for n in range(parts)), *MADE]
    return rows(kernels.zoom_counter(table, partitions=parts, names=names, **options))


def _near(found: Row, expected: Row) -> bool:
    """Whether means are equal but for the rounding of the values that they are of."""
    *_, least, most, _last, mean = expected
    if mean is None or least == most:
        return bool(found[-1] == mean)
    return bool(found[-1] == pytest.approx(mean, abs=1e-12 * float(max(abs(least), abs(most)))))


@UNTIMED
@given(st.data(), st.sampled_from(KEY_SETS), st.sampled_from(list(TYPES)))
def test_zoom_counter(data: st.DataObject, keys: list[str], kind: pa.DataType) -> None:
    table, parts = data.draw(counters(keys, kind)), len(keys)
    start, stop = data.draw(st.none() | st.integers(-20, 20)), data.draw(st.none() | st.integers(-5, 40))
    for step in (1, 2, 3, 7, 16, 1 << 40):
        found = _zoomed(table.whole(), parts, step=step, start=start, stop=stop)
        assert found == _zoomed(table.cut(), parts, step=step, start=start, stop=stop)
        expected = oracle.zoom_counter(table.rows, parts, step, start, stop)
        both = [oracle.by_key(some, parts) for some in (found, expected)]
        assert both[0].keys() == both[1].keys()
        for key, own in both[0].items():
            assert [row[:-1] for row in own] == [row[:-1] for row in both[1][key]]
            assert all(_near(a, b) for a, b in zip(own, both[1][key], strict=True))
        if not keys:
            assert [row[0] for row in found] == sorted(row[0] for row in found)
        assert len(found) <= 3 * len(table.rows)


@UNTIMED
@given(st.data(), st.sampled_from([2, 3, 8]))
def test_integrals_stay(data: st.DataObject, step: int) -> None:
    """The mean of a row without gaps times how long it lasts adds up to the same at every step."""
    values = data.draw(st.lists(st.tuples(st.integers(1, 20), st.integers(-9, 9)), max_size=12))
    at, spans = data.draw(st.integers(-50, 0)), []
    for length, value in values:
        spans.append((at, length, value))
        at += length
    table = make("_ts _duration v", spans)
    found = _zoomed(table.cut(), step=step)
    whole = [Fraction(row[-1]).limit_denominator(step) * row[1] for row in found]
    assert sum(whole) == sum(length * value for _, length, value in spans)
    assert sum(row[1] for row in found) == sum(length for _, length, _ in spans)


def test_a_long_span_is_three_rows_at_most() -> None:
    table = make("_ts _duration v", [(-5, 1 << 50, 3)])
    found = _zoomed(table.whole(), step=10)
    assert [row[0] for row in found] == [-5, 0, ((1 << 50) - 5) // 10 * 10]
    assert sum(row[1] for row in found) == 1 << 50
    assert {row[2:] for row in found} == {(3, 3, 3, 3.0)}


def test_ranges_include_spans_that_cross_their_edges() -> None:
    table = make("_ts _duration v", [(0, 100, 7), (100, 3, 9)])
    assert _zoomed(table.whole(), step=10, start=15, stop=102) == [
        (15, 5, 7, 7, 7, 7.0),
        (20, 80, 7, 7, 7, 7.0),
        (100, 2, 9, 9, 9, 9.0),
    ]
    assert _zoomed(table.whole(), step=10, start=5, stop=5) == []


@pytest.mark.parametrize("step", [1, 3, 1 << 62, LAST])
def test_the_ends_of_time(step: int) -> None:
    table = make("_ts _duration v", [(FIRST, 5, 1), (FIRST + 5, 1, 4), (LAST - 4, 3, 2), (LAST - 1, 1, LAST)])
    found = _zoomed(table.whole(), step=step)
    assert found[0][0] == FIRST
    assert found[-1][0] + found[-1][1] == LAST
    assert sum(row[1] for row in found) == 10
    assert max(row[3] for row in found) == LAST


def test_a_span_over_half_of_time() -> None:
    table = make("_ts _duration v", [(FIRST, LAST, 2**64 - 1)], v=pa.uint64())
    assert _zoomed(table.whole(), step=LAST) == [
        (FIRST, 1, *(2**64 - 1,) * 3, 2.0**64),
        (-LAST, LAST - 1, *(2**64 - 1,) * 3, 2.0**64),
    ]


def test_values_that_are_no_numbers() -> None:
    nan = float("nan")
    table = make("_ts _duration v", [(0, 1, 1.0), (1, 1, nan), (2, 1, 2.0)], v=pa.float64())
    ((_, _, least, most, last, mean),) = _zoomed(table.whole(), step=10)
    assert (least, last) == (1.0, 2.0)
    assert math.isnan(most)
    assert math.isnan(mean)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (make("_ts _duration v", [], v=pa.string()), "found Utf8, expected numbers"),
        (make("_ts _duration", []), "span input has 0 columns of values, expected one"),
        (make("_ts _duration v w", []), "span input has 2 columns of values, expected one"),
    ],
)
def test_columns_that_are_not_taken(table: Table, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        _zoomed(table.whole(), step=1)


def test_steps_that_are_none() -> None:
    with pytest.raises(ValueError, match="a step of 0 ns, expected more than 0"):
        _zoomed(make("_ts _duration v", []).whole(), step=0)


def test_it_can_be_interrupted() -> None:
    cancel = kernels.Cancel()
    stream = kernels.zoom_counter(
        make("_ts _duration v", [(0, 1, 1)]).whole(), partitions=0, names=["a", "b", *MADE], step=1, cancel=cancel
    )
    cancel.set()
    with pytest.raises(pa.ArrowInvalid, match="interrupted"):
        rows(stream)
