"""Group rows of one source, in order of time, by track and lane."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from dctv.errors import UsageError
from dctv.record import record
from dctv.timeline.names import Names
from dctv.timeline.space import Space
from dctv.timeline.track import TrackKind

_SEPARATOR, _ESCAPE = "\x1f", "\x1e"
"""Separates the names of a path in keys of tracks, and escapes the separator within a name."""
_FURTHEST = 2**63 - 1
_ROWS = "rows"
_WHOLE = ("lane", "begin", "duration", "name")
_STORED: list[tuple[str, str, str, list[int]]] = [
    *((name, "int64", name, []) for name in _WHOLE),
    ("value", "double", "value", []),
]
_ORDER = (TrackKind.SLICES, TrackKind.INSTANTS, TrackKind.COUNTER, TrackKind.STATES)
"""The order of kinds of tracks in storage, where each kind is contiguous."""


@record
class FoundTrack:
    """A track as found in the rows."""

    path: tuple[str, ...]
    ranks: tuple[int | None, ...]
    """Ranks of the track and its groups among their siblings; None to order by activity."""
    kind: TrackKind
    unit: str | None
    first: int
    """The index of its first lane among those of all tracks."""
    lanes: int


@record
class GatheredRows:
    """Rows by track and lane, and on each lane by time."""

    source: str
    tracks: tuple[FoundTrack, ...]
    begin: Any
    """numpy int64, ns; likewise for durations."""
    duration: Any
    offsets: Any
    """The first row of each lane, followed by the number of rows: numpy int64."""
    codes: Any
    """The index of each row's name in `names`, -1 for none: numpy int32."""
    names: Any
    """pyarrow string."""
    values: Any
    """numpy float64, or None if there are no counters."""


class Gathering:
    """Groups of the rows of batches of `_ts`, `_duration`, `path`, `ranks`, `kind`, `depth`, `name`, `value`, `unit`.

    If rows do not fit into the memory of `space`, only names stay in memory. Rows may follow others that were gathered
    earlier: the result is the same as if all had been gathered at once.
    """

    def __init__(self, source: str, end: int, space: Space, before: GatheredRows | None = None) -> None:
        """Start without rows or with existing ones; rows without a duration last until `end`, in ns."""
        import numpy as np

        from dctv import _kernels  # compiled; only needed when a timeline is built

        self._source = source
        self._end = end
        self._space = space
        self._packing = _kernels.Packing()
        self._codes: dict[str, int] = {}
        self._tracks_found: list[tuple[tuple[str, ...], tuple[int | None, ...], TrackKind, str | None]] = []
        self._names = Names()
        self._counts = np.zeros(0, np.int64)
        self._valued = False
        self._sorter = _kernels.EventSorter(str(space.folder), space.most)
        self._before = before
        self._latest = -_FURTHEST - 1
        """The minimum begin of the next rows."""
        if before is not None:
            self._resume(before)

    def _resume(self, before: GatheredRows) -> None:
        """Import names, tracks and lanes; each lane is free when its last row ends."""
        import numpy as np
        import pyarrow as pa

        self._names.add(before.names)
        paths = pa.array([track.path for track in before.tracks], pa.list_(pa.string()))
        kinds = pa.array([track.kind.value for track in before.tracks], pa.string())
        self._tracks_found = [(track.path, track.ranks, track.kind, track.unit) for track in before.tracks]
        self._codes = {key: code for code, key in enumerate(_keys(kinds, paths).to_pylist())}
        self._counts = np.diff(before.offsets)
        self._valued = before.values is not None
        lanes = np.array([track.lanes for track in before.tracks], np.int64)
        numbers = np.concatenate([np.arange(count) for count in lanes.tolist()] or [lanes])
        tracks = np.repeat(np.arange(len(lanes), dtype=np.int32), lanes)
        # Rows on lower lanes create empty lanes.
        filled = np.flatnonzero(self._counts)
        last = before.offsets[filled + 1] - 1
        tracks, numbers, begin, duration = tracks[filled], numbers[filled], before.begin[last], before.duration[last]
        self._packing.push(*(pa.array(column) for column in (tracks, numbers, begin, duration)))
        self._latest = int(begin.max(initial=self._latest))

    def add(self, batch: Any) -> None:
        """Add a batch of rows; none begins before those of the previous batch.

        Raises:
            UsageError: the disk is full, rows begin before earlier ones, or there are too many tracks.
        """
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        if not batch.num_rows:
            return
        begin = batch["_ts"].to_numpy(zero_copy_only=False)
        if begin[0] < self._latest:
            what = f"a row begins at {begin[0]} ns, before the last row of the timeline, at {self._latest} ns"
            raise UsageError(what, hint="append rows in order of time")
        length = pc.fill_null(batch["_duration"], 0).to_numpy(zero_copy_only=False)
        # Rows that nothing ends last until the end; all ends and durations must fit into 64 bits.
        until = np.where(begin < self._end - _FURTHEST, _FURTHEST, np.maximum(self._end, begin) - begin)
        endless = batch["_duration"].is_null().to_numpy(zero_copy_only=False)
        duration = np.where(endless, until, np.maximum(length, 0))
        duration = np.minimum(duration, _FURTHEST - np.maximum(begin, 0))
        tracks = self._tracks(batch)
        depths = batch["depth"].cast(pa.int64())
        lanes = pa.array(self._packing.push(pa.array(tracks), depths, pa.array(begin), pa.array(duration))).to_numpy()
        counts = np.bincount(lanes, minlength=len(self._counts))
        counts[: len(self._counts)] += self._counts
        self._counts = counts
        values = batch["value"].cast(pa.float64())
        self._valued = self._valued or values.null_count < len(values)
        rows = {
            "lane": lanes.astype(np.int64),
            "begin": begin,
            "duration": duration,
            "name": self._names.add(batch["name"].cast(pa.string())),
            "value": values.fill_null(float("nan")),
        }
        with self._space.explained_errors():
            self._sorter.add_others(0, [(_ROWS, pa.record_batch(rows))])

    def _tracks(self, batch: Any) -> Any:
        """Return each row's track number, as int32."""
        import numpy as np

        keys = _keys(batch["kind"], batch["path"]).dictionary_encode()
        indices = keys.indices.to_numpy()
        # The first position of each key.
        rows = np.zeros(len(keys.dictionary), np.int64)
        rows[indices[::-1]] = np.arange(len(indices) - 1, -1, -1)
        codes = np.zeros(len(rows), np.int32)
        self._space.check_tracks(len(rows))
        for place, (key, row) in enumerate(zip(keys.dictionary.to_pylist(), rows.tolist(), strict=True)):
            codes[place] = self._codes.setdefault(key, len(self._codes))
            if codes[place] == len(self._tracks_found):
                kind, unit = TrackKind(batch["kind"][row].as_py()), batch["unit"][row].as_py()
                path, ranks = batch["path"][row].as_py(), batch["ranks"][row].as_py() or ()
                self._tracks_found.append((tuple(path), tuple(ranks), kind, unit))
        self._space.check_tracks(len(self._tracks_found))
        return codes[indices]

    def gathered(self) -> GatheredRows:
        """Return all rows by track and lane.

        Raises:
            UsageError: the disk is full.
        """
        import numpy as np
        import pyarrow as pa

        tracks, numbers = (pa.array(column).to_numpy() for column in self._packing.lanes())
        kinds = np.array([_ORDER.index(track[2]) for track in self._tracks_found], np.int64)
        # Sort lanes by the kind of their track, track and number.
        order = np.lexsort((numbers, tracks, kinds[tracks]))
        counts = np.zeros(len(order), np.int64)
        counts[: len(self._counts)] = self._counts
        offsets = np.concatenate([[0], np.cumsum(counts[order])])
        _, first, count = np.unique(tracks[order], return_index=True, return_counts=True)
        found = [
            FoundTrack(*track, lane, lanes)
            for track, lane, lanes in zip(self._tracks_found, first.tolist(), count.tolist(), strict=True)
        ]
        found.sort(key=lambda track: track.first)
        # The position of the next row of each lane.
        behind = np.empty(len(order), np.int64)
        behind[order] = offsets[:-1]
        names, columns = self._placed(behind, int(offsets[-1]))
        return GatheredRows(self._source, tuple(found), columns[0], columns[1], offsets, columns[2], names, columns[3])

    def _copy(self, behind: Any, columns: Sequence[Any]) -> None:
        """Copy the earlier rows to their positions."""
        before = self._before
        if before is None:
            return
        for lane, (start, stop) in enumerate(pairwise(before.offsets.tolist())):
            at, length = int(behind[lane]), stop - start
            for column, given in zip(
                columns, (before.begin, before.duration, before.codes, before.values), strict=True
            ):
                if column is not None:
                    column[at : at + length] = float("nan") if given is None else given[start:stop]
            behind[lane] += length

    def _placed(self, behind: Any, rows: int) -> tuple[Any, Sequence[Any]]:
        """Return all names, and begins, durations, names and values of rows at their positions."""
        import numpy as np
        import pyarrow as pa

        space = self._space
        columns = [space.array(rows, form) for form in ("<i8", "<i8", "<i4")]
        columns.append(space.array(rows, "<f8") if self._valued else None)
        self._copy(behind, columns)
        names, places = self._names.all()
        # The last one is for rows without a name.
        places = np.append(places, np.int32(-1))
        with self._space.explained_errors():
            self._sorter.finish()
            batches = pa.RecordBatchReader.from_stream(self._sorter.merged(_ROWS, _STORED))
            for batch in batches:
                lanes, begin, duration, codes, values = (batch[name].to_numpy() for name, *_ in _STORED)
                by_lane = np.argsort(lanes, kind="stable")
                lanes = lanes[by_lane]
                starts = np.flatnonzero(np.diff(lanes, prepend=-1))
                lengths = np.diff(starts, append=len(lanes))
                at = behind[lanes] + np.arange(len(lanes)) - np.repeat(starts, lengths)
                behind[lanes[starts]] += lengths
                for column, given in zip(columns, (begin, duration, places[codes], values), strict=True):
                    if column is not None:
                        column[at] = given[by_lane]
        self._sorter.close()
        return names, columns


def _keys(kinds: Any, paths: Any) -> Any:
    """Return keys that are equal exactly for tracks with the same kind and path."""
    import pyarrow.compute as pc

    return pc.binary_join_element_wise(kinds, pc.binary_join(_escaped(paths), _SEPARATOR), _SEPARATOR)


def _escaped(paths: Any) -> Any:
    """Escape separators in the names of paths: programs do not use them, but hostile traces may."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    names = paths.flatten().cast(pa.string())
    text = _joined(names)
    if not any(one.encode() in text for one in (_SEPARATOR, _ESCAPE)):
        return paths
    names = pc.replace_substring(names, _ESCAPE, _ESCAPE + _ESCAPE)
    names = pc.replace_substring(names, _SEPARATOR, _ESCAPE + ".")
    ends = np.cumsum(pc.list_value_length(paths).to_numpy(), dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(np.concatenate([[0], ends]), pa.int32()), names)


def _joined(names: Any) -> bytes:
    """Concatenate all names: a search in one text is faster than in each name."""
    import numpy as np

    _, ends, text = names.buffers()
    if text is None or not len(names):
        return b""
    ends = np.frombuffer(ends, np.int32)[names.offset : names.offset + len(names) + 1]
    return bytes(memoryview(text)[ends[0] : ends[-1]])
