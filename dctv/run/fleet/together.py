"""Read a table of many traces from their column stores at once, in place of trace by trace.

Opening a trace, and planning and running a query over it, take longer than reading 10,000 of its rows. The files of one
table of all traces are one table to the engine, which reads several of them at a time. That holds for traces that have
a column store, as long as neither they nor the files have changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dctv.catalog.mount import events_schema
from dctv.plan.build import call, equal, join, select
from dctv.plan.expressions import FALSE, Column, List, Text
from dctv.plan.parquet import parquet
from dctv.plan.queries import Item, Select
from dctv.plan.source import PlanRun, WholeSource
from dctv.record import record
from dctv.run.fleet.members import FleetMember, is_as_it_was
from dctv.run.fleet.metadata import MemberMetadata, StoredRows
from dctv.run.fleet.table import EVENTS, FleetTable
from dctv.types.schema import ColumnType

_FILE = "dctv:file"
"""The column with the file of a row."""
_AS_STORED = frozenset(
    ("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "FLOAT")
) | {"DOUBLE", "VARCHAR"}
"""Types of columns that need no cast, neither from a file nor to a stream of Arrow batches."""


@record(eq=False)
class StoredTogether(WholeSource):
    """The rows of one table of many traces, in files of their column stores."""

    table: FleetTable
    every: int
    """The number of traces of the fleet."""
    rows: Sequence[tuple[FleetMember, StoredRows]]
    """The files of those that are needed."""

    def query(self) -> Select:
        """Return the query over the files; it tells traces apart only if a column of theirs is read."""
        fixed = {one.name: one for one in self.table.fixed}
        columns = self.table.read_schema.columns
        paths = [rows.path for _, rows in self.rows]
        shown = [one for one in columns if one.name in fixed]
        options = {"hive_partitioning": FALSE, "union_by_name": FALSE, "filename": Text(_FILE) if shown else FALSE}
        read = parquet(paths, options, "stored")
        names = [one.name for one in columns]
        query = select(*(Item(Column(one, "traces" if one in fixed else "stored"), one) for one in names), source=read)
        if not shown:
            return query
        values = [Item(call("unnest", List(tuple(map(Text, paths)))), _FILE)]
        for one in shown:
            of_each = tuple(member.value(one) for member, _ in self.rows)
            values.append(Item(call("unnest", List(of_each)), one.name))
        return join(query, select(*values), "traces", [equal(Column(_FILE, "stored"), Column(_FILE, "traces"))])

    def open(self, _: PlanRun) -> Any:
        """Fail: the engine reads the files."""
        raise AssertionError(self.table.name)

    def lines(self) -> Sequence[str]:
        """Return the number of traces that are read."""
        return (f"fleet: {len(self.rows):,} of {self.every:,} traces, from their column stores at once",)


def together(
    table: FleetTable, members: Sequence[FleetMember], metadata: Mapping[str, MemberMetadata], every: int
) -> StoredTogether | None:
    """Return a source of the rows that some traces have of a table; None if not all of them are stored as they are."""
    name, rows = ".".join(table.parts), []
    own = [one for one in table.read_schema.columns if not table.is_fixed(one)]
    if not all(one.type in _AS_STORED for one in own):
        return None
    if not _have_columns(own, name, [metadata[one.name] for one in members]):
        return None
    for member in members:
        known = metadata[member.name]
        stored = known.stored.get(name)
        if stored is None or not is_as_it_was(member, known.state) or not stored.is_as_it_was:
            return None
        rows.append((member, stored))
    # A trace and a link to it have one store: its rows could not be told apart.
    if len({stored.path for _, stored in rows}) < len(rows):
        return None
    return StoredTogether(table, every, rows) if rows else None


def _have_columns(columns: Sequence[ColumnType], name: str, metadata: Sequence[MemberMetadata]) -> bool:
    """Whether all traces have some columns of a table, with the same types."""
    every = [events_schema()] if name == EVENTS else [one.tables.get(name) for one in metadata]
    # Traces share the objects of equal schemas.
    different = {id(one): one for one in every}.values()
    return all(one is not None and set(columns) <= set(one.columns) for one in different)
