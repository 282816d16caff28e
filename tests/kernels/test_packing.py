"""Lanes of rows against brute force."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv import _kernels as kernels
from tests.kernels.tables import UNTIMED

Row = tuple[int, int | None, int, int]
TYPES = (pa.int32(), pa.int64(), pa.int64(), pa.int64())
LAST = 2**63 - 1


def packed(rows: list[Row], cuts: tuple[int, ...] = ()) -> list[tuple[int, int]]:
    """Return track and lane of each row, given in parts."""
    packing, codes = kernels.Packing(), []
    for first, end in zip((0, *cuts), (*cuts, len(rows)), strict=True):
        columns = (pa.array([row[n] for row in rows[first:end]], TYPES[n]) for n in range(4))
        codes += pa.array(packing.push(*columns)).to_pylist()
    tracks, lanes = (pa.array(column).to_pylist() for column in packing.lanes())
    return [(tracks[code], lanes[code]) for code in codes]


def expected(rows: list[Row]) -> list[tuple[int, int]]:
    """Try all lanes from that of the depth on."""
    found: list[tuple[int, int]] = []
    for number, (track, depth, begin, _) in enumerate(rows):
        before = zip(rows[:number], found, strict=True)
        busy = {lane for (own, _, ts, length), (_, lane) in before if own == track and ts + length > begin}
        first = max(depth or 0, 0)
        found.append((track, next(lane for lane in range(first, first + number + 1) if lane not in busy)))
    return found


@UNTIMED
@given(
    st.lists(st.tuples(st.integers(0, 2), st.none() | st.integers(-1, 5), st.integers(-9, 9), st.integers(0, 12))),
    st.integers(0, 8),
)
def test_lanes_are_the_first_that_are_free(drawn: list[Row], cut: int) -> None:
    rows = sorted(drawn, key=lambda row: row[2])
    assert packed(rows, (min(cut, len(rows)),)) == expected(rows)


def test_nested_rows_are_at_their_depth() -> None:
    rows: list[Row] = [(0, 1, 0, 5), (0, 0, 0, 9), (0, 2, 3, 2), (0, 1, 5, 4), (0, 0, 9, 1)]
    assert [lane for _, lane in packed(rows)] == [1, 0, 2, 1, 0]


def test_ten_thousand_lanes() -> None:
    rows: list[Row] = [(7, None, number, 10_000) for number in range(20_000)]
    assert packed(rows) == [(7, number % 10_000) for number in range(20_000)]


def test_a_depth_that_is_none() -> None:
    """It does not make as many lanes as it says."""
    assert packed([(0, LAST, 0, 1), (0, LAST, 0, 1), (0, -LAST, 0, 1)]) == [(0, 1024), (0, 2049), (0, 0)]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([0], [0], [0], [-1]), "a row ends before it begins, or after all time"),
        (([0], [0], [LAST], [1]), "a row ends before it begins, or after all time"),
        (([-1], [0], [0], [1]), "a track below 0"),
        (([0], [0], [0], []), "the columns are not of one length"),
        (([None], [0], [0], [0]), "only depths may be NULL"),
    ],
)
def test_rows_that_are_none(columns: tuple[list[Any], ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kernels.Packing().push(*(pa.array(column, kind) for column, kind in zip(columns, TYPES, strict=True)))
    with pytest.raises(ValueError, match="expected tracks of int32; depths, begins and durations of int64"):
        kernels.Packing().push(*(pa.array(column, pa.int16()) for column in ([0], [0], [0], [0])))
