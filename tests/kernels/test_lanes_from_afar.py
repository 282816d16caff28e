"""Cells of indexed lanes against brute force, and against the sweep that makes them without an index."""

from __future__ import annotations

from itertools import accumulate
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv import _kernels as kernels
from tests.kernels import intervals_oracle as oracle
from tests.kernels.tables import UNTIMED, Row, make, rows

FIRST, LAST = -(2**63), 2**63 - 1
NAMES = ["_ts", "_duration", "count", "total", "longest", "row"]


def indexed(lanes: list[list[tuple[int, int]]]) -> kernels.Lanes:
    """Index lanes of begins and durations."""
    spans = [span for lane in lanes for span in lane]
    columns = [pa.array([span[n] for span in spans], pa.int64()) for n in (0, 1)]
    return kernels.Lanes(columns[0], columns[1], pa.array([len(lane) for lane in lanes], pa.int64()))


def cells(lanes: kernels.Lanes, start: int, stop: int, step: int) -> list[Row]:
    """Return cells as rows of lane and `NAMES`."""
    batch = pa.record_batch(lanes.cells(start, stop, step))
    return [tuple(row[name] for name in ("lane", *NAMES)) for row in batch.to_pylist()]


def expected(lanes: list[list[tuple[int, int]]], start: int, stop: int, step: int) -> list[Row]:
    """Return what brute force gives."""
    first = list(accumulate((len(lane) for lane in lanes), initial=0))
    found = []
    for number, lane in enumerate(lanes):
        numbered = [(*span, first[number] + row) for row, span in enumerate(lane)]
        found += [(number, *cell) for cell in oracle.zoom(numbered, 0, step, start, stop)]
    return sorted(found, key=lambda row: (row[0], row[-1]))


@st.composite
def some_lanes(draw: st.DrawFn) -> list[list[tuple[int, int]]]:
    """Draw lanes of more than one block of rows, or of few, with spans of no length among them."""
    lanes = []
    for _ in range(draw(st.integers(0, 3))):
        random = np.random.default_rng(draw(st.integers(0, 2**32)))
        size = draw(st.sampled_from([0, 1, 2, 5, 31, 32, 33, 64, 100, 325]))
        gaps = random.choice([0, 0, 1, 5, 300], size)
        lengths = random.choice([0, 1, 1, 2, 7, 40, 2000], size)
        ends = np.cumsum(gaps + lengths) + draw(st.integers(-500, 500))
        lanes.append(list(zip((ends - lengths).tolist(), lengths.tolist(), strict=True)))
    return lanes


@UNTIMED
@given(some_lanes(), st.data())
def test_cells_match_brute_force(lanes: list[list[tuple[int, int]]], data: st.DataObject) -> None:
    found = indexed(lanes)
    times = [span[0] for lane in lanes for span in lane] + [span[0] + span[1] for lane in lanes for span in lane] + [0]
    for _ in range(4):
        near = st.tuples(st.sampled_from(times), st.integers(-3, 3)).map(sum)
        start, stop = sorted([data.draw(near), data.draw(near)])
        step = data.draw(st.sampled_from([1, 2, 3, 8, 50, 64, 1000, 1 << 20, LAST]))
        made = sorted(cells(found, start, stop, step), key=lambda row: (row[0], row[-1]))
        assert made == expected(lanes, start, stop, step), (start, stop, step)


@UNTIMED
@given(some_lanes(), st.sampled_from([1, 2, 5, 64, 4096]))
def test_cells_match_the_sweep(lanes: list[list[tuple[int, int]]], step: int) -> None:
    # Span tables have no spans without length.
    whole = [[span for span in lane if span[1]] for lane in lanes]
    first = accumulate((len(lane) for lane in whole), initial=0)
    for number, (lane, at) in enumerate(zip(whole, first, strict=False)):
        table = make("_ts _duration row", [(*span, at + row) for row, span in enumerate(lane)])
        swept = rows(kernels.zoom(table.whole(), partitions=0, step=step, names=NAMES))
        assert [row[1:] for row in cells(indexed(whole), FIRST, LAST, step) if row[0] == number] == swept


def of_numpy(begins: np.ndarray, lengths: np.ndarray, window: tuple[int, int, int]) -> list[list[int]]:
    """Return the cells of a lane: `NAMES`."""
    start, stop, step = window
    seen = np.flatnonzero((begins < stop) & ((begins + lengths > start) | (begins >= start)))
    if not len(seen):
        return []
    begins, lengths = begins[seen], lengths[seen]
    long = lengths >= step
    cuts = (np.diff(begins // step) != 0) | long[1:] | long[:-1]
    first = np.concatenate([[0], np.flatnonzero(cuts) + 1])
    last = np.concatenate([first[1:], [len(seen)]]) - 1
    longest = np.maximum.reduceat(lengths, first)
    number = np.repeat(np.arange(len(first)), last - first + 1)
    are = np.flatnonzero(lengths == longest[number])
    rows = seen[are[np.unique(number[are], return_index=True)[1]]]
    ends = begins[last] + lengths[last]
    total = np.add.reduceat(lengths, first)
    columns = [begins[first], ends - begins[first], last - first + 1, total, longest, rows]
    made: list[list[int]] = np.stack(columns, axis=1).tolist()
    return made


@pytest.mark.parametrize("seed", range(8))
def test_cells_of_many_groups_match_numpy(seed: int) -> None:
    """Small lanes and such as stand on pages of their own, with spans that come evenly, or in bursts."""
    random = np.random.default_rng(seed)
    lanes = []
    for size in random.permutation([1, 33, 2_048, 5_000, 32_767, 32_768, 70_001]).tolist():
        rare = random.choice([0, 0.0005, 0.02])
        gaps = random.choice([0, 1, 7, 1 << 22], size, p=[0.4, 0.3, 0.3 - rare, rare])
        lengths = random.choice([0, 1, 20, 300, 1 << 16], size, p=[0.1, 0.3, 0.3, 0.299, 0.001])
        lanes.append((np.cumsum(gaps + lengths) - lengths, lengths))
    begin, duration = (pa.array(np.concatenate(several)) for several in zip(*lanes, strict=True))
    found = kernels.Lanes(begin, duration, pa.array([len(lengths) for _, lengths in lanes]))
    first = [0, *accumulate(len(lengths) for _, lengths in lanes)]
    end = max(int(begins[-1] + lengths[-1]) for begins, lengths in lanes)
    for step in (3, 64, 1000, 1 << 14, 100_003, 1 << 20, 1 << 26, LAST):
        start, stop = sorted(random.integers(-10, end + 10, 2).tolist())
        batch = pa.record_batch(found.cells(start, stop, step))
        made = np.stack([batch[name].to_numpy() for name in ("lane", *NAMES)], axis=1)
        for number, lane in enumerate(lanes):
            own = made[made[:, 0] == number, 1:]
            own[:, -1] -= first[number]
            assert own.tolist() == of_numpy(*lane, (start, stop, step)), (number, start, stop, step)


def test_counts_stay_at_every_zoom() -> None:
    random = np.random.default_rng(4)
    lengths = random.integers(0, 1000, 300_000)
    begins = np.cumsum(lengths + random.integers(0, 500, len(lengths))) - lengths
    lanes = kernels.Lanes(pa.array(begins), pa.array(lengths))
    assert len(lanes) == 1
    assert pa.array(lanes.index).nbytes <= 2.5 * len(lengths)
    end = int(begins[-1] + lengths[-1]) + 1
    finer: dict[int, int] = {}
    for level in range(30):
        step = 1 << level
        batch = pa.record_batch(lanes.cells(0, end, step))
        column = {name: batch[name].to_numpy() for name in batch.schema.names}
        assert column["count"].sum() == len(lengths)
        assert column["total"].sum() == lengths.sum()
        assert (lengths[column["row"]] == column["longest"]).all()
        merged = column["longest"] < step
        assert (column["count"][~merged] == 1).all()
        longest: dict[int, int] = {}
        for place, length in zip((column["_ts"] // step).tolist(), column["longest"].tolist(), strict=True):
            longest[place] = max(length, longest.get(place, -1))
        if level:
            halves: dict[int, int] = {}
            for place, length in finer.items():
                halves[place // 2] = max(length, halves.get(place // 2, -1))
            assert longest == halves
        finer = longest


def test_spans_at_both_ends_of_time() -> None:
    lanes = indexed([[(FIRST, 0), (FIRST, 5), (0, 0), (LAST - 3, 2), (LAST - 1, 1)], [(0, LAST)], []])
    assert cells(lanes, FIRST, LAST, 1) == [
        (0, FIRST, 0, 1, 0, 0, 0),
        (0, FIRST, 5, 1, 5, 5, 1),
        (0, 0, 0, 1, 0, 0, 2),
        (0, LAST - 3, 2, 1, 2, 2, 3),
        (0, LAST - 1, 1, 1, 1, 1, 4),
        (1, 0, LAST, 1, LAST, LAST, 5),
    ]
    assert cells(lanes, LAST - 2, LAST, 1 << 62)[0] == (0, LAST - 3, 3, 2, 3, 2, 3)
    assert cells(lanes, 7, 7, 10) == [(1, 0, LAST, 1, LAST, LAST, 5)]
    far = indexed([[(-(2**62), 1), (2**62, 1)], [(-1, 0)]])
    assert [row[3] for row in cells(far, FIRST, LAST, LAST)] == [1, 1, 1]


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        (([1, 0], [0, 0]), "row 1 begins before the one before it on its lane ends"),
        (([0, 4], [5, 1]), "row 1 begins before the one before it on its lane ends"),
        (([0], [-1]), "row 0 lasts for less than 0"),
        (([LAST], [1]), "row 0 ends after the last time that there is"),
        (([0], [1, 2]), "expected 1 durations, found 2"),
        (([None], [1]), "there are NULLs in begins"),
        (([0, 1], [1, 1], [1]), "the lanes do not have 2 rows together"),
        (([0, 1], [1, 1], [3, -1]), "the lanes do not have 2 rows together"),
        (([0, 1], [1, 1], [2, 1]), "the lanes do not have 2 rows together"),
    ],
)
def test_lanes_that_are_none(given_: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kernels.Lanes(*(pa.array(column, pa.int64()) for column in given_))


def test_windows_that_are_none() -> None:
    lanes = indexed([[(0, 1)]])
    with pytest.raises(ValueError, match="a step of 0 ns, expected more than 0"):
        lanes.cells(0, 1, 0)
    with pytest.raises(ValueError, match="the stop, 0 ns, comes before the start, 1 ns"):
        lanes.cells(1, 0, 1)
    assert cells(indexed([]), 0, 1, 1) == []


def test_ten_thousand_lanes() -> None:
    lanes = [[(number, 3)] * (number % 2) for number in range(10_000)]
    found = cells(indexed(lanes), 100, 200, 10)
    assert [row[0] for row in found] == [number for number in range(98, 200) if number % 2]


@UNTIMED
@given(st.lists(st.sampled_from([0, 1, 32, 33, 5000, 262_144, 262_145, 800_000]), max_size=3))
def test_an_index_is_the_same_in_a_file(sizes: list[int]) -> None:
    begin = np.concatenate([np.zeros(0, np.int64), *(np.arange(size) * 7 for size in sizes)])
    duration = pa.array(begin % 8 % 7)
    columns = pa.array(begin), duration, pa.array(sizes, pa.int64())
    lanes = kernels.Lanes(*columns)
    with TemporaryDirectory() as folder:
        kernels.Lanes.write(f"{folder}/index", *columns)
        index = pa.array(np.fromfile(f"{folder}/index", "<u8"))
        assert index.equals(pa.array(lanes.index))
        with pytest.raises(OSError, match="exists"):
            kernels.Lanes.write(f"{folder}/index", *columns)
    again = kernels.Lanes(*columns, index=index)
    for step in (1000, 1 << 20, 1 << 40):
        assert pa.record_batch(again.cells(0, LAST, step)).equals(pa.record_batch(lanes.cells(0, LAST, step)))
    longest = pa.record_batch(again.cells(0, LAST, LAST)).to_pylist()
    assert [cell["count"] for cell in longest] == [size for size in sizes if size]
    assert [cell["total"] for cell in longest] == [int((np.arange(size) * 7 % 8 % 7).sum()) for size in sizes if size]
    with pytest.raises(ValueError, match="the index is not one of these rows"):
        kernels.Lanes(*columns, index=pa.concat_arrays([index, pa.array([0], pa.uint64())]))


def test_a_part_of_the_lanes() -> None:
    lanes = indexed([[(number, 3)] for number in range(10)])
    assert [cell["lane"] for cell in pa.record_batch(lanes.cells(0, 100, 1, 3, 5)).to_pylist()] == [3, 4]
    with pytest.raises(IndexError, match="no lanes 3 to 11, there are 10"):
        lanes.cells(0, 100, 1, 3, 11)
