"""The tracks of the page: those of all mounted traces, and those of SELECTs."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock
from typing import Any

from dctv.errors import SourceText, UsageError
from dctv.record import record
from dctv.syntax.parse import parse_select
from dctv.timeline.timeline import Timeline
from dctv.timeline.track import Track, TrackKind
from dctv.web.host import Host, selected
from dctv.web.parameters import whole_number
from dctv.web.shown_track import ShownTrack


@record
class _Made:
    """A timeline of a SELECT."""

    title: str
    select: str
    timeline: Timeline
    called: str | None = None
    """The column of names, and that of a counter's values, if given."""
    value: str | None = None


class Timelines:
    """Timelines by name; those of mounts are built on first use, in a turn of the engine."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._lock = Lock()
        self._of_mounts: dict[str, tuple[int, Timeline]] = {}
        """With the number of the mount, whose name may have been that of another."""
        self._made: dict[str, _Made] = {}
        self._removed: dict[str, _Made] = {}
        """The latest removed one, to answer requests that were sent before the page knew."""
        self._number = 0

    def load(self) -> None:
        """Build missing timelines, and drop those of traces that are no longer mounted."""
        known = dict(self._of_mounts.values())
        found = {
            one.name: (one.number, known.get(one.number) or self._host.timeline(one.name))
            for one in self._host.mounts()
        }
        with self._lock:
            self._of_mounts = found

    def numbers(self) -> set[int]:
        """Return the numbers of the mounts that have a timeline."""
        with self._lock:
            return {number for number, _ in self._of_mounts.values()}

    def add(self, select: str, shown: dict[str, str | None]) -> list[dict[str, Any]]:
        """Add tracks for the rows of a SELECT; return them in the form that the page expects.

        `shown` has the columns `name` and `value`, and the `title`, if given.

        Raises:
            ParseError: it is not a single SELECT.
            UsageError: it has no rows, rows without times, or too many partitions.
        """
        parse_select(SourceText("query", select))
        timeline = selected(self._host, select).timeline(
            shown.get("name"), shown.get("value"), most_tracks=_MOST_TRACKS
        )
        if not timeline.tracks:
            raise UsageError("the SELECT has no rows, so there is nothing to show")
        with self._lock:
            self._number += 1
            name = f"+{self._number}"
            self._made[name] = _Made(
                shown.get("title") or f"Query {self._number}", select, timeline, shown.get("name"), shown.get("value")
            )
            return list(_of_select(name, self._made[name]))

    def remove(self, track: str) -> None:
        """Remove all tracks of the same SELECT as a track."""
        name = track.rpartition(":")[0]
        with self._lock:
            made = self._made.pop(name, None)
            if made is None:
                raise UsageError(f"there is no track `{track}` that was made of a SELECT")
            self._removed = {name: made}

    def find(self, track: str) -> ShownTrack:
        """Return a track by its id on the page."""
        name, _, number = track.rpartition(":")
        with self._lock:
            made = self._made.get(name) or self._removed.get(name)
            _, timeline = self._of_mounts.get(name, (0, None))
        found = timeline if made is None else made.timeline
        if found is None or not number.isdecimal() or whole_number(number) >= len(found.tracks):
            raise UsageError(f"there is no track `{track[:_LONGEST]}`")
        if made is not None:
            return ShownTrack(name, found, int(number), made.select, None, made.called, made.value, made.title)
        return ShownTrack(name, found, int(number), mount=name)

    def is_home(self, track: str) -> bool:
        """Return whether an id is that of the group of all tracks of a timeline, which has no rows of its own."""
        name, _, number = track.rpartition(":")
        with self._lock:
            return not number and (name in self._made or name in self._removed or name in self._of_mounts)

    def of_mount(self, name: str) -> Timeline:
        """Return the timeline of a mounted trace."""
        with self._lock:
            found = self._of_mounts.get(name)
        if found is None:
            raise UsageError(f"no trace is mounted as `{name[:_LONGEST]}`")
        return found[1]

    def all(self) -> list[ShownTrack]:
        """Return all tracks that have rows."""
        with self._lock:
            made, mounts = dict(self._made), dict(self._of_mounts)
        selects = [
            ShownTrack(name, one.timeline, track.id, one.select, None, one.called, one.value, one.title)
            for name, one in made.items()
            for track in one.timeline.tracks
        ]
        traces = [ShownTrack(name, of, track.id, mount=name) for name, (_, of) in mounts.items() for track in of.tracks]
        return [one for one in (*selects, *traces) if one.track.rows]

    def listing(self) -> dict[str, Any]:
        """Return the tree of tracks and the time range that they span."""
        with self._lock:
            made, mounts = dict(self._made), dict(self._of_mounts)
        tracks = [track for name, one in made.items() for track in _of_select(name, one)]
        for name, (_, timeline) in mounts.items():
            tracks += _of_mount(name, timeline, home=len(mounts) > 1)
        return {**self.span(), "tracks": tracks}

    def span(self) -> dict[str, str]:
        """Return the range from the first to the last row of mounted traces; of SELECTs if there are none."""
        with self._lock:
            timelines = [one for _, one in self._of_mounts.values()] or [one.timeline for one in self._made.values()]
        filled = [one for one in timelines if one.tracks]
        begin = min((one.begin for one in filled), default=0)
        return {"begin": str(begin), "end": str(max((one.end for one in filled), default=begin))}


def _of_mount(name: str, timeline: Timeline, *, home: bool) -> Iterator[dict[str, Any]]:
    root = f"{name}:" if home else None
    if home:
        yield _group(f"{name}:", name, timeline, name)
    for track in timeline.tracks:
        yield _track_json(name, track, root, int(home), name)


def _of_select(name: str, made: _Made) -> Iterator[dict[str, Any]]:
    tracks = made.timeline.tracks
    if len(tracks) == 1:
        yield {**_track_json(name, tracks[0], None, 0, None), "name": made.title, "source": made.select}
        return
    yield {**_group(f"{name}:", made.title, made.timeline, None), "source": made.select}
    for track in tracks:
        yield {**_track_json(name, track, f"{name}:", 1, None), "source": made.select}


def _group(known_as: str, title: str, timeline: Timeline, mount: str | None) -> dict[str, Any]:
    span = (str(timeline.begin), str(timeline.end)) if timeline.tracks else (None, None)
    return {
        "id": known_as,
        "parent": None,
        "name": title,
        "kind": TrackKind.GROUP.value,
        "depth": 0,
        "lanes": 0,
        "rows": 0,
        "first": span[0],
        "last": span[1],
        "unit": None,
        "source": "",
        "mount": mount,
    }


def _track_json(name: str, track: Track, root: str | None, deeper: int, mount: str | None) -> dict[str, Any]:
    return {
        "id": f"{name}:{track.id}",
        "parent": root if track.parent is None else f"{name}:{track.parent}",
        "name": track.name,
        "kind": track.kind.value,
        "depth": track.depth + deeper,
        "lanes": track.lanes,
        "rows": track.rows,
        "first": None if track.first is None else str(track.first),
        "last": None if track.last is None else str(track.last),
        "unit": track.unit,
        "source": track.source,
        "mount": mount,
    }


_LONGEST = 100
_MOST_TRACKS = 20_000
"""Each track of a SELECT takes 3 KB here and a line in the browser."""
