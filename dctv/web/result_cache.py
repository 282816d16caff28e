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

MAX_CACHED_ROWS = 1_000_000
"""The maximum number of rows in a cached result: searching in more would take too long for interactive use."""


@record(eq=False)
class TimedQuery:
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
class _CachedRows:
    """All rows of a query in order of time."""

    found: ResultPage
    times: Any
    """Their times: numpy int64."""
    changes: int
    """The session's number of changes when it ran: it may read any table or view."""


_cache: WeakKeyDictionary[Timeline, dict[str, _CachedRows]] = WeakKeyDictionary()
"""By query. A new trace with the same name has another timeline."""


def rows_at(host: Host, timeline: Timeline, query: TimedQuery, time: int) -> ResultPage:
    """Return the rows at a time, in ns."""
    import numpy as np

    if query.rows > MAX_CACHED_ROWS:
        return _run(host, query, f"SELECT * FROM ({query.sql}) AS kept WHERE _ts = {time}ns")
    cached = _cached(host, timeline, query)
    first, stop = np.searchsorted(cached.times, (time, time + 1), "left").tolist()
    return ResultPage(cached.found.columns, cached.found.table.slice(first, stop - first))


def having(host: Host, timeline: Timeline, query: TimedQuery, column: str, values: Sequence[int]) -> Any:
    """Return the rows with one of these integers in a column, as a pyarrow Table."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if query.rows > MAX_CACHED_ROWS:
        listed = ", ".join(map(str, values))
        return _run(host, query, f"SELECT * FROM ({query.sql}) AS kept WHERE {column} IN ({listed})").table
    table = all_rows(host, timeline, query)
    return table.filter(pc.is_in(table.column(column), pa.array(values, table.schema.field(column).type)))


def all_rows(host: Host, timeline: Timeline, query: TimedQuery) -> Any:
    """Return all rows, as a pyarrow Table."""
    return _cached(host, timeline, query).found.table


def _cached(host: Host, timeline: Timeline, query: TimedQuery) -> _CachedRows:
    import numpy as np

    results = _cache.setdefault(timeline, {})
    if query.sql not in results or results[query.sql].changes != host.changes:
        results.pop(query.sql, None)
        changes = host.changes
        found = _run(host, query, query.sql)
        times = found.table.column(TS).to_numpy()
        if np.any(times[1:] < times[:-1]):
            order = np.argsort(times, kind="stable")
            found, times = ResultPage(found.columns, found.table.take(order)), times[order]
        results[query.sql] = _CachedRows(found, times, changes)
    return results[query.sql]


def _run(host: Host, query: TimedQuery, sql: str) -> ResultPage:
    result = selected(host, sql)
    reader = result.reader()
    rows = reader if query.change is None else query.change(reader)
    return ResultPage(result.schema.columns, aside(rows, host.spill_folder))
