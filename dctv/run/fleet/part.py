"""Run a plan over tables of a fleet for one trace."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

from dctv.bind.binder import Binder
from dctv.catalog.mount import Mount
from dctv.contracts.lazy import Lazy
from dctv.contracts.materialized import ComputedRows, MaterializedRows
from dctv.contracts.table_function import Argument, TableFunction
from dctv.errors import EngineError, TraceError, reason_of
from dctv.plan.build import select, where
from dctv.plan.carrying import carried_schema, with_types
from dctv.plan.conditions import condition
from dctv.plan.expressions import NULL, Cast, Column, Expression
from dctv.plan.fewer_columns import with_names
from dctv.plan.nodes import Plan, Relation, Scan, column_types, physical_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import Item
from dctv.plan.source import RunCost
from dctv.record import record, replace
from dctv.rewrite.graph import bottom_up, readers_first
from dctv.rewrite.settings import RewriteSettings
from dctv.run.context import ExecutionContext
from dctv.run.fleet.members import FleetMember, state_of
from dctv.run.fleet.metadata import MountSettings, mounted
from dctv.run.fleet.starts import with_start
from dctv.run.fleet.table import FleetTable, in_promised_order, nothing
from dctv.run.materialized import computed, scans_of_stored
from dctv.run.plans import environment, optimized, optimized_result, table_of
from dctv.run.stored_rows import loaded_or_computed, may_store, row_store
from dctv.run.templates import SharedRows, Templates, with_values
from dctv.syntax import ast
from dctv.temporary import MORE_ROOM
from dctv.types.schema import ColumnType, Kind, Schema

if TYPE_CHECKING:
    import pyarrow as pa


_views = Templates(500)
"""Bound views by their names."""
_plans = Templates(32)
"""Optimized plans of parts by their query."""


@record
class FleetPart:
    """The part of a plan to run for one trace."""

    member: FleetMember
    way: MountSettings
    plan: Plan
    """Its stored tables are those of a fleet; here they have the rows of the one trace."""
    settings: RewriteSettings
    state: tuple[tuple[str, int, int], ...]
    """The state of the trace's files when it was mounted."""
    format: str
    """That it had then."""
    query: str
    """The same for all parts that one reading of a fleet has, and for no others."""
    start: int | None = None
    """When its time 0 was, in ns since 1970, if that is known and the plan asks for it."""


@record(frozen=False)
class PartReport:
    """Warnings and costs of a part, complete once its rows have been read."""

    warnings: Sequence[tuple[str, int]] = ()
    spent: RunCost | None = None


@record
class PartRows:
    """The result of a part."""

    data: bytes | Sequence[pa.RecordBatch] | None
    """An Arrow stream, or the rows of a part that ran in this process, if they were not written to a file."""
    size: int
    """In bytes."""
    report: PartReport


def batches(context: ExecutionContext, part: FleetPart, report: PartReport) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a part, then complete its report.

    Raises:
        DctvError: the trace cannot be read, or the query fails.
    """
    if _state(part.member) != part.state:
        raise TraceError("it has changed since it was mounted", hint=f"DROP ALL {part.way.name}, and mount it again")
    with mounted(part.member, part.way, replace(context, settings=part.settings), part.format) as (alone, made):
        plan = _optimized(part, alone, made)
        # The thread or process that waits for these rows handles Ctrl-C.
        result = optimized_result(plan, plan.schema, alone, apart=False)
        yield from result.batches()
        report.warnings, report.spent = result.warnings, result.spent
        if report.spent is not None and report.spent.read is not None and not made.sources:
            whole = sum(size for _, size, _ in part.state)
            report.spent = replace(report.spent, read=report.spent.read + whole)


def _optimized(part: FleetPart, context: ExecutionContext, mount: Mount) -> Plan:
    """Return the plan to run for a trace; most traces of a fleet have the same one, but for their tables."""

    def made() -> Plan:
        plan = part.plan if part.start is None else with_start(part.plan, part.member.name, part.start)
        views: dict[object, Plan] = {}
        return as_rows(bottom_up(plan, lambda one: _of_member(one, part, context, views)))

    sources = [one.source for one in readers_first(part.plan) if isinstance(one, Scan)]
    tables = [one for one in sources if isinstance(one, FleetTable)]
    values = {one.name: part.member.value(one) for table in tables for one in table.fixed}
    if context.chosen_engine.remote is not None or any(one.arguments is not None for one in tables):
        # Where tables lie, which another engine reads there, is of the trace; so is the end of the trace, which a
        # function may have made part of the plan.
        return optimized(_filled(with_values(made(), values), context, mount), context)
    start = None if part.start is None else (part.member.name, part.start)
    key = (part.query, start, may_store(mount), *(_differs(one, part.member) for one in tables))
    plan = _plans.plan(key, mount, context, made, lambda plan: optimized(plan, context), values)
    return _filled(plan, context, mount)


def _filled(plan: Plan, context: ExecutionContext, mount: Mount) -> Plan:
    """Return a plan with the stored rows of the views that it scans; they are computed if they are missing."""
    sources: dict[str, MaterializedRows] = {}

    def filled(one: Plan) -> Plan:
        if not isinstance(one, Scan) or not isinstance(one.source, SharedRows):
            return one
        name = one.source.view
        if name not in sources:
            sources[name] = MaterializedRows(Lazy(partial(_rows_of_view, name, context, mount), context.log))
        return replace(one, source=sources[name])

    return bottom_up(plan, filled)


def _rows_of_view(name: str, context: ExecutionContext, mount: Mount) -> ComputedRows:
    """Return the rows of a view of a trace."""

    def compute() -> ComputedRows:
        bound = _views.plan(name, mount, context, lambda: table_of(name, context))
        plan = _plans.plan(("rows", name), mount, context, lambda: bound, lambda plan: optimized(plan, context))
        return computed(optimized_result(plan, bound.schema, context, apart=False), context)

    place = row_store(mount, context)
    return compute() if place is None else loaded_or_computed(name, place, context, compute)


def _differs(table: FleetTable, member: FleetMember) -> Hashable:
    """Return what the plan of a table has of a trace besides its values: which are NULL, and which rows are needed."""
    nulls = [one.name for one in table.fixed if isinstance(member.of_trace(one), Cast)]
    return *nulls, repr(table.needed(member, table.read_schema.names))


def as_rows(plan: Plan) -> Plan:
    """Return a part as rows in any order that is the same in every run, with types that Arrow has.

    A table of spans or events would be sorted by time in each trace, and again with those of the others. Columns have
    the engine's names, of which no two are the same.
    """
    columns = with_names(carried_schema(plan.schema), physical_names(plan.schema)).columns
    return with_types(plan, Schema(Kind.REGULAR, columns))


def run_part(context: ExecutionContext, part: FleetPart, target: str | None) -> PartRows:
    """Run a part in a worker; write its rows to a file, or return them if there is none, or if they are few."""
    import pyarrow as pa

    report, began = PartReport(), process_time()
    rows = batches(context, part, report)
    begun, are_all = _begun(rows, _FEW)
    rows = chain(begun, rows)
    if target is None or are_all:
        held = pa.BufferOutputStream()
        _write(rows, held)
        data = held.getvalue().to_pybytes()
        return PartRows(data, len(data), _elsewhere(report, began))
    return PartRows(None, _written(rows, target), _elsewhere(report, began))


def run_here(context: ExecutionContext, part: FleetPart, target: str) -> PartRows:
    """Run a part in the process that wants its rows; write them to a file if they are many."""
    report = PartReport()
    # Its other threads would take processors from workers.
    rows = batches(replace(context, limits=replace(context.limits, threads=1)), part, report)
    begun, are_all = _begun(rows, _MANY)
    if are_all:
        return PartRows(begun, sum(batch.nbytes for batch in begun), report)
    return PartRows(None, _written(chain(begun, rows), target), report)


def _written(rows: Iterator[pa.RecordBatch], target: str) -> int:
    """Write the rows of a part to a file; return its size."""
    import pyarrow as pa

    try:
        with pa.OSFile(target, "wb") as file:
            _write(rows, file)
            size: int = file.tell()
    except OSError as error:
        folder, reason = Path(target).parent, str(error) if error.errno is None else os.strerror(error.errno)
        raise EngineError(f"cannot keep its rows in `{folder}`: {reason.lower()}", hint=MORE_ROOM) from None
    return size


def _begun(rows: Iterator[pa.RecordBatch], most: int) -> tuple[list[pa.RecordBatch], bool]:
    """Return the first rows, and whether these are all: at most so many bytes."""
    begun: list[pa.RecordBatch] = []
    size = 0
    for batch in rows:
        begun.append(batch)
        size += batch.nbytes
        if size > most:
            return begun, False
    return begun, True


def _elsewhere(report: PartReport, began: float) -> PartReport:
    """Add the CPU time of this process to the report."""
    spent = report.spent or RunCost(None, 0)
    report.spent = replace(spent, cpu=spent.cpu + process_time() - began)
    return report


def _write(rows: Iterator[pa.RecordBatch], file: pa.NativeFile) -> None:
    import pyarrow as pa

    first = next(rows, None)
    if first is not None:
        with pa.ipc.new_stream(file, first.schema) as writer:
            for batch in chain((first,), rows):
                writer.write_batch(batch)


_FEW = 8 << 10
"""Up to this many bytes of rows are sent: a file would cost more."""
_MANY = 16 << 20
"""Up to this many bytes of rows wait in memory for the reader in the same process."""


def read_part(rows: PartRows, target: str | None) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a part; its file is gone afterwards."""
    import pyarrow as pa

    if isinstance(rows.data, bytes):
        if rows.data:
            yield from pa.ipc.open_stream(rows.data)
        return
    if rows.data is not None:
        yield from rows.data
        return
    assert target is not None
    try:
        with pa.memory_map(target) as file:
            if file.size():
                yield from pa.ipc.open_stream(file)
    finally:
        Path(target).unlink(missing_ok=True)


def _state(member: FleetMember) -> tuple[tuple[str, int, int], ...]:
    try:
        return state_of(member.path)
    except OSError as error:
        raise TraceError(f"cannot read it: {reason_of(error)}") from None


def _of_member(plan: Plan, part: FleetPart, context: ExecutionContext, views: dict[object, Plan]) -> Plan:
    """Return the rows that one trace has of a fleet's table; `views` has the trace's own plans that were bound before.

    Tables that are read twice, perhaps with other columns, so become one plan, which runs once.
    """
    if not isinstance(plan, Scan) or not isinstance(plan.source, FleetTable):
        return plan
    table, member = plan.source, part.member
    if not table.parts:
        return _row_of_trace(table, member)
    found = _own_rows(table, part, context, views)
    if found is None:
        return nothing(table)
    _check(found.schema, table, member)
    schema = table.read_schema
    fixed = {one.name: one for one in table.fixed}
    own = column_types(found.schema)

    def value(column: ColumnType) -> Expression:
        name = column.name
        if name in fixed:
            return member.of_trace(fixed[name])
        if name not in own:
            return Cast(NULL, column.type)
        return Column(name, "own") if own[name] == column.type else Cast(Column(name, "own"), column.type)

    query = select(*(Item(value(one), one.name) for one in schema.columns), source="own")
    query, order = in_promised_order(query, found, plan, schema)
    return _needed(Relation(schema, order, query, (("own", found),)), table, member)


def _row_of_trace(table: FleetTable, member: FleetMember) -> Plan:
    """Return the one row of what is the same for all rows of a trace."""
    schema = table.read_schema
    query = select(*(Item(member.of_trace(one), one.name) for one in schema.columns))
    return _needed(Relation(schema, RowOrder.STABLE, query), table, member)


def _needed(rows: Relation, table: FleetTable, member: FleetMember) -> Plan:
    """Return the rows of a table that are needed."""
    test = condition(table.needed(member, rows.schema.names))
    if test is None:
        return rows
    query = where(select(*rows.schema.names, source="every"), test)
    return Relation(rows.schema, rows.order, query, (("every", rows),))


def _own_rows(table: FleetTable, part: FleetPart, context: ExecutionContext, views: dict[object, Plan]) -> Plan | None:
    """Return the plan that a trace has for a table or a call of a fleet; None if it has none."""
    names = (*part.way.name.split("."), *table.parts)
    entry = context.catalog.find(names)
    if entry is None:
        return None
    binder = Binder(environment(context))
    (mount,) = context.mounts.values()
    key = (table.parts, None if table.arguments is None else id(table.arguments))
    if key not in views:
        if table.arguments is None:
            path = ast.Path(tuple(map(ast.Name, names)))
            shares = may_store(mount) and context.chosen_engine.remote is None

            def bound() -> Plan:
                plan = binder.table(ast.TableName(path))
                return scans_of_stored(plan, context, lambda name: SharedRows(None, name)) if shares else plan

            views[key] = _views.plan((table.parts, shares), mount, context, bound)
        else:
            assert isinstance(entry[0], TableFunction)
            given = {name: Argument(value, None) for name, value in table.arguments.items()}
            views[key] = entry[0].bind(given, binder)
    return views[key]


def _check(found: Schema, table: FleetTable, member: FleetMember) -> None:
    """Refuse a table whose schema differs from the fleet's: rows or columns of it would be lost."""
    expected = table.own_schema
    if (found.kind, found.partitions) != (expected.kind, expected.partitions):
        raise TraceError(
            f"`{table.name}` is {expected.describe_one()} elsewhere, and {found.describe_one()} in `{member.name}`"
        )
    known = {one.name: one for one in expected.columns}
    for column in found.columns:
        if column.name not in known:
            raise TraceError(f"`{table.name}` has a column `{column.name}` only in traces such as `{member.name}`")
        if column.unit != known[column.name].unit:
            raise TraceError(f"`{table.name}.{column.name}` has another unit in `{member.name}`")
