"""Rulers and texts of times: exact, far enough apart, for any window."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.draw.times import brief_time, exact_time, ticks
from tests.bounds import bounded

SIZES = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9, "d": 86400 * 10**9}
LEAST, MOST = -(2**63), 2**63 - 1
LETTER = 6


def read(label: str) -> int:
    if label == "0":
        return 0
    number, unit = label.split(" ")
    value = Decimal(number.replace(",", "")) * SIZES[unit]
    assert value == int(value)
    return int(value)


def is_round(step: int) -> bool:
    return any(
        step % size == 0 and str(step // size).rstrip("0") in ("1", "2", "5") for size in SIZES.values() if step >= size
    )


@st.composite
def windows(draw: st.DrawFn) -> tuple[int, int]:
    length = draw(st.one_of(st.integers(1, 2000), st.integers(1, 10**13), st.integers(1, MOST)))
    start = draw(st.one_of(st.integers(-1000, 1000), st.integers(LEAST, MOST - length)))
    return start, start + length


@bounded(300)
@given(windows(), st.integers(1, 2000), st.integers(LEAST, MOST))
def test_ticks_are_round_exact_and_apart(window: tuple[int, int], width: int, zero: int) -> None:
    start, stop = window
    found = ticks(start, stop, zero, width, lambda label: LETTER * len(label))
    assert all(start <= tick.time <= stop for tick in found)
    assert [read(tick.label) for tick in found] == [tick.time - zero for tick in found]
    steps = {after.time - before.time for before, after in pairwise(found)}
    assert len(steps) <= 1
    for step in steps:
        assert is_round(step)
        assert (found[0].time - zero) % step == 0
        ends = (found[0].label, found[-1].label)
        assert step * width >= (stop - start) * LETTER * max(map(len, ends))


@bounded(100)
@given(windows())
def test_a_wide_ruler_always_has_ticks(window: tuple[int, int]) -> None:
    assert ticks(*window, window[0], 250, lambda label: LETTER * len(label) + 14)


@pytest.mark.parametrize(
    ("start", "stop", "labels"),
    [
        (0, 1, ["0", "1 ns"]),
        (0, 1000, ["0", "0.2 us", "0.4 us", "0.6 us", "0.8 us", "1.0 us"]),
        (-250, 250, ["-200 ns", "-100 ns", "0", "100 ns", "200 ns"]),
        (10**9, 10**9 + 5000, [f"1.00000{digit} s" for digit in range(6)]),
        (0, 300 * 10**9, ["0", "1 min", "2 min", "3 min", "4 min", "5 min"]),
        (0, 5 * 86400 * 10**9, ["0", "1 d", "2 d", "3 d", "4 d", "5 d"]),
    ],
)
def test_labels_have_one_unit_and_the_digits_they_need(start: int, stop: int, labels: list[str]) -> None:
    assert [tick.label for tick in ticks(start, stop, 0, 600, lambda _: 70)] == labels


@given(st.integers(LEAST, MOST))
def test_exact_times_are_exact(time: int) -> None:
    assert read(exact_time(time)) == time


@pytest.mark.parametrize(
    ("time", "text"),
    [
        (0, "0 ns"),
        (999, "999 ns"),
        (-1500, "-1.5 us"),
        (1_234_567, "1.235 ms"),
        (90 * 10**9, "90 s"),
        (150 * 10**9, "2.5 min"),
        (9000 * 10**9, "2.5 h"),
        (MOST, "106,752 d"),
    ],
)
def test_brief_times_are_short(time: int, text: str) -> None:
    assert brief_time(time) == text
