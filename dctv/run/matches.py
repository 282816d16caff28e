"""Turns the events of a trace that match a filter into results: records, rows, or how many there are."""

from __future__ import annotations

from collections.abc import Callable

from dctv.bind.filters import EventTable, Times
from dctv.bind.matching import Matching, Stored, matching
from dctv.catalog.mount import Mount, table_plan
from dctv.catalog.namespace import Catalog
from dctv.contracts.reader import Reader
from dctv.errors import WarningLog
from dctv.plan.nodes import Plan
from dctv.record import record
from dctv.run.result import Result
from dctv.syntax.filter import Filter
from dctv.types.units import parse_unit


@record
class Matches:
    """Matching events; nothing is read before a result is."""

    matching: Matching
    head: tuple[str, ...]
    """Lines that stand before the records, so that they can be read as a trace again."""
    run: Callable[[Plan], Result]

    def records(self, limit: int | None = None) -> Result:
        """Return a result of one column of JSON texts, one per event, in order of time."""
        return self.run(self.matching.lines(limit))

    def rows(self, limit: int | None = None) -> Result:
        """Return the events with the columns of `events`, in order of time."""
        return self.run(self.matching.events(limit))

    def count(self) -> Result:
        """Return a result of one row and column: how many there are."""
        return self.run(self.matching.count())


def find_matches(
    catalog: Catalog, mount: Mount, reader: Reader, tree: Filter | None, log: WarningLog
) -> tuple[Matching, tuple[str, ...]]:
    """Return the tables of a mounted trace with the conditions of a filter, and the lines before its records.

    Raises:
        QueryError: the filter does not fit the trace.
    """
    trace = mount.trace
    records = reader.records(trace.properties)
    times = Times(int(trace.properties["start_ns"]), parse_unit(records.unit))
    tables = [
        Stored(EventTable(one.schema, one.event), plan)
        for name, one in trace.tables.items()
        if one.event is not None and (plan := table_plan(catalog, mount, name)) is not None
    ]
    return matching(tree, tables, times, log), records.head
