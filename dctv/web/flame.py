"""Compute the frames of a flame graph for a time range on some tracks: sums of slices or samples by stack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dctv.errors import UsageError
from dctv.timeline.track import TrackKind
from dctv.web.host import Host
from dctv.web.samples import is_of_samples, stacks
from dctv.web.shown_track import ShownTrack
from dctv.web.track_queries import by_timeline, clipped, in_tracks, overlaps, rows_of, run_query

MOST_FRAMES = 20_000
"""More frames cannot be distinguished."""
SLICES, SAMPLES = "slices", "samples"


def flame(
    host: Host, tracks: Sequence[ShownTrack], start: int, stop: int, of: str = SLICES, *, invert: bool = False
) -> dict[str, Any]:
    """Return the frames of `slices` or `samples` from `start` to before `stop`, in ns, parents first.

    The value of a frame includes all frames below it: ns of slices, clipped to the range, or samples. With `invert`,
    roots are the innermost functions, and children are callers.

    Raises:
        UsageError: the source is unknown, or the times are in the wrong order.
    """
    if of not in (SLICES, SAMPLES):
        raise UsageError(f"expected frames of `slices` or `samples`, found `{of}`")
    if stop < start:
        raise UsageError(f"`to`, {stop} ns, comes before `from`, {start} ns")
    frames: list[dict[str, Any]] = []
    texts, total = [], 0
    for own in by_timeline(tracks):
        if not (fitting := [one for one in own if _fits(one, of)]):
            continue
        text = _query(fitting, start, stop, of, invert=invert)
        texts.append(text)
        found, whole = _frames(host, text, len(frames))
        frames += found
        total += whole
    unit = "ns" if of == SLICES else "samples"
    return {"unit": unit, "total": str(total), "frames": frames, "sql": ";\n".join(texts)}


def _fits(one: ShownTrack, of: str) -> bool:
    return is_of_samples(one) if of == SAMPLES else one.track.kind is TrackKind.SLICES


def _query(tracks: Sequence[ShownTrack], start: int, stop: int, of: str, *, invert: bool) -> str:
    rows = stacks(tracks, start, stop) if of == SAMPLES else _slices(tracks, start, stop, invert=invert)
    frames = _inverted(rows) if invert else f"dctv.flame_graph((\n{rows}\n))"
    name = f"REPLACE(name, {_STANDING_IN}, ';') AS name" if invert else "name"
    return f"""\
SELECT id, parent_id, {name}, total, self, count, SUM(total) FILTER (WHERE parent_id IS NULL) OVER () AS whole
FROM {frames}
ORDER BY total DESC, depth, id LIMIT {MOST_FRAMES}"""


_STANDING_IN = "CHR(31)"
"""Replaces `;` in names of stacks."""


def _slices(tracks: Sequence[ShownTrack], start: int, stop: int, *, invert: bool) -> str:
    name = f"REPLACE(name, ';', {_STANDING_IN}) AS name" if invert else "name"
    return f"""\
  SELECT GREATEST(_ts, {start}ns) AS _ts, {clipped(start, stop)} AS _duration, id, parent_id, {name}
  FROM {rows_of(tracks)}
  WHERE {in_tracks(tracks)} AND {overlaps(start, stop)}"""


def _inverted(rows: str) -> str:
    """Write the frames of stacks from their innermost function, with the self values of these."""
    return f"""(
  WITH found AS (
    SELECT ARRAY_TO_STRING(LIST_REVERSE(STRING_SPLIT(stack, ';')), ';') AS stack, self, count
    FROM dctv.flame_graph((
{rows}
    ))
  )
  SELECT t.id, t.parent_id, t.depth, t.name, t.total, t.self, c.total AS count
  FROM dctv.flame_graph(found, weight=>'self') AS t
  JOIN dctv.flame_graph(found, weight=>'count') AS c ON c.stack = t.stack
)"""


def _frames(host: Host, text: str, before: int) -> tuple[list[dict[str, Any]], int]:
    """Return the frames of a query, numbered from `before` on, and their sum."""
    answer = run_query(host, text, MOST_FRAMES)
    places = {row[0]: place for place, row in enumerate(answer.rows, before)}
    frames = [
        {
            "id": places[number],
            "parent": None if parent is None else places[parent],
            "name": name,
            "value": str(total),
            "self": str(own),
            "count": count,
        }
        for number, parent, name, total, own, count, _ in answer.rows
    ]
    return frames, int(answer.rows[0][-1]) if answer.rows else 0
