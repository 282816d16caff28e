"""Counters and instants in pictures, and values as a person reads them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.draw.amounts import amount
from dctv.draw.layout import picture
from dctv.draw.png import png
from dctv.draw.scene import Scene
from dctv.draw.shapes import Line, Polygon
from dctv.timeline.track import TrackKind
from tests.draw.scenes import Cell, cell, scene, track, value
from tests.draw.svgs import LEFT, drawn, only

TOP, BOTTOM = 79, 113
"""Where the greatest and the least value of the first counter stand."""


def counter(*cells: Cell, unit: str | None = None) -> Scene:
    return scene([track(0, TrackKind.COUNTER, "c", unit=unit)], cells)


@pytest.mark.parametrize(
    ("number", "unit", "text"),
    [
        (1.5 * 2**30, "B", "1.5 GiB"),
        (3, "MiB", "3 MiB"),
        (0, "B", "0 B"),
        (2_400_000, "kHz", "2.4 GHz"),
        (50, "Hz", "50 Hz"),
        (1_500_000, "ns", "1.5 ms"),
        (2.5, "s", "2.5 s"),
        (37, "%", "37 %"),
        (12345.6, None, "12,346"),
        (12, "flurbs", "12 flurbs"),
        (-2.5, "W", "-2.5 W"),
        (-0.0, None, "0"),
        (999.99, None, "1000"),
        (1e300, "B", "8.674e+281 EiB"),
        (1e300, "s", "1e+300 s"),
        (math.inf, "B", "inf"),
        (math.nan, None, "nan"),
        (1, "\x00\n", "1 \ufffd "),
    ],
)
def test_values_are_written_with_their_units(number: float, unit: str | None, text: str) -> None:
    assert amount(number, unit) == text


def test_a_counter_is_steps_with_an_area_and_a_scale() -> None:
    read = drawn(counter(value(0, 0, 500, 0), value(0, 500, 500, 4096), unit="B"))
    steps = [(LEFT, BOTTOM), (LEFT + 500, BOTTOM), (LEFT + 500, TOP), (LEFT + 1000, TOP)]
    assert only(read.points("polyline", "line")) == steps
    assert only(read.points("polygon", "area")) == [(LEFT, BOTTOM), *steps, (LEFT + 1000, BOTTOM)]
    assert read.points("polygon", "range") == []
    assert {"4 KiB", "0 B"} <= set(read.texts)
    assert read.told() == ["c\nleast 0 B\ngreatest 4 KiB"]


def test_a_band_reaches_from_the_least_to_the_greatest_value() -> None:
    read = drawn(counter(value(0, 0, 1000, 50, min=0, max=100)))
    assert only(read.points("polygon", "range")) == [
        (LEFT, TOP),
        (LEFT + 1000, TOP),
        (LEFT + 1000, BOTTOM),
        (LEFT, BOTTOM),
    ]
    assert only(read.points("polyline", "line")) == [(LEFT, 96), (LEFT + 1000, 96)]
    assert {"mean", "least to greatest"} <= set(read.texts)


def test_there_is_a_line_at_zero_where_the_sign_changes() -> None:
    read = drawn(counter(value(0, 0, 500, -10), value(0, 500, 500, 10)))
    assert read.boxes("zero") == [(LEFT, 96, 1000, 1)]
    assert drawn(counter(value(0, 0, 500, 1), value(0, 500, 500, 10))).boxes("zero") == []


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([1, 10], ["10", "0"]),
        ([900, 1000], ["1,000", "900"]),
        ([-10, -1], ["0", "-10"]),
        ([5, 5], ["5", "0"]),
        ([-5, -5], ["0", "-5"]),
        ([0, 0], ["1", "0"]),
        ([-1e308, 1e308], ["1e+308", "-1e+308"]),
        ([5e-324, 5e-324], ["4.94e-324", "0"]),
    ],
)
def test_scales_begin_at_zero_unless_values_are_far_from_it(values: list[float], labels: list[str]) -> None:
    read = drawn(counter(*(value(0, 500 * place, 500, one) for place, one in enumerate(values))))
    assert labels in [read.texts[at : at + 2] for at in range(len(read.texts))]


@pytest.mark.parametrize("most", [5e-324, 1e-320, 1.0, 1.7976931348623157e308])
def test_values_of_any_size_are_at_their_places(most: float) -> None:
    line = only(
        drawn(counter(value(0, 0, 500, -most), value(0, 500, 300, 0), value(0, 800, 200, most))).points(
            "polyline", "line"
        )
    )
    assert [y for _, y in line[::2]] == [BOTTOM, (TOP + BOTTOM) / 2, TOP]
    alone = only(drawn(counter(value(0, 0, 1000, most))).points("polyline", "line"))
    assert alone == [(LEFT, TOP), (LEFT + 1000, TOP)]


def test_there_is_a_gap_where_values_are_missing() -> None:
    cells = [value(0, 0, 100, 1), value(0, 100, 100, math.nan), value(0, 200, 100, None), value(0, 300, 100, math.inf)]
    cells += [value(0, 400, 100, 2), value(0, 600, 100, math.nan, last=3), value(0, 700, 100, 1, min=-math.inf)]
    lines = drawn(counter(*cells)).points("polyline", "line")
    assert [(line[0][0] - LEFT, line[-1][0] - LEFT) for line in lines] == [(0, 100), (400, 500), (600, 800)]


numbers = st.one_of(st.floats(), st.none())


@given(st.lists(st.tuples(numbers, numbers, numbers, numbers), max_size=8))
def test_any_values_stay_in_their_row(drawn_values: list[tuple[float | None, ...]]) -> None:
    cells = [
        cell(0, 100 * place, 100, None, **dict(zip(("min", "max", "mean", "last"), values, strict=True)))
        for place, values in enumerate(drawn_values)
    ]
    made = picture(counter(*cells), 400)
    for shape in made.shapes:
        if isinstance(shape, Line | Polygon):
            assert all(TOP <= y <= BOTTOM and 100 <= x <= 400 for x, y in shape.points)
    png(made)


def instants(*cells: Cell) -> Scene:
    return scene([track(0, TrackKind.INSTANTS)], cells)


def test_instants_are_marks_with_labels_and_counts() -> None:
    cells = [cell(0, 100, 0, "signal"), cell(0, 300, 20, "fault", count=37), cell(0, 1000, 0, "last")]
    read = drawn(instants(*cells))
    assert {"signal", "fault (37)"} <= set(read.texts)
    assert "last" not in read.texts
    assert read.told() == [
        "signal\nat 100 ns",
        "fault\nat 300 ns\n37 in 20 ns",
        "last\nat 1 us",
    ]
    tips = sorted(points[-1] for role in range(9) for points in read.points("polygon", f"hue{role}"))
    assert tips == [(LEFT + 100, 91), (LEFT + 300, 91), (LEFT + 999, 91)]


def test_instants_that_are_close_are_ticks_without_labels() -> None:
    read = drawn(instants(*(cell(0, 100 + 3 * place, 0, "a") for place in range(4))))
    ticks = [box for role in range(9) for box in read.boxes(f"hue{role}")]
    assert ticks == [(LEFT + 100 + 3 * place, 78, 1, 14) for place in range(4)]
    assert "a" not in read.texts


def test_a_label_stays_clear_of_the_next_instant() -> None:
    read = drawn(instants(cell(0, 100, 0, "a_long_name_of_it"), cell(0, 150, 0, "b")))
    assert "a_lo…" in read.texts


def test_very_many_instants_are_ticks_of_one_path_for_each_colour() -> None:
    cells = [cell(0, ts, 0, f"n{ts % 2}") for ts in range(20_000)]
    read = drawn(scene([track(0, TrackKind.INSTANTS)], cells, stop=20_000))
    assert len(read.told()) == 5000
    assert len(read.text) < 1_500_000
