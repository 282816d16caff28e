"""Results that many requests look into: those that are not large are run once for each timeline, and kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from dctv.contracts.states import aside
from dctv.record import record
from dctv.timeline.timeline import Timeline
from dctv.types.schema import TS, ColumnType
from dctv.web.host import Host

MOST_KEPT = 1_000_000
"""Rows of a result that is kept: to look for one row of it each time takes longer than a person waits."""


@record(eq=False)
class Looked:
    """A query whose rows are looked up by their time; it gives the same rows while the timeline is there."""

    sql: str
    rows: int
    """How many it has, about."""
    change: Callable[[Any], Any] | None = None
    """Makes another pyarrow RecordBatchReader of that of the rows."""


@record(eq=False)
class Found:
    """Some rows of a query."""

    columns: Sequence[ColumnType]
    """What the query says of its columns."""
    table: Any
    """A pyarrow Table."""


_kept: WeakKeyDictionary[Timeline, dict[str, tuple[Found, Any]]] = WeakKeyDictionary()
"""By query: all rows in order of time, and their times. Another trace of the same name has another timeline."""


def rows_at(host: Host, timeline: Timeline, query: Looked, time: int) -> Found:
    """Return the rows of a time, in ns."""
    import numpy as np

    if query.rows > MOST_KEPT:
        return _run(host, query, f"SELECT * FROM ({query.sql}) AS kept WHERE _ts = {time}ns")
    every, times = _every(host, timeline, query)
    first, stop = np.searchsorted(times, (time, time + 1), "left").tolist()
    return Found(every.columns, every.table.slice(first, stop - first))


def having(host: Host, timeline: Timeline, query: Looked, column: str, values: Sequence[int]) -> Any:
    """Return the rows whose integer in a column is one of these, as a pyarrow Table."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if query.rows > MOST_KEPT:
        listed = ", ".join(map(str, values))
        return _run(host, query, f"SELECT * FROM ({query.sql}) AS kept WHERE {column} IN ({listed})").table
    table = _every(host, timeline, query)[0].table
    return table.filter(pc.is_in(table.column(column), pa.array(values, table.schema.field(column).type)))


def every(host: Host, timeline: Timeline, query: Looked) -> Any:
    """Return all rows, as a pyarrow Table."""
    return _every(host, timeline, query)[0].table


def _every(host: Host, timeline: Timeline, query: Looked) -> tuple[Found, Any]:
    import numpy as np

    known = _kept.setdefault(timeline, {})
    if query.sql not in known:
        found = _run(host, query, query.sql)
        times = found.table.column(TS).to_numpy()
        if np.any(times[1:] < times[:-1]):
            order = np.argsort(times, kind="stable")
            found, times = Found(found.columns, found.table.take(order)), times[order]
        known[query.sql] = found, times
    return known[query.sql]


def _run(host: Host, query: Looked, sql: str) -> Found:
    result = host.sql(sql)
    reader = result.reader()
    rows = reader if query.change is None else query.change(reader)
    return Found(result.schema.columns, aside(rows, host.spill_folder))
