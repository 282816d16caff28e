"""A mounted trace, or a query -> what a viewer shows: tracks, slices, counters and instants, read by a session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dctv.errors import UsageError
from dctv.record import record, replace
from dctv.session import Session
from dctv.types.schema import DURATION, TS

_COLUMNS = {
    "slices": (TS, DURATION, "track", "lane", "name", "category", "args"),
    "async_slices": (TS, DURATION, "track", "lane", "name", "category", "args"),
    "counters": (TS, "track", "value"),
    "instants": (TS, "track", "name", "category", "args"),
}
"""What each kind of row has."""

_APART = 1 << 22
"""More than any process of Linux is numbered."""

_ORDER = {"slices": " ORDER BY track, lane, _ts, depth", "async_slices": " ORDER BY track, lane, _ts, depth"}
_NULLS = {"args": "'{}'", "value": "0.0", "depth": "0", "lane": "0", "name": "''", "category": "NULL::STRING"}


@record
class Track:
    """Something that slices, instants or values stand on."""

    number: int
    kind: str
    name: str | None
    pid: int | None
    tid: int | None
    unit: str | None = None


@record
class Timeline:
    """What is exported, read from its session when it is written."""

    session: Session
    start_ns: int
    """Absolute time of `_ts` 0."""
    properties: Mapping[str, str]
    processes: Sequence[tuple[int, str | None]]
    tracks: Sequence[Track]
    queries: Mapping[str, str]
    """By kind of row (`slices`, `async_slices`, `counters`, `instants`); kinds without a query have no rows."""

    def batches(self, kind: str) -> Iterable[Any]:
        """Yield the Arrow batches of a kind of row, slices by track and lane, then in order of time."""
        if kind in self.queries:
            yield from self.session.sql(self.queries[kind]).reader()


def of_mount(session: Session) -> Timeline:
    """Return the timeline of the trace that is mounted as `t`, by the vocabulary of the standard library."""
    told = dict(_rows(session, "SELECT key, value FROM t.properties"))
    tracks = _rows(session, "SELECT track, kind, name, pid, tid, unit FROM t.tracks ORDER BY track")
    named = _rows(session, "SELECT DISTINCT pid, name FROM t.processes WHERE pid IS NOT NULL ORDER BY pid, name")
    threads = _rows(session, "SELECT pid, tid, name FROM t.threads WHERE tid IS NOT NULL ORDER BY pid, tid, name")
    queries = {kind: _select(columns, f"t.{kind}", _ORDER.get(kind, "")) for kind, columns in _COLUMNS.items()}
    start = int(told.get("start_ns", "0"))
    processes = [(int(pid), name) for pid, name in named]
    return Timeline(session, start, told, processes, _with_threads([Track(*row) for row in tracks], threads), queries)


def _with_threads(tracks: Sequence[Track], threads: Sequence[tuple[Any, ...]]) -> list[Track]:
    """Give the tracks of threads their names, and threads that have nothing but a name a track."""
    names = {(pid, tid): name for pid, tid, name in threads}
    found, taken = [], set()
    for one in tracks:
        if one.kind != "thread":
            found.append(one)
            continue
        # Threads of several machines may have the same numbers, which viewers take for one thread.
        pid, place = one.pid or 0, (one.pid, one.tid)
        while place in taken:
            place = (pid := pid + _APART, one.tid)
        taken.add(place)
        found.append(replace(one, pid=place[0], name=one.name or names.pop((one.pid, one.tid), None)))
    free = max((one.number for one in tracks), default=-1) + 1
    rest = enumerate(((place, name) for place, name in names.items() if name), free)
    return [*found, *(Track(number, "thread", name, pid, tid) for number, ((pid, tid), name) in rest)]


def _select(columns: Iterable[str], source: str, order: str = "") -> str:
    return " ".join(("SELECT", ", ".join(columns), "FROM", source, order))


def of_query(session: Session, text: str) -> Timeline:
    """Return the timeline of a query's rows: slices if it has `_duration`, counters if `value`, else instants.

    Slices and instants stand on threads (`pid`, `tid`), or on one for each `track` if there is such a column; counters
    are told apart by `name`. Other columns than those of the kind become arguments.

    Raises:
        UsageError: it has no column `_ts`.
    """
    session.sql(f"CREATE OR REPLACE VIEW dctv_export AS {text.strip().rstrip(';')}")
    schema = session.columns("dctv_export")
    names = schema.names if schema is not None else ()
    if TS not in names:
        found = ", ".join(f"`{name}`" for name in names)
        raise UsageError(f"found the columns {found}, expected `{TS}` among them", hint="times come in `_ts`, in ns")
    kind = "slices" if DURATION in names else "counters" if "value" in names else "instants"
    by = ["name"] if kind == "counters" else ["track"] if "track" in names else ["pid", "tid"]
    keys = [key for key in by if key in names]
    key = ", ".join(keys) if keys else "NULL"
    numbered = f"({_select(['*', f'DENSE_RANK() OVER (ORDER BY {key}) AS dctv_track'], 'dctv_export')})"
    rows = _rows(session, _select(["DISTINCT dctv_track", *keys], numbered))
    tracks = [_track(kind, number, dict(zip(keys, values, strict=True))) for number, *values in rows]
    shown = [_shown(column, names, kind) for column in _COLUMNS[kind]]
    order = f" ORDER BY dctv_track, {TS}, {DURATION} DESC" if kind == "slices" else ""
    queries = {kind: _select(shown, numbered, order)}
    return Timeline(session, 0, {}, [], sorted(tracks, key=lambda one: one.number), queries)


def _track(kind: str, number: int, values: Mapping[str, Any]) -> Track:
    if kind == "counters":
        return Track(number, "counter", str(values.get("name", "value")), None, None)
    if "track" in values:
        return Track(number, "thread", str(values["track"]), 0, number)
    pid, tid = values.get("pid"), values.get("tid")
    return Track(number, "thread", None, int(pid or 0), int(tid if tid is not None else pid or 0))


def _shown(column: str, names: Sequence[str], kind: str) -> str:
    if column == "track":
        return "dctv_track AS track"
    if column == "lane":
        return "0 AS lane"
    if column == "args" and "args" not in names:
        used = {*_COLUMNS[kind], "pid", "tid", "depth", "id", "parent_id"}
        rest = [name for name in names if name not in used]
        return (
            f"JSON_OBJECT({', '.join(f'{_text(name)}, unitless(`{name}`)' for name in rest)}) AS args"
            if rest
            else "'{}' AS args"
        )
    return column if column in names else f"{_NULLS[column]} AS {column}"


def _text(name: str) -> str:
    doubled = name.replace("'", "''")
    return f"'{doubled}'"


def _rows(session: Session, sql: str) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for columns in session.sql(sql).chunks():
        found += zip(*columns, strict=True)
    return found
