"""Slices and states in pictures: where they are, what colour, label and tooltip they have."""

from __future__ import annotations

import re

import pytest

from dctv.draw import spans
from dctv.draw.colours import FILLS, HUES, PALES, STATES, hue_of, ink_on, palette, rgb, state_role
from dctv.draw.letters import width_of
from dctv.timeline.track import TrackKind
from tests.draw.scenes import cell, rich, scene, track
from tests.draw.svgs import LEFT, drawn, only

TOP = 76


def hue(name: str) -> str:
    return f"hue{hue_of(name)}"


def test_a_slice_is_a_box_with_a_label_and_a_tooltip() -> None:
    read = drawn(scene([track(0)], [cell(0, 100, 200, "read")], origin=-1000))
    assert read.boxes(hue("read")) == [(LEFT + 100, TOP, 199, 17)]
    assert "read" in read.texts
    assert read.told() == ["read\nbegins at 1.1 us\nlasts 200 ns"]


def test_lanes_are_below_each_other() -> None:
    cells = [cell(0, 0, 1000, "main"), cell(0, 100, 50, "main", lane=1), cell(0, 110, 20, "main", lane=2)]
    read = drawn(scene([track(0, lanes=3)], cells))
    assert read.boxes(hue("main")) == [(110, 76, 999, 17), (210, 94, 49, 17), (220, 112, 19, 17)]


def test_slices_end_at_the_edges_of_the_window() -> None:
    cells = [cell(0, -500, 600, "a"), cell(0, 900, 10**6, "a"), cell(0, -50, 50, "a"), cell(0, 1000, 5, "a")]
    read = drawn(scene([track(0)], sorted(cells, key=lambda one: int(one["_ts"]))))
    assert read.boxes(hue("a")) == [(LEFT, TOP, 99, 17), (LEFT + 900, TOP, 99, 17)]
    assert "a\nbegins at -500 ns\nlasts 600 ns" in read.told()


def test_slices_shorter_than_a_pixel_are_drawn() -> None:
    read = drawn(scene([track(0)], [cell(0, 5 * 10**8, 1, "x"), cell(0, 10**9, 0, "x")], stop=10**9))
    assert read.boxes(hue("x")) == [(LEFT + 500, TOP, 1, 17), (LEFT + 999, TOP, 1, 17)]


def test_a_cell_of_several_spans_is_pale_and_hatched() -> None:
    one = cell(0, 100, 200, "read", count=1234, total=150, longest=40)
    read = drawn(scene([track(0)], [one]))
    assert read.boxes(f"{hue('read')}-pale") == [(LEFT + 100, TOP, 199, 17)]
    assert read.boxes("hatch")[-1] == (LEFT + 100, TOP, 199, 17)
    assert read.told() == [
        "read\nbegins at 100 ns\n1,234 in 200 ns, 150 ns together\nthe longest lasts 40 ns",
    ]
    assert "pale: several spans, named after the longest" in read.texts


def test_absent_states_have_no_legend() -> None:
    assert not any("pale" in text for text in drawn(scene([track(0)], [cell(0, 0, 100)])).texts)


def test_labels_are_shortened_and_left_out() -> None:
    names = "a_function_with_a_long_name"
    cells = [cell(0, 0, 100, names), cell(0, 200, 12, names), cell(0, 300, 400, names), cell(0, 800, 100, None)]
    read = drawn(scene([track(0)], cells))
    assert [text for text in read.texts if text.startswith("a_")] == ["a_function_wit…", names]
    assert "(no name)\nbegins at 800 ns\nlasts 100 ns" in read.told()
    assert read.boxes("nameless") == [(LEFT + 800, TOP, 99, 17)]


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("running", "running"),
        ("Running", "running"),
        ("R+", "runnable"),
        ("Runnable (Preempted)", "runnable"),
        ("S", "sleeping"),
        ("uninterruptible", "uninterruptible"),
        ("Uninterruptible Sleep (IO)", "uninterruptible"),
        ("Z", "ended"),
        ("t", "stopped"),
        ("unknown", "unknown"),
        ("my state", f"hue{hue_of('my state')}"),
        ("", "nameless"),
        (None, "nameless"),
    ],
)
def test_known_states_have_one_colour_everywhere(name: str | None, role: str) -> None:
    assert state_role(name) == role


def test_names_keep_their_colours() -> None:
    assert [hue_of(name) for name in ("main", "read", "write", "poll", "\U0001f4a5", "\ud800")] == [5, 8, 8, 6, 2, 4]


def test_states_are_lower_where_they_fill_a_part() -> None:
    cells = [
        cell(0, 0, 100, "running"),
        cell(0, 100, 100, "sleeping", count=3, filled=50),
        cell(0, 200, 100, "D", count=9, filled=1),
        cell(0, 300, 100, "mine", count=2),
    ]
    read = drawn(scene([track(0, TrackKind.STATES)], cells))
    assert read.boxes("running")[-1] == (LEFT, TOP, 99, 17)
    assert read.boxes("sleeping")[-1] == (LEFT + 100, TOP + 9, 99, 8)
    assert read.boxes("uninterruptible")[-1] == (LEFT + 200, TOP + 13, 99, 4)
    assert read.boxes(hue("mine"))[-1] == (LEFT + 300, TOP, 99, 17)
    assert [text for text in read.texts if text in ("running", "sleeping", "D", "mine")][-4:] == [
        "running",
        "sleeping",
        "D",
        "mine",
    ]
    assert "lower: it fills only a part of the time" in read.texts


def test_a_legend_counts_the_states_that_it_has_no_room_for() -> None:
    cells = [cell(0, ts, 1, f"a state of number {ts}") for ts in range(500)]
    read = drawn(scene([track(0, TrackKind.STATES)], cells))
    explained = {text for text in read.texts if text.startswith("a state of number")}
    assert f"and {500 - len(explained)} more" in read.texts


def test_only_the_widest_boxes_have_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "TITLED", 2)
    cells = [cell(0, 10 * ts, 2 + ts, "ab"[ts % 2]) for ts in range(8)]
    read = drawn(scene([track(0)], cells))
    assert [tooltip.split("\n")[1] for tooltip in read.told()] == ["begins at 60 ns", "begins at 70 ns"]
    paths = {name: only(read.nodes("path", hue(name))).attrib["d"] for name in "ab"}
    assert re.findall(r"M(\d+)", paths["a"]) == ["110", "130", "150"]
    assert re.findall(r"M(\d+) 76h(\d+)v17h-\d+z", paths["b"]) == [("120", "2"), ("140", "4"), ("160", "6")]


def test_a_picture_of_very_many_cells_stays_small() -> None:
    cells = [cell(0, ts, 1, f"function {ts * ts % 97}", lane=lane) for lane in range(10) for ts in range(2000)]
    read = drawn(scene([track(0, lanes=10)], cells, stop=2000), 2122)
    assert len(read.text) < 2_000_000
    assert len(read.told()) == spans.TITLED


def luminance(colour: str) -> float:
    parts = [part / 255 for part in rgb(colour)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_texts_can_be_read(*, dark: bool) -> None:
    colours = palette(dark=dark)
    low = {
        role: round(contrast(colours[role], colours[ink_on(role)]), 1)
        for role in (*FILLS, *PALES, *STATES)
        if contrast(colours[role], colours[ink_on(role)]) < 4.5
    }
    assert low == {}
    assert contrast(colours["background"], colours["faint"]) >= 4.5
    assert contrast(colours["background"], colours["ink"]) >= 7
    assert len(set(HUES)) == len(HUES)


def test_labels_lie_in_their_boxes() -> None:
    read = drawn(rich(), 1600)
    roles = [*FILLS, *PALES, *STATES]
    boxes = [box for role in roles for box in read.boxes(role)]
    labels = [node for node in read.root.iter() if node.get("class") in ("on-fill", "on-pale")]
    assert len(labels) > 100
    for label in labels:
        x, y = float(label.attrib["x"]), float(label.attrib["y"])
        left, _, width, _ = only(
            [box for box in boxes if box[0] < x < box[0] + box[2] and box[1] < y < box[1] + box[3]]
        )
        name = "".join(label.itertext())
        assert x + width_of(name, 11) <= left + width
        assert float(label.get("textLength", 0)) <= left + width - x
