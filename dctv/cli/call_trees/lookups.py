"""Query a mounted trace for facts that reports show in addition to calls."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from dctv.cli.call_trees.queries import TRACE, CallSource, run_internal
from dctv.record import record

if TYPE_CHECKING:
    from dctv.session import Session

_OFF = "linux:schedule"


@record
class ListedThread:
    """A thread in a list of threads."""

    tid: int
    pid: int
    parent: int | None
    """The parent process."""
    name: str
    start: int | None
    """In ns of the trace's clock."""


def properties_of(session: Session) -> Mapping[str, str]:
    """Return the properties of the trace."""
    return session.properties(TRACE)


def tasks_of(session: Session, source: CallSource) -> list[ListedThread]:
    """Return the threads of a trace, by number."""
    if not source.recorded:
        query = (
            "SELECT tid, pid, NULL, MAX(name), MIN(unitless(start_ts)) "
            f"FROM {TRACE}.threads GROUP BY tid, pid ORDER BY tid, pid"
        )
        rows = session.sql(query).fetchall()
        # Some traces have no table of threads, but calls with thread ids.
        own = f"SELECT tid, MAX(pid), NULL, NULL, NULL FROM {TRACE}.calls WHERE tid IS NOT NULL GROUP BY tid ORDER BY 1"
        return [_task(row, source.start) for row in rows or session.sql(own).fetchall()]
    query = f"SELECT tid, pid, ppid, comm, start FROM {TRACE}.tasks ORDER BY tid"
    return [_task(row, 0) for row in session.sql(query).fetchall()]


def _task(row: tuple[object, ...], start: int) -> ListedThread:
    tid, pid, parent, name, begin = row
    number = int(str(tid))
    return ListedThread(
        number,
        number if pid is None else int(str(pid)),
        None if parent is None else int(str(parent)),
        "" if name is None else str(name),
        None if begin is None else int(str(begin)) + start,
    )


def has_calls(session: Session) -> bool:
    """Return whether the trace has calls."""
    return bool(session.sql(f"SELECT 1 FROM {TRACE}.calls LIMIT 1").fetchall())


def functions_of(session: Session) -> list[str]:
    """Return the names of all called functions."""
    rows = session.sql(f"SELECT DISTINCT name FROM {TRACE}.calls WHERE name IS NOT NULL ORDER BY name").fetchall()
    return [str(row[0]) for row in rows]


def addresses_of(session: Session, source: CallSource, functions: Collection[str]) -> Mapping[str, int]:
    """Return the addresses of functions, if the trace has them."""
    if not functions or not source.recorded:
        return {}
    rows = session.sql(f"SELECT name, MIN(addr) FROM {TRACE}.raw_events.call GROUP BY name").fetchall()
    return {name: address for name, address in rows if name in functions}


def first_calls(session: Session) -> Mapping[int, int]:
    """Return the begin of the first call of each thread."""
    return dict(session.sql(f"SELECT tid, MIN(_ts) FROM {TRACE}.calls GROUP BY tid").fetchall())


def first_kernel_events(session: Session, source: CallSource) -> Mapping[int, int]:
    """Return the time of each thread's first event of the kernel."""
    tables = (table for table in source.events if table.startswith("linux:"))
    events = " UNION ALL ".join(
        f"SELECT tid, unitless(_ts) AS at FROM {TRACE}.raw_events.`{table}`" for table in tables
    )
    return dict(session.sql(f"SELECT tid, MIN(at) FROM ({events}) GROUP BY tid").fetchall()) if events else {}


def running_times(session: Session, source: CallSource, shown: str) -> Mapping[int, tuple[int, int]]:
    """Return the running time of each thread within the filters, in ns, and how much of it was off-CPU."""
    begun = (
        f"SELECT tid, unitless(_ts) AS first, unitless(_ts) + COALESCE(dur, 0) AS last FROM ({shown}) WHERE _shown <> 0"
    )
    off = f"SELECT tid, unitless(_ts) AS first, unitless(_ts) + unitless(dur) AS last FROM {TRACE}.raw_events.`{_OFF}`"
    if _OFF not in source.events:
        query = f"SELECT tid, MAX(last) - MIN(first), 0 FROM ({begun}) GROUP BY tid"
    else:
        query = (
            f"WITH ran AS (SELECT tid, MIN(first) AS first, MAX(last) AS last FROM ({begun}) GROUP BY tid) "
            "SELECT r.tid, r.last - r.first, "
            "(SELECT SUM(GREATEST(LEAST(o.last, r.last) - GREATEST(o.first, r.first), 0)) "
            f"FROM ({off}) AS o WHERE o.tid = r.tid) FROM ran AS r"
        )
    return {tid: (ran, idle or 0) for tid, ran, idle in run_internal(session, query).fetchall()}


def with_idle(shown: str) -> str:
    """Return a query of the same calls that includes off-CPU time in their self time."""
    names = (
        "_ts, tid, id, depth, _shown, _indent, _outdent, _stack, dur, name, args, retval, module, addr, task, level, "
        "`call`, kind"
    )
    columns = ", ".join(f"s.{name} AS {name}" for name in names.split(", "))
    off = f"SELECT `call`, SUM(unitless(dur)) AS off FROM {TRACE}.raw_events.`{_OFF}` GROUP BY `call`"
    return (
        f"SELECT {columns}, s.self + COALESCE(o.off, 0) AS self, s.pid AS pid "
        f"FROM ({shown}) AS s LEFT JOIN ({off}) AS o ON o.`call` = s.id ORDER BY _ts, id"
    )


def in_order(shown: str, order: str) -> str:
    """Return a query with the same rows in another order."""
    return f"SELECT * FROM ({shown}) ORDER BY {order}"
