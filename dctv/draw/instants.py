"""Draw instants as labelled marks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dctv.draw.colours import FILLS, hue_of
from dctv.draw.letters import cleaned, fitted
from dctv.draw.places import Placed, TimeScale, of_kinds
from dctv.draw.rows import TrackRow
from dctv.draw.scene import Scene
from dctv.draw.shapes import Boxes, Polygon, Rectangle, Shape, TextShape
from dctv.draw.times import exact_time
from dctv.timeline.track import TrackKind

TITLED = 5_000
"""The maximum number of instants with a tooltip: those farthest from others."""
_HALF, _HEIGHT, _SIZE = 4, 8, 11
_APART = 2 * _HALF
"""The minimum distance in pixels between instants with marks of their own; others are ticks."""
_LABELLED = 18


def instants(scene: Scene, placed: Placed, rows: Sequence[TrackRow], plot: TimeScale) -> Iterator[Shape]:
    """Yield the marks of instants."""
    import numpy as np

    found = of_kinds(placed, rows, TrackKind.INSTANTS)
    if not len(found):
        return
    x = found["left"]
    steps = np.where(np.diff(found["row"]) == 0, np.diff(x), np.inf)
    before, after = np.concatenate([[np.inf], steps]), np.concatenate([steps, [np.inf]])
    telling = np.zeros(len(found), dtype=bool)
    telling[np.argsort(-np.minimum(before, after), kind="stable")[:TITLED]] = True
    yield from _ticks(found.take(~telling), rows)
    which = np.flatnonzero(telling)
    # A label must not reach the triangle of the next instant.
    rooms = (np.minimum(x + after - _HALF, plot.right) - x)[which].tolist()
    near = (np.minimum(before, after) < _APART)[which].tolist()
    some = found.take(which)
    columns = [some[name].tolist() for name in ("row", "left", "_ts", "_duration", "count", "name")]
    for room, crowded, row, left, ts, duration, count, code in zip(rooms, near, *columns, strict=True):
        name, y = found.names[code], rows[row].y
        title = _title(cleaned(name), ts - scene.zero, duration, count)
        role = FILLS[hue_of(name)]
        if crowded:
            yield Rectangle(left, y + 2, 1, rows[row].height - 4, role, title)
            continue
        corners = [(left - _HALF, y + 3), (left + _HALF, y + 3), (left, y + 3 + 1.5 * _HEIGHT)]
        yield Polygon(corners, role, title)
        text = cleaned(name) if count <= 1 else f"{cleaned(name)} ({count:,})"
        label = fitted(text, room - _HALF - 3, _SIZE) if name and room >= _LABELLED else ""
        if label:
            yield TextShape(left + _HALF + 3, y + 13, label, room - _HALF - 3, "ink", _SIZE)


def _ticks(found: Placed, rows: Sequence[TrackRow]) -> Iterator[Shape]:
    import numpy as np

    codes, places = np.unique(found["name"], return_inverse=True)
    hues = np.array([hue_of(found.names[code]) for code in codes.tolist()], dtype=np.int64)[places]
    top, bottom = (
        np.array(ends, dtype=np.float64)[found["row"]]
        for ends in ([row.y + 2 for row in rows], [row.y + row.height - 2 for row in rows])
    )
    for hue in np.unique(hues).tolist():
        some = hues == hue
        yield Boxes(found["left"][some], top[some], found["left"][some] + 1, bottom[some], FILLS[hue])


def _title(name: str, ts: int, duration: int, count: int) -> str:
    lines = [name, f"at {exact_time(ts)}"]
    if count > 1:
        lines.append(f"{count:,} in {exact_time(duration)}")
    return "\n".join(lines)
