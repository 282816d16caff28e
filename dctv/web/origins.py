"""Rows of tracks <-> the rows of views that they show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dctv.catalog.stdlib import RowsOf, library
from dctv.record import record
from dctv.syntax.write.writer import string
from dctv.timeline.lanes import Lane
from dctv.timeline.timeline import Timeline
from dctv.web.asked import answered, dotted
from dctv.web.host import Host
from dctv.web.samples import written

Key = tuple[Any, ...]
"""What tells a row of a view: its time, and the columns that the provider of the track says."""
_MANY = 100_000
"""Rows that begin at one time; beyond that they are not told apart."""


@record
class Provider:
    """What gives rows of tracks of a mounted trace."""

    mount: str
    name: str
    """`slices` in `t.timeline.slices`."""
    of: RowsOf

    @property
    def view(self) -> str:
        """The table that has all columns of its rows, as it is written."""
        return dotted(self.mount, *self.of.view.split("."))

    def condition(self, key: Key) -> str:
        """Write the condition that a row of the view is the one of a key."""
        time, *others = key
        tests = (
            f"{name} IS NULL" if value is None else f"{name} = {_literal(value)}"
            for name, value in zip(self.of.by, others, strict=True)
        )
        return " AND ".join((f"_ts = {time}ns", *tests))


def provider_of(mount: str, source: str) -> Provider | None:
    """Return the provider of a track by the name of its source; None if a state system is it."""
    below = tuple(source.removeprefix(f"{mount}.").split("."))
    for module in library().modules:
        if module.parts == below and module.rows_of is not None:
            return Provider(mount, module.parts[-1], module.rows_of)
    return None


@record
class Place:
    """Where a row is: its track, its lane, and its number on that."""

    track: int
    lane: Lane
    at: int

    @property
    def row(self) -> int:
        """Its number within the track."""
        return self.lane.first + self.at

    @property
    def begin(self) -> int:
        """When it begins, in ns."""
        return int(self.lane.begin[self.at])

    @property
    def duration(self) -> int:
        """How long it lasts, in ns."""
        return int(self.lane.duration[self.at])

    @property
    def name(self) -> str | None:
        """What it is called."""
        return self.lane.name(self.at)


@record
class _Alike:
    """Rows of a track that begin at one time, last equally long and are called the same, and the keys that they have."""

    places: Sequence[Place]
    keys: Sequence[Key]
    in_order: bool
    """Whether the first place has the first key, and so on."""

    def keys_of(self, place: int) -> Sequence[Key]:
        """Return the keys that a place may have."""
        return [self.keys[place]] if self._is_exact else self.keys

    def places_of(self, key: int) -> Sequence[Place]:
        """Return the places where a key may be."""
        return [self.places[key]] if self._is_exact else self.places

    @property
    def _is_exact(self) -> bool:
        return len(self.places) == len(self.keys) and (self.in_order or len(self.keys) == 1)


def keys_of(host: Host, provider: Provider, timeline: Timeline, place: Place) -> Sequence[Key]:
    """Return the key of a row; several if rows are alike that cannot be told apart."""
    path = written(timeline.path(place.track))
    for alike in _alike(host, provider, timeline, f"_ts = {place.begin}ns AND path = {path}"):
        for number, other in enumerate(alike.places):
            if (other.track, other.row) == (place.track, place.row):
                return alike.keys_of(number)
    return ()


def places_of(host: Host, provider: Provider, timeline: Timeline, ids: Iterable[int]) -> dict[int, Sequence[Place]]:
    """Return where rows are that are told by one number."""
    wanted = sorted(set(ids))
    if not wanted:
        return {}
    ((column,), listed) = provider.of.by, ", ".join(map(str, wanted))
    table = dotted(provider.mount, "timeline", provider.name)
    found: dict[int, Sequence[Place]] = {}
    for alike in _alike(host, provider, timeline, f"_ts IN (SELECT _ts FROM {table} WHERE {column} IN ({listed}))"):
        for number, (_, own) in enumerate(alike.keys):
            if own in wanted:
                found[own] = alike.places_of(number)
    return found


def _alike(host: Host, provider: Provider, timeline: Timeline, where: str) -> Iterator[_Alike]:
    """Yield the rows of a provider for which a condition holds, those together that look the same."""
    columns = ", ".join(provider.of.by)
    table = dotted(provider.mount, "timeline", provider.name)
    query = f"SELECT path, _ts, _duration, name, depth, {columns} FROM {table} WHERE {where} ORDER BY _ts, {columns}"
    tracks = {
        timeline.path(one.id): one.id
        for one in timeline.tracks
        if one.source == f"{provider.mount}.timeline.{provider.name}"
    }
    rows: dict[tuple[int, int], list[list[Any]]] = {}
    for path, time, *row in answered(host, query, _MANY).rows:
        rows.setdefault((tracks[tuple(path)], int(time)), []).append(row)
    for (track, time), found in rows.items():
        places = list(_beginning(timeline, track, time))
        yield from _together(time, places, found)


def _together(time: int, places: Sequence[Place], rows: Sequence[Sequence[Any]]) -> Iterator[_Alike]:
    """Yield places and rows that begin at one time on one track, by how long they last and what they are called."""
    looks: dict[tuple[int, str | None], list[Place]] = {}
    for place in places:
        looks.setdefault((place.duration, place.name), []).append(place)
    for (duration, name), own in looks.items():
        # Rows without an end last as long as their track says.
        fitting = [row for row in rows if row[1] == name and (row[0] is None or max(int(row[0]), 0) == duration)]
        depths = [row[2] or 0 for row in fitting]
        yield _Alike(own, [(time, *row[3:]) for row in fitting], depths == sorted(depths))


def _beginning(timeline: Timeline, track: int, time: int) -> Iterator[Place]:
    """Yield the rows of a track that begin at a time."""
    import numpy as np

    for lane in timeline.lanes(track):
        for at in range(*(int(np.searchsorted(lane.begin, time, side)) for side in ("left", "right"))):
            yield Place(track, lane, at)


def _literal(value: object) -> str:
    return string(value) if isinstance(value, str) else str(value)
