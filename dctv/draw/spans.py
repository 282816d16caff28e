"""Draw slices and states as labelled boxes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dctv.draw.colours import FILLS, PALES, hue_of, ink_on, state_role
from dctv.draw.letters import cleaned, fitted
from dctv.draw.places import Placed, merged, of_kinds
from dctv.draw.rows import LANE, TrackRow
from dctv.draw.scene import Scene
from dctv.draw.shapes import Boxes, Rectangle, Shape, TextShape
from dctv.draw.times import exact_time
from dctv.timeline.track import TrackKind

if TYPE_CHECKING:
    from numpy import bool_, int64
    from numpy.typing import NDArray

    Flags = NDArray[bool_]
    Whole = NDArray[int64]

TITLED = 10_000
"""The maximum number of boxes with a tooltip, the widest ones, to keep pictures small."""
HATCHED = 6
"""The minimum width of a box with visible hatching."""
_WHOLE = 8
"""The number of fill levels of states: cells are filled by eighths."""
_LOWEST = 2
_LEVEL = (LANE - 2) // _WHOLE
_SIZE = 11
_LABELLED = 18
_LEGIBLE = 12


def slices(scene: Scene, placed: Placed, rows: Sequence[TrackRow]) -> Iterator[Shape]:
    """Yield the boxes of slices; a box for several is pale."""
    import numpy as np

    found, levels = merged(*_level(of_kinds(placed, rows, TrackKind.SLICES)))
    roles = _codes(found, [hue_of(name) for name in _used(found)])
    pale = found["count"] > 1
    yield from _boxes(scene, found, rows, levels, np.where(pale, roles + len(FILLS), roles), (*FILLS, *PALES))


def states(scene: Scene, placed: Placed, rows: Sequence[TrackRow]) -> Iterator[Shape]:
    """Yield the boxes of states; a box that a state fills only partly is lower."""
    import numpy as np

    found, levels = merged(*_level(of_kinds(placed, rows, TrackKind.STATES)))
    names = [state_role(name) for name in _used(found)]
    roles = tuple(dict.fromkeys(names))
    codes = _codes(found, [roles.index(name) for name in names])
    yield from _boxes(scene, found, rows, levels, codes.astype(np.int64), roles)


def partial(placed: Placed) -> Flags:
    """Return which cells of states are only partly filled."""
    found: Flags = (placed["filled"] < placed["_duration"]) & (placed["filled"] > 0)
    return found


def _level(placed: Placed) -> tuple[Placed, Whole]:
    import numpy as np

    whole = np.full(len(placed), _WHOLE, dtype=np.int64)
    share = placed["filled"] / np.maximum(placed["_duration"], 1)
    part = np.clip(np.rint(share * _WHOLE), _LOWEST, _WHOLE).astype(np.int64)
    return placed, np.where(partial(placed), part, whole)


def _used(placed: Placed) -> Sequence[str | None]:
    import numpy as np

    return [placed.names[code] for code in np.unique(placed["name"]).tolist()]


def _codes(placed: Placed, of: Sequence[int]) -> Whole:
    """Return the value for the name of each cell; `of` has one for each used name, in order of codes."""
    import numpy as np

    _, places = np.unique(placed["name"], return_inverse=True)
    return np.array(of, dtype=np.int64)[places]


def _boxes(
    scene: Scene, found: Placed, rows: Sequence[TrackRow], levels: Whole, roles: Whole, names: Sequence[str]
) -> Iterator[Shape]:
    import numpy as np

    left, right = found["left"], found["right"]
    # A gap separates neighbours.
    right = np.where(right - left >= 3, right - 1, right)
    bottom = np.array([row.y for row in rows])[found["row"]] + found["lane"] * LANE + LANE - 1 if len(found) else left
    top = bottom - levels * _LEVEL - (levels == _WHOLE)
    telling = np.zeros(len(found), dtype=bool)
    telling[np.argsort(left - right, kind="stable")[:TITLED]] = True
    for role in np.unique(roles[~telling]).tolist():
        some = ~telling & (roles == role)
        yield Boxes(left[some], top[some], right[some], bottom[some], names[role])
    which = np.flatnonzero(telling)
    columns = [column[which].tolist() for column in (left, top, right, bottom, roles)]
    zero = scene.zero
    labels = []
    for cell, x, y, end, base, role in zip(_cells(found.take(which)), *columns, strict=True):
        name, pale = cleaned(cell["text"]), names[role] in PALES
        title = _title(name, cell, zero)
        yield Rectangle(x, y, end - x, base - y, names[role], title, hatched=pale and end - x >= HATCHED)
        if end - x >= _LABELLED and base - y >= _LEGIBLE and cell["text"]:
            labels.append(_label(name, x, end, base, names[role]))
    yield from (label for label in labels if label.text)


def _label(name: str, left: float, right: float, bottom: float, role: str) -> TextShape:
    room = right - left - 6
    return TextShape(left + 3, bottom - 5, fitted(name, room, _SIZE), room, ink_on(role), _SIZE)


def _cells(placed: Placed) -> Iterator[dict[str, Any]]:
    fields = ("_ts", "_duration", "count", "total", "longest")
    texts = (placed.names[code] for code in placed["name"].tolist())
    for text, *values in zip(texts, *(placed[name].tolist() for name in fields), strict=True):
        yield {"text": text, **dict(zip(fields, values, strict=True))}


def _title(name: str, cell: dict[str, Any], zero: int) -> str:
    lines = [name, f"begins at {exact_time(cell['_ts'] - zero)}"]
    if cell["count"] <= 1:
        return "\n".join([*lines, f"lasts {exact_time(cell['_duration'])}"])
    lines.append(f"{cell['count']:,} in {exact_time(cell['_duration'])}, {exact_time(cell['total'])} together")
    return "\n".join([*lines, f"the longest lasts {exact_time(cell['longest'])}"])
