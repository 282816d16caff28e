"""PNG pictures: colours of pixels at known places, light and dark, and the error without Pillow."""

from __future__ import annotations

import sys
from io import BytesIO

import pytest
from PIL import Image

from dctv.draw.colours import FILLS, hue_of, palette, rgb
from dctv.draw.layout import picture
from dctv.draw.png import png
from dctv.draw.scene import Scene
from dctv.errors import UsageError
from dctv.timeline.track import TrackKind
from tests.draw.scenes import cell, rich, scene, track, value
from tests.draw.svgs import LEFT, WIDTH

MIDDLE = 76 + 3
"""A line of the first lane that is above the letters of labels."""


def image(shown: Scene, *, dark: bool = False, width: int = WIDTH) -> Image.Image:
    return Image.open(BytesIO(png(picture(shown, width), dark=dark))).convert("RGB")


@pytest.mark.parametrize("dark", [False, True])
def test_cells_have_their_colours_at_their_places(*, dark: bool) -> None:
    colours = {role: rgb(colour) for role, colour in palette(dark=dark).items()}
    found = image(scene([track(0)], [cell(0, 100, 200, "read"), cell(0, 300, 3, "x", count=4)]), dark=dark)
    expected = {
        LEFT + 99: "background",
        LEFT + 101: FILLS[hue_of("read")],
        LEFT + 298: FILLS[hue_of("read")],
        LEFT + 299: "background",
        LEFT + 301: f"{FILLS[hue_of('x')]}-pale",
        LEFT + 304: "background",
    }
    assert {x: found.getpixel((x, MIDDLE)) for x in expected} == {x: colours[role] for x, role in expected.items()}
    assert found.getpixel((LEFT + 200, 76 + 17)) == colours["grid"]
    assert found.getpixel((LEFT + 250, 76 + 17)) == colours["background"]


def test_boxes_without_tooltips_look_as_those_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    from dctv.draw import spans

    made = scene([track(0)], [cell(0, 7 * ts, 1 + ts % 7, f"n{ts % 20}") for ts in range(140)])
    whole = image(made).tobytes()
    bare = scene([track(0)], [cell(0, 7 * ts, 1 + ts % 7, f"n{ts % 20}") for ts in range(140)])
    monkeypatch.setattr(spans, "TITLED", 0)
    assert image(bare).tobytes() == whole


def test_hatching_is_seen() -> None:
    found = image(scene([track(0)], [cell(0, 100, 200, None, count=2)]))
    colours = {found.getpixel((x, MIDDLE)) for x in range(LEFT + 110, LEFT + 130)}
    assert colours == {rgb(palette(dark=False)[role]) for role in ("nameless-pale", "background")}


def test_counters_and_instants_are_drawn() -> None:
    tracks = [track(0, TrackKind.COUNTER, "c"), track(1, TrackKind.INSTANTS)]
    found = image(scene(tracks, [value(0, 0, 500, 0), value(0, 500, 500, 8), cell(1, 500, 0, None)]))
    colours = {role: rgb(colour) for role, colour in palette(dark=False).items()}
    assert found.getpixel((LEFT + 750, 79)) == colours["line"]
    assert found.getpixel((LEFT + 750, 100)) == colours["area"]
    assert found.getpixel((LEFT + 250, 100)) == colours["background"]
    assert found.getpixel((LEFT + 500, 76 + 44 + 6)) == colours["nameless"]


def test_letters_that_the_own_font_lacks_stay_in_their_boxes() -> None:
    names = ["\ufdfd" * 9, "\u65e5\u672c\u8a9e", "\u00e9t\u00e9", "\U0001f4a5", "\u0e01\u0e33" * 50]
    cells = [cell(0, 100 * place, 50, name) for place, name in enumerate(names)]
    found = image(scene([track(0)], cells))
    for place in range(len(names)):
        gap = {found.getpixel((LEFT + 100 * place + 50 + x, 76 + y)) for x in range(40) for y in range(17)}
        assert gap == {(255, 255, 255)}


def test_pictures_are_the_same_each_time() -> None:
    assert png(picture(rich())) == png(picture(rich()))


def test_a_picture_has_the_requested_size() -> None:
    found = Image.open(BytesIO(png(picture(rich(), 640, 480))))
    assert (found.size, found.format) == ((640, 480), "PNG")


def test_without_pillow_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(UsageError, match=r"^error: PNG pictures require Pillow\n") as raised:
        png(picture(scene([])))
    assert raised.value.hint == "pip install 'dctv[draw]'"
