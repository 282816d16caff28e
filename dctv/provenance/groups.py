"""Assign events to groups that are defined on the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dctv.bind.filter_tests import Condition
from dctv.bind.filters import EventTable, FilterBinder, RecordTimes
from dctv.catalog.files import TraceFiles
from dctv.contracts.engine import Engine
from dctv.contracts.reader import LoadContext, TraceTable
from dctv.errors import SourceText, TraceError, UsageError, WarningLog
from dctv.plan.build import number, select
from dctv.plan.expressions import Case, Expression
from dctv.plan.node import Query
from dctv.plan.queries import Item
from dctv.provenance.database import EventGroup, WrittenFile
from dctv.provenance.split import REST, SplitJob, metadata_of, reorganize
from dctv.record import record
from dctv.syntax.filter import Filter, parse_filter
from dctv.types.units import parse_unit

if TYPE_CHECKING:
    import numpy as np


def groups_of(predicates: Mapping[str, str]) -> list[EventGroup]:
    """Return groups by name, with the rest last.

    Raises:
        UsageError: a name is not valid as the name of a file.
    """
    for name in predicates:
        if name == REST:
            raise UsageError(
                f"the group `{REST}` is reserved for events that no other group takes", hint="choose another name"
            )
        if not name or name != name.strip() or not all(c.isalnum() or c in "-_." for c in name) or name[0] == ".":
            raise UsageError(f"`{name}` cannot be a group's name", hint="use letters, digits, `-`, `_` and `.`")
    named = [EventGroup(number, name, text) for number, (name, text) in enumerate(predicates.items())]
    return [*named, EventGroup(len(named), REST, "")]


@record
class _Choice:
    """How to choose the group of a table's events: by a query over them, or one for all."""

    query: Query | None
    group: int


class Grouping:
    """The assignment of each event to the first group with a true predicate."""

    def __init__(
        self, filters: Sequence[Filter], tables: Mapping[str, TraceTable], times: RecordTimes, engine: Engine
    ) -> None:
        """Bind the predicates to every table of events.

        Raises:
            QueryError: a predicate does not fit the trace.
        """
        self._engine = engine
        self._rest = len(filters)
        binders = [FilterBinder(tree, times) for tree in filters]
        self._choices: dict[str, _Choice] = {}
        for name, one in tables.items():
            if one.event is not None:
                conditions = [binder.condition(EventTable(one.schema, one.event)) for binder in binders]
                self._choices[name] = _choice(conditions)
        self.warnings: WarningLog = WarningLog()
        for binder in binders:
            binder.conclude(self.warnings)

    def __call__(self, name: str, rows: Any) -> np.ndarray[Any, Any]:
        """Return the group number of each row of a table, uint16."""
        import numpy as np
        import pyarrow as pa

        choice = self._choices[name]
        if choice.query is None:
            return np.full(rows.num_rows, choice.group, np.uint16)
        source = pa.Table.from_batches([rows])
        stream = pa.RecordBatchReader.from_stream(self._engine.stream(choice.query, {"rows": source}, serial=True))
        found: np.ndarray[Any, Any] = stream.read_all().column(0).to_numpy().astype(np.uint16)
        if len(found) != rows.num_rows:
            raise AssertionError("a row has lost its group")
        return found


def _choice(conditions: Sequence[Condition]) -> _Choice:
    """Return the index of the first true condition as a query, or as a constant if it does not depend on rows."""
    branches: list[tuple[Expression, Expression]] = []
    for place, condition in enumerate(conditions):
        if condition is True:
            return _home(branches, place)
        if condition is not False:
            branches.append((condition, number(place)))
    return _home(branches, len(conditions))


def _home(branches: Sequence[tuple[Expression, Expression]], otherwise: int) -> _Choice:
    if not branches:
        return _Choice(None, otherwise)
    case = Case(tuple(branches), number(otherwise))
    return _Choice(select(Item(case, "home"), source="rows"), otherwise)


@record
class ReorganizeRequest:
    """The parameters of a reorganization."""

    predicates: Mapping[str, str]
    """Filter by group, in order: an event goes to the first group that matches it."""
    target: Path
    parquet: bool = False


def carried_out(
    order: ReorganizeRequest, files: TraceFiles, context: LoadContext, engine: Engine
) -> tuple[list[WrittenFile], WarningLog]:
    """Reorganize a trace; return the output files and warnings.

    Raises:
        TraceError: the trace cannot be read, or its format has no chunks.
        QueryError: a predicate has a syntax error, or does not fit the trace.
        UsageError: the target is not empty, or a name is not valid as the name of a file.
    """
    groups = groups_of(order.predicates)
    filters = [parse_filter(SourceText(f"<{one.name}>", one.predicate)) for one in groups[:-1]]
    reader = files.reader
    if reader.chunks is None or reader.chunks.decode is None:
        raise TraceError(f"traces of the format {reader.name} cannot be reorganized: their events are not lines")
    metadata = metadata_of(files.paths, reader.chunks, context)
    unit = parse_unit(reader.records(reader.chunks.rest(metadata).properties).unit)
    times = RecordTimes(int(metadata.entries["start_ns"]), unit)
    grouping = Grouping(filters, reader.chunks.tables(metadata), times, engine)
    job = SplitJob(files.paths, reader, groups, order.target, order.parquet, context)
    return reorganize(job, metadata, grouping), grouping.warnings
