from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.provenance.lines import chosen, interleaved, lines_of, text_of
from tests.bounds import bounded

TEXTS = st.text(alphabet="ab\n\r\0é", max_size=60).map(str.encode)


@bounded(200)
@given(TEXTS)
def test_lines_match_python(text: bytes) -> None:
    expected = [line + b"\n" for line in text.split(b"\n")]
    expected[-1] = expected[-1][:-1]
    assert lines_of(text).to_pylist() == [line for line in expected if line]
    assert text_of(lines_of(text)) == text


@bounded(200)
@given(TEXTS, st.randoms(use_true_random=False))
def test_parts_are_joined_again(text: bytes, random: Random) -> None:
    lines = lines_of(text)
    homes = np.array([random.randrange(3) for _ in range(len(lines))], np.uint16)
    parts = {home: chosen(lines, np.flatnonzero(homes == home)) for home in (2, 0, 1)}
    assert text_of(interleaved(parts, homes)) == text


def test_a_slice_is_text_of_its_lines_only() -> None:
    assert text_of(lines_of(b"a\nb\nc\n")[1:2]) == b"b\n"


def test_missing_and_surplus_lines_are_refused() -> None:
    lines = lines_of(b"a\nb\n")
    with pytest.raises(ValueError, match="2 lines where 1"):
        interleaved({0: lines}, np.array([0], np.uint16))
    with pytest.raises(ValueError, match="2 lines where 3"):
        interleaved({0: lines}, np.array([0, 0, 1], np.uint16))
