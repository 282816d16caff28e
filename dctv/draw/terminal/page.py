"""Draw a scene as terminal text: names on the left, a line for each lane, a ruler above."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import StringIO
from typing import TYPE_CHECKING

from dctv.draw.colours import FILLS, PALES, hue_of, state_rank, state_role
from dctv.draw.counters import Curve, curves
from dctv.draw.letters import cleaned
from dctv.draw.places import Placed, TimeScale, merged, of_kinds, place_cells
from dctv.draw.rows import TrackRow, place_rows
from dctv.draw.scene import Scene, check_window
from dctv.draw.terminal.columns import CellRun, levels, runs
from dctv.draw.terminal.glyphs import BARS, MARK, block, bracket, fill, ink, letters, shortened
from dctv.draw.times import exact_time, ticks
from dctv.errors import UsageError
from dctv.record import record
from dctv.timeline.track import TrackKind

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

LEAST, MOST = 40, 2000
"""Minimum and maximum width of a drawing, in columns."""
_NAMES = (10, 32)
_SPANS = (TrackKind.SLICES, TrackKind.STATES, TrackKind.INSTANTS)
_HEAD = 3
_EXPLAINED = 24
"""The maximum number of states in the legend."""


@record(eq=False)
class _Drawing:
    """The inputs of lines."""

    scene: Scene
    rows: Sequence[TrackRow]
    names: int
    """The width of the names of tracks."""
    width: int
    """The width of the rows of tracks."""
    placed: Placed
    shown: dict[tuple[int, int], list[CellRun]]
    curves: dict[int, Curve]
    letters: dict[str, str]
    coloured: bool


def text(scene: Scene, width: int, height: int | None = None, *, coloured: bool) -> str:
    """Draw a scene; a height is in lines.

    Raises:
        UsageError: the width, the height or the window cannot be drawn.
    """
    from rich.console import Console

    check_size(width, height)
    check_window(scene.start, scene.stop)
    stream = StringIO()
    console = Console(
        file=stream,
        width=width,
        force_terminal=coloured,
        color_system="auto" if coloured else None,
        no_color=not coloured,
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
    )
    _write(_drawing(scene, width, height, coloured=coloured), console)
    return stream.getvalue()


def check_size(width: int, height: int | None) -> None:
    """Reject a drawing that is too small or too wide.

    Raises:
        UsageError: it is.
    """
    if not LEAST <= width <= MOST:
        raise UsageError(f"a drawing in a terminal is {LEAST} to {MOST:,} columns wide, found {width:,}")
    if height is not None and height < _HEAD + 2:
        raise UsageError(f"a drawing in a terminal has at least {_HEAD + 2} lines, found {height:,}")


def _write(drawing: _Drawing, console: Console) -> None:
    from rich.text import Text

    scene = drawing.scene
    whole = drawing.names + drawing.width
    window = f"begins at {exact_time(scene.start - scene.zero)}, lasts {exact_time(scene.stop - scene.start)}"
    console.print(Text(shortened(cleaned(scene.title), whole).rstrip(), style="bold"), no_wrap=True)
    console.print(Text(shortened(window, whole).rstrip(), style="dim"), no_wrap=True)
    console.print(_ruler(drawing), no_wrap=True)
    for number in range(len(drawing.rows)):
        for line in _lines(drawing, number):
            if not drawing.coloured:
                line.rstrip()
            console.print(line, no_wrap=True, overflow="crop")
    left_out = sum(track.kind is not TrackKind.GROUP for track in scene.tracks[len(drawing.rows) :])
    if not scene.tracks:
        console.print(Text("no tracks", style="bold"))
    if left_out:
        console.print(Text(f"{left_out:,} more track{'' if left_out == 1 else 's'}", style="bold"))
    legend = _legend(drawing)
    if legend:
        console.print(legend)


def _drawing(scene: Scene, width: int, height: int | None, *, coloured: bool) -> _Drawing:
    import numpy as np

    rows = place_rows(scene.tracks, 0, None).rows
    if height is not None:
        room = height - _HEAD - 2
        ends = np.cumsum([row.lanes + (row.more > 0) for row in rows])
        rows = rows[: int(np.searchsorted(ends, room, side="right"))]
    least, most = _NAMES
    longest = max(
        (2 * row.track.depth + len(cleaned(row.track.name)) + 10 * _is_counter(row) for row in rows), default=0
    )
    names = min(max(longest + 1, least), most, width // 3)
    plot = TimeScale(0, width - names)
    placed = place_cells(scene, rows, plot)
    states = of_kinds(placed, rows, TrackKind.STATES)
    state_names = sorted({cleaned(states.names[code]) for code in set(states["name"].tolist())}, key=state_rank)
    found = of_kinds(placed, rows, *_SPANS)
    found, _ = merged(found, np.zeros(len(found), dtype=np.int64))
    shown = {(row, lane): found_runs for row, lane, found_runs in runs(found, width - names)}
    curved = curves(placed, rows)
    return _Drawing(scene, rows, names, width - names, found, shown, curved, dict(letters(state_names)), coloured)


def _ruler(drawing: _Drawing) -> Text:
    from rich.text import Text

    scene, line = drawing.scene, [" "] * drawing.width
    span = scene.stop - scene.start
    for tick in ticks(scene.start, scene.stop, scene.zero, drawing.width, lambda label: len(label) + 2):
        place = (tick.time - scene.start) * drawing.width // span
        label = f"|{tick.label}"
        if place + len(label) <= drawing.width:
            line[place : place + len(label)] = label
    return Text(" " * drawing.names + "".join(line).rstrip(), style="dim")


def _lines(drawing: _Drawing, number: int) -> Iterator[Text]:
    from rich.text import Text

    row = drawing.rows[number]
    track = row.track
    indent = " " * min(2 * track.depth, drawing.names // 2)
    if track.kind is TrackKind.GROUP:
        yield Text(shortened(indent + cleaned(track.name), drawing.names + drawing.width), style="bold")
        return
    curve = drawing.curves.get(track.id)
    scale = "" if curve is None else _scale(curve)
    room = drawing.names - len(scale) - 1
    head = shortened(indent + cleaned(track.name), max(room, 0)) + scale if room > len(indent) + 2 else scale
    for lane in range(row.lanes):
        line = Text(shortened(head if lane == 0 else "", drawing.names))
        if curve is None:
            _add_runs(line, drawing, row, drawing.shown.get((number, lane), []))
        else:
            bars = "".join(BARS[level] for level in levels(curve, drawing.width, len(BARS) - 1))
            line.append(bars, ink("line"))
        yield line
    if row.more:
        yield Text(" " * drawing.names + f"and {row.more:,} more lanes", style="dim")


def _scale(curve: Curve) -> str:
    high, low = curve.labels
    return high if not curve.scale[0] else f"{low} to {high}"


def _add_runs(line: Text, drawing: _Drawing, row: TrackRow, found: Sequence[CellRun]) -> None:
    placed, at = drawing.placed, 0
    for place, run in enumerate(found):
        line.append(" " * (run.first - at))
        at = run.first + run.width
        name = placed.names[int(placed["name"][run.cell])]
        several = run.rows > 1
        if row.track.kind is TrackKind.INSTANTS:
            end = found[place + 1].first if place + 1 < len(found) else drawing.width
            label = shortened(cleaned(name), min(end - run.first - 2, len(cleaned(name)))) if end - at >= 6 else ""
            line.append(MARK * run.width, ink(FILLS[hue_of(name)]) if drawing.coloured else "")
            line.append(label)
            at += len(label)
        elif row.track.kind is TrackKind.STATES:
            _add_state(line, drawing, cleaned(name), run.width)
        elif drawing.coloured:
            role = (PALES if several else FILLS)[hue_of(name)]
            line.append(block(cleaned(name), run.width), fill(role))
        else:
            line.append(bracket(cleaned(name), run.width, several=several))


def _add_state(line: Text, drawing: _Drawing, name: str, width: int) -> None:
    if drawing.coloured:
        line.append(block(name, width, " "), fill(state_role(name)))
    else:
        line.append(drawing.letters[name] * width)


def _legend(drawing: _Drawing) -> Text | None:
    from rich.text import Text

    if not drawing.letters:
        return None
    line = Text()
    for name, letter in list(drawing.letters.items())[:_EXPLAINED]:
        if drawing.coloured:
            line.append("  ", fill(state_role(name)))
        else:
            line.append(letter)
        line.append(f" {name}   ")
    line.rstrip()
    more = len(drawing.letters) - _EXPLAINED
    return line.append(f"   and {more:,} more") if more > 0 else line


def _is_counter(row: TrackRow) -> bool:
    return row.track.kind is TrackKind.COUNTER
