"""A mounted trace and the options of a command to the SQL of the calls, and events, that are shown."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dctv.cli.call_trees.options import arguments
from dctv.errors import QueryError, UsageError
from dctv.record import record

if TYPE_CHECKING:
    from dctv.run.result import Result
    from dctv.session import Session

TRACE = "trace"
"""The name under which commands mount their trace."""
_RAW = f"{TRACE}.raw_events.call"
_OWN = "c._ts, c.dur, c.id, c.parent, c.depth, c.depth AS level, c.tid, c.name, c.module, c.args, c.retval"
_FUNCTIONS = f"SELECT name, module, MIN(size) AS size, MIN(file) AS file FROM {TRACE}.functions GROUP BY name, module"
_READINGS = {
    "proc/statm": "vmsize={0}' || unitless(e.vmsize) || 'KB vmrss={0}' || unitless(e.vmrss) || 'KB "
    "shared={0}' || unitless(e.shared) || 'KB",
    "page-fault": "major={0}' || e.major || ' minor={0}' || e.minor || '",
}
"""What the recorder read where a function was entered or left; `{0}` is the sign of differences."""


@record
class Source:
    """What a trace tells of its calls."""

    recorded: bool
    """It was made by a recorder of functions, which tells how calls ended and where functions are."""
    events: tuple[str, ...]
    start: int
    """The time of its begin in its own clock."""


def source_of(session: Session) -> Source:
    """Look at the mounted trace."""
    schema = session.columns(_RAW)
    recorded = schema is not None and {"state", "addr"} <= set(schema.names)
    prefix = f"{TRACE}.raw_events"
    tables = tuple(one.name[len(prefix) + 1 :] for one in session.tables(prefix)) if recorded else ()
    found = session.sql(f"SELECT value FROM {TRACE}.properties WHERE key = 'start_ns'").fetchall()
    start = int(found[0][0]) if found and str(found[0][0]).isdigit() else 0
    return Source(recorded, tables, start)


def shown_calls(args: Namespace, source: Source, *, tasks: bool, events: bool, more: bool = False) -> str:
    """Return the query of what `Replay` prints.

    `tasks` tells whether the names of threads are wanted, `more` whether own times and processes are.
    """
    filters = ", ".join(arguments(args, source.start))
    names = f"{TRACE}.tasks" if source.recorded else f"{TRACE}.threads"
    name = "comm" if source.recorded else "name"
    joined = f" LEFT JOIN (SELECT tid, MAX({name}) AS task FROM {names} GROUP BY tid) AS k ON k.tid = {{}}.tid"
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
    others = ", NULL::INT64, e.pid" if more else ""
    happened = [
        f"SELECT e._ts, e.tid, e.line, 0::INT32, 0::INT8, 0::INT32, 0::INT32, NULL::STRING, {dur}, {text}, "
        f"NULL::STRING, NULL::STRING, NULL::STRING, NULL::INT64, {task}, 0::INT64, {within}, 1::INT64{others} "
        f"FROM {TRACE}.raw_events.`{table}` AS e{joined.format('e') if tasks else ''}"
        for table, text, dur, within in (_events(source) if events else ())
    ]
    if not happened:
        return f"{calls} ORDER BY _ts, id" if tasks else calls
    return f"SELECT * FROM ({' UNION ALL '.join([calls, *happened])}) ORDER BY _ts, id"


def _own(args: Namespace, source: Source) -> str:
    measured = source.recorded and measures(args)
    return f", {'unitless(c.self)' if measured else 'NULL::INT64'} AS self, c.pid AS pid"


def measures(args: Namespace) -> bool:
    """Say whether what the recorder measured of calls without those within holds for what is shown.

    It leaves out all calls within; those that are not read count as part of their caller.
    """
    unread = args.time_filter or args.size_filter or args.callers or args.time_range is not None
    words = [*(args.triggers or ()), *(args.filters or ())]
    return not unread and not any(word in one for one in words for word in ("time=", "caller", "size="))


def calls_of(args: Namespace, source: Source, *, size: bool = False, pid: bool = False) -> str:
    """Return the query of all calls, with sizes and files of their functions, and processes, where these are wanted."""
    plain = f"{_OWN}, c.pid" if pid else _OWN
    if not source.recorded:
        if size:
            raise UsageError("the trace does not tell sizes of functions")
        own = plain.replace("c.dur", "c._duration AS dur").replace("c.parent", "c.parent_id AS parent")
        own = own.replace("c.args", "'(' || c.args || ')' AS args")
        return f"SELECT {own}, NULL::INT64 AS addr FROM {TRACE}.calls AS c"
    words = [*(args.triggers or ()), *(args.filters or ())]
    wanted = size or args.size_filter or args.location or any("size=" in word for word in words)
    if not wanted:
        return f"SELECT {plain}, c.addr, c.state, c.self FROM {_RAW} AS c"
    return (
        f"SELECT {plain}, c.addr, c.state, c.self, f.size, f.file FROM {_RAW} AS c "
        f"LEFT JOIN ({_FUNCTIONS}) AS f ON f.name = c.name AND f.module = c.module"
    )


def _events(source: Source) -> Iterator[tuple[str, str, str, str]]:
    """Yield tables of events, and the expressions of their texts, durations and calls."""
    for table in source.events:
        kind, _, what = table.partition(":")
        if kind in ("read", "diff") and what in _READINGS:
            sign = "+" if kind == "diff" else ""
            yield table, f"'{table} ({_READINGS[what].format(sign)})'", "NULL::INT64", "e.call"
        elif table == "linux:schedule":
            text = f"CASE WHEN e.preempted <> 0 THEN '{table} (pre-empted)' ELSE '{table}' END"
            yield table, text, "unitless(e.dur)", "e.call"
        elif table == "linux:task-name":
            yield table, f"'{table} (comm=\"' || e.comm || '\")'", "NULL::INT64", "NULL::INT64"
        elif table in ("linux:task-new", "linux:task-exit"):
            yield table, f"'{table}'", "NULL::INT64", "NULL::INT64"
        elif table == "external-data":
            yield table, f"'{table}: ' || e.message", "NULL::INT64", "NULL::INT64"
        elif table == "watch:cpu":
            yield table, f"'{table} (cpu=' || e.cpu || ')'", "NULL::INT64", "e.call"


def answered(session: Session, query: str) -> Result:
    """Run a query that a person has not written, and so is not to see in errors."""
    try:
        return session.sql(query)
    except QueryError as error:
        if error.place is None or error.place.source.text != query:
            raise
        raise UsageError(error.message, hint=error.hint) from None


def library_calls(session: Session, source: Source, match: str) -> list[str]:
    """Return words of filters for the functions that are called through the linker's table."""
    if not source.recorded:
        raise UsageError("the trace does not tell which functions are of libraries")
    found = session.sql(f"SELECT DISTINCT name, module FROM {TRACE}.functions WHERE type = 'P'").fetchall()
    return [f"{exactly(name, match)}@{module}" for name, module in found if not set(name) & set("@;!")]


def exactly(name: str, match: str) -> str:
    """Write a name so that it means itself."""
    if match == "regex":
        return f"^{re.escape(name)}$"
    return re.sub(r"([*?\[])", r"[\1]", name) if match == "glob" else name


def open_calls(source: Source) -> str:
    """Return the query of the calls that were not left, by thread, the innermost first: thread, level, name."""
    if source.recorded:
        return f"SELECT tid, depth, name FROM {_RAW} WHERE state = 'open' ORDER BY tid, depth DESC, id DESC"
    return f"SELECT tid, depth, name FROM {TRACE}.calls WHERE _duration IS NULL ORDER BY tid, depth DESC, id DESC"
