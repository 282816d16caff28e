"""Turn the events of a trace that match a filter into results: records, rows, or their number."""

from __future__ import annotations

from dctv.bind.filters import EventTable, RecordTimes
from dctv.bind.matching import Matching, StoredEvents, matching
from dctv.catalog.mount import table_plan
from dctv.errors import SourceText
from dctv.record import record
from dctv.run.context import ExecutionContext
from dctv.run.plans import result_of
from dctv.run.result import Result
from dctv.syntax.filter import parse_filter
from dctv.types.units import parse_unit


@record
class Matches:
    """Matching events; nothing is read before a result is."""

    matching: Matching
    head: tuple[str, ...]
    """Lines to write before the records, so that they can be read as a trace again."""
    context: ExecutionContext

    def records(self, limit: int | None = None) -> Result:
        """Return a result of one column of JSON texts, one per event, in order of time."""
        return result_of(self.matching.lines(limit), self.context)

    def rows(self, limit: int | None = None) -> Result:
        """Return the events with the columns of `events`, in order of time."""
        return result_of(self.matching.events(limit), self.context)

    def count(self) -> Result:
        """Return a result of one row and column: how many there are."""
        return result_of(self.matching.count(), self.context)


def find_matches(name: str, where: SourceText | None, context: ExecutionContext) -> Matches:
    """Return the events of a mounted trace that match a filter.

    Raises:
        UsageError: no trace is mounted by this name.
        QueryError: the filter does not follow its grammar, or does not fit the trace.
    """
    mount = context.mount_of(name)
    tree = None if where is None else parse_filter(where)
    trace = mount.trace
    records = context.registries.readers[mount.reader].records(trace.properties)
    times = RecordTimes(int(trace.properties["start_ns"]), parse_unit(records.unit))
    tables = [
        StoredEvents(EventTable(one.schema, one.event), plan)
        for name, one in trace.tables.items()
        if one.event is not None and (plan := table_plan(context.catalog, mount, name)) is not None
    ]
    return Matches(matching(tree, tables, times, context.log), records.head, context)
