"""Results that many requests look into: run once for each timeline, then mapped from a file without a name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from dctv.contracts.states import aside
from dctv.record import record
from dctv.timeline.timeline import Timeline
from dctv.types.schema import TS, ColumnType
from dctv.web.host import Host


@record(eq=False)
class Kept:
    """All rows of a query that come in order of `_ts`."""

    columns: Sequence[ColumnType]
    """What the query says of its columns."""
    table: Any
    """A pyarrow Table."""
    times: Any
    """The column `_ts`: numpy int64."""

    def at(self, time: int) -> Any:
        """Return the rows of a time, as a pyarrow Table."""
        import numpy as np

        first, stop = np.searchsorted(self.times, (time, time + 1), "left").tolist()
        return self.table.slice(first, stop - first)

    def having(self, column: str, values: Sequence[int]) -> Any:
        """Return the rows whose integer in a column is one of these, as a pyarrow Table."""
        import pyarrow as pa
        import pyarrow.compute as pc

        found = pc.is_in(self.table.column(column), pa.array(values, self.table.schema.field(column).type))
        return self.table.filter(found)


_kept: WeakKeyDictionary[Timeline, dict[str, Kept]] = WeakKeyDictionary()
"""Another trace of the same name has another timeline."""


def kept(host: Host, timeline: Timeline, sql: str, change: Callable[[Any], Any] | None = None) -> Kept:
    """Return the rows of a query of what a timeline is made of, which is the same while the timeline is there.

    `change` makes another pyarrow RecordBatchReader of that of the rows, before they are kept.
    """
    known = _kept.setdefault(timeline, {})
    if sql not in known:
        result = host.sql(sql)
        reader = result.reader()
        table = aside(reader if change is None else change(reader))
        known[sql] = Kept(result.schema.columns, table, table.column(TS).to_numpy())
    return known[sql]
