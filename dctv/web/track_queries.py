"""Write queries about tracks and times, and convert their results to JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dctv.syntax.write.writer import quote, string
from dctv.web.host import Host, selected
from dctv.web.json_results import Answer, first_rows
from dctv.web.shown_track import ShownTrack

MOST_ROWS = 1_000
"""The limit of a table that is shown beside a selection."""


_MOST_RUNS = 4
"""Up to this many runs of tracks are written as ranges; more are written as a list."""


def run_query(host: Host, sql: str, limit: int = MOST_ROWS) -> Answer:
    """Run a query and return its first rows."""
    return first_rows(selected(host, sql), limit)


def by_timeline(tracks: Iterable[ShownTrack]) -> list[list[ShownTrack]]:
    """Group tracks by timeline, each in order of their numbers."""
    found: dict[str, dict[int, ShownTrack]] = {}
    for one in tracks:
        found.setdefault(one.name, {})[one.number] = one
    return [[own[number] for number in sorted(own)] for own in found.values()]


def dotted(name: str, *below: str) -> str:
    """Write the name of a table below a mount or a state system."""
    return ".".join((*(quote(part) for part in name.split(".")), *below))


def rows_of(tracks: Sequence[ShownTrack]) -> str:
    """Write the table of the rows of tracks of one timeline."""
    one = tracks[0]
    if one.select is None:
        return dotted(one.name, "timeline", "rows")
    columns = {"name": one.called, "value": one.value}
    arguments = "".join(f", {key}=>{string(column)}" for key, column in columns.items() if column is not None)
    return f"dctv.timeline_rows((\n{one.select.strip().rstrip(';')}\n){arguments})"


def in_tracks(tracks: Sequence[ShownTrack]) -> str:
    """Write the condition that rows are on some tracks of one timeline, given in order."""
    runs: list[list[int]] = []
    numbers_ = {one.number for one in tracks}
    for track in tracks[0].timeline.tracks:
        # Groups have no rows, so a run may contain them.
        if track.rows and track.id not in numbers_:
            runs.append([])
        elif track.id in numbers_:
            runs = runs or [[]]
            runs[-1].append(track.id)
    found = [run for run in runs if run]
    if len(found) > _MOST_RUNS or len(found) == len(numbers_):
        numbers = ", ".join(map(str, sorted(numbers_)))
        return f"track = {numbers}" if len(numbers_) == 1 else f"track IN ({numbers})"
    tests = [f"track = {run[0]}" if len(run) == 1 else f"track BETWEEN {run[0]} AND {run[-1]}" for run in found]
    return tests[0] if len(tests) == 1 else f"({' OR '.join(tests)})"


def overlaps(start: int, stop: int) -> str:
    """Write the condition that rows last, or begin, between two times."""
    return f"_ts < {stop}ns AND (_ts >= {start}ns OR _ts + _duration > {start}ns)"


def clipped(start: int, stop: int) -> str:
    """Write the duration of rows between two times."""
    return f"LEAST(_ts + _duration, {stop}ns) - GREATEST(_ts, {start}ns)"
