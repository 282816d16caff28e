"""Rows of one source, in order of time -> rows by track and lane."""

from __future__ import annotations

from typing import Any

from dctv.record import record
from dctv.timeline.track import TrackKind

_SEPARATOR = "\x1f"
"""Between the names of a path, where rows of one track are found: no program names things with it."""
_FURTHEST = 2**63 - 1
_ORDER = (TrackKind.SLICES, TrackKind.INSTANTS, TrackKind.COUNTER, TrackKind.STATES)
"""How tracks are put one after the other, so that those of one kind are together."""


@record
class Found:
    """One track as its rows tell it."""

    path: tuple[str, ...]
    ranks: tuple[int | None, ...]
    """Its place and those of its groups among their siblings; None for those that are ordered by how busy they are."""
    kind: TrackKind
    unit: str | None
    first: int
    """Its first lane among those of all tracks."""
    lanes: int


@record
class Gathered:
    """Rows by track and lane, and on each lane by time."""

    source: str
    tracks: tuple[Found, ...]
    begin: Any
    """numpy int64, ns; so are durations."""
    duration: Any
    counts: Any
    """How many rows each lane has: numpy int64."""
    codes: Any
    """Of each row its name's place among `names`, -1 for none: numpy int32."""
    names: Any
    """pyarrow string."""
    values: Any
    """numpy float64, or None where there are no counters."""


class Gathering:
    """Takes rows as Arrow batches of `_ts`, `_duration`, `path`, `ranks`, `kind`, `depth`, `name`, `value`, `unit`."""

    def __init__(self, source: str, end: int) -> None:
        """Begin; rows that have no duration last until `end`, in ns."""
        from dctv import _kernels  # compiled; only wanted when a timeline is made

        self._source = source
        self._end = end
        self._packing = _kernels.Packing()
        self._codes: dict[str, int] = {}
        self._told: list[tuple[tuple[str, ...], tuple[int | None, ...], TrackKind, str | None]] = []
        self._parts: list[tuple[Any, Any, Any, Any, Any]] = []

    def add(self, batch: Any) -> None:
        """Take a batch of rows, none of which begins before those of the batch before."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        if not batch.num_rows:
            return
        begin = batch["_ts"].to_numpy(zero_copy_only=False)
        length = pc.fill_null(batch["_duration"], 0).to_numpy(zero_copy_only=False)
        # What nothing ends lasts until the end; nothing lasts longer than there are times, or than a duration can say.
        until = np.where(begin < self._end - _FURTHEST, _FURTHEST, np.maximum(self._end, begin) - begin)
        endless = batch["_duration"].is_null().to_numpy(zero_copy_only=False)
        duration = np.where(endless, until, np.maximum(length, 0))
        duration = np.minimum(duration, _FURTHEST - np.maximum(begin, 0))
        tracks = self._tracks(batch)
        depths = batch["depth"].cast(pa.int64())
        lanes = pa.array(self._packing.push(pa.array(tracks), depths, pa.array(begin), pa.array(duration))).to_numpy()
        names = batch["name"].cast(pa.string()).dictionary_encode()
        values = batch["value"]
        known = None if values.null_count == len(values) else values.cast(pa.float64()).to_numpy(zero_copy_only=False)
        self._parts.append((lanes, begin, duration, names, known))

    def _tracks(self, batch: Any) -> Any:
        """Return the number of each row's track, as int32."""
        import numpy as np
        import pyarrow.compute as pc

        path = pc.binary_join(batch["path"], _SEPARATOR)
        keys = pc.binary_join_element_wise(batch["kind"], path, _SEPARATOR).dictionary_encode()
        indices = keys.indices.to_numpy()
        # Where each key stands first.
        rows = np.zeros(len(keys.dictionary), np.int64)
        rows[indices[::-1]] = np.arange(len(indices) - 1, -1, -1)
        codes = np.zeros(len(rows), np.int32)
        for place, (key, row) in enumerate(zip(keys.dictionary.to_pylist(), rows.tolist(), strict=True)):
            codes[place] = self._codes.setdefault(key, len(self._codes))
            if codes[place] == len(self._told):
                kind, unit = TrackKind(batch["kind"][row].as_py()), batch["unit"][row].as_py()
                path, ranks = batch["path"][row].as_py(), batch["ranks"][row].as_py() or ()
                self._told.append((tuple(path), tuple(ranks), kind, unit))
        return codes[indices]

    def gathered(self) -> Gathered:
        """Return all rows, by track and lane."""
        import numpy as np
        import pyarrow as pa

        tracks, numbers = (pa.array(column).to_numpy() for column in self._packing.lanes())
        kinds = np.array([_ORDER.index(told[2]) for told in self._told], np.int64)
        # Lanes by the kind of their track, track and number.
        order = np.lexsort((numbers, tracks, kinds[tracks]))
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        lanes, begin, duration = (self._joined(column) for column in range(3))
        lanes = place[lanes]
        rows = np.argsort(lanes, kind="stable")
        _, first, count = np.unique(tracks[order], return_index=True, return_counts=True)
        found = [
            Found(*told, lane, lanes)
            for told, lane, lanes in zip(self._told, first.tolist(), count.tolist(), strict=True)
        ]
        found.sort(key=lambda track: track.first)
        counts = np.bincount(lanes, minlength=len(order)).astype(np.int64)
        names = pa.chunked_array([part[3] for part in self._parts], pa.dictionary(pa.int32(), pa.string()))
        names = names.unify_dictionaries().combine_chunks()
        codes = names.indices.fill_null(-1).to_numpy()[rows]
        values = self._values()
        return Gathered(
            self._source,
            tuple(found),
            begin[rows],
            duration[rows],
            counts,
            codes,
            names.dictionary,
            None if values is None else values[rows],
        )

    def _joined(self, column: int) -> Any:
        import numpy as np

        return np.concatenate([np.zeros(0, np.int64), *(part[column] for part in self._parts)])

    def _values(self) -> Any:
        """Return the values of all rows, NaN where there are none; None if there are none at all."""
        import numpy as np

        if all(part[4] is None for part in self._parts):
            return None
        return np.concatenate([np.full(len(part[0]), np.nan) if part[4] is None else part[4] for part in self._parts])
