"""Build the SQL of the calls and events that pass a command's filters, from a mounted trace and the options."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dctv.cli.call_trees.options import arguments, quoted, since_first_call
from dctv.console.narration import warn
from dctv.errors import QueryError, UsageError
from dctv.record import record, replace

if TYPE_CHECKING:
    from dctv.run.result import Result
    from dctv.session import Session

TRACE = "trace"
"""The name of the trace's mount."""
OTHER = "other"
"""The name of the other trace's mount, for comparisons."""
_OWN = "c._ts, c.dur, c.id, c.parent, c.depth, c.depth AS level, c.tid, c.name, c.module, c.args, c.retval"
FUNCTIONS = "SELECT name, module, MIN(size) AS size, MIN(file) AS file FROM {}.functions GROUP BY name, module"
"""Properties of functions by name and module; `{}` is the mount."""
_READINGS: Mapping[str, tuple[tuple[str, ...], str, tuple[str, str] | None]] = {
    "proc/statm": (("vmsize", "vmrss", "shared"), "KB", None),
    "page-fault": (("major", "minor"), "", None),
    "pmu-cycle": (("cycles", "instructions"), "", ("IPC=%.2f", "e.instructions::FLOAT64 / e.cycles")),
    "pmu-cache": (("refers", "misses"), "", ("hit=%.2f%%", "100.0 * (e.refers - e.misses) / e.refers")),
    "pmu-branch": (("branch", "misses"), "", ("predict=%.2f%%", "100.0 * (e.branch - e.misses) / e.branch")),
}
"""Values that the recorder read at entry and exit: their names, unit, and the meaning of their differences."""
_NONE = "NULL::INT64"
LOST = "lost"
"""The table of lost records per thread."""
_UNTOLD = ("call", "callsite")
"""Tables that lines do not show as events."""

SCHEDULE = "linux:schedule"
"""The table of off-CPU times."""
_SCHEDULED = f"CASE WHEN e.preempted THEN '{SCHEDULE} (pre-empted)' ELSE '{SCHEDULE}' END"
_EXTERNAL = "external-data"
_LEVELS = {_EXTERNAL: -1, LOST: -2}
"""The levels of events that are not indented, or that are shown regardless of calls."""
_PROPERTIES = {
    LOST: "CASE WHEN e.count > 0 THEN 'LOST ' || e.count || ' records!!' ELSE 'LOST some records!!' END",
    SCHEDULE: _SCHEDULED,
    "linux:sched-in": "'linux:sched-in'",
    "linux:sched-out": _SCHEDULED.replace(SCHEDULE, "linux:sched-out"),
    "linux:task-new": "'linux:task-new'",
    "linux:task-exit": "'linux:task-exit'",
    "linux:task-name": "'linux:task-name (comm=\"' || e.comm || '\")'",
    _EXTERNAL: "'external-data: ' || e.message",
    "watch:cpu": "'watch:cpu (cpu=' || e.cpu || ')'",
    "watch:var": "'watch:var (' || COALESCE(e.variable, PRINTF('[0x%x]', e.addr)) || PRINTF('=%x)', e.value)",
}
"""Texts of events in lines; for other events the name is used."""


@record
class CallSource:
    """The contents of a trace that concern calls."""

    recorded: bool
    """Whether a function recorder made it, so that it has the ends of calls and the addresses of functions."""
    events: tuple[str, ...]
    start: int
    """Its start on its own clock."""
    file: Path | None = None
    """The file of its calls in the column store."""
    within: tuple[str, ...] = ()
    """Event tables with a reference to the enclosing call."""
    mount: str = TRACE
    view: str = "calls"
    """The view of calls, if no function recorder made them."""

    @property
    def calls(self) -> str:
        """The table of recorded calls."""
        return f"{self.mount}.raw_events.call"


def source_of(session: Session, mount: str = TRACE) -> CallSource:
    """Inspect a mounted trace."""
    schema = session.columns(f"{mount}.raw_events.call")
    recorded = schema is not None and {"state", "addr"} <= set(schema.names)
    prefix = f"{mount}.raw_events"
    tables = tuple(one.name[len(prefix) + 1 :] for one in session.tables(prefix)) if recorded else ()
    found = str(session.properties(mount).get("start_ns", ""))
    start = int(found) if found.isdigit() else 0
    columns = {table: session.columns(f"{prefix}.{table}") for table in tables}
    within = tuple(table for table, schema in columns.items() if schema is not None and "call" in schema.names)
    file = session.stored_file(mount, "raw_events.call") if recorded else None
    return CallSource(recorded, tables, start, file, within, mount)


def without_events(source: CallSource) -> CallSource:
    """Return a source without events, except lost records."""
    return replace(source, events=tuple(table for table in source.events if table == LOST))


def property_of(session: Session, mount: str, key: str) -> str | None:
    """Return a property of the trace."""
    found = session.properties(mount).get(key)
    return None if found is None else str(found)


def shown_calls(args: Namespace, source: CallSource, *, tasks: bool, events: bool, more: bool = False) -> str:
    """Return the query of what `Replay` prints.

    `tasks` says whether the names of threads are included, `more` whether self times and processes are.
    """
    filters = ", ".join(arguments(args, source.start))
    joined = f" LEFT JOIN ({tasks_of(source)}) AS k ON k.tid = {{}}.tid"
    task = "k.task" if tasks else "NULL::STRING"
    kind = "CASE WHEN c.state = 'entered' THEN 2 ELSE 0 END::INT64" if source.recorded else "0::INT64"
    own = _own(args, source) if more else ""
    calls = (
        f"WITH calls AS ({calls_of(args, source, pid=more)}) "
        "SELECT c._ts AS _ts, c.tid AS tid, c.id AS id, c.depth AS depth, c._shown AS _shown, "
        "c._indent AS _indent, c._outdent AS _outdent, c._stack AS _stack, unitless(c.dur) AS dur, c.name AS name, "
        "c.args AS args, c.retval AS retval, c.module AS module, c.addr AS addr, "
        f"{task} AS task, c.level::INT64 AS level, c.parent AS call, {kind} AS kind{own} "
        f"FROM dctv.shown_calls(calls, {filters}) AS c{joined.format('c') if tasks else ''}"
    )
    joined = joined.format("e") if tasks else ""
    happened = _event_rows(source, task, joined, more=more, tids=args.tid) if events else []
    if not happened:
        return f"{calls} ORDER BY _ts, id" if tasks else calls
    return f"SELECT * FROM ({' UNION ALL '.join([calls, *happened])}) ORDER BY _ts, id"


def _event_rows(
    source: CallSource, task: str, joined: str, *, more: bool = False, tids: Sequence[int] | None = None
) -> list[str]:
    """Return queries of events, in the columns for `Replay`; `tids` are the threads with lost records to show."""
    others = ", NULL::INT64 AS self, e.pid AS pid" if more else ""
    return [
        f"SELECT e._ts AS _ts, e.tid AS tid, e.line AS id, 0::INT32 AS depth, 0::INT8 AS _shown, 0::INT32 AS _indent, "
        f"0::INT32 AS _outdent, NULL::STRING AS _stack, {dur} AS dur, {text} AS name, "
        f"{_plain(table)} AS args, NULL::STRING AS retval, NULL::STRING AS module, NULL::INT64 AS addr, "
        f"{task} AS task, {_level(table)}::INT64 AS level, {within} AS call, 1::INT64 AS kind{others} "
        f"FROM {_properties_of(source, table)} AS e{joined}{_of_threads(tids) if table == LOST else ''}"
        for table, text, dur, within in _events(source)
    ]


def _plain(table: str) -> str:
    return "'lost ' || e.count || ' records'" if table == LOST else "NULL::STRING"


def _of_threads(tids: Sequence[int] | None) -> str:
    return f" WHERE e.tid IN ({', '.join(map(str, tids))})" if tids else ""


def events_of(source: CallSource, *, tasks: bool, tids: Sequence[int] = ()) -> str | None:
    """Return the query of all events that `Replay` prints; None if there are none."""
    joined = f" LEFT JOIN ({tasks_of(source)}) AS k ON k.tid = e.tid" if tasks else ""
    rows = _event_rows(source, "k.task" if tasks else "NULL::STRING", joined, tids=tids)
    return f"SELECT * FROM ({' UNION ALL '.join(rows)}) ORDER BY _ts, id" if rows else None


def tasks_of(source: CallSource) -> str:
    """Return the query of the names of threads."""
    names, name = (f"{source.mount}.tasks", "comm") if source.recorded else (f"{source.mount}.threads", "name")
    return f"SELECT tid, MAX({name}) AS task FROM {names} GROUP BY tid"


def _own(args: Namespace, source: CallSource) -> str:
    measured = source.recorded and measures(args)
    return f", {'unitless(c.self)' if measured else 'NULL::INT64'} AS self, c.pid AS pid"


def measures(args: Namespace) -> bool:
    """Return whether the recorder's self times of calls hold for the calls that pass.

    They exclude all callees; the time of callees that are not read belongs to their caller.
    """
    unread = args.time_filter or args.size_filter or args.callers or args.time_range is not None
    words = [*(args.triggers or ()), *(args.filters or ())]
    return not unread and not any(word in one for one in words for word in ("time=", "caller", "size="))


def calls_of(args: Namespace, source: CallSource, *, size: bool = False, pid: bool = False) -> str:
    """Return the query of all calls, optionally with sizes and files of their functions, and processes."""
    plain = f"{_OWN}, c.pid" if pid else _OWN
    if not source.recorded:
        if size:
            raise UsageError("the trace does not record the sizes of functions")
        own = plain.replace("c.dur", "c._duration AS dur").replace("c.parent", "c.parent_id AS parent")
        own = own.replace("c.args", "CASE WHEN c.args LIKE '(%' THEN c.args ELSE '(' || c.args || ')' END AS args")
        if source.view != "calls":
            own = own.replace("c.args", "c.args::STRING").replace("c.module", "NULL::STRING AS module")
            own = own.replace("c.retval", "NULL::STRING AS retval")
        return f"SELECT {own}, NULL::INT64 AS addr FROM {source.mount}.{source.view} AS c"
    words = [*(args.triggers or ()), *(args.filters or ())]
    needs_symbols = size or args.size_filter or args.location or any("size=" in word for word in words)
    if not needs_symbols:
        return f"SELECT {plain}, c.addr, c.state, c.self FROM {source.calls} AS c"
    return (
        f"SELECT {plain}, c.addr, c.state, c.self, f.size, f.file FROM {source.calls} AS c "
        f"LEFT JOIN ({FUNCTIONS.format(source.mount)}) AS f ON f.name = c.name AND f.module = c.module"
    )


def scheduled(args: Namespace, source: CallSource) -> bool:
    """Return whether off-CPU times matter, and are known.

    Measured self times exclude them already, so they only matter if they are shown or some times are not measured.
    """
    return SCHEDULE in source.events and not (args.no_event and measures(args))


def off_cpu(args: Namespace, source: CallSource, shown: str = "shown") -> str:
    """Return the step `off` of a query: off-CPU times as calls of `linux:schedule` by the calls that pass.

    A time shorter than the time filter belongs to the call around it, like a short call; one that has not ended stays.
    The step `told` has those to show: off-CPU time is never self time of a call, even if none are shown.
    """
    if SCHEDULE not in source.events:
        return (
            "off AS (SELECT NULL::STRING AS name, NULL::INT64 AS _duration, NULL::INT64 AS call, NULL::INT64 AS tid "
            "WHERE FALSE), told AS (SELECT * FROM off)"
        )
    return (
        f"off AS (SELECT {_SCHEDULED} AS name, unitless(e.dur) AS _duration, e.call, e.tid "
        f"FROM {source.mount}.raw_events.`{SCHEDULE}` AS e JOIN {shown} AS c ON c.id = e.call "
        f"WHERE e.dur IS NULL OR unitless(e.dur) >= {args.time_filter}), "
        f"told AS (SELECT * FROM off WHERE {not args.no_event})"
    )


def _level(table: str) -> int:
    return _LEVELS.get(table, 0)


def _properties_of(source: CallSource, table: str) -> str:
    """Return a table of events; external events belong to the thread that was last active."""
    events = f"{source.mount}.raw_events.{_identifier(table)}"
    if table != _EXTERNAL:
        return events
    calls = source.calls
    return (
        f"(SELECT e._ts, e.line, e.message, r.tid FROM {events} AS e ASOF LEFT JOIN (SELECT _ts, MAX(tid) AS tid "
        f"FROM (SELECT _ts, tid FROM {calls} UNION ALL SELECT _ts + dur, tid FROM {calls}) GROUP BY _ts) AS r "
        "ON e._ts >= r._ts)"
    )


def _events(source: CallSource) -> Iterator[tuple[str, str, str, str]]:
    """Yield tables of events, and the expressions of their texts, durations and calls."""
    for table in source.events:
        kind, _, what = table.partition(":")
        if table in _PROPERTIES:
            length = "unitless(e.dur)" if table == SCHEDULE else _NONE
            yield table, _PROPERTIES[table], length, "e.call" if table in source.within else _NONE
        elif kind in ("read", "diff") and what in _READINGS:
            yield table, _reading(table, what, differs=kind == "diff"), _NONE, "e.call"
        elif table not in _UNTOLD and table in source.within:
            yield table, quoted(table), _NONE, "e.call"


def _reading(table: str, what: str, *, differs: bool) -> str:
    names, unit, ratio = _READINGS[what]
    sign = "+" if differs else ""
    text = f" || '{unit} ' || ".join(f"'{name}={sign}' || unitless(e.{name})" for name in names) + f" || '{unit}'"
    if differs and ratio is not None:
        text += f" || PRINTF(' {ratio[0]}', {ratio[1]})"
    # An event that is too short has no values.
    return f"COALESCE('{table} (' || {text} || ')', '{table}')"


def _identifier(name: str) -> str:
    """Quote the name of a table."""
    return "`" + name.replace("`", "``") + "`"


def run_internal(session: Session, query: str) -> Result:
    """Run an internal query, which errors do not quote to the user; warnings are reported when it is read."""
    try:
        result = session.sql(query)
        result.when_read(lambda: warn(result.warnings))
        return result
    except QueryError as error:
        if error.place is None or error.place.source.text != query:
            raise
        raise UsageError(error.message, hint=error.hint) from None


def resolved(session: Session, source: CallSource, args: Namespace) -> Namespace:
    """Return options with facts from the trace: library calls, and the begin of the first call."""
    values = vars(args)
    if args.no_libcall:
        values = {**values, "hide": [*(args.hide or ()), *_library_calls(session, source, args.match)]}
    if since_first_call(args):
        begin = first_call(session, source)
        moved = (end if end is None or not end[1] else (end[0] + begin, True) for end in args.time_range)
        values = {**values, "time_range": tuple(moved)}
    return Namespace(**values)


def first_call(session: Session, source: CallSource) -> int:
    """Return the begin of the first call, in ns after the trace's begin; kernel events may come before it."""
    calls = source.calls if source.recorded else f"{source.mount}.{source.view}"
    ((begin,),) = session.sql(f"SELECT unitless(MIN(_ts)) FROM {calls}").fetchall()
    return begin or 0


def _library_calls(session: Session, source: CallSource, match: str) -> list[str]:
    """Return filter words for the functions that are called through the linker's table."""
    if not source.recorded:
        raise UsageError("the trace does not say which functions belong to libraries")
    found = session.sql(f"SELECT DISTINCT name, module FROM {source.mount}.functions WHERE type = 'P'").fetchall()
    return [f"{exactly(name, match)}@{module}" for name, module in found if not set(name) & set("@;!")]


def exactly(name: str, match: str) -> str:
    """Write a pattern that matches only this name."""
    if match == "regex":
        return f"^{re.escape(name)}$"
    return re.sub(r"([*?\[])", r"[\1]", name) if match == "glob" else name


def open_calls(source: CallSource, args: Namespace) -> str:
    """Return the query of the unfinished calls, by thread, the innermost first: thread, level, name.

    In a time range these are the calls that begin in it and do not end in it. Other filters do not matter, as they do
    not in uftrace.
    """
    if source.recorded:
        calls, ends = source.calls, "CASE WHEN state = 'open' THEN NULL ELSE unitless(_ts) + unitless(dur) END"
    else:
        calls, ends = f"{source.mount}.{source.view}", "unitless(_ts) + unitless(_duration)"
    conditions, level = [f"{ends} IS NULL"], "depth"
    if args.time_range is not None:
        start, stop = (None if one is None else one[0] - (0 if one[1] else source.start) for one in args.time_range)
        if stop is not None:
            conditions = [f"(unitless(_ts) <= {stop} AND COALESCE({ends}, {stop} + 1) > {stop})"]
        if start is not None:
            conditions.append(f"unitless(_ts) >= {start}")
        level = "ROW_NUMBER() OVER (PARTITION BY tid ORDER BY depth, id) - 1"
    if args.tid:
        conditions.append(f"tid IN ({', '.join(map(str, args.tid))})")
    where = " AND ".join(conditions)
    return f"SELECT tid, {level} AS level, name FROM {calls} WHERE {where} ORDER BY tid, depth DESC, id DESC"
