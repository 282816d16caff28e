"""Return the details of a row of a track: its columns, ancestors, children and arrows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dctv.errors import UsageError
from dctv.record import record
from dctv.state import escape
from dctv.syntax.write.writer import string
from dctv.timeline.lanes import Lane, parents_of
from dctv.timeline.timeline import Timeline
from dctv.timeline.track import TrackKind
from dctv.types.schema import TS
from dctv.web.flows import flows
from dctv.web.host import Host
from dctv.web.json_results import Answer, as_json, described
from dctv.web.origins import Key, Provider, RowPlace, keys_of, provider_of
from dctv.web.result_cache import TimedQuery, rows_at
from dctv.web.shown_track import ShownTrack
from dctv.web.track_queries import dotted, run_query

MOST_CHILDREN = 200
_MOST_ROWS = 100
"""The maximum number of candidates for a row."""
_BLOCK = 1 << 20


def place_of(shown: ShownTrack, row: int) -> RowPlace:
    """Return the position of a track's row.

    Raises:
        UsageError: the track has no such row.
    """
    for lane in shown.timeline.lanes(shown.number):
        if lane.first <= row < lane.first + len(lane):
            return RowPlace(shown.number, lane, row - lane.first)
    raise UsageError(
        f"the track `{shown.id}` has no row {row}", hint=f"it has {shown.track.rows} rows, numbered from 0"
    )


def place_at(shown: ShownTrack, time: int) -> RowPlace:
    """Return the position of a counter's value at a time, in ns: the last that begins until then, else the first.

    Raises:
        UsageError: the track is not a counter.
    """
    if shown.track.kind is not TrackKind.COUNTER:
        raise UsageError(f"expected a counter, found the {shown.track.kind.value} `{shown.id}`")
    places = [RowPlace(shown.number, lane, lane.row_at(time)) for lane in shown.timeline.lanes(shown.number)]
    begun = [place for place in places if place.at >= 0]
    if begun:
        return max(begun, key=lambda place: place.begin)
    return min((RowPlace(shown.number, place.lane, 0) for place in places), key=lambda place: place.begin)


@record
class SourceRow:
    """The row of a view or SELECT that a track shows."""

    provider: Provider | None
    keys: Sequence[Key]
    rows: list[list[dict[str, Any]]]
    """Its columns; if several rows look the same, those of each."""
    sql: str


def source_of(host: Host, shown: ShownTrack, place: RowPlace) -> SourceRow:
    """Return the row of a view or SELECT that a track shows."""
    provider = None if shown.mount is None else provider_of(shown.mount, shown.track.source)
    keys = [] if provider is None else keys_of(host, provider, shown.timeline, place)
    sql = _query(shown, place, provider, keys)
    if provider is None:
        answer = _candidates(run_query(host, sql, _MOST_ROWS), shown, place)
    else:
        answer = _of_keys(host, shown.timeline, provider, keys)
    return SourceRow(provider, keys, [_columns(answer, values) for values in answer.rows], sql)


def _of_keys(host: Host, timeline: Timeline, provider: Provider, keys: Sequence[Key]) -> Answer:
    """Return the rows of a view with one of some keys, all at one time."""
    import pyarrow as pa

    if not keys:
        return Answer((), [], complete=True)
    query = TimedQuery(f"SELECT * FROM {provider.view} ORDER BY _ts", provider.rows(timeline))
    found = rows_at(host, timeline, query, keys[0][0])
    for name in provider.of.by:
        if name not in found.table.column_names:
            what = f"`{provider.view}` has no column `{name}` any more, by which rows of the track are found in it"
            raise UsageError(what, hint=f"DROP VIEW {provider.view}, or give the view that column")
    column = zip(*(found.table.column(name).to_pylist() for name in (TS, *provider.of.by)), strict=True)
    positions = pa.array([place for place, key in enumerate(column) if key in keys], pa.int64())
    return Answer(found.columns, as_json(found.columns, found.table.take(positions)), complete=True)


def details(host: Host, shown: ShownTrack, row: int) -> dict[str, Any]:
    """Return the details of a row.

    `columns` are those of the track's view, or of its SELECT. If several rows look the same and cannot be
    distinguished, `others` has the columns of the rest. `value` is None unless the track is a counter.

    Raises:
        UsageError: the track has no such row.
    """
    place = place_of(shown, row)
    children, count = _children(shown.timeline, place)
    source = source_of(host, shown, place)
    columns = source.rows[0] if source.rows else []
    return {
        "track": shown.id,
        **_place(place),
        "value": _value(shown, place) if shown.track.kind is TrackKind.COUNTER else None,
        "count_children": count,
        "columns": columns,
        "others": source.rows[1:],
        "arguments": _arguments(columns),
        "ancestors": [_place(one) for one in _ancestors(shown.timeline, place)],
        "children": [_place(one) for one in children],
        "flows": flows(host, shown, source.provider, source.keys),
        "sql": source.sql,
    }


def _value(shown: ShownTrack, place: RowPlace) -> dict[str, Any]:
    """Return the value of a counter, and its difference from the previous one."""
    value = place.lane.value(place.at)
    before = place.lane.value(place.at - 1) if place.at else None
    change = None if value is None or before is None else value - before
    return {"value": value, "change": change, "unit": shown.track.unit}


def _place(place: RowPlace) -> dict[str, Any]:
    times = {"from": str(place.begin), "duration": str(place.duration)}
    return {"row": place.row, "lane": place.lane.number, "name": place.name, **times}


def _ancestors(timeline: Timeline, place: RowPlace) -> list[RowPlace]:
    """Return the parent of a row, its parent, and so on, the outermost first."""
    if timeline.tracks[place.track].kind is not TrackKind.SLICES:
        return []
    lanes = timeline.lanes(place.track)
    found: list[RowPlace] = []
    while True:
        on, at = parents_of(lanes, place.lane.number, place.at, place.at + 1)
        if on[0] < 0:
            return found[::-1]
        place = RowPlace(place.track, lanes[on[0]], int(at[0]))
        found.append(place)


def _children(timeline: Timeline, place: RowPlace) -> tuple[list[RowPlace], int]:
    """Return the first direct children of a row, and their total number."""
    if timeline.tracks[place.track].kind is not TrackKind.SLICES:
        return [], 0
    lanes = timeline.lanes(place.track)
    found: list[RowPlace] = []
    count = 0
    for lane in lanes[place.lane.number + 1 :]:
        own = 0
        for first, stop in _blocks(lane, place.begin, place.begin + place.duration):
            rows = _in(lanes, lane, place, first, stop)
            found += [RowPlace(place.track, lane, int(at)) for at in rows[: max(MOST_CHILDREN - own, 0)]]
            own += len(rows)
        count += own
    found.sort(key=lambda one: (one.begin, one.row))
    return found[:MOST_CHILDREN], count


def _blocks(lane: Lane, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield the rows of a lane that begin between two times."""
    import numpy as np

    first, last = int(np.searchsorted(lane.begin, start, "left")), int(np.searchsorted(lane.begin, stop, "right"))
    for at in range(first, last, _BLOCK):
        yield at, min(at + _BLOCK, last)


def _in(lanes: Sequence[Lane], lane: Lane, place: RowPlace, first: int, stop: int) -> Any:
    """Return which rows of a lane are direct children of a row."""
    import numpy as np

    on, at = parents_of(lanes, lane.number, first, stop)
    return first + np.flatnonzero((on == place.lane.number) & (at == place.at))


def _query(shown: ShownTrack, place: RowPlace, provider: Provider | None, keys: Sequence[Key]) -> str:
    """Write the query of the row that a track shows."""
    if provider is not None:
        tests = " OR ".join(
            f"({provider.condition(key)})" if len(keys) > 1 else provider.condition(key) for key in keys
        )
        return f"SELECT * FROM {provider.view} WHERE {tests or 'FALSE'}"
    if shown.select is not None:
        select = shown.select.rstrip().rstrip(";")
        return f"SELECT * FROM (\n{select}\n) AS shown WHERE _ts = {place.begin}ns"
    path = string(escape(shown.timeline.path(shown.number)))
    return f"SELECT * FROM {dotted(shown.name)} WHERE path = {path} AND _ts = {place.begin}ns"


def _candidates(answer: Answer, shown: ShownTrack, place: RowPlace) -> Answer:
    """Return the rows of a SELECT that may be the one that is shown."""
    if shown.select is None or len(answer.rows) < 2:
        return answer
    names = [column.name for column in answer.columns]
    tests: list[Callable[[dict[str, Any]], bool]] = [
        lambda row: "_duration" not in row or str(row["_duration"]) == str(place.duration),
        lambda row: place.name is None or place.name in map(str, row.values()),
        lambda row: all(
            f"{name} " not in shown.track.name or f"{name} {row[name]}" in shown.track.name for name in row
        ),
    ]
    rows = answer.rows
    for test in tests:
        rows = [row for row in rows if test(dict(zip(names, row, strict=True)))] or rows
    return Answer(answer.columns, rows, answer.complete)


def _columns(answer: Answer, values: Sequence[Any]) -> list[dict[str, Any]]:
    return [{**column, "value": value} for column, value in zip(described(answer.columns), values, strict=True)]


def _arguments(columns: Sequence[dict[str, Any]]) -> Any:
    """Return the arguments of a row: parsed JSON, or else the text."""
    for column in columns:
        if column["name"] == "args" and column["value"] is not None:
            value = column["value"]
            if not isinstance(value, str):
                return value
            try:
                return json.loads(value)
            except ValueError:
                return value
    return None
