"""Assign cells to columns of characters: the cell that each column of a lane shows, and the levels of counters."""

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
    """The index of the cell; gaps have no run."""
    rows: int
    """The number of rows that it stands for: those of its cell, and if it is one column, of all cells in that."""


def runs(placed: Placed, width: int) -> Iterator[tuple[int, int, list[CellRun]]]:
    """Yield rows and lanes with runs; if cells share a column, the longest is shown."""
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
    columns = places.reshape(-1)[cells], first[cells] + steps
    grid[columns] = cells
    counts = np.zeros_like(grid)
    np.add.at(counts, columns, placed["count"][cells])
    for (row, lane), shown, own in zip(lanes.tolist(), grid, counts, strict=True):
        yield row, lane, list(_runs(shown, own, placed["count"]))


def levels(curve: Curve, width: int, most: int) -> list[int]:
    """Return the level of each column's greatest value, from 1 to `most`; 0 for none."""
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


def _runs(shown: Whole, counts: Whole, of_cells: Whole) -> Iterator[CellRun]:
    import numpy as np

    starts = np.flatnonzero(np.diff(shown, prepend=_NOTHING - 1))
    ends = [*starts[1:].tolist(), len(shown)]
    for first, last, cell in zip(starts.tolist(), ends, shown[starts].tolist(), strict=True):
        if cell != _NOTHING:
            yield CellRun(first, last - first, cell, int(counts[first] if last - first == 1 else of_cells[cell]))
