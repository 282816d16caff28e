"""In-order forests against brute force: every monoid, any range, from memory and from files, also while they grow."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dctv._kernels import Forest, Sketch
from tests.bounds import EXPLORE

WORKED = [209, 330, 901, 3, 10, 0, 3903, 309, 490]
SIZES = (325, 9_249)
RANGES = 100_000 if EXPLORE else 20_000
AT_ONCE = 5_000


Bounds = np.ndarray
Oracle = Callable[[Bounds, Bounds], Any]
"""First leaves and those behind the last ones -> what the values in between come to."""


@dataclass(frozen=True)
class Case:
    """A monoid, values for it, and what aggregates of their ranges are without a forest."""

    monoid: str
    values: Callable[[np.random.Generator, int], pa.Array]
    oracle: Callable[[list[Any]], Oracle]


def _integers(low: int, high: int, *, nulls: bool = False) -> Callable[[np.random.Generator, int], pa.Array]:
    def made(random: np.random.Generator, count: int) -> pa.Array:
        values = random.integers(low, high, count, dtype=np.int64)
        return pa.array(values, mask=random.random(count) < 0.3 if nulls else None)

    return made


def _wide(random: np.random.Generator, count: int) -> pa.Array:
    """Numbers whose sums do not fit into 64 bits."""
    return pa.array(random.choice([2**63 - 1, -(2**63), 2**62, 7], count, p=[0.6, 0.2, 0.1, 0.1]))


def _floats(random: np.random.Generator, count: int) -> pa.Array:
    values = random.integers(-1000, 1000, count) / 4
    return pa.array(values, mask=random.random(count) < 0.2)


def _texts(random: np.random.Generator, count: int) -> pa.Array:
    return pa.array(random.choice(["", "a", "bc", "é", "\0", "longer than others"], count).tolist())


def _blocks(random: np.random.Generator, count: int) -> pa.Array:
    """Blocks of 16 values each, the last one of fewer."""
    values = (2.0 ** (random.random(count) * 62)).astype(np.int64)
    return pa.array([values[at : at + 16].tolist() for at in range(0, count, 16)])


def _sums(values: list[Any]) -> Oracle:
    before = [0]
    for value in values:
        before.append(before[-1] + (value or 0))
    return lambda first, end: [before[b] - before[a] for a, b in zip(first, end, strict=True)]


def _counts(bins: int, bin_of: Callable[[int], int]) -> Callable[[list[Any]], Oracle]:
    def oracle(values: list[Any]) -> Oracle:
        each = np.zeros((len(values) + 1, bins), dtype=np.int64)
        for leaf, block in enumerate(values, 1):
            for value in block:
                each[leaf, bin_of(value)] += 1
        before = each.cumsum(axis=0)
        return lambda first, end: before[end] - before[first]

    return oracle


def _chosen(pick: Callable[[np.ndarray], Any]) -> Callable[[list[Any]], Oracle]:
    """Pick from the values that are there, None from none."""

    def oracle(values: list[Any]) -> Oracle:
        rows = np.array([row for row, value in enumerate(values) if value is not None], dtype=np.int64)
        known = np.array([value for value in values if value is not None])

        def of(first: Bounds, end: Bounds) -> list[Any]:
            ranges = zip(np.searchsorted(rows, first), np.searchsorted(rows, end), strict=True)
            return [pick(known[low:high]).item() if low < high else None for low, high in ranges]

        return of

    return oracle


def _longest(values: list[Any]) -> Oracle:
    lengths = np.array([-1 if value is None else value for value in values])

    def one(first: int, end: int) -> Any:
        # `argmax` finds the first of equals.
        row = first + int(lengths[first:end].argmax()) if first < end else -1
        known = row >= 0 and lengths[row] >= 0
        return {"row": row, "length": int(lengths[row])} if known else {"row": None, "length": None}

    return lambda first, end: [one(*bounds) for bounds in zip(first, end, strict=True)]


def _text(values: list[str]) -> Oracle:
    whole, ends = "".join(values), np.cumsum([0, *map(len, values)])
    return lambda first, end: [whole[ends[a] : ends[b]] for a, b in zip(first, end, strict=True)]


def _bin_of_sketch(value: int) -> int:
    low, high = 0, _BINS - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if _LAST[middle] < value else (low, middle)
    return low


def _last_of_bins() -> list[int]:
    """The last value of each bin: at most 1.0199 times its first one, and below the next power of two."""
    last, begin = [0], 1
    while begin < 2**64:
        last.append(min(begin * 10_199 // 10_000, 2 ** begin.bit_length() - 1))
        begin = last[-1] + 1
    return last


_LAST = _last_of_bins()
_BINS = len(_LAST)
_SMALL = _integers(-5, 5, nulls=True)

CASES = [
    Case("count", _integers(0, 4), _sums),
    Case("sum", _wide, _sums),
    Case("sum", _SMALL, _sums),
    Case("float_sum", _floats, _sums),
    Case("min", _SMALL, _chosen(np.min)),
    Case("max", _integers(-(2**63), 2**63 - 1, nulls=True), _chosen(np.max)),
    Case("float_min", _floats, _chosen(np.min)),
    Case("float_max", _floats, _chosen(np.max)),
    Case("first", _SMALL, _chosen(lambda some: some[0])),
    Case("last", _SMALL, _chosen(lambda some: some[-1])),
    Case("longest", _integers(0, 50, nulls=True), _longest),
    Case("histogram", _blocks, _counts(65, int.bit_length)),
    Case("sketch", _blocks, _counts(_BINS, _bin_of_sketch)),
    Case("text", _texts, _text),
]


def _random_ranges(random: np.random.Generator, leaves: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    first, end = np.sort(random.integers(0, leaves + 1, (2, count)), axis=0)
    return first, end


def _check(forests: Sequence[Forest], of: Oracle, first: np.ndarray, end: np.ndarray) -> None:
    expected = of(first, end)
    for forest in forests:
        column = pa.array(forest.aggregate(pa.array(first), pa.array(end)))
        if isinstance(expected, np.ndarray):
            assert np.array_equal(column.flatten().to_numpy().reshape(expected.shape), expected)
        else:
            assert column.to_pylist() == expected


def _aggregates(forest: Forest, first: Sequence[int], end: Sequence[int]) -> list[Any]:
    found: list[Any] = pa.array(forest.aggregate(pa.array(first), pa.array(end))).to_pylist()
    return found


def _saved(forest: Forest, path: Path) -> Forest:
    forest.save(path)
    with path.open("rb") as file:
        return Forest.open(_bytes(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)))


def _bytes(saved: bytes | mmap.mmap) -> pa.Array:
    return pa.UInt8Array.from_buffers(pa.uint8(), len(saved), [None, pa.py_buffer(saved)])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.monoid}-{case.values.__name__}")
def test_ranges_match_brute_force(case: Case, size: int, tmp_path: Path) -> None:
    random = np.random.default_rng(size)
    values = case.values(random, size)
    forest = Forest(case.monoid)
    forest.append(values)
    assert (len(forest), forest.monoid) == (len(values), case.monoid)
    opened = _saved(forest, tmp_path / "forest")
    of = case.oracle(values.to_pylist())
    for _ in range(RANGES // AT_ONCE):
        _check([forest, opened], of, *_random_ranges(random, len(values), AT_ONCE))


@pytest.mark.parametrize("size", SIZES)
def test_time_by_state(size: int, tmp_path: Path) -> None:
    random = np.random.default_rng(size)
    states = random.integers(0, 5, size)
    lengths = random.integers(0, 2**40, size)
    forest = Forest("states", states=5)
    forest.append(pa.array(lengths), pa.array(states))
    before = np.zeros((size + 1, 5), dtype=np.int64)
    before[np.arange(1, size + 1), states] = lengths
    before = before.cumsum(axis=0)
    opened = _saved(forest, tmp_path / "forest")
    assert opened.states == 5
    for _ in range(RANGES // AT_ONCE):
        ranges = _random_ranges(random, size, AT_ONCE)
        _check([forest, opened], lambda first, end: before[end] - before[first], *ranges)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.monoid}-{case.values.__name__}")
def test_values_are_appended_between_questions(case: Case, tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    values = case.values(random, 9_249)
    grown, at = Forest(case.monoid), 0
    while at < len(values):
        more = int(random.choice([0, 1, 1, 2, 3, 100, 2_000]))
        grown.append(values[at : at + more])
        at = min(at + more, len(values))
        _check([grown], case.oracle(values[:at].to_pylist()), *_random_ranges(random, at, 50))
    whole = Forest(case.monoid)
    whole.append(values)
    for name, forest in (("grown", grown), ("whole", whole)):
        forest.save(tmp_path / name)
    assert (tmp_path / "grown").read_bytes() == (tmp_path / "whole").read_bytes()


def test_many_blocks_of_nodes_are_made_on_all_cores(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    values = pa.array(random.integers(0, 1000, 1 << 18))
    whole, grown = Forest("longest"), Forest("longest")
    whole.append(values)
    for at in range(0, len(values), 10_007):
        grown.append(values[at : at + 10_007])
    whole.save(tmp_path / "whole")
    grown.save(tmp_path / "grown")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "grown").read_bytes()
    _check([whole], _longest(values.to_pylist()), *_random_ranges(random, len(values), 500))


def test_the_worked_numbers() -> None:
    forest = Forest("sum")
    forest.append(pa.array(WORKED))
    found = _aggregates(forest, [0, 3, 6, 0, 4], [3, 9, 7, 9, 4])
    assert [int(value) for value in found] == [1440, 4715, 3903, 6155, 0]
    every = [(first, end) for first in range(10) for end in range(first, 10)]
    found = _aggregates(forest, [first for first, _ in every], [end for _, end in every])
    assert [int(value) for value in found] == [sum(WORKED[first:end]) for first, end in every]


def test_nodes_stand_between_their_halves(tmp_path: Path) -> None:
    forest = Forest("count")
    forest.append(pa.array([1, 2, 4, 8, 16, 32, 64]))
    forest.save(tmp_path / "forest")
    words = np.frombuffer((tmp_path / "forest").read_bytes(), "<u8", offset=64)
    # What is not complete yet holds its left half: [4, 8) those of 4 and 5, [6, 8) that of 6.
    assert words.tolist() == [1, 3, 2, 15, 4, 12, 8, 15, 16, 48, 32, 48, 64, 64]


def test_steps_of_another_program() -> None:
    """The case of gigatrace's own tests: sums of times by steps of 10 from 13 on, and all that is before."""
    times = np.array([10, 15, 20, 100, 101, 150, 170])
    forest = Forest("sum")
    forest.append(pa.array(times))
    cuts = np.searchsorted(times, [0, *range(13, 150, 10), 150 + 13 - 10])
    found = [int(one) for one in _aggregates(forest, cuts[:-1].tolist(), cuts[1:].tolist())]
    assert found == [10, 35, 0, 0, 0, 0, 0, 0, 0, 201, 0, 0, 0, 0, 150]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 100, 325])
def test_leaves_are_replaced(size: int) -> None:
    random = np.random.default_rng(size)
    values = random.integers(0, 100, size)
    forest = Forest("longest")
    forest.append(pa.array(values))
    for _ in range(50):
        leaf, values[leaf] = (place := int(random.integers(0, size))), random.integers(0, 100)
        assert leaf == place
        forest.update(leaf, pa.array([values[leaf]]))
        _check([forest], _longest(values.tolist()), *_random_ranges(random, size, 20))


@pytest.mark.parametrize(
    ("monoid", "reached"),
    [
        ("max", lambda some, bound: max(some) >= bound),
        ("min", lambda some, bound: min(some) <= bound),
        ("longest", lambda some, bound: max(some) >= bound),
        ("count", lambda some, bound: sum(some) >= bound),
    ],
)
def test_the_first_leaf_that_reaches_a_bound(monoid: str, reached: Callable[[list[int], int], bool]) -> None:
    random = np.random.default_rng(3)
    values = random.integers(0, 1000, 325)
    forest = Forest(monoid)
    forest.append(pa.array(values))
    for _ in range(2_000):
        first, end = sorted(random.integers(0, 326, 2).tolist())
        bound = int(random.integers(1, 30_000 if monoid == "count" else 1100))
        expected = next((n for n in range(first, end) if reached(values[first : n + 1].tolist(), bound)), None)
        assert forest.search(first, end, bound) == expected


def test_bins_match_sketches_of_the_index() -> None:
    values = [0, 1, 5, 1000, 123_456, 2**62]
    forest, sketch = Forest("sketch"), Sketch()
    forest.append(pa.array([values]))
    [counts] = _aggregates(forest, [0], [1])
    bins = [number for number, count in enumerate(counts) if count]
    for value in values:
        sketch.add(value)
    for place, (value, number) in enumerate(zip(values, bins, strict=True)):
        assert number == _bin_of_sketch(value)
        found = sketch.quantile((place + 0.5) / len(values))
        assert found is not None
        assert _LAST[number - 1] < found <= _LAST[number] or value == 0


def test_a_file_that_was_damaged_is_refused(tmp_path: Path) -> None:
    forest = Forest("text")
    forest.append(pa.array(["a", "bc", ""]))
    forest.save(tmp_path / "forest")
    good = (tmp_path / "forest").read_bytes()
    assert _aggregates(Forest.open(_bytes(good)), [0], [3]) == ["abc"]
    for place in range(len(good)):
        bad = bytearray(good)
        bad[place] ^= 0x10
        with pytest.raises(ValueError, match="this is no forest that can be read: it"):
            Forest.open(_bytes(bytes(bad)))
    for size in range(len(good)):
        with pytest.raises(ValueError, match="this is no forest that can be read: it"):
            Forest.open(_bytes(good[:size]))
    with pytest.raises(ValueError, match="its header tells of"):
        Forest.open(_bytes(good + b"\0"))


def test_wrong_input_is_reported(tmp_path: Path) -> None:
    forest = Forest("longest")
    with pytest.raises(ValueError, match="unknown monoid `largest`, expected one of count, sum,"):
        Forest("largest")
    with pytest.raises(ValueError, match="found 65 states, expected 1 to 64"):
        Forest("states", states=65)
    with pytest.raises(ValueError, match="`sum` has no states"):
        Forest("sum", states=1)
    with pytest.raises(ValueError, match="found -1, expected no negative numbers"):
        forest.append(pa.array([1, -1]))
    with pytest.raises(ValueError, match="found values of Utf8, expected int64"):
        forest.append(pa.array(["a"]))
    with pytest.raises(ValueError, match="found state 2, expected one below 2"):
        Forest("states", states=2).append(pa.array([1]), pa.array([2]))
    assert len(forest) == 0
    with pytest.raises(IndexError, match="leaves 0 to 1 are not within 0 to 0"):
        forest.aggregate(pa.array([0]), pa.array([1]))
    with pytest.raises(IndexError, match="leaves 2 to 1 are not within 0 to 0"):
        forest.aggregate(pa.array([2]), pa.array([1]))
    forest.append(pa.array([5]))
    opened = _saved(forest, tmp_path / "forest")
    with pytest.raises(ValueError, match="a forest that was opened cannot be changed"):
        opened.append(pa.array([5]))
    with pytest.raises(FileExistsError):
        forest.save(tmp_path / "forest")
    with pytest.raises(ValueError, match="`text` reaches no bound"):
        Forest("text").search(0, 0, 1)
