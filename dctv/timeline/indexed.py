"""Index rows by track and lane, and query the cells of any part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dctv.record import record
from dctv.timeline.gathering import FoundTrack, GatheredRows
from dctv.timeline.space import Space
from dctv.timeline.track import TrackKind

_MOST_STATES = 64
"""For tracks with more states, each cell shows its longest span, as for slices."""
_BLOCK = 1 << 20
_INDEX_BYTES = 2
"""Approximate size per row."""
_BUSY = "running"
"""The state in which threads are busy; in all others they wait."""


@record
class IndexedLanes:
    """The lanes of one index."""

    lanes: Any
    first: int
    """The index of the first one among those of all tracks."""
    end: int
    numbers: Any = None
    """For states: the number of each row's state, numpy int32; None without states."""
    states: Any = None
    """The names of states by number, as codes: numpy int32."""


class Indexed:
    """Rows of one source, with an index for zooming out."""

    def __init__(self, rows: GatheredRows, parts: Sequence[IndexedLanes]) -> None:
        self.rows = rows
        self.parts = parts
        self._offsets = rows.offsets
        self._part = {
            track.first: part for part in parts for track in rows.tracks if part.first <= track.first < part.end
        }

    @property
    def tracks(self) -> tuple[FoundTrack, ...]:
        """Its tracks."""
        return self.rows.tracks

    @property
    def source(self) -> str:
        """The origin of its rows."""
        return self.rows.source

    def _range(self, track: FoundTrack) -> tuple[int, int]:
        return int(self._offsets[track.first]), int(self._offsets[track.first + track.lanes])

    def metadata(self, track: FoundTrack) -> tuple[int, int, int, int]:
        """Return a track's number of rows, begin of the first, end of the last, and busy time."""
        first, end = self._range(track)
        begin, duration = self.rows.begin, self.rows.duration
        lanes = range(track.first, track.first + track.lanes)
        filled = [lane for lane in lanes if self._offsets[lane] < self._offsets[lane + 1]]
        starts = (int(begin[self._offsets[lane]]) for lane in filled)
        ends = (int(begin[row] + duration[row]) for row in (self._offsets[lane + 1] - 1 for lane in filled))
        return end - first, min(starts), max(ends), self._busy(track)

    def _busy(self, track: FoundTrack) -> int:
        import pyarrow.compute as pc

        first, end = int(self._offsets[track.first]), int(self._offsets[track.first + 1])
        lengths = self.rows.duration[first:end]
        if track.kind is TrackKind.SLICES:
            # Rows on other lanes are mostly within one on the first.
            return sum_of(lengths)
        if track.kind is TrackKind.STATES:
            # -1 means that no row has that name, and is the code of rows without a name.
            busy = pc.index(self.rows.names, _BUSY).as_py()
            codes = self.rows.codes[first:end]
            blocks = _blocks(end - first) if busy >= 0 else ()
            return sum(sum_of(lengths[rows][codes[rows] == busy]) for rows in blocks)
        return 0

    def cells(self, track: FoundTrack, start: int, stop: int, step: int) -> Any:
        """Return the cells of a track as an Arrow record batch, with codes for their names."""
        import numpy as np
        import pyarrow as pa

        part = self._part[track.first]
        first = track.first - part.first
        batch = pa.record_batch(part.lanes.cells(start, stop, step, first, first + track.lanes))
        columns = {name: batch[name] for name in batch.schema.names}
        rows = columns["row"].to_numpy() + self._offsets[part.first]
        columns["row"] = pa.array(rows - self._offsets[track.first])
        columns["lane"] = pa.array(columns["lane"].to_numpy() - first)
        codes = self.rows.codes[rows] if part.states is None else part.states[columns.pop("state").to_numpy()]
        name_codes = pa.array(codes.astype(np.int32), mask=codes < 0)
        columns["name"] = pa.DictionaryArray.from_arrays(name_codes, self.rows.names)
        return pa.record_batch(columns)


def index(rows: GatheredRows, space: Space) -> Indexed:
    """Index rows.

    Raises:
        UsageError: the disk has no room for the index.
    """
    parts: list[IndexedLanes] = []
    together: dict[TrackKind, list[FoundTrack]] = {}
    for track in rows.tracks:
        together.setdefault(track.kind, []).append(track)
    for kind, tracks in together.items():
        if kind is TrackKind.STATES:
            parts += _of_states(rows, tracks, space)
        else:
            lanes = tracks[0].first, tracks[-1].first + tracks[-1].lanes
            parts.append(part_of(rows, lanes, space, values=kind is TrackKind.COUNTER))
    return Indexed(rows, parts)


def _of_states(rows: GatheredRows, tracks: Sequence[FoundTrack], space: Space) -> Iterator[IndexedLanes]:
    """Index tracks of states one by one: each has an index of its own."""
    offsets = rows.offsets
    before = int(offsets[tracks[0].first])
    numbers = space.array(int(offsets[tracks[-1].first + tracks[-1].lanes]) - before, "<i4")
    for track in tracks:
        first, end = int(offsets[track.first]), int(offsets[track.first + track.lanes])
        own = numbers[first - before : end - before]
        states = _numbered(rows.codes[first:end], own)
        identity = None if states is None else (own, states)
        yield part_of(rows, (track.first, track.first + track.lanes), space, states=identity)


def _numbered(codes: Any, numbers: Any) -> Any:
    """Write the number of each row's state; return the names' codes by number, or None if there are too many states."""
    import numpy as np

    states = np.zeros(0, np.int32)
    for rows in _blocks(len(codes)):
        states = np.union1d(states, codes[rows])
        if len(states) > _MOST_STATES:
            return None
    for rows in _blocks(len(codes)):
        numbers[rows] = np.searchsorted(states, codes[rows])
    return states.astype(np.int32)


def _blocks(rows: int) -> Iterator[slice]:
    """Yield slices of a million rows: all rows may not fit into memory."""
    for first in range(0, rows, _BLOCK):
        yield slice(first, first + _BLOCK)


def part_of(
    rows: GatheredRows,
    lanes: tuple[int, int],
    space: Space | None = None,
    *,
    values: bool = False,
    states: tuple[Any, Any] | None = None,
    words: Any = None,
) -> IndexedLanes:
    """Index lanes, unless the words of their index are given; without `space` the index is in memory."""
    import numpy as np
    import pyarrow as pa

    from dctv import _kernels  # compiled; only needed when a timeline is built

    first, end = int(rows.offsets[lanes[0]]), int(rows.offsets[lanes[1]])
    options: dict[str, Any] = {}
    if values:
        known = np.full(end - first, np.nan) if rows.values is None else rows.values[first:end]
        options["values"] = pa.array(known)
    if states is not None:
        options["states"] = pa.array(states[0]), len(states[1])
    columns = [
        pa.array(one)
        for one in (rows.begin[first:end], rows.duration[first:end], np.diff(rows.offsets[lanes[0] : lanes[1] + 1]))
    ]
    if words is None and space is not None:
        words = space.words(_INDEX_BYTES * (end - first), lambda path: _kernels.Lanes.write(path, *columns, **options))
    if words is not None:
        options["index"] = pa.array(words)
    made = _kernels.Lanes(*columns, **options)
    return IndexedLanes(made, *lanes, *(states or ()))


def sum_of(lengths: Any) -> int:
    """Sum durations; the sum may exceed 64 bits."""
    import numpy as np

    return int(np.sum(lengths, dtype=np.float64))
