"""Write the query of stacks for tracks of samples."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.syntax.write.writer import string
from dctv.web.shown_track import ShownTrack
from dctv.web.track_queries import dotted

_PROVIDER = "timeline.samples"


def is_of_samples(shown: ShownTrack) -> bool:
    """Whether the rows of a track are profiler samples."""
    return shown.mount is not None and shown.track.source.endswith(f".{_PROVIDER}")


def stacks(tracks: Sequence[ShownTrack], start: int, stop: int) -> str:
    """Write the query of the stacks of samples from `start` to before `stop` on tracks of one timeline."""
    mount, timeline = tracks[0].name, tracks[0].timeline
    within = f"s._ts >= {start}ns AND s._ts < {stop}ns"
    samples = f"SELECT s.stack FROM {dotted(mount, 'samples', 'samples')} AS s"
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
