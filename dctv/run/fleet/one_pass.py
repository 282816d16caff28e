"""Run the plan that each of many small traces has once for all, over the files of their column stores."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from dctv.index.stored import EVENTS
from dctv.plan.build import adding, by_names, number, select
from dctv.plan.expressions import NULL, Cast, Column, Expression
from dctv.plan.nodes import Plan, Relation, Scan, column_names
from dctv.plan.order import RowOrder
from dctv.plan.parquet import parquet
from dctv.plan.queries import Item, Select
from dctv.plan.rows import of_rows
from dctv.plan.source import PlanRun, WholeSource
from dctv.record import record, replace
from dctv.rewrite.flattened import NUMBER_COLUMN, Flattening, table_of_place
from dctv.rewrite.flattened_queries import NUMBER, FlattenedTraces, NotFlat
from dctv.run.carrying import as_relation
from dctv.run.context import ExecutionContext
from dctv.run.fleet.members import is_as_it_was
from dctv.run.fleet.metadata import StoredRows, TraceStore, mounted
from dctv.run.fleet.part import FleetPart, PartReport, differs, plan_of_any
from dctv.run.fleet.sweep_traces import TraceSweep, values_of
from dctv.run.fleet.table import tables_in
from dctv.run.materialized import computed
from dctv.run.plans import optimized_result
from dctv.run.result import Result
from dctv.run.sharing import merged
from dctv.run.templates import AnyMetadata, AnyTable
from dctv.types.schema import Kind, Schema

if TYPE_CHECKING:
    import pyarrow as pa

_FEWEST = 2
"""With fewer traces of the same tables on average, each is run by itself: its plan takes less time to make."""


@record(eq=False)
class FilesOfTraces(WholeSource):
    """The rows of one table of many traces, trace by trace, in files of their column stores."""

    files: Sequence[StoredRows]
    columns: Sequence[str]
    read: frozenset[str] | None = None
    """The columns that are read, None for all."""

    def reading(self, columns: Collection[str]) -> FilesOfTraces:
        """Return a source that reads these columns."""
        return replace(self, read=frozenset(columns))

    def query(self) -> Select:
        """Return the query over the files."""
        number = Item(Cast(Column("file_index"), "BIGINT"), NUMBER)
        return select(*self.columns, number, source=parquet([one.path for one in self.files]))

    def open(self, _: PlanRun) -> Any:
        """Fail: the engine reads the files."""
        raise AssertionError(self.files)


def _table_of_all(scan: Scan, traces: Sequence[TraceStore]) -> Plan | None:
    """Return the rows of a table of any trace in all of some, trace by trace; None if not all have it in a file.

    Raises:
        NotFlat: a file has changed.
    """
    if isinstance(scan.source, AnyMetadata):
        return _metadata(scan, traces)
    assert isinstance(scan.source, AnyTable)
    files = [file for one in traces if (file := one.stored(scan.name)) is not None]
    own = tuple(replace(one, name=name) for one, name in zip(scan.schema.columns, column_names(scan), strict=True))
    # The flat file of all events has no arguments.
    stored = tuple(one for one in own if scan.name != EVENTS or one.name != "args")
    columns = [one.name for one in stored]
    source = scan.source.of(FilesOfTraces(files, columns))
    assert isinstance(source, FilesOfTraces)
    read = {one.name for one in own} if source.read is None else source.read
    if len(files) < len(traces) or not read <= set(columns):
        return None
    if not all(one.is_as_it_was for one in files):
        raise NotFlat
    return Scan(Schema(Kind.REGULAR, (*stored, NUMBER_COLUMN)), RowOrder.STABLE, scan.name, source)


def _metadata(scan: Scan, traces: Sequence[TraceStore]) -> Plan:
    rows: list[list[Any]] = []
    for place, one in enumerate(traces):
        known: Mapping[str, Sequence[Sequence[Any]]] = {
            "last_ts": [[one.last_ts]],
            "properties": sorted(one.properties.items()),
            "diagnostics": [[d.file, d.reason, d.count, d.example, d.incomplete] for d in one.diagnostics],
        }
        rows += ([*row, place] for row in known[scan.name])
    return of_rows(Schema(Kind.REGULAR, (*scan.schema.columns, NUMBER_COLUMN)), rows)


def in_one_pass(context: ExecutionContext, part: FleetPart, report: PartReport) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a part of several traces, trace by trace, then complete its report.

    Those with the same tables are run through in one pass. Rows of several such groups wait until all are there.

    Raises:
        NotFlat: they cannot be found in one pass.
        DctvError: a trace or its column store cannot be read, or the query fails.
    """
    if not all(is_as_it_was(one.member, one.state) for one in part.traces):
        raise NotFlat
    groups = _groups(part)
    if len(groups) == 1:
        with _run(context, part, report) as result:
            yield from result.batches()
        return
    if len(groups) * _FEWEST > len(part.traces):
        raise NotFlat
    found: list[pa.Table] = []
    for places in groups:
        group = replace(part, traces=[part.traces[place] for place in places])
        with _run(context, group, report, numbered=not part.combines) as result:
            found.append(computed(result, context).table)
    order = {one.member.name: place for place, one in enumerate(part.traces)}
    report.warnings.sort(key=lambda one: order.get(one[0], len(order)))
    if part.combines:
        for rows in found:
            yield from rows.to_batches()
        return
    rows_of: dict[int, pa.Table] = {}
    for places, rows in zip(groups, found, strict=True):
        *own, last = rows.column_names
        starts = values_of(rows.column(last).combine_chunks()).searchsorted(range(len(places) + 1))
        for place, start, stop in zip(places, starts[:-1], starts[1:], strict=True):
            rows_of[place] = rows.select(own).slice(start, stop - start)
    for place in range(len(part.traces)):
        yield from rows_of[place].to_batches()


def _groups(part: FleetPart) -> list[list[int]]:
    """Return the places of the traces of a part, those with the same tables together."""
    tables = tables_in(part.plan)
    groups: dict[Hashable, list[int]] = {}
    for place, one in enumerate(part.traces):
        groups.setdefault((one.tables, *(differs(table, one.member) for table in tables)), []).append(place)
    return [*groups.values()]


@contextmanager
def _run(context: ExecutionContext, part: FleetPart, report: PartReport, *, numbered: bool = False) -> Iterator[Result]:
    """Run a part of traces with the same tables, with their numbers in the last column or without; then report."""
    traces, first = part.traces, part.traces[0]
    settings = replace(context, settings=part.settings)
    with mounted(first.member, part.way, settings, first.format) as (alone, made):
        said: dict[tuple[int, str], None] = {}
        plan = _plan(part, plan_of_any(part, first, alone, made), said, context, numbered=numbered)
        of_each = dict(alone.log.entries)
        result = optimized_result(plan, plan.schema, alone, apart=False)
        yield result
        names = [one.member.name for one in traces]
        warnings = [(name, text, count) for text, count in of_each.items() for name in names]
        warnings += ((names[number], text, 1) for number, text in said)
        # Warnings of the engine, which does not tell traces apart.
        several = f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else names[0]
        warnings += ((several, text, count) for text, count in result.warnings if text not in of_each)
        report.add(warnings, result.spent)


def _plan(
    part: FleetPart,
    plan: Plan | None,
    said: dict[tuple[int, str], None],
    context: ExecutionContext,
    *,
    numbered: bool,
) -> Plan:
    """Return the plan that runs once, given that of any of the traces; span operators add their warnings to `said`."""
    if plan is None:
        raise NotFlat
    members = [one.member for one in part.traces]
    stores = [one.store for one in part.traces if one.store is not None]
    columns = {one.name: one for table in tables_in(part.plan) for one in table.fixed}

    def values(name: str) -> Sequence[Expression]:
        table = table_of_place(name)
        if table is None:
            return [member.value(columns[name]) for member in members]
        places = ([*one.files] for one in stores)
        return [number(tables.index(table)) if table in tables else NULL for tables in places]

    flattening = Flattening(
        FlattenedTraces(len(members), values, context.engine.functions()),
        lambda scan: _table_of_all(scan, stores),
        lambda kernel: TraceSweep(kernel, len(members), said).run,
    )
    if part.combines:
        with suppress(NotFlat):
            return merged(flattening.of_all(plan))
    rows = flattening.of_each(plan)
    names = column_names(plan)
    query = select(*names, source="rows")
    schema = plan.schema
    if numbered:
        query, schema = adding(query, Column(NUMBER)), replace(schema, columns=(*schema.columns, NUMBER_COLUMN))
    if not rows.stable:
        query = replace(query, order_by=by_names([NUMBER, *names]))
    return merged(as_relation(Relation(schema, RowOrder.STABLE, query, (("rows", rows),))))
