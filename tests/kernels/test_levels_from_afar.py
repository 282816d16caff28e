"""States and counters of indexed lanes against brute force."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv import _kernels as kernels
from tests.kernels.tables import UNTIMED

Span = tuple[int, int]
STEPS = st.sampled_from([1, 3, 8, 50, 1000, 1 << 20])
NAN = math.nan


@st.composite
def a_lane(draw: st.DrawFn) -> list[Span]:
    """Draw spans of more than one block of rows, or of few, with gaps and spans of no length between them."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    size = draw(st.sampled_from([0, 1, 2, 5, 33, 64, 65, 200, 700]))
    gaps = random.choice([0, 0, 0, 1, 5, 300], size)
    lengths = random.choice([0, 1, 1, 2, 7, 40, 2000], size)
    ends = np.cumsum(gaps + lengths) + draw(st.integers(-500, 500))
    return list(zip((ends - lengths).tolist(), lengths.tolist(), strict=True))


def columns(lane: list[Span]) -> tuple[pa.Array, pa.Array]:
    """Return begins and durations."""
    return pa.array([span[0] for span in lane], pa.int64()), pa.array([span[1] for span in lane], pa.int64())


def drawn(lane: list[Span], start: int, stop: int, step: int) -> list[list[int]]:
    """Return the rows of each cell: long ones by themselves, others by the step in which they begin."""
    seen = [row for row, (ts, length) in enumerate(lane) if ts < stop and (ts + length > start or ts >= start)]
    long = [[row] for row in seen if lane[row][1] >= step]
    short = [row for row in seen if lane[row][1] < step]
    steps = {lane[row][0] // step for row in short}
    return sorted(long + [[row for row in short if lane[row][0] // step == number] for number in steps])


@UNTIMED
@given(
    a_lane(), st.integers(1, 64), st.integers(0, 2**32), st.tuples(STEPS, st.integers(-600, 3000), st.integers(0, 9000))
)
def test_states_are_those_that_fill_most(lane: list[Span], count: int, seed: int, window: tuple[int, int, int]) -> None:
    states = np.random.default_rng(seed).integers(0, count, len(lane)).astype(np.int32)
    lanes = kernels.Lanes(*columns(lane), states=(pa.array(states), count))
    step, start, length = window
    found = pa.record_batch(lanes.cells(start, start + length, step)).to_pylist()
    expected = []
    for rows in drawn(lane, start, start + length, step):
        lengths = [lane[row][1] for row in rows]
        filled = [sum(lane[row][1] for row in rows if states[row] == state) for state in range(count)]
        most = int(states[rows[0]]) if len(rows) == 1 else filled.index(max(filled))
        begin, end = lane[rows[0]][0], sum(lane[rows[-1]])
        longest = rows[lengths.index(max(lengths))]
        expected.append((0, begin, end - begin, len(rows), longest, sum(lengths), max(lengths), most, filled[most]))
    assert [tuple(cell.values()) for cell in found] == expected


def levels(lane: list[Span], values: list[float], start: int, stop: int, step: int) -> list[tuple[Any, ...]]:
    """Look at each step of a window, then take those together that have the same row and in which none begins."""
    out: list[tuple[Any, ...]] = []
    for number in range(start // step, (stop - 1) // step + 1):
        first, end = number * step, (number + 1) * step
        rows = [row for row, (ts, length) in enumerate(lane) if ts < end and (ts + length > first or first <= ts)]
        if not rows:
            continue
        parts = [(max(lane[row][0], first), min(sum(lane[row]), end), values[row]) for row in rows]
        count = sum(lane[row][0] >= first for row in rows)
        known = [part for part in parts if not math.isnan(part[2])]
        last_values: list[float | None] = [None] * 4
        if known:
            covered = sum(part[1] - part[0] for part in known)
            mean = sum((b - a) * value for a, b, value in known) / covered if covered else known[-1][2]
            last_values = [min(k[2] for k in known), max(k[2] for k in known), known[-1][2], mean]
        begin, until = parts[0][0], parts[-1][1]
        before = out[-1] if out else None
        if count == 0 and before and before[3] == 0 and before[4] == rows[-1] and before[1] + before[2] == begin:
            out[-1] = (*before[:2], until - before[1], *before[3:])
        else:
            out.append((0, begin, until - begin, count, rows[-1], *last_values))
    return out


def rounded(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Sums of floating-point numbers depend on their order."""
    return [(*row[:-1], row[-1] if row[-1] is None else pytest.approx(row[-1], rel=1e-9, abs=1e-9)) for row in rows]


@UNTIMED
@given(a_lane(), st.integers(0, 2**32), st.tuples(STEPS, st.integers(-600, 3000), st.integers(1, 9000)))
def test_levels_match_brute_force(lane: list[Span], seed: int, window: tuple[int, int, int]) -> None:
    random = np.random.default_rng(seed)
    values = random.choice([0.0, 1.0, -3.5, 1e9, NAN], len(lane))
    lanes = kernels.Lanes(*columns(lane), values=pa.array(values))
    step, start, length = window
    step = max(step, length // 400)
    found = pa.record_batch(lanes.cells(start, start + length, step)).to_pylist()
    assert [tuple(cell.values()) for cell in found] == rounded(
        levels(lane, values.tolist(), start, start + length, step)
    )


def test_a_value_is_carried_into_the_window() -> None:
    lanes = kernels.Lanes(*columns([(0, 100), (100, 50)]), values=pa.array([5.0, None]))
    assert [tuple(cell.values()) for cell in pa.record_batch(lanes.cells(40, 120, 10)).to_pylist()] == [
        (0, 40, 60, 0, 0, 5.0, 5.0, 5.0, 5.0),
        (0, 100, 10, 1, 1, None, None, None, None),
        (0, 110, 10, 0, 1, None, None, None, None),
    ]


def test_values_at_both_ends_of_time() -> None:
    first, last = -(2**63), 2**63 - 1
    lanes = kernels.Lanes(
        *columns([(first, 10), (first + 10, 0), (last - 4, 3), (last, 0)]), values=pa.array([1.0, 2, 3, 4])
    )
    cells = pa.record_batch(lanes.cells(first, last, 1 << 62)).to_pylist()
    assert [tuple(cell.values()) for cell in cells] == [
        (0, first, 10, 2, 1, 1.0, 2.0, 2.0, 1.0),
        (0, last - 4, 4, 2, 3, 3.0, 4.0, 4.0, 3.0),
    ]
    endless = kernels.Lanes(*columns([(-1, 0), (0, last)]), values=pa.array([math.inf, math.inf]))
    assert [tuple(cell.values())[5:] for cell in pa.record_batch(endless.cells(-5, 5, 100)).to_pylist()] == [
        (math.inf,) * 4,
        (math.inf,) * 4,
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"states": (pa.array([0, 2], pa.int32()), 2)}, "row 1 has the state 2, of 2"),
        ({"states": (pa.array([0, -1], pa.int32()), 2)}, "row 1 has the state -1, of 2"),
        ({"states": (pa.array([0], pa.int32()), 2)}, "expected 2 states, found 1"),
        ({"states": (pa.array([0, 0], pa.int32()), 65)}, "found 65 states, expected 1 to 64"),
        ({"values": pa.array([0, 0], pa.int32())}, "expected Float64 as values, found Int32"),
        ({"values": pa.array([0.0])}, "expected 2 values, found 1"),
        (
            {"values": pa.array([0.0, 0.0]), "states": (pa.array([0, 0], pa.int32()), 1)},
            "lanes have states or values, not both",
        ),
    ],
)
def test_lanes_that_are_none(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kernels.Lanes(*columns([(0, 1), (1, 1)]), **options)


def test_size_of_an_index() -> None:
    random = np.random.default_rng(7)
    lane = pa.array(np.arange(300_000) * 10), pa.array(np.full(300_000, 10))
    for count in (1, 2, 7, 64):
        states = pa.array(random.integers(0, count, 300_000).astype(np.int32))
        assert pa.array(kernels.Lanes(*lane, states=(states, count)).index).nbytes <= 2.5 * 300_000
    assert pa.array(kernels.Lanes(*lane, values=pa.array(random.random(300_000))).index).nbytes <= 2.5 * 300_000
