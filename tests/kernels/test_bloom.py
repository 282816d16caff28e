"""Bloom filters: bit for bit what the formulas say, and no blob of anybody else's does harm."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv._kernels import Bloom, FileBlooms
from tests.bounds import bounded

WORD = (1 << 64) - 1


def plain(texts: list[str], entries: int, rate: float) -> bytes:
    """Build a filter in the plainest way."""
    bits = max(64, math.ceil(-entries * math.log(rate) / math.log(2) ** 2))
    hashes = max(1, math.floor(bits / entries * math.log(2) + 0.5))
    data = bytearray((bits + 7) // 8)
    for text in texts:
        h1 = fnv1a(text)
        h2 = (h1 * 0x517CC1B727220A95 + 0x9E3779B97F4A7C15) & WORD
        h2 ^= h2 >> 33
        h2 = h2 * 0xFF51AFD7ED558CCD & WORD
        h2 ^= h2 >> 33
        for i in range(hashes):
            place = ((h1 + i * h2) & WORD) % bits
            data[place // 8] |= 1 << (place % 8)
    return struct.pack("<III", hashes, len(texts), bits) + bytes(data)


def fnv1a(text: str) -> int:
    """Hash a text."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 & WORD
    return value


def filled(texts: list[str], entries: int = 1024, rate: float = 0.01) -> Bloom:
    """Build a filter."""
    bloom = Bloom(entries, rate)
    for text in texts:
        bloom.add(text)
    return bloom


def test_the_usual_filter_has_9816_bits_and_7_hashes() -> None:
    bloom = Bloom()
    assert (bloom.num_bits, bloom.num_hashes, bloom.num_entries) == (9816, 7, 0)
    assert bloom.to_bytes() == struct.pack("<III", 7, 0, 9816) + bytes(1227)


@bounded(60)
@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=20),
    st.integers(1, 3000),
    st.sampled_from([0.5, 0.1, 0.01, 1e-9]),
)
def test_every_bit_is_where_the_formulas_put_it(texts: list[str], entries: int, rate: float) -> None:
    bloom = filled(texts, entries, rate)
    assert bloom.to_bytes() == plain(texts, entries, rate)
    assert all(map(bloom.may_contain, texts))
    assert Bloom.from_bytes(bloom.to_bytes()).to_bytes() == bloom.to_bytes()
    assert bloom.num_entries == len(texts)


def test_false_positives_are_rare() -> None:
    bloom = filled([f"known {i}" for i in range(1024)])
    wrong = sum(bloom.may_contain(f"strange {i}") for i in range(20_000))
    assert 100 < wrong < 300


def test_a_merged_filter_has_the_bits_and_adds_of_both() -> None:
    bloom = filled(["a", "b"])
    bloom.merge(filled(["c"]))
    assert bloom.to_bytes() == plain(["a", "b", "c"], 1024, 0.01)
    bloom.merge(bloom)
    assert bloom.num_entries == 6


def test_filters_of_other_sizes_are_not_merged() -> None:
    with pytest.raises(
        ValueError, match=r"^a Bloom filter of 9816 bits and 7 hashes takes none of 19631 bits and 7 hashes$"
    ):
        Bloom().merge(Bloom(2048))


@pytest.mark.parametrize(("entries", "rate"), [(10, 0.0), (10, 1.0), (10, -1.0), (10, math.nan), (1 << 60, 0.01)])
def test_impossible_filters_are_refused(entries: int, rate: float) -> None:
    with pytest.raises(ValueError, match=r"rate must be above 0|more than 2\^30 bits"):
        Bloom(entries, rate)


@pytest.mark.parametrize(
    "blob",
    [
        b"",
        bytes(11),
        bytes(12),
        struct.pack("<III", 7, 0, 9816) + bytes(1226),
        struct.pack("<III", 7, 0, 9816) + bytes(1228),
        struct.pack("<III", 7, 0, 0xFFFFFFFF),
        struct.pack("<III", 0, 0, 64) + bytes(8),
        struct.pack("<III", 0xFFFFFFFF, 0, 64) + bytes(8),
        struct.pack("<III", 3, 0, 65) + bytes(8) + b"\x02",
    ],
)
def test_an_invalid_filter_is_refused(blob: bytes) -> None:
    with pytest.raises(ValueError, match="Bloom filter"):
        Bloom.from_bytes(blob)


@bounded(100)
@given(st.binary(max_size=64))
def test_any_bytes_are_a_filter_or_refused(blob: bytes) -> None:
    try:
        bloom = Bloom.from_bytes(blob)
    except ValueError:
        return
    bloom.may_contain("x")
    assert bloom.to_bytes() == blob


def packed(texts: list[str]) -> bytes:
    """Return the hashes of texts as chunks give them."""
    return b"".join(struct.pack("<Q", fnv1a(text)) for text in texts)


def test_the_filter_of_a_file_has_the_distinct_values_of_its_chunks() -> None:
    blooms = FileBlooms(2, 0.01)
    blooms.add("cat", packed(["a", "b"]))
    blooms.add("cat", packed(["b", "c"]))
    blooms.add("none", b"")
    blooms.add("pid", packed(["1"]))
    blooms.add("pid", None)
    blooms.add("pid", packed(["2"]))
    rows = blooms.finish()
    assert rows == [("cat", plain(["a", "b", "c"], 3, 0.01), 3), ("none", plain([], 2, 0.01), 0)]


def test_hashes_of_a_wrong_length_are_refused() -> None:
    with pytest.raises(ValueError, match="hashes have 8 bytes each"):
        FileBlooms().add("cat", b"1234567")
