"""Read the rows of a timeline's tracks as Arrow batches that are built on demand."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from dctv.record import record
from dctv.timeline.gathering import GatheredRows
from dctv.timeline.lanes import EVERYTHING, NONE, Lane, TimeWindow, parents_of
from dctv.timeline.timeline import Timeline
from dctv.types.schema import DURATION, TS, ColumnType, Kind, Schema
from dctv.types.units import parse_unit

_NS = parse_unit("ns")
SCHEMA = Schema(
    Kind.REGULAR,
    (
        *(ColumnType(name, "BIGINT") for name in ("track", "lane", "row")),
        ColumnType(TS, "BIGINT", _NS),
        ColumnType(DURATION, "BIGINT", _NS),
        ColumnType("name", "VARCHAR"),
        ColumnType("value", "DOUBLE"),
        ColumnType("id", "BIGINT"),
        ColumnType("parent_id", "BIGINT"),
        ColumnType("parent_name", "VARCHAR"),
    ),
)
COLUMNS = SCHEMA.names
_NAMES = ("name", "parent_name")
_BLOCK = 122_880
"""The engine's vector of work, in rows."""


@record
class _Piece:
    """A range of rows on a lane of a track."""

    lanes: Sequence[Lane]
    lane: Lane
    first: int
    stop: int

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.stop - self.first

    def column(self, name: str) -> Any:
        """Return a column as numpy; names are indexes into those of the source, -1 for none."""
        return _COLUMNS[name](self)

    @property
    def rows(self) -> slice:
        """The range of its rows on the lane."""
        return slice(self.first, self.stop)

    def constant(self, value: int) -> Any:
        """Return a constant for each row."""
        import numpy as np

        return np.full(len(self), value, np.int64)

    def counted(self, first: int) -> Any:
        """Return the numbers of its rows, given that of the lane's first row."""
        import numpy as np

        return np.arange(first + self.first, first + self.stop)

    def values(self) -> Any:
        """Return values of counters, NaN for none."""
        import numpy as np

        lane, values = self.lane, self.lane.rows.values
        return np.full(len(self), np.nan) if values is None else values[lane.start : lane.stop][self.rows]

    def parents(self) -> Any:
        """Return the numbers of its rows' parents, -1 for none."""
        return self._of_parents([one.id for one in self.lanes])

    def names_of_parents(self) -> Any:
        """Return the names of the parents."""
        import numpy as np

        rows = self._of_parents([one.start for one in self.lanes])
        return np.where(rows == NONE, NONE, self.lane.rows.codes[np.maximum(rows, 0)]).astype(np.int32)

    def _of_parents(self, firsts: Sequence[int]) -> Any:
        """Return row numbers of parents, counted from those of the first row of each lane; -1 for none."""
        import numpy as np

        found, at = parents_of(self.lanes, self.lane.number, self.first, self.stop)
        return np.where(found == NONE, NONE, np.array(firsts, np.int64)[found] + at)


_COLUMNS: Mapping[str, Callable[[_Piece], Any]] = {
    "track": lambda piece: piece.constant(piece.lane.track),
    "lane": lambda piece: piece.constant(piece.lane.number),
    "row": lambda piece: piece.counted(piece.lane.first),
    TS: lambda piece: piece.lane.begin[piece.rows],
    DURATION: lambda piece: piece.lane.duration[piece.rows],
    "name": lambda piece: piece.lane.codes[piece.rows],
    "value": _Piece.values,
    "id": lambda piece: piece.counted(piece.lane.id),
    "parent_id": _Piece.parents,
    "parent_name": _Piece.names_of_parents,
}


def table_of(
    timeline: Timeline,
    columns: Collection[str] = COLUMNS,
    tracks: Collection[int] | None = None,
    window: TimeWindow = EVERYTHING,
) -> Any:
    """Return the rows of some tracks, None for all, as a pyarrow RecordBatchReader.

    They come by track, lane and time; rows outside of the window are left out, except at most one of each lane.
    """
    import pyarrow as pa

    names = [name for name in COLUMNS if name in columns] or [COLUMNS[0]]
    schema = pa.schema([_field(name) for name in names])
    return pa.RecordBatchReader.from_batches(schema, _batches(_pieces(timeline, tracks, window), schema))


def _field(name: str) -> Any:
    import pyarrow as pa

    if name in _NAMES:
        return pa.field(name, pa.dictionary(pa.int32(), pa.string()))
    return pa.field(name, pa.float64() if name == "value" else pa.int64())


def _pieces(timeline: Timeline, tracks: Collection[int] | None, window: TimeWindow) -> Iterator[_Piece]:
    numbers = range(len(timeline.tracks)) if tracks is None else sorted(tracks)
    for track in numbers:
        lanes = timeline.lanes(track)
        for lane in lanes:
            first, stop = lane.within(window)
            for at in range(first, stop, _BLOCK):
                yield _Piece(lanes, lane, at, min(at + _BLOCK, stop))


def _batches(pieces: Iterator[_Piece], schema: Any) -> Iterator[Any]:
    """Yield large batches: there may be many lanes with few rows."""
    waiting: list[_Piece] = []
    count = 0
    for piece in pieces:
        if waiting and (count + len(piece) > _BLOCK or piece.lane.rows is not waiting[0].lane.rows):
            yield _batch(waiting, schema)
            waiting, count = [], 0
        waiting.append(piece)
        count += len(piece)
    if waiting:
        yield _batch(waiting, schema)


def _batch(pieces: Sequence[_Piece], schema: Any) -> Any:
    import numpy as np
    import pyarrow as pa

    arrays = []
    for name in schema.names:
        parts = [piece.column(name) for piece in pieces]
        values = parts[0] if len(parts) == 1 else np.concatenate(parts)
        if name in _NAMES:
            arrays.append(_named(pieces[0].lane.rows, values))
        elif name == "parent_id":
            arrays.append(pa.array(values, mask=values < 0))
        else:
            arrays.append(pa.array(values, mask=np.isnan(values) if name == "value" else None))
    return pa.record_batch(arrays, schema=schema)


def _named(rows: GatheredRows, codes: Any) -> Any:
    """Return names as a dictionary array with few unused names: each batch has its own dictionary."""
    import numpy as np
    import pyarrow as pa

    names = rows.names
    if len(names) > len(codes):
        used, codes = np.unique(codes, return_inverse=True)
        before = int(len(used) > 0 and used[0] < 0)
        names, codes = names.take(pa.array(used[before:])), codes.astype(np.int32) - np.int32(before)
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), names)
