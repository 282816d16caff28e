"""Build tables about a time range on some tracks, each with its query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dctv.errors import UnitError
from dctv.record import record
from dctv.syntax.write.writer import backticks, string
from dctv.timeline.track import TrackKind
from dctv.types.units import parse_unit
from dctv.web.area import Area
from dctv.web.host import Host
from dctv.web.samples import events_of, is_of_samples, stacks
from dctv.web.shown_track import ShownTrack
from dctv.web.track_queries import clipped, dotted, in_tracks, overlaps, rows_of, run_query


@record
class _Table:
    """A table to build."""

    kind: str
    title: str
    sql: str
    event: str | None = None
    """The event of samples, if there are samples of several."""


def selection(host: Host, area: Area) -> dict[str, Any]:
    """Return tables of rows that begin or last in an area, with durations clipped to that.

    Each timeline has its own, whose titles say of which they are if there are several.
    """
    tables = []
    parts = list(area.parts())
    for part in parts:
        before = f"{part.tracks[0].home}: " if len(parts) > 1 else ""
        for table in _tables(host, part):
            answer = run_query(host, table.sql)
            if answer.rows:
                about = {"kind": table.kind, "title": before + table.title, "event": table.event}
                tables.append({**about, **answer.table(), "sql": table.sql})
    return {"tables": tables}


def _tables(host: Host, part: Area) -> Iterator[_Table]:
    """Yield the tables for an area of one timeline."""
    start, stop = part.start, part.stop
    by_kind: dict[TrackKind, list[ShownTrack]] = {}
    for one in part.tracks:
        by_kind.setdefault(one.track.kind, []).append(one)
    if slices := by_kind.get(TrackKind.SLICES):
        yield _Table("slices", "Slices by name", _slices(slices, start, stop))
    if states := by_kind.get(TrackKind.STATES):
        yield _Table("states", "Time in states", _states(states, start, stop))
        if len(states) > 1:
            yield _Table("states", "Time in states by track", _states_by_track(states, start, stop))
    for unit, counters in _by_unit(by_kind.get(TrackKind.COUNTER, ())):
        title = f"Counters in {unit}" if unit else "Counters"
        yield _Table("counter", title, _counters(counters, unit, start, stop))
    instants = by_kind.get(TrackKind.INSTANTS, [])
    yield from _of_samples(host, part.having(is_of_samples))
    if moments := [one for one in instants if not is_of_samples(one)]:
        yield _Table("instants", "Instants by name", _instants(moments, start, stop))


def _of_samples(host: Host, part: Area) -> Iterator[_Table]:
    """Yield a table for each event of the samples."""
    events = events_of(host, part)
    if len(events) == 1:
        yield _Table("samples", "Samples by function", _samples(stacks(part)))
        return
    for event in events:
        title = f"Samples of {event or 'no event'} by function"
        yield _Table("samples", title, _samples(stacks(part, event)), event)


def _slices(tracks: Sequence[ShownTrack], start: int, stop: int) -> str:
    return f"""\
WITH cut AS (
  SELECT name, parent_id, parent_name, {clipped(start, stop)} AS time
  FROM {rows_of(tracks)}
  WHERE {in_tracks(tracks)} AND {overlaps(start, stop)}
),
whole AS (
  SELECT name, COUNT(*) AS count, SUM(time) AS total, AVG(time) AS mean, QUANTILE_CONT(time, 0.5) AS p50,
    QUANTILE_CONT(time, 0.99) AS p99, MAX(time) AS longest
  FROM cut GROUP BY name
),
inside AS (SELECT parent_name AS name, SUM(time) AS total FROM cut WHERE parent_id IS NOT NULL GROUP BY parent_name)
SELECT whole.name, count, whole.total, whole.total - COALESCE(inside.total, 0ns) AS self, mean, p50, p99, longest
FROM whole LEFT JOIN inside ON inside.name <=> whole.name
ORDER BY whole.total DESC, whole.name"""


def _states(tracks: Sequence[ShownTrack], start: int, stop: int) -> str:
    return f"""\
WITH cut AS (
  SELECT name, {clipped(start, stop)} AS time
  FROM {rows_of(tracks)}
  WHERE {in_tracks(tracks)} AND {overlaps(start, stop)}
)
SELECT name, COUNT(*) AS count, SUM(time) AS total, SUM(time) / NULLIF((SELECT SUM(time) FROM cut), 0ns) AS share
FROM cut GROUP BY name
ORDER BY total DESC, name"""


def _labels(tracks: Sequence[ShownTrack]) -> str:
    """Write a table of track labels; tracks of a trace include the names of their groups."""
    if tracks[0].select is not None:
        listed = ", ".join(f"({one.number}, {string(one.track.name)})" for one in tracks)
        return f"labels AS (SELECT track, label FROM (VALUES {listed}) AS t(track, label))"
    table = dotted(tracks[0].name, "timeline")
    return f"""\
labels AS (
  SELECT t.track, COALESCE(p.name || ' / ', '') || t.name AS label
  FROM {table} AS t LEFT JOIN {table} AS p ON p.track = t.parent
)"""


def _states_by_track(tracks: Sequence[ShownTrack], start: int, stop: int) -> str:
    return f"""\
WITH cut AS (
  SELECT track, name, {clipped(start, stop)} AS time
  FROM {rows_of(tracks)}
  WHERE {in_tracks(tracks)} AND {overlaps(start, stop)}
),
{_labels(tracks)},
whole AS (SELECT track, SUM(time) AS time FROM cut GROUP BY track),
parts AS (SELECT track, name, COUNT(*) AS count, SUM(time) AS total FROM cut GROUP BY track, name)
SELECT label AS track, name, count, total, total / NULLIF(time, 0ns) AS share
FROM parts JOIN whole ON whole.track = parts.track JOIN labels ON labels.track = parts.track
ORDER BY parts.track, total DESC, name"""


def _by_unit(tracks: Sequence[ShownTrack]) -> list[tuple[str | None, list[ShownTrack]]]:
    """Group counters by unit; a unit that queries do not know counts as none."""
    found: dict[str | None, list[ShownTrack]] = {}
    for one in tracks:
        found.setdefault(_known(one.track.unit), []).append(one)
    return list(found.items())


def _known(unit: str | None) -> str | None:
    if not unit:
        return None
    try:
        parse_unit(unit)
    except UnitError:
        return None
    return unit


def _counters(tracks: Sequence[ShownTrack], unit: str | None, start: int, stop: int) -> str:
    value = "value" if unit is None else f"value IN {backticks(unit)}"
    per_second = backticks(f"({unit})/s" if unit else "1/s")
    rate = f"(last - first) / {max(stop - start, 1)}ns IN {per_second} AS rate"
    return f"""\
WITH cut AS (
  SELECT track, _ts, {value} AS value, {clipped(start, stop)} AS time
  FROM {rows_of(tracks)}
  WHERE {in_tracks(tracks)} AND {overlaps(start, stop)} AND value IS NOT NULL
),
{_labels(tracks)},
whole AS (
  SELECT track, COUNT(*) AS count, SUM(value * UNITLESS(time)) / NULLIF(SUM(UNITLESS(time)), 0) AS mean,
    MIN(value) AS min, MAX(value) AS max, ARG_MIN(value, _ts) AS first, ARG_MAX(value, _ts) AS last
  FROM cut GROUP BY track
)
SELECT label AS counter, count, mean, min, max, first, last, {rate}
FROM whole JOIN labels ON labels.track = whole.track
ORDER BY whole.track"""


def _instants(tracks: Sequence[ShownTrack], start: int, stop: int) -> str:
    return f"""\
SELECT name, COUNT(*) AS count, COUNT(*) / {max(stop - start, 1)}ns IN Hz AS rate
FROM {rows_of(tracks)}
WHERE {in_tracks(tracks)} AND _ts >= {start}ns AND _ts < {stop}ns
GROUP BY name
ORDER BY count DESC, name"""


def _samples(query: str) -> str:
    return f"""\
SELECT name, SUM(self) AS self, SUM(total) FILTER (WHERE NOT recursive) AS total
FROM dctv.flame_graph((
{query}
))
GROUP BY name
ORDER BY self DESC, total DESC, name"""
