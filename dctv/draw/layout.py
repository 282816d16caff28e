"""Lay out a scene as a picture: title, ruler, names of tracks, their rows, and the legend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dctv.draw import legend
from dctv.draw.counters import Curve, counters, curves
from dctv.draw.instants import instants
from dctv.draw.letters import cleaned, fitted, width_of
from dctv.draw.places import TimeScale, place_cells
from dctv.draw.rows import LANE, TrackRow, TrackRows, place_rows
from dctv.draw.scene import Scene, check_window
from dctv.draw.shapes import Drawing, Rectangle, Shape, TextShape
from dctv.draw.spans import slices, states
from dctv.draw.times import brief_time, exact_time, ticks
from dctv.errors import UsageError
from dctv.record import record
from dctv.timeline.track import Track, TrackKind

WIDTH = 1600
_WIDTHS, _HEIGHTS = (320, 20_000), (100, 100_000)
_MARGIN = legend.MARGIN
_RULER = 72
"""The lower edge of the ruler, where tracks begin."""
_FOOT = 2 * legend.LINE + 8
"""Space below the tracks in a picture with a given height: a line of notes, a line of the legend."""
_LINES = 6
"""Lines of the legend, if the height is not given."""
_INDENT, _DEEPEST = 12, 8
_COLUMN = (110, 300)
"""Minimum and maximum width of the names of tracks."""


@record
class PictureLayout:
    """The positions of a picture's parts."""

    width: int
    height: int | None
    """None to fit the tracks."""
    plot: TimeScale


def visible(tracks: Sequence[Track], height: int | None) -> Sequence[Track]:
    """Return the tracks that fit into a picture with this height."""
    return [row.track for row in _rows(tracks, height).rows]


def picture(scene: Scene, width: int | None = None, height: int | None = None) -> Drawing:
    """Draw a scene.

    Raises:
        UsageError: the size or the window cannot be drawn.
    """
    width = WIDTH if width is None else width
    check_size(width, height)
    check_window(scene.start, scene.stop)
    rows = _rows(scene.tracks, height)
    column = _column(rows.rows, width)
    frame = PictureLayout(width, height, TimeScale(column, width - _MARGIN - column))
    placed = place_cells(scene, rows.rows, frame.plot)
    found = curves(placed, rows.rows)
    lines = _LINES if height is None else 1 + max(height - _FOOT - rows.last, 0) // legend.LINE
    below = legend.placed_entries(legend.entries(placed, rows.rows, list(found.values())), width, lines)
    notes = _notes(scene, rows)
    last = rows.last + 4 + legend.LINE * (bool(notes) + (below[-1][1] + 1 if below else 0)) + 4
    whole = height or min(last, _HEIGHTS[1])
    shapes = [
        Rectangle(0, 0, width, whole, "background"),
        *_backdrop(rows, frame),
        *_ruler(scene, rows, frame),
        *slices(scene, placed, rows.rows),
        *states(scene, placed, rows.rows),
        *counters(found, frame.plot),
        *instants(scene, placed, rows.rows, frame.plot),
        *_names(rows.rows, found, frame),
        *_head(scene, width),
        *(TextShape(_MARGIN, rows.last + 18, note, width - 2 * _MARGIN, size=12, bold=True) for note in notes),
        *legend.drawn(below, rows.last + 4 + legend.LINE * bool(notes), width),
    ]
    return Drawing(width, whole, cleaned(scene.title), shapes)


def check_size(width: int, height: int | None) -> None:
    """Reject a picture that is too small or too large.

    Raises:
        UsageError: it is.
    """
    for name, size, (least, most) in (("width", width, _WIDTHS), ("height", height, _HEIGHTS)):
        if size is not None and not least <= size <= most:
            raise UsageError(f"the {name} of a picture is {least:,} to {most:,} pixels, found {size:,}")


def _rows(tracks: Sequence[Track], height: int | None) -> TrackRows:
    return place_rows(tracks, _RULER + 4, (height or _HEIGHTS[1] - legend.LINE * (_LINES - 1)) - _FOOT)


def _column(rows: Sequence[TrackRow], width: int) -> float:
    """Return the width of the column of names: that of the longest one, within limits."""
    least, most = _COLUMN
    needs = (
        _indent(row.track) + width_of(cleaned(row.track.name), 12) + 14
        for row in rows
        if row.track.kind is not TrackKind.GROUP
    )
    return float(round(min(max(max(needs, default=0.0), least), most, width * 0.3)))


def _indent(track: Track) -> float:
    return _MARGIN + _INDENT * min(track.depth, _DEEPEST)


def _head(scene: Scene, width: int) -> Iterator[Shape]:
    room = width - 2 * _MARGIN
    title = cleaned(scene.title)
    shown = fitted(title, room, 16, bold=True)
    yield TextShape(_MARGIN, 25, shown, room, size=16, bold=True, title=title if shown != title else "")
    length = scene.stop - scene.start
    text = f"begins at {exact_time(scene.start - scene.zero)}, lasts {exact_time(length)}"
    yield TextShape(_MARGIN, 43, fitted(text, room, 12), room, "faint", 12)


def _ruler(scene: Scene, rows: TrackRows, frame: PictureLayout) -> Iterator[Shape]:
    plot, bottom = frame.plot, max(rows.last, _RULER + 4)
    yield Rectangle(plot.left, _RULER, plot.width, 1, "tick")
    span = scene.stop - scene.start
    for tick in ticks(scene.start, scene.stop, scene.zero, plot.width, lambda label: width_of(label, 11) + 14):
        x = plot.left + min((tick.time - scene.start) * plot.width / span, plot.width - 1)
        yield Rectangle(x, _RULER - 6, 1, 6, "tick")
        yield Rectangle(x, _RULER + 1, 1, bottom - _RULER - 1, "grid")
        room = frame.width - x - 5
        if width_of(tick.label, 11) <= room:
            yield TextShape(x + 4, _RULER - 5, tick.label, room, "faint", 11)
    yield TextShape(
        _MARGIN, _RULER - 5, f"1 px = {brief_time(round(span / plot.width))}", plot.left - _MARGIN, "faint", 11
    )


def _backdrop(rows: TrackRows, frame: PictureLayout) -> Iterator[Shape]:
    for row in rows.rows:
        if row.track.kind is TrackKind.GROUP:
            yield Rectangle(0, row.y, frame.width, row.height - 2, "band-inner" if row.track.depth else "band")
        else:
            yield Rectangle(0, row.last - 2, frame.width, 1, "rule")


def _names(rows: Sequence[TrackRow], found: dict[int, Curve], frame: PictureLayout) -> Iterator[Shape]:
    for row in rows:
        track, x = row.track, _indent(row.track)
        group = track.kind is TrackKind.GROUP
        room = (frame.width - _MARGIN if group else frame.plot.left - 8) - x
        if track.id in found:
            yield from _scale(found[track.id], frame.plot.left)
        base = row.y + (row.height + 8 - 2 * group) / 2 if row.lanes == 1 and not row.more else row.y + LANE / 2 + 4
        name = cleaned(track.name)
        shown = fitted(name, room, 12, bold=group) or name[:1]
        yield TextShape(x, base, shown, room, "ink", 12, bold=group, title=name if shown != name else "")
        if row.more:
            text = f"and {row.more:,} more lanes"
            yield TextShape(frame.plot.left + 3, row.y + row.height - 4, text, frame.plot.width, "faint", 11)


def _scale(curve: Curve, column: float) -> Iterator[Shape]:
    room = column - _MARGIN - 6
    for label, y in zip(curve.labels, (curve.row.y + 10, curve.row.y + curve.row.height - 1), strict=True):
        yield TextShape(column - 6, y, fitted(label, room, 10), room, "faint", 10, "end")


def _notes(scene: Scene, rows: TrackRows) -> Sequence[str]:
    if not scene.tracks:
        return ["no tracks"]
    if rows.left_out:
        return [f"{rows.left_out:,} more track{'' if rows.left_out == 1 else 's'}"]
    return []
