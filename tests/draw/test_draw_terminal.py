"""Drawings in a terminal: exactly, with and without colours."""

from __future__ import annotations

import re

import pytest
from rich.text import Text

from dctv.draw.colours import FILLS, hue_of, palette
from dctv.draw.scene import Scene
from dctv.draw.terminal.page import text
from dctv.errors import UsageError
from dctv.timeline.track import TrackKind
from tests.draw.scenes import cell, rich, scene, track, value

COLOUR = re.compile("\x1b\\[")


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.delenv("NO_COLOR", raising=False)


def small() -> Scene:
    tracks = [
        track(0, TrackKind.GROUP, "CPUs"),
        track(1, TrackKind.STATES, "CPU 0", 0),
        track(2, TrackKind.COUNTER, "load", 0, unit="%"),
        track(3, name="main", lanes=3),
        track(4, TrackKind.INSTANTS, "marks"),
        track(5, name="wide", lanes=18),
    ]
    cells = [
        cell(1, 0, 250, "running"),
        cell(1, 250, 250, "sleeping"),
        cell(1, 500, 250, "mine"),
        cell(1, 750, 250, "D"),
        *(value(2, 100 * place, 100, 10 * place) for place in range(10)),
        cell(3, 0, 1000, "main"),
        cell(3, 100, 400, "handle_request", lane=1),
        cell(3, 500, 400, "poll", lane=1, count=5),
        cell(3, 100, 20, "x", lane=2),
        cell(3, 220, 20, "y", lane=2, count=2),
        cell(3, 300, 80, "z", lane=2),
        cell(4, 100, 0, "go"),
        cell(4, 500, 0, "a_very_long_name_of_an_instant_here"),
    ]
    return scene(tracks, cells, title="small")


WITHOUT = """\
small
begins at 0 ns, lasts 1 us
                 |0      |0.2 us |0.4 us |0.6 us |0.8 us
CPUs
  CPU 0          ██████████···········aaaaaaaaaa▓▓▓▓▓▓▓▓▓▓
  load      90 % ▁▁▁▁▂▂▂▂▃▃▃▃▃▃▃▃▄▄▄▄▅▅▅▅▆▆▆▆▆▆▆▆▇▇▇▇█████
main             [main───────────────────────────────────]
                     [handle_request─][poll┄┄┄┄┄┄┄┄┄┄]
                     |    ¦  [──]
marks                ▼go              ▼a_very_long_name_…
wide
"""
AFTER = """\
                 and 2 more lanes
█ running   · sleeping   ▓ D   a mine
"""


def test_a_drawing_without_colours_is_letters() -> None:
    assert text(small(), 58, coloured=False) == WITHOUT + 15 * "\n" + AFTER


def test_a_column_of_several_spans_does_not_look_like_one() -> None:
    cells = [cell(0, 0, 4, "a"), cell(0, 4, 2, "b"), cell(0, 500, 4, "c"), cell(0, 700, 100, "d"), cell(0, 800, 2, "e")]
    lines = text(scene([track(0, name="t")], cells), 50, coloured=False)
    assert lines.splitlines()[-1].split() == ["t", "¦", "|", "[──]|"]


def test_colours_match_pictures() -> None:
    colours = palette(dark=True)
    shown = Text.from_ansi(text(small(), 58, coloured=True))
    lines = shown.split("\n")
    assert COLOUR.search(text(small(), 58, coloured=False)) is None

    def background(line: int, column: int) -> str | None:
        from rich.console import Console

        style = lines[line].get_style_at_offset(Console(), column)
        return style.bgcolor.triplet.hex if style.bgcolor is not None and style.bgcolor.triplet is not None else None

    assert [background(4, column) for column in (17, 27, 40, 57)] == [
        colours["running"],
        colours["sleeping"],
        colours[FILLS[hue_of("mine")]],
        colours["uninterruptible"],
    ]
    assert background(6, 20) == colours[FILLS[hue_of("main")]]
    assert background(7, 50) == colours[f"{FILLS[hue_of('poll')]}-pale"]
    assert background(7, 17) is None
    assert "▏handle_request" in lines[7].plain
    assert lines[-1].plain == "   running      sleeping      D      mine"


@pytest.mark.parametrize("width", [40, 41, 57, 80, 200, 2000])
@pytest.mark.parametrize("coloured", [False, True])
def test_no_line_is_wider_than_the_terminal(width: int, *, coloured: bool) -> None:
    for line in Text.from_ansi(text(rich(), width, coloured=coloured)).split("\n"):
        assert line.cell_len <= width


def test_lines_are_limited_by_a_height() -> None:
    lines = text(small(), 58, 8, coloured=False).splitlines()
    assert lines[-3:] == [
        "  load      90 % ▁▁▁▁▂▂▂▂▃▃▃▃▃▃▃▃▄▄▄▄▅▅▅▅▆▆▆▆▆▆▆▆▇▇▇▇█████",
        "3 more tracks",
        "█ running   · sleeping   ▓ D   a mine",
    ]


def test_hostile_names_stay_in_their_columns() -> None:
    names = [
        "\x1b[31mred\x07",
        "a\nb\rc",
        "\u202eevil",
        "\u65e5\u672c\u8a9e" * 30,
        "x" * 10**6,
        "",
        "[bold]b[/bold] :smile:",
    ]
    tracks = [track(number, name=name) for number, name in enumerate(names)]
    cells = [cell(number, 0, 900, name) for number, name in enumerate(names)]
    for coloured in (False, True):
        plain = Text.from_ansi(text(scene(tracks, cells, title=names[0]), 80, coloured=coloured))
        assert not {"\x1b", "\x07", "\r", "\u202e"} & set(plain.plain)
        lines = plain.split("\n")
        assert len(lines) == 3 + len(names)
        assert all(line.cell_len <= 80 for line in lines)
        assert "[bold]b[/bold] :smile:" in lines[-1].plain


def test_no_tracks_are_reported() -> None:
    assert text(scene([]), 60, coloured=False).splitlines()[-1] == "no tracks"


def test_states_are_explained_up_to_a_number() -> None:
    cells = [cell(0, 10 * place, 10, f"s{place:03}") for place in range(100)]
    drawn = text(scene([track(0, TrackKind.STATES)], cells), 200, coloured=False)
    assert drawn.endswith("and 76 more\n")


@pytest.mark.parametrize(
    ("width", "height", "message"),
    [
        (39, None, "a drawing in a terminal is 40 to 2,000 columns wide, found 39"),
        (2001, None, "a drawing in a terminal is 40 to 2,000 columns wide, found 2,001"),
        (80, 4, "a drawing in a terminal has at least 5 lines, found 4"),
    ],
)
def test_sizes_are_limited(width: int, height: int | None, message: str) -> None:
    with pytest.raises(UsageError, match=f"^error: {message}$"):
        text(scene([track(0)]), width, height, coloured=False)
