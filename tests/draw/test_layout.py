"""What stands around tracks: title, ruler, names, notes; what there is no room for; what cannot be drawn."""

from __future__ import annotations

import pytest

from dctv.draw.layout import picture, visible
from dctv.draw.scene import check_window, step_of
from dctv.errors import UsageError
from dctv.timeline.track import Track, TrackKind
from tests.draw.scenes import cell, rich, scene, track
from tests.draw.svgs import LEFT, TAGS, drawn

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "]]>",
    "</title></svg><script>alert(1)</script>",
    "\x00\x08\x1b[31m\ufffe",
    "\U0001f4a5\U0001f4a5\U0001f4a5",
    "\u202eevil\u202c",
    "\u65e5\u672c\u8a9e" * 20,
    "x" * 10**6,
    "&lt;&#0;",
    '" onload="alert(1)',
    "{{}}${}%s\\",
    "",
]


def many(count: int) -> list[Track]:
    return [track(number) for number in range(count)]


def test_title_window_and_ruler_are_drawn() -> None:
    read = drawn(scene([track(0)], [cell(0, 0, 1)], 5000, 6000, origin=4000, title="my trace"))
    assert read.texts[-2:] == ["my trace", "begins at 1 us, lasts 1 us"]
    assert {"1 px = 1 ns", "1.0 us", "1.1 us", "1.9 us"} <= set(read.texts)
    grid = read.boxes("grid")
    assert [x for x, *_ in grid] == [LEFT + 100 * place for place in range(10)] + [LEFT + 999]
    assert read.root.get("width") == "1122"


def test_times_count_from_the_first_track_unless_the_trace_start_is_known() -> None:
    tracks = [track(0, first=None, last=None), track(1, first=700), track(2, first=300)]
    assert scene(tracks, origin=None).zero == 300
    assert scene(tracks, origin=9).zero == 9
    assert scene([track(0, first=None)], start=5, origin=None).zero == 5


def test_tracks_are_below_each_other_and_indented() -> None:
    tracks = [track(0, TrackKind.GROUP, "CPUs"), track(1, name="CPU 0", parent=0), track(2, name="apart")]
    read = drawn(scene(tracks))
    named = {node.text: node for node in read.root.iter() if node.text in ("CPUs", "CPU 0", "apart")}
    places = {name: (float(node.attrib["x"]), float(node.attrib["y"])) for name, node in named.items()}
    assert [places[name][0] for name in ("CPUs", "CPU 0", "apart")] == [12, 24, 12]
    assert places["CPUs"][1] < places["CPU 0"][1] < places["apart"][1]
    assert (0, 76, 1122, 20) in read.boxes("band")


def test_long_names_are_shortened_with_the_full_name_in_a_tooltip() -> None:
    name = "a thread with a name that nobody has room for, not even here"
    read = drawn(scene([track(0, name=name)]), 400)
    assert "a thread with a…" in read.texts
    assert name in read.told()


def test_lanes_that_are_not_drawn_are_counted() -> None:
    cells = [cell(0, 0, 500, "x", lane=lane) for lane in range(10_000)]
    read = drawn(scene([track(0, lanes=10_000)], cells))
    assert "and 9,984 more lanes" in read.texts
    assert len(read.told()) == 16


def test_tracks_that_are_not_drawn_are_counted() -> None:
    tracks = [track(0, TrackKind.GROUP), *(track(number, parent=0) for number in range(1, 41))]
    read = drawn(scene(tracks), height=200)
    shown = len(visible(tracks, 200)) - 1
    assert [track.id for track in visible(tracks, 200)] == list(range(shown + 1))
    assert f"{40 - shown} more tracks" in read.texts
    assert sum(text.startswith("track ") for text in read.texts) == shown + 1
    assert read.root.get("height") == "200"
    assert "1 more track" in drawn(scene(many(2)), height=150).texts


def test_a_track_is_cut_before_it_is_left_out() -> None:
    assert "and 7 more lanes" in drawn(scene([track(0, lanes=9)]), height=180).texts


@pytest.mark.parametrize("height", [None, 100, 101, 117, 150, 300, 999])
def test_everything_lies_in_the_picture(height: int | None) -> None:
    made = picture(rich(), 700, height)
    assert made.height == (height or made.height)
    read = drawn(rich(), 700, height)
    for node in read.root.iter():
        if node.tag.endswith("rect") and "y" in node.attrib:
            assert float(node.attrib["y"]) + float(node.attrib["height"]) <= made.height
        if node.tag.endswith("text"):
            assert float(node.attrib["y"]) <= made.height - 3


def test_ten_thousand_tracks_are_as_many_as_there_is_room_for() -> None:
    tracks = many(10_000)
    cells = [cell(number, 10, 20, "x") for number in range(10_000)]
    made = picture(scene(tracks, cells))
    assert made.height <= 100_000
    read = drawn(scene(tracks, cells))
    shown = len(visible(tracks, None))
    assert 4000 < shown < 5000
    assert f"{10_000 - shown:,} more tracks" in read.texts
    assert len(read.told()) == shown


def test_a_picture_without_tracks_says_so() -> None:
    read = drawn(scene([]))
    assert "no tracks" in read.texts
    assert read.told() == []


def test_tracks_without_cells_are_empty() -> None:
    kinds = list(TrackKind)
    read = drawn(scene([track(number, kind) for number, kind in enumerate(kinds)]))
    assert [text for text in read.texts if text.startswith("track")] == [f"track {number}" for number in range(5)]
    assert read.told() == []


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_escaped(name: str) -> None:
    kinds = (TrackKind.SLICES, TrackKind.STATES, TrackKind.INSTANTS, TrackKind.COUNTER, TrackKind.GROUP)
    tracks = [track(number, kind, name, unit=name) for number, kind in enumerate(kinds)]
    cells = [cell(number, 100, 800, name, min=1, max=3, mean=2, last=2) for number in range(4)]
    read = drawn(scene(tracks, cells, title=name))
    assert {node.tag.split("}")[1] for node in read.root.iter()} <= TAGS
    assert {key for node in read.root.iter() for key in node.attrib} & {"onload", "onerror", "href", "style"} == set()
    assert len(read.text) < 20_000
    begin = name[:12].replace("\u202e", " ")
    if name.isprintable() and name:
        assert any(text.startswith(begin) for text in read.told())


@pytest.mark.parametrize(
    ("width", "height", "message"),
    [
        (319, None, "the width of a picture is 320 to 20,000 pixels, found 319"),
        (20_001, None, "the width of a picture is 320 to 20,000 pixels, found 20,001"),
        (800, 99, "the height of a picture is 100 to 100,000 pixels, found 99"),
        (800, 100_001, "the height of a picture is 100 to 100,000 pixels, found 100,001"),
    ],
)
def test_sizes_are_limited(width: int, height: int | None, message: str) -> None:
    with pytest.raises(UsageError, match=f"^error: {message}$"):
        picture(scene([track(0)]), width, height)


def test_a_window_has_a_begin_and_an_end() -> None:
    for stop in (10, 5):
        with pytest.raises(UsageError, match=rf": the window must end after it begins, found 10 ns to {stop} ns\n"):
            picture(scene([track(0)], start=10, stop=stop))
    with pytest.raises(UsageError, match=r": a window's ends are times of 64 bits in ns, found 9223372036854775808$"):
        check_window(0, 2**63)


@pytest.mark.parametrize("window", [(0, 1), (-(2**63), 2**63 - 1), (-5, -4), (2**63 - 2, 2**63 - 1), (0, 2**63 - 1)])
def test_any_window_can_be_drawn(window: tuple[int, int]) -> None:
    start, stop = window
    cells = [cell(0, start, 0, "first"), cell(0, stop - 1, 1, "last"), cell(0, stop, 2**62, "after")]
    read = drawn(scene([track(0)], cells, start, stop, origin=start))
    assert [tooltip.split("\n")[0] for tooltip in read.told()][-1:] == ["last"]


@pytest.mark.parametrize(
    ("window", "columns", "step"),
    [((0, 1000), 1000, 1), ((0, 1000), 999, 1), ((0, 10**9), 1600, 1 << 19), ((5, 6), 99, 1), ((0, 4096), 1024, 4)],
)
def test_steps_are_powers_of_two_no_longer_than_a_pixel(window: tuple[int, int], columns: int, step: int) -> None:
    assert step_of(*window, columns) == step
