"""Compute the frames of a flame graph for a time range on some tracks: sums of slices or samples by stack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dctv.errors import UsageError
from dctv.timeline.track import TrackKind
from dctv.web.area import Area
from dctv.web.host import Host
from dctv.web.samples import events_of, is_of_samples, stacks
from dctv.web.shown_track import ShownTrack
from dctv.web.track_queries import clipped, in_tracks, overlaps, rows_of, run_query

MOST_FRAMES = 20_000
"""More frames cannot be distinguished."""
SLICES, SAMPLES = "slices", "samples"


def flame(
    host: Host, area: Area, of: str = SLICES, *, event: str | None = None, invert: bool = False
) -> dict[str, Any]:
    """Return the frames of the `slices` or `samples` in an area, parents first.

    The value of a frame includes all frames below it: ns of slices, clipped to the range, or samples. Samples are
    those of one of their `events`, by default the most frequent. With `invert`, roots are the innermost functions, and
    children are callers.

    Raises:
        UsageError: the source is unknown, or no sample is of the event.
    """
    if of not in (SLICES, SAMPLES):
        raise UsageError(f"expected frames of `slices` or `samples`, found `{of}`")
    fitting = area.having(lambda one: _fits(one, of))
    events = events_of(host, fitting) if of == SAMPLES else {}
    chosen = _chosen(events, event) if of == SAMPLES else None
    frames: list[dict[str, Any]] = []
    texts, total = [], 0
    for part in fitting.parts():
        if of == SLICES:
            rows = _slices(part, invert=invert)
            texts.append(_inverted_calls(rows) if invert else _query(_graph(rows)))
        else:
            rows = stacks(part, chosen if len(events) > 1 else None)
            texts.append(_query(_graph(_reversed(rows) if invert else rows)))
        found, whole = _frames(host, texts[-1], len(frames))
        frames += found
        total += whole
    return {
        "unit": "ns" if of == SLICES else "samples",
        "total": str(total),
        "frames": frames,
        "event": chosen,
        "events": [{"name": name, "samples": count} for name, count in events.items()],
        "sql": ";\n".join(texts),
    }


def _chosen(events: Mapping[str, int], wanted: str | None) -> str | None:
    """Return the wanted event, by default the most frequent."""
    if wanted is not None and wanted not in events:
        shown = ", ".join(f"{name or 'without an event'} ({count:,})" for name, count in events.items())
        raise UsageError(f"no sample is of the event `{wanted}`", hint=f"samples are of {shown}" if events else None)
    return next(iter(events), None) if wanted is None else wanted


def _fits(one: ShownTrack, of: str) -> bool:
    return is_of_samples(one) if of == SAMPLES else one.track.kind is TrackKind.SLICES


def _query(frames: str, name: str = "name") -> str:
    return f"""\
SELECT id, parent_id, {name}, total, self, count, SUM(total) FILTER (WHERE parent_id IS NULL) OVER () AS whole
FROM {frames}
ORDER BY total DESC, depth, id LIMIT {MOST_FRAMES}"""


def _graph(rows: str) -> str:
    return f"dctv.flame_graph((\n{rows}\n))"


_WRITTEN = "COALESCE(CASE WHEN name = '' THEN CHR(30) ELSE REPLACE(name, ';', CHR(31)) END, CHR(29))"
"""Names in stacks that are texts, separated by `;`; none is empty."""
_READ = "NULLIF(REPLACE(REPLACE(name, CHR(31), ';'), CHR(30), ''), CHR(29))"


def _slices(part: Area, *, invert: bool) -> str:
    tracks, start, stop = part.tracks, part.start, part.stop
    name = f"{_WRITTEN} AS name" if invert else "name"
    return f"""\
  SELECT GREATEST(_ts, {start}ns) AS _ts, {clipped(start, stop)} AS _duration, id, parent_id, {name}
  FROM {rows_of(tracks)}
  WHERE {in_tracks(tracks)} AND {overlaps(start, stop)}"""


_FROM_INSIDE = "ARRAY_TO_STRING(LIST_REVERSE(STRING_SPLIT(stack, ';')), ';') AS stack"


def _reversed(rows: str) -> str:
    """Write the query of stacks from their innermost function."""
    return f"  SELECT {_FROM_INSIDE} FROM (\n{rows}\n  ) AS taken"


def _inverted_calls(rows: str) -> str:
    """Write the frames of slices from the innermost one, with its self value; each slice counts once as innermost."""
    frames = f"""(
  WITH found AS (
    SELECT {_FROM_INSIDE}, self, count
    FROM {_graph(rows)}
  )
  SELECT t.id, t.parent_id, t.depth, t.name, t.total, t.self, c.total AS count
  FROM dctv.flame_graph(found, weight=>'self') AS t
  JOIN dctv.flame_graph(found, weight=>'count') AS c ON c.stack = t.stack
)"""
    return _query(frames, f"{_READ} AS name")


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
