"""Plain tables (CSV, JSON lines, Parquet, Arrow, SQLite) -> event tables by the options of their mount, or regular.

A file gives a table called as the file is, without its endings; a database gives its tables. With `timestamp` a table
that has this column is `raw_events.<table>`, part of `events`: `_ts` is the column in `unit`, `partition` its
partitions, `duration` the column of durations in the same unit, shown as `dur`, and `name`, `category`, `pid` and `tid`
say which columns `events` shows as those. Without it a column `_ts` is taken for times in ns; tables without a time are
regular tables. Rows without a time are counted, not shown. Whole numbers are BIGINT or UBIGINT, lists and structs JSON,
dates and larger numbers texts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dctv.contracts.reader import LoadContext
from dctv.errors import DctvError
from dctv.record import record
from dctv.types.units import parse_unit

if TYPE_CHECKING:
    from sqlglot import exp

    from dctv.readers.plain_pass import PlainPass

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


@record
class PlainTable:
    """A table that the engine can scan."""

    file: int
    name: str
    query: exp.Query
    """Its rows; also named columns of the engine's types."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """Streams of Arrow batches that the query reads by name, each made anew."""
    units: Mapping[str, str] = field(default_factory=dict)
    notes: Callable[[Any], Sequence[tuple[str, int, str]]] = lambda _: ()
    """From the connection, after the rows were read: what was skipped, how often, and an example."""


@record
class PlainFile:
    """A file that holds tables."""

    number: int
    path: Path
    connection: Any
    options: Mapping[str, object]


Tables = Callable[[PlainFile], Sequence[PlainTable]]
"""Tells the tables of a file."""


def name_of(path: Path) -> str:
    """Return what the table of a file is called."""
    name = path.name.removesuffix(".gz")
    return name.rpartition(".")[0] or name


def units_of(schema: Any) -> dict[str, str]:
    """Return the units that fields of an Arrow schema carry."""
    told = {field.name: (field.metadata or {}).get(b"unit", b"").decode(errors="replace") for field in schema}
    return {name: unit for name, unit in told.items() if unit and _is_unit(unit)}


def _is_unit(text: str) -> bool:
    try:
        parse_unit(text)
    except DctvError:
        return False
    return True


def passes(tables: Tables) -> Callable[[Sequence[Path], LoadContext, int], PlainPass]:
    """Return how passes of a format begin."""

    def start(paths: Sequence[Path], context: LoadContext, _: int) -> PlainPass:
        from dctv.readers.plain_pass import PlainPass  # it needs the engine's SQL

        return PlainPass(tables, paths, context)

    return start
