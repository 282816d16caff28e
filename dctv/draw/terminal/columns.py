"""Cells to columns of characters: which cell each column of each lane shows, and what counters come to there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dctv.draw.counters import Curve
from dctv.draw.places import Placed
from dctv.record import record

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

    Whole = NDArray[int64]

_NOTHING = -1


@record
class CellRun:
    """Columns of a lane that show one cell."""

    first: int
    width: int
    cell: int
    """The place of the cell; what a gap shows is not there."""


def runs(placed: Placed, width: int) -> Iterator[tuple[int, int, list[CellRun]]]:
    """Yield rows and lanes that show something, with what that is; where cells meet in a column the longest is seen."""
    import numpy as np

    if not len(placed):
        return
    keys = np.column_stack([placed["row"], placed["lane"]])
    lanes, places = np.unique(keys, axis=0, return_inverse=True)
    first = np.minimum(np.floor(placed["left"] + 0.5), width - 1).astype(np.int64)
    last = np.clip(np.floor(placed["right"] + 0.5), first + 1, width).astype(np.int64)
    order = np.argsort(placed["_duration"], kind="stable")
    lengths = (last - first)[order]
    cells = np.repeat(order, lengths)
    steps = np.arange(len(cells)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    grid = np.full((len(lanes), width), _NOTHING, dtype=np.int64)
    grid[places.reshape(-1)[cells], first[cells] + steps] = cells
    for (row, lane), shown in zip(lanes.tolist(), grid, strict=True):
        yield row, lane, list(_runs(shown))


def levels(curve: Curve, width: int, most: int) -> list[int]:
    """Return how high the greatest value in each column stands, from 1 to a most; 0 where there is none."""
    import numpy as np

    first = np.minimum(np.floor(curve.left), width - 1).astype(np.int64)
    last = np.clip(np.ceil(curve.right), first + 1, width).astype(np.int64)
    lengths = last - first
    steps = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    result = np.zeros(width, dtype=np.int64)
    high = 1 + np.rint(curve.share(curve.high) * (most - 1)).astype(np.int64)
    np.maximum.at(result, np.repeat(first, lengths) + steps, np.repeat(high, lengths))
    found: list[int] = result.tolist()
    return found


def _runs(shown: Whole) -> Iterator[CellRun]:
    import numpy as np

    starts = np.flatnonzero(np.diff(shown, prepend=_NOTHING - 1))
    ends = [*starts[1:].tolist(), len(shown)]
    for first, last, cell in zip(starts.tolist(), ends, shown[starts].tolist(), strict=True):
        if cell != _NOTHING:
            yield CellRun(first, last - first, cell)
