"""Place cells in a picture: clip them to the window, widen them to a pixel, and merge equal neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dctv.draw.rows import TrackRow
from dctv.draw.scene import Scene
from dctv.record import record
from dctv.timeline.track import TrackKind

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy import bool_, float64, int64, uint64
    from numpy.typing import NDArray

    Flags = NDArray[bool_]
    Whole = NDArray[int64]
    Numbers = NDArray[float64]

_WHOLE = ("_ts", "_duration", "count", "total", "longest", "filled")
_VALUES = ("min", "max", "mean", "last")
_MASK = 2**64 - 1
_HAIR = 0.125
"""Gaps between boxes below this many pixels are invisible."""
NO_NAME = -1


@record
class TimeScale:
    """The horizontal axis."""

    left: float
    width: float

    @property
    def right(self) -> float:
        """Its right end."""
        return self.left + self.width


@record(eq=False)
class Placed:
    """Visible cells, by row, lane and time."""

    columns: dict[str, NDArray[Any]]
    """The columns of the cells, and row: index of the row; left, right: edges in pixels; name: code."""
    names: Sequence[str | None]
    """Names by code; the last is None, so that -1 means no name."""

    def __len__(self) -> int:
        """Return the number of cells."""
        return len(self.columns["left"])

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return a column."""
        return self.columns[name]

    def take(self, which: Flags | Whole) -> Placed:
        """Return some of the cells."""
        return Placed({name: column[which] for name, column in self.columns.items()}, self.names)


def place_cells(scene: Scene, rows: Sequence[TrackRow], plot: TimeScale) -> Placed:
    """Return the cells of a scene that are visible in these rows."""
    import numpy as np

    table = scene.cells.unify_dictionaries()
    columns = {name: _numbers(table, name, "int64", 0) for name in ("track", "lane", *_WHOLE)}
    columns |= {name: _numbers(table, name, "float64", np.nan) for name in _VALUES}
    columns["row"], lanes = _rows_of(columns.pop("track"), rows)
    columns["name"], names = _names(table)
    first, last, seen = _clipped(columns["_ts"], columns["_duration"], scene.start, scene.stop)
    scale = plot.width / (scene.stop - scene.start)
    right = plot.left + np.maximum(last * scale, first * scale + 1.0)
    columns["right"] = np.minimum(right, plot.right)
    columns["left"] = np.minimum(plot.left + first * scale, plot.right - 1.0)
    placed = Placed(columns, names).take(seen & (columns["lane"] >= 0) & (columns["lane"] < lanes))
    order = np.lexsort((placed["left"], placed["lane"], placed["row"]))
    return placed.take(order)


def of_kinds(placed: Placed, rows: Sequence[TrackRow], *kinds: TrackKind) -> Placed:
    """Return the cells of tracks of some kinds."""
    import numpy as np

    mask = np.array([row.track.kind in kinds for row in rows], dtype=bool)
    return placed.take(mask[placed["row"]]) if len(placed) else placed


def merged(placed: Placed, level: Whole) -> tuple[Placed, Whole]:
    """Merge neighbours with the same name and level that are no wider than a pixel; return their levels."""
    import numpy as np

    if not len(placed):
        return placed, level
    left, right = placed["left"], placed["right"]
    narrow = right - left <= 1.0 + _HAIR
    joins = narrow[1:] & narrow[:-1] & (left[1:] - right[:-1] <= _HAIR)
    for same in (placed["row"], placed["lane"], placed["name"], level):
        joins &= same[1:] == same[:-1]
    starts = np.flatnonzero(np.concatenate([[True], ~joins]))
    columns = {name: column[starts] for name, column in placed.columns.items()}
    ends = placed["_ts"] + placed["_duration"]
    columns["_duration"] = np.maximum.reduceat(ends, starts) - columns["_ts"]
    for name in ("right", "longest"):
        columns[name] = np.maximum.reduceat(placed[name], starts)
    for name in ("count", "total", "filled"):
        columns[name] = np.add.reduceat(placed[name], starts)
    return Placed(columns, placed.names), level[starts]


def _numbers(table: pa.Table, name: str, kind: str, default: float) -> NDArray[Any]:
    found: NDArray[Any] = table.column(name).cast(kind).fill_null(default).to_numpy()
    return found


def _rows_of(tracks: Whole, rows: Sequence[TrackRow]) -> tuple[Whole, Whole]:
    """Return each cell's row, and the number of drawn lanes: none for a track that is not in the picture."""
    import numpy as np

    ids = np.array([row.track.id for row in rows], dtype=np.int64)
    if not len(ids):
        return np.zeros_like(tracks), np.zeros_like(tracks)
    order = np.argsort(ids, kind="stable")
    found = order[np.searchsorted(ids, tracks, sorter=order) % len(ids)]
    lanes = np.array([row.lanes for row in rows], dtype=np.int64)
    return found, np.where(ids[found] == tracks, lanes[found], 0)


def _names(table: pa.Table) -> tuple[Whole, Sequence[str | None]]:
    column = table.column("name").combine_chunks()
    codes: Whole = column.indices.fill_null(NO_NAME).cast("int64").to_numpy()
    return codes, [*column.dictionary.to_pylist(), None]


def _clipped(ts: Whole, duration: Whole, start: int, stop: int) -> tuple[NDArray[uint64], NDArray[uint64], Flags]:
    """Return begins and ends of cells in the window, and which are visible; sums of times may exceed 64 bits."""
    import numpy as np

    span, zero = np.uint64(stop - start), np.uint64(start & _MASK)
    times, lasts = ts.view(np.uint64), np.maximum(duration, 0).view(np.uint64)
    hidden = np.where(ts < start, zero - times, np.uint64(0))
    first = np.where(ts < start, np.uint64(0), np.minimum(times - zero, span))
    seen = np.where(ts < start, lasts > hidden, (ts < stop) | ((ts == stop) & (lasts == 0)))
    return first, first + np.minimum(lasts - np.minimum(hidden, lasts), span - first), seen
