"""Rows by track and lane -> an index of them, and cells of any part."""

from __future__ import annotations

from typing import Any

from dctv.record import record
from dctv.timeline.gathering import Found, Gathered
from dctv.timeline.track import TrackKind

_MOST_STATES = 64
"""Of tracks with more states the longest span of each cell is shown, as for slices."""
_BUSY = "running"
"""Of threads: in other states they wait."""


@record
class _Part:
    """Lanes that one index is of."""

    lanes: Any
    first: int
    """The first of them among those of all tracks, and the first of their rows."""
    row: int
    states: Any
    """The names of states, as codes by number; None if there are none."""


class Indexed:
    """Rows of one source, which may be looked at from afar."""

    def __init__(self, gathered: Gathered) -> None:
        import numpy as np

        self._rows = gathered
        self._offsets = np.concatenate([[0], np.cumsum(gathered.counts)])
        self._codes = gathered.names.indices.fill_null(-1).to_numpy()
        self._parts: dict[int, _Part] = {}
        """By the first lane of each track."""
        self._index()

    @property
    def tracks(self) -> tuple[Found, ...]:
        """Its tracks."""
        return self._rows.tracks

    @property
    def source(self) -> str:
        """What gave its rows."""
        return self._rows.source

    def _index(self) -> None:
        together: dict[TrackKind, list[Found]] = {}
        for track in self.tracks:
            if track.kind is not TrackKind.STATES or not self._states(track):
                together.setdefault(track.kind, []).append(track)
        for kind, tracks in together.items():
            if kind is TrackKind.STATES:
                self._parts.update((track.first, self._part([track])) for track in tracks)
            else:
                part = self._part(tracks, values=kind is TrackKind.COUNTER)
                self._parts.update((track.first, part) for track in tracks)

    def _states(self, track: Found) -> bool:
        """Index a track by its states, unless it has too many."""
        import numpy as np

        first, end = self._range(track)
        codes, numbers = np.unique(self._codes[first:end], return_inverse=True)
        if len(codes) > _MOST_STATES:
            return False
        self._parts[track.first] = self._part([track], states=(numbers.astype(np.int32), codes))
        return True

    def _part(self, tracks: list[Found], *, values: bool = False, states: tuple[Any, Any] | None = None) -> _Part:
        import numpy as np
        import pyarrow as pa

        from dctv import _kernels  # compiled; only wanted when a timeline is made

        lane, end_lane = tracks[0].first, tracks[-1].first + tracks[-1].lanes
        first, end = int(self._offsets[lane]), int(self._offsets[end_lane])
        rows, options = self._rows, {}
        if values:
            known = np.full(end - first, np.nan) if rows.values is None else rows.values[first:end]
            options["values"] = pa.array(known)
        if states is not None:
            options["states"] = pa.array(states[0]), len(states[1])
        begin, duration = pa.array(rows.begin[first:end]), pa.array(rows.duration[first:end])
        lanes = _kernels.Lanes(begin, duration, pa.array(rows.counts[lane:end_lane]), **options)
        return _Part(lanes, lane, first, None if states is None else states[1])

    def _range(self, track: Found) -> tuple[int, int]:
        return int(self._offsets[track.first]), int(self._offsets[track.first + track.lanes])

    def facts(self, track: Found) -> tuple[int, int, int, int]:
        """Return how many rows a track has, when the first begins, when the last ends, and for how long it is busy."""
        first, end = self._range(track)
        begin, duration = self._rows.begin, self._rows.duration
        filled = [lane for lane in range(track.first, track.first + track.lanes) if self._rows.counts[lane]]
        starts = (int(begin[self._offsets[lane]]) for lane in filled)
        ends = (int(begin[row] + duration[row]) for row in (self._offsets[lane + 1] - 1 for lane in filled))
        return end - first, min(starts), max(ends), self._busy(track)

    def _busy(self, track: Found) -> int:
        import pyarrow.compute as pc

        first, end = int(self._offsets[track.first]), int(self._offsets[track.first + 1])
        lengths = self._rows.duration[first:end]
        if track.kind is TrackKind.SLICES:
            # Those on other lanes are in one on the first, mostly.
            return sum_of(lengths)
        if track.kind is TrackKind.STATES:
            place = pc.index(self._rows.names.dictionary, _BUSY).as_py()
            return 0 if place < 0 else sum_of(lengths[self._codes[first:end] == place])
        return 0

    def cells(self, track: Found, start: int, stop: int, step: int) -> Any:
        """Return the cells of a track as an Arrow record batch, with the codes of their names."""
        import numpy as np
        import pyarrow as pa

        part = self._parts[track.first]
        first = track.first - part.first
        batch = pa.record_batch(part.lanes.cells(start, stop, step, first, first + track.lanes))
        columns = {name: batch[name] for name in batch.schema.names}
        rows = columns["row"].to_numpy() + part.row
        columns["row"] = pa.array(rows - self._offsets[track.first])
        columns["lane"] = pa.array(columns["lane"].to_numpy() - first)
        codes = self._codes[rows] if part.states is None else part.states[columns.pop("state").to_numpy()]
        known = pa.array(codes.astype(np.int32), mask=codes < 0)
        columns["name"] = pa.DictionaryArray.from_arrays(known, self._rows.names.dictionary)
        return pa.record_batch(columns)


def sum_of(lengths: Any) -> int:
    """Add up durations; the sum may be larger than a time."""
    import numpy as np

    return int(np.sum(lengths, dtype=np.float64))
