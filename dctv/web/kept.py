"""Cache results for many requests: small ones are run once, and kept until a view changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from dctv.contracts.states import aside
from dctv.record import record
from dctv.timeline.timeline import Timeline
from dctv.types.schema import TS, ColumnType
from dctv.web.host import Host, selected

MOST_KEPT = 1_000_000
"""The maximum number of rows in a cached result: searching in more would take too long for interactive use."""


@record(eq=False)
class Looked:
    """A query for lookups of rows by time."""

    sql: str
    rows: int
    """Its approximate number of rows."""
    change: Callable[[Any], Any] | None = None
    """Transforms the pyarrow RecordBatchReader of the rows."""


@record(eq=False)
class ResultPage:
    """Some rows of a query."""

    columns: Sequence[ColumnType]
    """The columns of the query."""
    table: Any
    """A pyarrow Table."""


@record(eq=False)
class _Kept:
    """All rows of a query in order of time."""

    found: ResultPage
    times: Any
    """Their times: numpy int64."""
    changes: int
    """The session's number of changes when it ran: it may read any table or view."""


_kept: WeakKeyDictionary[Timeline, dict[str, _Kept]] = WeakKeyDictionary()
"""By query. A new trace with the same name has another timeline."""


def rows_at(host: Host, timeline: Timeline, query: Looked, time: int) -> ResultPage:
    """Return the rows at a time, in ns."""
    import numpy as np

    if query.rows > MOST_KEPT:
        return _run(host, query, f"SELECT * FROM ({query.sql}) AS kept WHERE _ts = {time}ns")
    kept = _every(host, timeline, query)
    first, stop = np.searchsorted(kept.times, (time, time + 1), "left").tolist()
    return ResultPage(kept.found.columns, kept.found.table.slice(first, stop - first))


def having(host: Host, timeline: Timeline, query: Looked, column: str, values: Sequence[int]) -> Any:
    """Return the rows with one of these integers in a column, as a pyarrow Table."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if query.rows > MOST_KEPT:
        listed = ", ".join(map(str, values))
        return _run(host, query, f"SELECT * FROM ({query.sql}) AS kept WHERE {column} IN ({listed})").table
    table = every(host, timeline, query)
    return table.filter(pc.is_in(table.column(column), pa.array(values, table.schema.field(column).type)))


def every(host: Host, timeline: Timeline, query: Looked) -> Any:
    """Return all rows, as a pyarrow Table."""
    return _every(host, timeline, query).found.table


def _every(host: Host, timeline: Timeline, query: Looked) -> _Kept:
    import numpy as np

    known = _kept.setdefault(timeline, {})
    if query.sql not in known or known[query.sql].changes != host.changes:
        known.pop(query.sql, None)
        changes = host.changes
        found = _run(host, query, query.sql)
        times = found.table.column(TS).to_numpy()
        if np.any(times[1:] < times[:-1]):
            order = np.argsort(times, kind="stable")
            found, times = ResultPage(found.columns, found.table.take(order)), times[order]
        known[query.sql] = _Kept(found, times, changes)
    return known[query.sql]


def _run(host: Host, query: Looked, sql: str) -> ResultPage:
    result = selected(host, sql)
    reader = result.reader()
    rows = reader if query.change is None else query.change(reader)
    return ResultPage(result.schema.columns, aside(rows, host.spill_folder))
