"""Sketches: quantiles within 1 % over all 64 bits, exact histograms, and no blob of anybody else's does harm."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv._kernels import Sketch
from tests.bounds import bounded

LARGEST = (1 << 64) - 1
NUMBERS = st.one_of(
    st.integers(0, 300),
    st.integers(0, LARGEST),
    st.integers(0, 63).flatmap(lambda bits: st.integers(1 << bits, min((2 << bits) - 1, LARGEST))),
    st.integers(0, 63).map(lambda bits: 1 << bits),
)
QUANTILES = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.1, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0]))


def sketch_of(values: list[int]) -> Sketch:
    """Build a sketch."""
    sketch = Sketch()
    for value in values:
        sketch.add(value)
    return sketch


def exact(values: list[int], q: float) -> int:
    """Return the quantile as the engine's quantile_disc has it."""
    n = len(values)
    return sorted(values)[max(1, n - math.floor(n - n * q)) - 1]


def is_close(found: float | None, wanted: int) -> bool:
    """Whether a quantile is within the promise, without rounding of our own."""
    return found is not None and 100 * abs(Fraction(found) - wanted) <= wanted


@bounded(300)
@given(st.lists(NUMBERS, min_size=1, max_size=60), QUANTILES)
def test_quantiles_are_within_one_percent(values: list[int], q: float) -> None:
    found = sketch_of(values).quantile(q)
    assert is_close(found, exact(values, q)), (found, exact(values, q))


def test_every_border_of_a_bin_is_within_one_percent() -> None:
    value = 1
    while value <= LARGEST:
        near = [v for v in (value - 1, value, value + 1) if v <= LARGEST]
        for number in near:
            sketch = sketch_of([0, number, LARGEST])
            assert is_close(sketch.quantile(0.5), number)
        value = max(value + 1, value * 1003 // 1000)


def test_small_numbers_are_exact() -> None:
    for number in range(51):
        assert sketch_of([0, number, 1000]).quantile(0.5) == number


@bounded(100)
@given(st.lists(NUMBERS, max_size=40), st.lists(NUMBERS, max_size=40))
def test_merging_is_adding_all_values(left: list[int], right: list[int]) -> None:
    merged = sketch_of(left)
    merged.merge(sketch_of(right))
    assert merged.to_bytes() == sketch_of(right + left).to_bytes()
    assert (merged.count, merged.min, merged.max) == (
        len(left + right),
        min(left + right, default=None),
        max(left + right, default=None),
    )
    restored = Sketch.from_bytes(merged.to_bytes())
    assert restored.to_bytes() == merged.to_bytes()
    assert restored.quantile(0.5) == merged.quantile(0.5)


def test_a_sketch_can_be_merged_with_itself() -> None:
    sketch = sketch_of([1, 2])
    sketch.merge(sketch)
    assert sketch.to_bytes() == sketch_of([1, 1, 2, 2]).to_bytes()


@bounded(100)
@given(st.lists(NUMBERS, max_size=40))
def test_histograms_count_bits_exactly(values: list[int]) -> None:
    wanted = [0] * 65
    for value in values:
        wanted[value.bit_length()] += 1
    assert sketch_of(values).histogram() == wanted


def test_the_blob_is_as_documented() -> None:
    assert Sketch().to_bytes() == b"\x01\x00"
    sketch = Sketch()
    sketch.add(0, 3)
    sketch.add(2, 300)
    assert sketch.to_bytes() == bytes([1, 2, 0, 2, 0, 3, 1, 0xAC, 2])


def test_an_empty_sketch_has_no_quantile() -> None:
    sketch = Sketch()
    sketch.add(5, 0)
    assert (sketch.quantile(0.5), sketch.min, sketch.max, sketch.count) == (None, None, None, 0)


@pytest.mark.parametrize("q", [-0.1, 1.1, math.nan])
def test_impossible_quantiles_are_refused(q: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        Sketch().quantile(q)


def test_counts_do_not_overflow() -> None:
    sketch = Sketch()
    sketch.add(1, LARGEST)
    with pytest.raises(ValueError, match=r"fewer than 2\^64"):
        sketch.add(1)
    assert sketch.quantile(0.5) == 1


@pytest.mark.parametrize(
    "blob",
    [
        b"",
        b"\x02\x00",
        b"\x01",
        b"\x01\x00\x00",  # something behind the end
        b"\x01\x01\x05\x05\x05",  # no count
        b"\x01\x01\x05\x05\x05\x00",  # a bin with nothing in it
        b"\x01\x01\x04\x05\x05\x01",  # the minimum is in another bin
        b"\x01\x01\x05\x06\x05\x01",  # so is the maximum
        b"\x01\x01\x05\x05\xff\xff\x01\x01",  # a bin that does not exist
        b"\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x05\x05",  # very many bins
        b"\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",  # more than 64 bits
        b"\x01\x02\x00\x01\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x01",  # more than 2^64 values
    ],
)
def test_an_invalid_sketch_is_refused(blob: bytes) -> None:
    with pytest.raises(ValueError, match="this is no sketch"):
        Sketch.from_bytes(blob)


@bounded(200)
@given(st.lists(NUMBERS, max_size=10), st.integers(0, 100), st.integers(1, 255))
def test_a_flipped_byte_is_a_sketch_or_refused(values: list[int], place: int, change: int) -> None:
    blob = bytearray(sketch_of(values).to_bytes())
    blob[place % len(blob)] ^= change
    try:
        sketch = Sketch.from_bytes(bytes(blob))
    except ValueError:
        return
    sketch.quantile(0.5)
    assert Sketch.from_bytes(sketch.to_bytes()).count == sketch.count
