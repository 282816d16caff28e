"""Write the query of stacks for tracks of samples, of one sampled event or of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dctv.syntax.write.writer import string
from dctv.web.area import Area
from dctv.web.host import Host
from dctv.web.shown_track import ShownTrack
from dctv.web.track_queries import dotted, run_query

_PROVIDER = "timeline.samples"


def is_of_samples(shown: ShownTrack) -> bool:
    """Whether the rows of a track are profiler samples."""
    return shown.mount is not None and shown.track.source.endswith(f".{_PROVIDER}")


def events_of(host: Host, area: Area) -> dict[str, int]:
    """Return the events of the samples in an area, with the number of samples of each, the most frequent first.

    The name is empty for samples without an event. Samples of different events count different things, so they are
    not to be added up.
    """
    found: Counter[str] = Counter()
    for part in area.parts():
        counts = f"{_samples(part, f'{_EVENT} AS of, COUNT(*) AS samples')} GROUP BY of"
        found.update({name: int(count) for name, count in run_query(host, counts).rows})
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def stacks(part: Area, event: str | None = None) -> str:
    """Write the query of the stacks of samples in an area of one timeline: those of an event, or all."""
    query = _samples(part, "s.stack")
    return query if event is None else f"{query} AND {_EVENT} = {string(event)}"


_EVENT = "COALESCE(s.`event`, '')"


def _samples(part: Area, columns: str) -> str:
    tracks, timeline = part.tracks, part.tracks[0].timeline
    mount = tracks[0].name
    within = f"s._ts >= {part.start}ns AND s._ts < {part.stop}ns"
    samples = f"SELECT {columns} FROM {dotted(mount, 'samples', 'samples')} AS s"
    numbers = {one.number for one in tracks}
    if {one.id for one in timeline.tracks if one.source == tracks[0].track.source} <= numbers:
        return f"  {samples} WHERE {within}"
    paths = " OR ".join(f"r.path = {written(timeline.path(number))}" for number in sorted(numbers))
    return f"""\
  {samples}
  JOIN {dotted(mount, "timeline", "samples")} AS r ON r._ts = s._ts AND r.line = s.line
  WHERE {within} AND ({paths})"""


def written(path: Sequence[str]) -> str:
    """Write the names of a path as a list."""
    return f"LIST_VALUE({', '.join(string(name) for name in path)})"
