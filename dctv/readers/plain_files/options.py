"""Read plain tables (CSV, JSON lines, Parquet, Arrow, SQLite) as event tables by the options of the mount, or regular.

The table of a file has the file's name without its suffixes; a database gives its tables. With `timestamp` a table with
this column becomes `raw_events.<table>`, part of `events`: `_ts` is the column in `unit`, `partition` its partitions,
`duration` the column of durations in the same unit, shown as `dur`; `name`, `category`, `pid` and `tid` name the
columns that appear under these names in `events`. Without it a column `_ts` holds times in ns; tables without a time
are regular tables. Rows without a time are counted, not shown. Integers are BIGINT or UBIGINT, lists and structs JSON,
dates and larger numbers texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dctv.contracts.reader import LoadContext

if TYPE_CHECKING:
    from dctv.readers.plain_files.passes import PlainPass
    from dctv.readers.plain_files.tables import Tables

OPTIONS = {
    "timestamp": "the column with the time",
    "unit": "the unit of times and durations that are numbers: 'ns' (default), 'us', 'ms', 's'",
    "duration": "the column with how long an event lasts",
    "partition": "the column, or a list of columns, by which events are partitioned",
    "name": "the column with the names of events",
    "category": "the column with their categories",
    "pid": "the column with their processes",
    "tid": "the column with their threads",
    "table": "the only table to take, of files with several",
}
DIMENSIONS = {"cat": "cat", "pid": "pid", "tid": "tid"}


def passes(tables: Tables) -> Callable[[Sequence[Path], LoadContext, int], PlainPass]:
    """Return a function that starts passes of a format."""

    def start(paths: Sequence[Path], context: LoadContext, _: int) -> PlainPass:
        from dctv.readers.plain_files.passes import PlainPass  # it needs the engine's SQL

        return PlainPass(tables, paths, context)

    return start
