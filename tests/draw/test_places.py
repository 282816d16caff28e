"""Where cells are: against exact fractions, for any times; and what becomes one box."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.draw.places import Placed, TimeScale, merged, place_cells
from dctv.draw.rows import place_rows
from tests.bounds import bounded
from tests.draw.scenes import Cell, cell, scene, track

LEAST, MOST = -(2**63), 2**63 - 1
TIMES = st.one_of(st.integers(-20, 20), st.integers(LEAST, MOST))
PLOT = TimeScale(100, 1000)


@st.composite
def windows(draw: st.DrawFn) -> tuple[int, int]:
    first, second = draw(st.tuples(TIMES, TIMES).filter(lambda ends: ends[0] != ends[1]))
    return min(first, second), max(first, second)


def place(one: Cell, start: int, stop: int) -> tuple[float, float] | None:
    shown = scene([track(0)], [one], start, stop)
    placed = place_cells(shown, place_rows(shown.tracks, 0, None).rows, PLOT)
    return (placed["left"].item(), placed["right"].item()) if len(placed) else None


@bounded(300)
@given(windows(), TIMES, st.one_of(st.integers(0, 40), st.integers(0, MOST)))
def test_cells_are_clipped_to_the_window(window: tuple[int, int], ts: int, duration: int) -> None:
    start, stop = window
    found = place(cell(0, ts, duration), start, stop)
    first, last = max(ts, start), min(ts + duration, stop)
    if first > last or (first == last and (duration or not start <= ts <= stop)):
        assert found is None
        return
    assert found is not None
    left, right = (float(100 + Fraction(end - start, stop - start) * 1000) for end in (first, last))
    assert list(found) == pytest.approx([min(left, 1099), min(max(right, left + 1), 1100)])


def test_cells_of_unknown_tracks_and_lanes_are_left_out() -> None:
    cells = [cell(7, 0, 10), cell(1, 0, 10), cell(1, 20, 10, lane=1), cell(1, 20, 10, lane=-1)]
    shown = scene([track(1)], cells)
    assert place_cells(shown, place_rows(shown.tracks, 0, None).rows, PLOT)["_ts"].tolist() == [0]
    assert len(place_cells(shown, [], PLOT)) == 0


def test_chunks_with_dictionaries_of_their_own_keep_their_names() -> None:
    shown = scene([track(0)], [cell(0, 0, 10, "a")])
    other = scene([track(0)], [cell(0, 20, 10, "b"), cell(0, 40, 10, None)])
    both = scene([track(0)])
    object.__setattr__(both, "cells", pa.concat_tables([shown.cells, other.cells]))
    placed = place_cells(both, place_rows(both.tracks, 0, None).rows, PLOT)
    assert [placed.names[code] for code in placed["name"].tolist()] == ["a", "b", None]


cells = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 9), st.sampled_from("ab"), st.integers(1, 3)), min_size=1, max_size=60
)


@given(cells)
def test_merging_keeps_counts_and_coverage(drawn: list[tuple[int, int, str, int]]) -> None:
    ts = 0
    made = []
    for gap, length, name, count in drawn:
        ts += gap
        made.append(cell(0, ts, length, name, count=count))
        ts += length
    shown = scene([track(0)], made, 0, 1000)
    placed = place_cells(shown, place_rows(shown.tracks, 0, None).rows, PLOT)
    found, levels = merged(placed, np.full(len(placed), 8))
    assert levels.tolist() == [8] * len(found)
    for column in ("count", "total"):
        assert found[column].sum() == placed[column].sum()

    def covered(of: Placed) -> set[tuple[int, int]]:
        boxes = zip(of["left"].tolist(), of["right"].tolist(), of["name"].tolist(), strict=True)
        return {(pixel, name) for left, right, name in boxes for pixel in range(round(left), round(right))}

    assert covered(found) == covered(placed)
    ends = list(zip(found["left"].tolist(), found["right"].tolist(), found["name"].tolist(), strict=True))
    for (left, right, name), (after, last, other) in pairwise(ends):
        assert name != other or after > right or right - left > 1 or last - after > 1


def test_equal_neighbours_below_a_pixel_become_one() -> None:
    made = [cell(0, ts, 1, "a", longest=ts % 7, count=2) for ts in range(100)]
    shown = scene([track(0)], made)
    placed = place_cells(shown, place_rows(shown.tracks, 0, None).rows, PLOT)
    found, _ = merged(placed, np.full(len(placed), 8))
    columns = {
        name: found[name].tolist() for name in ("left", "right", "_ts", "_duration", "count", "total", "longest")
    }
    assert columns == {
        "left": [100],
        "right": [200],
        "_ts": [0],
        "_duration": [100],
        "count": [200],
        "total": [100],
        "longest": [6],
    }
