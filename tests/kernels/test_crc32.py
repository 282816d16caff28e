"""Sums of the kernels are those of zlib, in one piece or in several."""

from __future__ import annotations

import zlib
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from dctv import _kernels
from tests.bounds import bounded


@bounded(100)
@given(st.binary(max_size=5000), st.lists(st.integers(0, 5000), max_size=3))
def test_sums_match_zlib(data: bytes, cuts: list[int]) -> None:
    assert _kernels.crc32(data) == zlib.crc32(data)
    found = 0
    for begin, end in pairwise(sorted({0, *(min(cut, len(data)) for cut in cuts), len(data)})):
        found = _kernels.crc32(data[begin:end], found)
    assert found == zlib.crc32(data)
