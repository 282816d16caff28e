"""A timeline: its tracks, and views of any part of them at any scale."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, groupby, pairwise
from typing import Any

from dctv.errors import UsageError
from dctv.timeline.indexed import Indexed
from dctv.timeline.lanes import Lane
from dctv.timeline.track import Track
from dctv.timeline.tree import TrackLeaf, tree

_INTEGERS = ("lane", "_ts", "_duration", "count", "row", "total", "longest", "filled")
_NUMBERS = ("min", "max", "last", "mean")
_FIRST, _LAST = -(2**63), 2**63 - 1


class Timeline:
    """Tracks in a tree: slices, states, counters and instants, at any zoom level."""

    def __init__(self, sources: Iterable[Indexed] = (), home: str = "") -> None:
        """Order the tracks of some sources; their names are below that of `home`."""
        self._sources = tuple(sources)
        self._before = [0, *accumulate(len(source.rows.begin) for source in self._sources)]
        """The number of rows in the sources before each one."""
        leaves = [
            TrackLeaf(found, number, f"{home}.{source.source}" if home else source.source, *source.metadata(found))
            for number, source in enumerate(self._sources)
            for found in source.tracks
        ]
        made = list(tree(leaves))
        self._tracks = tuple(track for track, _ in made)
        self._leaves = tuple(leaf for _, leaf in made)

    @property
    def sources(self) -> tuple[Indexed, ...]:
        """Its sources: the rows of each provider, or of a result."""
        return self._sources

    @property
    def tracks(self) -> tuple[Track, ...]:
        """All tracks and groups by number: parents before their children."""
        return self._tracks

    @property
    def begin(self) -> int:
        """The begin of the first row, in ns; 0 without rows."""
        return min((track.first for track in self._tracks if track.first is not None), default=0)

    @property
    def end(self) -> int:
        """The end of the last row."""
        return max((track.last for track in self._tracks if track.last is not None), default=0)

    def path(self, track: int) -> tuple[str, ...]:
        """Return the names of a track's groups, and its own."""
        names: list[str] = []
        at: int | None = self._track(track).id
        while at is not None:
            names.append(self._tracks[at].name)
            at = self._tracks[at].parent
        return tuple(reversed(names))

    def lanes(self, track: int) -> tuple[Lane, ...]:
        """Return the lanes of a track, from the top; a group has none.

        Raises:
            UsageError: there is no such track.
        """
        leaf = self._leaves[self._track(track).id]
        if leaf is None:
            return ()
        rows, found = self._sources[leaf.home].rows, leaf.found
        offsets = rows.offsets[found.first : found.first + found.lanes + 1].tolist()
        before = self._before[leaf.home]
        return tuple(
            Lane(track, number, start - offsets[0], before + start, rows, start, stop)
            for number, (start, stop) in enumerate(pairwise(offsets))
        )

    def cells(self, tracks: Sequence[int], start: int, stop: int, step: int) -> Any:
        """Return the cells of tracks between two times, in ns, with spans shorter than a step merged.

        The result is a pyarrow Table with a row per cell: `track`, `lane`, `_ts`, `_duration`, the `count` of rows that
        begin in it, the `row` number in its track of the longest one, its `name` and duration (`longest`), the `total`
        of all durations. A span that lasts a step or longer is a cell of its own, with its own begin and end, even if
        they are outside. For states the name is that of the one that `filled` most. For counters there is a cell per
        step: `min`, `max`, `last` and the time-weighted `mean`. Groups have no cells.

        Raises:
            UsageError: there is no such track, the step is not positive, the times are in the wrong order, or a cell's
                duration does not fit into 64 bits.
        """
        import pyarrow as pa

        _check(start, stop, step)
        schema, found = _schema(), []
        for number in tracks:
            self._track(number)
            leaf = self._leaves[number]
            if leaf is None:
                continue
            try:
                batch = self._sources[leaf.home].cells(leaf.found, start, stop, step)
            except ValueError as error:
                raise UsageError(str(error), hint="take a smaller step") from None
            found.append((number, batch))
        alike = groupby(found, lambda one: one[1].schema.names)
        return pa.concat_tables([schema.empty_table(), *(_whole([*several], schema) for _, several in alike)])

    def _track(self, number: int) -> Track:
        if not 0 <= number < len(self._tracks):
            there = f"{len(self._tracks)} tracks, numbered from 0" if self._tracks else "no tracks"
            raise UsageError(f"there is no track {number}", hint=f"the timeline has {there}")
        return self._tracks[number]


def _check(start: int, stop: int, step: int) -> None:
    for name, time in (("start", start), ("stop", stop)):
        if not _FIRST <= time <= _LAST:
            raise UsageError(f"`{name}` is not a time: {time} ns")
    if not 0 < step <= _LAST:
        raise UsageError(f"expected a step of more than 0 ns, found {step} ns")
    if stop < start:
        raise UsageError(f"`stop`, {stop} ns, comes before `start`, {start} ns")


def _schema() -> Any:
    import pyarrow as pa

    times = {"_ts", "_duration", "total", "longest", "filled"}
    fields = [pa.field("track", pa.int64())]
    fields += [pa.field(one, pa.int64(), metadata={"unit": "ns"} if one in times else None) for one in _INTEGERS]
    fields += [pa.field("name", pa.dictionary(pa.int32(), pa.string()))]
    return pa.schema(fields + [pa.field(one, pa.float64()) for one in _NUMBERS])


def _whole(found: Sequence[tuple[int, Any]], schema: Any) -> Any:
    """Return batches extended to the columns of all kinds of tracks."""
    import numpy as np
    import pyarrow as pa

    table = pa.Table.from_batches([batch for _, batch in found])
    tracks = np.repeat([track for track, _ in found], [batch.num_rows for _, batch in found])
    there = {name: table.column(name) for name in table.column_names} | {"track": pa.array(tracks, pa.int64())}
    nothing = {one.name: pa.nulls(table.num_rows, one.type) for one in schema if one.name not in there}
    return pa.table([(there | nothing)[one.name] for one in schema], schema=schema)
