"""Map rows of tracks to the rows of views that they show, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from dctv.catalog.stdlib import RowsOf, library
from dctv.record import record
from dctv.syntax.write.writer import string
from dctv.timeline.lanes import NONE, Lane
from dctv.timeline.timeline import Timeline
from dctv.types.schema import DURATION, TS
from dctv.web.host import Host
from dctv.web.result_cache import TimedQuery, having, rows_at
from dctv.web.track_queries import dotted

Key = tuple[Any, ...]
"""The key of a view's row: its time, and the columns that the track's provider names."""


@record
class Provider:
    """A provider of track rows of a mounted trace."""

    mount: str
    name: str
    """`slices` in `t.timeline.slices`."""
    of: RowsOf

    @property
    def view(self) -> str:
        """The table with all columns of its rows, quoted."""
        return dotted(self.mount, *self.of.view.split("."))

    @property
    def source(self) -> str:
        """Its name in timelines."""
        return f"{self.mount}.timeline.{self.name}"

    @property
    def table(self) -> str:
        """Its own name, quoted."""
        return dotted(self.mount, "timeline", self.name)

    def rows(self, timeline: Timeline) -> int:
        """Return how many rows it has contributed to a timeline."""
        return sum(one.rows for one in timeline.tracks if one.source == self.source)

    def condition(self, key: Key) -> str:
        """Write the condition that a row of the view has a key."""
        time, *others = key
        tests = (
            f"{name} IS NULL" if value is None else f"{name} = {_literal(value)}"
            for name, value in zip(self.of.by, others, strict=True)
        )
        return " AND ".join((f"_ts = {time}ns", *tests))


def provider_of(mount: str, source: str) -> Provider | None:
    """Return the provider of a track by the name of its source; None if the source is a state system."""
    below = tuple(source.removeprefix(f"{mount}.").split("."))
    for module in library().modules:
        if module.parts == below and module.rows_of is not None:
            return Provider(mount, module.parts[-1], module.rows_of)
    return None


@record(eq=False)
class RowPlace:
    """The position of a row: its track, its lane, and its number on the lane."""

    track: int
    lane: Lane
    at: int

    @property
    def row(self) -> int:
        """Its number in the track."""
        return self.lane.first + self.at

    @property
    def begin(self) -> int:
        """Its begin, in ns."""
        return int(self.lane.begin[self.at])

    @property
    def duration(self) -> int:
        """Its duration, in ns."""
        return int(self.lane.duration[self.at])

    @property
    def name(self) -> str | None:
        """Its name."""
        return self.lane.name(self.at)


@record
class _Alike:
    """Rows of a track with the same begin, duration and name, and their keys."""

    places: Sequence[RowPlace]
    keys: Sequence[Key]
    in_order: bool
    """Whether the first position has the first key, and so on."""

    def keys_of(self, place: int) -> Sequence[Key]:
        """Return the possible keys of a position."""
        return [self.keys[place]] if self._is_exact else self.keys

    def places_of(self, key: int) -> Sequence[RowPlace]:
        """Return the possible positions of a key."""
        return [self.places[key]] if self._is_exact else self.places

    @property
    def _is_exact(self) -> bool:
        return len(self.places) == len(self.keys) and (self.in_order or len(self.keys) == 1)


def keys_of(host: Host, provider: Provider, timeline: Timeline, place: RowPlace) -> Sequence[Key]:
    """Return the key of a row; several if it has duplicates that cannot be distinguished."""
    for alike in _alike(timeline, provider, rows_at(host, timeline, shown_by(provider, timeline), place.begin).table):
        for number, other in enumerate(alike.places):
            if (other.track, other.row) == (place.track, place.row):
                return alike.keys_of(number)
    return ()


def places_of(host: Host, provider: Provider, timeline: Timeline, ids: Iterable[int]) -> dict[int, Sequence[RowPlace]]:
    """Return the positions of rows with a key of one number."""
    wanted_ids = set(ids)
    if not wanted_ids:
        return {}
    query = shown_by(provider, timeline)
    times = having(host, timeline, query, KEYS[0], sorted(wanted_ids)).column(TS)
    found: dict[int, Sequence[RowPlace]] = {}
    for time in sorted(set(times.to_pylist())):
        for alike in _alike(timeline, provider, rows_at(host, timeline, query, time).table):
            found |= {key[1]: alike.places_of(number) for number, key in enumerate(alike.keys) if key[1] in wanted_ids}
    return found


def shown_by(provider: Provider, timeline: Timeline) -> TimedQuery:
    """Return the query of a provider's rows: the numbers of their `track`, their times, names and keys."""
    columns = ", ".join(f"{name} AS {key}" for name, key in zip(provider.of.by, KEYS, strict=False))
    # In the same order as when the timeline was built.
    query = f"SELECT path, _ts, _duration, name, depth, {columns} FROM {provider.table}"
    tracks = numbers_of(timeline, provider.source)
    return TimedQuery(query, provider.rows(timeline), partial(_numbered, tracks))


KEYS = ("key", "second_key", "third_key")
"""Names of the key columns of a view's row."""


def numbers_of(timeline: Timeline, source: str) -> dict[tuple[str, ...], int]:
    """Return the tracks of one source by their paths."""
    return {timeline.path(one.id): one.id for one in timeline.tracks if one.source == source}


def _numbered(tracks: Mapping[tuple[str, ...], int], reader: Any) -> Any:
    """Replace paths by track numbers; rows that a view has gained since the tracks were built are dropped."""
    import pyarrow as pa

    schema = reader.schema.set(0, pa.field("track", pa.int32()))
    return pa.RecordBatchReader.from_batches(schema, (_one_numbered(tracks, batch, schema) for batch in reader))


def _one_numbered(tracks: Mapping[tuple[str, ...], int], batch: Any, schema: Any) -> Any:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    # A name may contain the separator, so equal texts count only with equal numbers of names.
    lengths = pc.list_value_length(batch.column(0)).cast(pa.string())
    keys = pc.binary_join_element_wise(pc.binary_join(batch.column(0), _BETWEEN), lengths, _BETWEEN).dictionary_encode()
    codes = keys.indices.to_numpy()
    first = np.zeros(len(keys.dictionary), np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    numbers = [tracks.get(tuple(path), NONE) for path in batch.column(0).take(first).to_pylist()]
    found = pa.array(numbers, pa.int32()).take(keys.indices)
    made = pa.record_batch([found, *batch.columns[1:]], schema=schema)
    return made.filter(pc.not_equal(found, NONE)) if NONE in numbers else made


_BETWEEN = "\x1f"


def _alike(timeline: Timeline, provider: Provider, rows: Any) -> Iterator[_Alike]:
    """Yield the rows at one time, grouped if they look the same."""
    found: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for row in rows.to_pylist():
        found.setdefault((row["track"], row[TS]), []).append(row)
    for (track, time), own in found.items():
        yield from _simultaneous(provider, time, list(_beginning(timeline, track, time)), own)


def _simultaneous(
    provider: Provider, time: int, places: Sequence[RowPlace], rows: Sequence[dict[str, Any]]
) -> Iterator[_Alike]:
    """Yield positions and rows that begin at one time on one track, by duration and name."""
    names = KEYS[: len(provider.of.by)]
    looks: dict[tuple[int, str | None], list[RowPlace]] = {}
    for place in places:
        looks.setdefault((place.duration, place.name), []).append(place)
    for (duration, name), own in looks.items():
        # Rows without an end have the duration that their track has for them.
        fitting = [row for row in rows if row["name"] == name and _lasts(row[DURATION], duration)]
        depths = [row["depth"] or 0 for row in fitting]
        yield _Alike(own, [(time, *(row[key] for key in names)) for row in fitting], depths == sorted(depths))


def _lasts(given: int | None, duration: int) -> bool:
    return given is None or max(given, 0) == duration


def _beginning(timeline: Timeline, track: int, time: int) -> Iterator[RowPlace]:
    """Yield the rows of a track that begin at a time."""
    import numpy as np

    for lane in timeline.lanes(track):
        for at in range(*(int(np.searchsorted(lane.begin, time, side)) for side in ("left", "right"))):
            yield RowPlace(track, lane, at)


def _literal(value: object) -> str:
    return string(value) if isinstance(value, str) else str(value)
