"""Describe a mounted trace, or a query, as a viewer shows it: tracks with their rows, and kernel events."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from dctv.errors import UsageError
from dctv.export import arrows, kernel
from dctv.export.query import select
from dctv.record import record, replace
from dctv.session import Session
from dctv.syntax.write.writer import quote, string
from dctv.types.schema import DURATION, TS, ColumnType
from dctv.types.units import compatible, parse_unit
from dctv.types.values import dialect_type, is_numeric

_SLICES = (TS, DURATION, "track", "lane", "id", "parent_id", "name", "category", "args", "leaving", "arriving")
_COLUMNS = {
    "slices": _SLICES,
    "async_slices": _SLICES,
    "counters": (TS, "track", "value"),
    "instants": (TS, "track", "name", "category", "args"),
}
"""The columns of each kind of row."""

_APART = 1 << 22
"""Higher than any process id of Linux."""

_PLACES = """
SELECT name, pid, tid, args FROM t.metadata
WHERE name IN ('process_sort_index', 'thread_sort_index', 'process_labels') AND pid IS NOT NULL ORDER BY line
"""
_NULLS = {"args": "'{}'", "value": "0.0", "name": "''", "category": "NULL::STRING"}
_OF_TRACES = {"leaving": "''", "arriving": "''", "lane": "0", "id": "NULL::INT64", "parent_id": "NULL::INT64"}
"""Columns that only the slices of a whole trace have, and what stands there for the rows of a query."""


@record
class ExportedTrack:
    """A track of slices, instants or values."""

    number: int
    kind: str
    name: str | None
    pid: int | None
    tid: int | None
    unit: str | None = None
    parent: int | None = None


@record
class TrackPlace:
    """The sort order or labels of a process or thread, from metadata of Chrome's traces."""

    what: str
    """`process_sort_index`, `thread_sort_index` or `process_labels`."""
    pid: int | None
    tid: int | None
    order: int | None
    labels: str | None


QUERY = "dctv_export"
"""The view of the query whose rows are exported."""


@record
class ExportedTimeline:
    """The contents of an export, read from the session when it is written."""

    session: Session
    start_ns: int
    """The absolute time of `_ts` 0."""
    properties: Mapping[str, str]
    processes: Sequence[tuple[int, str | None]]
    tracks: Sequence[ExportedTrack]
    queries: Mapping[str, str]
    """By kind of row (`kernel`, `slices`, `async_slices`, `counters`, `instants`, `flows`); kinds may be missing."""
    places: Sequence[TrackPlace] = ()
    last: int | None = None
    """The time of the trace's last event; None if the rows are not those of a whole trace."""
    measured: Sequence[str] = ()
    """The arguments that have units in the query; the rows have only their numbers."""
    omitted: Sequence[str] = ()
    """The columns of the query that its rows have no place for."""

    def batches(self, kind: str) -> Iterable[Any]:
        """Yield the Arrow batches of a kind of row, slices by track and lane, then in order of time."""
        if kind in self.queries:
            yield from self.session.sql(self.queries[kind]).reader()


def of_mount(session: Session, form: arrows.Form) -> ExportedTimeline:
    """Return the timeline of the trace that is mounted as `t`, from the common views of the standard library."""
    properties = dict(session.sql("SELECT key, value FROM t.properties").fetchall())
    tracks = session.sql("SELECT track, kind, name, pid, tid, unit, parent FROM t.tracks ORDER BY track").fetchall()
    named = session.sql(
        "SELECT DISTINCT pid, name FROM t.processes WHERE pid IS NOT NULL ORDER BY pid, name"
    ).fetchall()
    threads = session.sql(
        "SELECT pid, tid, name FROM t.threads WHERE tid IS NOT NULL ORDER BY pid, tid, name"
    ).fetchall()
    queries = _mount_queries(session, form)
    # Without a clock, times are since the Unix epoch.
    start = int(
        properties.get("start_ns")
        or (properties.get("start_unix_ns", "0") if properties.get("clock") == "realtime" else "0")
    )
    processes = [(int(pid), name) for pid, name in named]
    last = session.sql("SELECT unitless(_ts) FROM t.last_ts").fetchall()
    placed = _with_threads([ExportedTrack(*row) for row in tracks], threads)
    return ExportedTimeline(
        session, start, properties, processes, placed, queries, _places(session), last[0][0] if last else None
    )


def _places(session: Session) -> list[TrackPlace]:
    """Return the sort orders and labels in metadata events."""
    schema = session.columns("t.metadata")
    if schema is None or not {"name", "pid", "tid", "args"} <= {*schema.names}:
        return []
    found = []
    for what, pid, tid, text in session.sql(_PLACES).fetchall():
        args = json.loads(text or "{}")
        if not isinstance(args, dict):
            continue
        order, labels = args.get("sort_index"), args.get("labels")
        # The format has 32-bit numbers.
        order = order if isinstance(order, int) and abs(order) < 1 << 31 else None
        labels = labels if isinstance(labels, str) else None
        found.append(TrackPlace(what, pid, tid if what == "thread_sort_index" else None, order, labels))
    return [one for one in found if one.order is not None or one.labels is not None]


def _mount_queries(session: Session, form: arrows.Form) -> dict[str, str]:
    is_linked = arrows.prepare(session)
    queries = {}
    for kind in ("slices", "async_slices"):
        plain = select(["*", "'' AS leaving", "'' AS arriving"], f"t.{kind}")
        source = arrows.with_arrows(kind, form) if is_linked else f"({plain})"
        # Numbers have the order of begins, a slice before those in it.
        queries[kind] = select(_COLUMNS[kind], source, " ORDER BY track, lane, id")
    # Samples rather than spans, so that viewers also show the last value, and several at one time.
    queries["counters"] = select(_COLUMNS["counters"], "t._parts.counter_values", " ORDER BY _ts, line")
    queries["instants"] = select(_COLUMNS["instants"], "t.instants")
    if is_linked:
        queries["flows"] = arrows.loose(form)
    events = kernel.present(session)
    if events:
        queries["kernel"] = kernel.events_query(events)
    return queries


def _with_threads(tracks: Sequence[ExportedTrack], threads: Sequence[tuple[Any, ...]]) -> list[ExportedTrack]:
    """Name the tracks of threads, and add tracks for threads that have only a name."""
    names = {(pid, tid): name for pid, tid, name in threads}
    found, taken = [], set()
    for one in tracks:
        if one.kind != "thread":
            found.append(one)
            continue
        # Threads of several machines, and the idle threads of all CPUs, may have the same ids, which viewers treat as
        # one thread. A thread without a process would be none in Perfetto's format.
        pid = one.pid or 0
        while (pid, one.tid) in taken:
            pid += _APART
        taken.add((pid, one.tid))
        found.append(replace(one, pid=pid, name=one.name or names.pop((one.pid, one.tid), None)))
    free = max((one.number for one in tracks), default=-1) + 1
    rest = enumerate(((place, name) for place, name in names.items() if name), free)
    return [*found, *(ExportedTrack(number, "thread", name, pid, tid) for number, ((pid, tid), name) in rest)]


def of_query(session: Session, text: str) -> ExportedTimeline:
    """Return the timeline of a query's rows: slices with `_duration`, counters with `value`, else instants.

    Slices and instants belong to threads (`pid`, `tid`), or to one per `track` if there is such a column; their other
    columns become arguments. Counters are identified by `pid` and `name`, and have no place for other columns.

    Raises:
        UsageError: it has no column `_ts`, or times or durations that no event has.
    """
    session.sql(f"CREATE OR REPLACE VIEW {QUERY} AS {text.strip().rstrip(';')}")
    schema = session.columns(QUERY)
    columns = {one.name: one for one in schema.columns} if schema is not None else {}
    if TS not in columns:
        found = ", ".join(f"`{name}`" for name in columns)
        raise UsageError(f"found the columns {found}, expected `{TS}` among them", hint="times come in `_ts`, in ns")
    kind = "slices" if DURATION in columns else "counters" if "value" in columns else "instants"
    by = ["pid", "name"] if kind == "counters" else ["track"] if "track" in columns else ["pid", "tid"]
    keys = [key for key in by if key in columns]
    key = ", ".join(keys) if keys else "NULL"
    rest = [name for name in columns if name not in {TS, DURATION}]
    times = [_in_ns(columns[name]) for name in (TS, DURATION) if name in columns]
    ranked = f"DENSE_RANK() OVER (ORDER BY {key}) AS dctv_track"
    numbered = f"({select([*times, *map(quote, rest), ranked], QUERY)})"
    unit = str(columns["value"].unit) or None if kind == "counters" else None
    tracks = [
        _track(kind, number, dict(zip(keys, values, strict=True)), unit)
        for number, *values in _tracks(session, keys, numbered, has_durations=kind == "slices")
    ]
    arguments = _arguments(columns, kind)
    shown = [_shown(column, columns, arguments) for column in _COLUMNS[kind]]
    order = f" ORDER BY dctv_track, {TS}, {DURATION} DESC" if kind == "slices" else ""
    measured = [name for name in arguments if str(columns[name].unit)]
    omitted = [name for name in columns if name not in {TS, "value", *by}] if kind == "counters" else []
    return ExportedTimeline(
        session,
        0,
        {},
        [],
        sorted(tracks, key=lambda one: one.number),
        {kind: select(shown, numbered, order)},
        measured=measured,
        omitted=omitted,
    )


def _in_ns(one: ColumnType) -> str:
    """Write a column of times in whole ns; a number without a unit is in ns.

    Raises:
        UsageError: it holds no times.
    """
    shown = dialect_type(one.type)
    if shown != "NULL" and not is_numeric(one.type):
        raise UsageError(f"found `{one.name}` of type {shown}, expected a number of ns")
    if str(one.unit) and not compatible(one.unit, parse_unit("ns")):
        raise UsageError(f"found `{one.name}` in {one.unit}, expected a unit of time")
    return f"UNITLESS({one.name}{' IN ns' if str(one.unit) else ''})::INT64 AS {one.name}"


def _tracks(session: Session, keys: Sequence[str], numbered: str, *, has_durations: bool) -> list[tuple[Any, ...]]:
    """Return the number and the keys of each track.

    Raises:
        UsageError: a duration is negative.
    """
    negative = f"COUNT(*) FILTER (WHERE {DURATION} < 0)" if has_durations else "0"
    rows = session.sql(select(["dctv_track", *keys, negative], numbered, "GROUP BY ALL")).fetchall()
    wrong = sum(row[-1] for row in rows)
    if wrong:
        raise UsageError(
            f"found {wrong} row{'s' if wrong > 1 else ''} with a negative `{DURATION}`, expected lengths of slices",
            hint=f"leave such rows out: WHERE {DURATION} >= 0ns",
        )
    return [row[:-1] for row in rows]


def _track(kind: str, number: int, values: Mapping[str, Any], unit: str | None) -> ExportedTrack:
    if kind == "counters":
        pid = values.get("pid")
        return ExportedTrack(number, "counter", str(values.get("name", "value")), pid and int(pid), None, unit)
    if "track" in values:
        return ExportedTrack(number, "thread", str(values["track"]), 0, number)
    pid, tid = values.get("pid"), values.get("tid")
    return ExportedTrack(number, "thread", None, int(pid or 0), int(tid if tid is not None else pid or 0))


def _arguments(names: Iterable[str], kind: str) -> list[str]:
    """Return the columns of a query that become arguments, unless it has `args`."""
    used = {*_COLUMNS[kind], "pid", "tid", "depth", "id", "parent_id"}
    return [] if "args" in names or "args" not in _COLUMNS[kind] else [name for name in names if name not in used]


def _shown(column: str, names: Container[str], arguments: Sequence[str]) -> str:
    if column == "track":
        return "dctv_track AS track"
    if column in _OF_TRACES:
        return f"{_OF_TRACES[column]} AS {column}"
    if column == "args" and arguments:
        members = ", ".join(f"{string(name)}, unitless({quote(name)})" for name in arguments)
        return f"JSON_OBJECT({members}) AS args"
    return column if column in names else f"{_NULLS[column]} AS {column}"
