"""Rows by track and lane -> an index of them, and cells of any part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dctv.record import record
from dctv.timeline.gathering import Found, Gathered
from dctv.timeline.track import TrackKind

_MOST_STATES = 64
"""Of tracks with more states the longest span of each cell is shown, as for slices."""
_BUSY = "running"
"""Of threads: in other states they wait."""


@record
class Part:
    """Lanes that one index is of."""

    lanes: Any
    first: int
    """The first of them among those of all tracks."""
    end: int
    numbers: Any = None
    """Of states: of each row the number of its state, numpy int32; None if they have no states."""
    states: Any = None
    """The names of states by number, as codes: numpy int32."""


class Indexed:
    """Rows of one source, which may be looked at from afar."""

    def __init__(self, rows: Gathered, parts: Sequence[Part]) -> None:
        import numpy as np

        self.rows = rows
        self.parts = parts
        self._offsets = np.concatenate([[0], np.cumsum(rows.counts)])
        self._part = {
            track.first: part for part in parts for track in rows.tracks if part.first <= track.first < part.end
        }

    @property
    def tracks(self) -> tuple[Found, ...]:
        """Its tracks."""
        return self.rows.tracks

    @property
    def source(self) -> str:
        """What gave its rows."""
        return self.rows.source

    def _range(self, track: Found) -> tuple[int, int]:
        return int(self._offsets[track.first]), int(self._offsets[track.first + track.lanes])

    def facts(self, track: Found) -> tuple[int, int, int, int]:
        """Return how many rows a track has, when the first begins, when the last ends, and for how long it is busy."""
        first, end = self._range(track)
        begin, duration = self.rows.begin, self.rows.duration
        filled = [lane for lane in range(track.first, track.first + track.lanes) if self.rows.counts[lane]]
        starts = (int(begin[self._offsets[lane]]) for lane in filled)
        ends = (int(begin[row] + duration[row]) for row in (self._offsets[lane + 1] - 1 for lane in filled))
        return end - first, min(starts), max(ends), self._busy(track)

    def _busy(self, track: Found) -> int:
        import pyarrow.compute as pc

        first, end = int(self._offsets[track.first]), int(self._offsets[track.first + 1])
        lengths = self.rows.duration[first:end]
        if track.kind is TrackKind.SLICES:
            # Those on other lanes are in one on the first, mostly.
            return sum_of(lengths)
        if track.kind is TrackKind.STATES:
            place = pc.index(self.rows.names, _BUSY).as_py()
            return 0 if place < 0 else sum_of(lengths[self.rows.codes[first:end] == place])
        return 0

    def cells(self, track: Found, start: int, stop: int, step: int) -> Any:
        """Return the cells of a track as an Arrow record batch, with the codes of their names."""
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
        known = pa.array(codes.astype(np.int32), mask=codes < 0)
        columns["name"] = pa.DictionaryArray.from_arrays(known, self.rows.names)
        return pa.record_batch(columns)


def index(rows: Gathered) -> Indexed:
    """Index rows."""
    import numpy as np

    offsets = np.concatenate([[0], np.cumsum(rows.counts)])
    parts: list[Part] = []
    together: dict[TrackKind, list[Found]] = {}
    for track in rows.tracks:
        if track.kind is TrackKind.STATES:
            first, end = int(offsets[track.first]), int(offsets[track.first + track.lanes])
            codes, numbers = np.unique(rows.codes[first:end], return_inverse=True)
            if len(codes) <= _MOST_STATES:
                states = numbers.astype(np.int32), codes.astype(np.int32)
                parts.append(part_of(rows, offsets, (track.first, track.first + track.lanes), states=states))
                continue
        together.setdefault(track.kind, []).append(track)
    for kind, tracks in together.items():
        if kind is TrackKind.STATES:
            parts += [part_of(rows, offsets, (track.first, track.first + track.lanes)) for track in tracks]
        else:
            lanes = tracks[0].first, tracks[-1].first + tracks[-1].lanes
            parts.append(part_of(rows, offsets, lanes, values=kind is TrackKind.COUNTER))
    return Indexed(rows, parts)


def part_of(
    rows: Gathered,
    offsets: Any,
    lanes: tuple[int, int],
    *,
    values: bool = False,
    states: tuple[Any, Any] | None = None,
    words: Any = None,
) -> Part:
    """Index lanes, unless the words of their index are there."""
    import numpy as np
    import pyarrow as pa

    from dctv import _kernels  # compiled; only wanted when a timeline is made

    first, end = int(offsets[lanes[0]]), int(offsets[lanes[1]])
    options: dict[str, Any] = {} if words is None else {"index": pa.array(words)}
    if values:
        known = np.full(end - first, np.nan) if rows.values is None else rows.values[first:end]
        options["values"] = pa.array(known)
    if states is not None:
        options["states"] = pa.array(states[0]), len(states[1])
    begin, duration = pa.array(rows.begin[first:end]), pa.array(rows.duration[first:end])
    made = _kernels.Lanes(begin, duration, pa.array(rows.counts[slice(*lanes)]), **options)
    return Part(made, *lanes, *(states or ()))


def sum_of(lengths: Any) -> int:
    """Add up durations; the sum may be larger than a time."""
    import numpy as np

    return int(np.sum(lengths, dtype=np.float64))
