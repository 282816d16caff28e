"""Run a plan over tables of a fleet for one trace."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial

from dctv.bind.binder import Binder
from dctv.catalog.mount import Mount
from dctv.contracts.lazy import Lazy
from dctv.contracts.materialized import ComputedRows, MaterializedRows
from dctv.contracts.table_function import Argument, TableFunction
from dctv.errors import TraceError
from dctv.plan.build import select, where
from dctv.plan.carrying import carried_schema, with_types
from dctv.plan.conditions import condition
from dctv.plan.expressions import NULL, Cast, Column, Expression
from dctv.plan.fewer_columns import with_names
from dctv.plan.nodes import Plan, Relation, Scan, column_types, physical_names
from dctv.plan.order import RowOrder
from dctv.plan.predicate import ALWAYS
from dctv.plan.queries import Item
from dctv.plan.source import RunCost
from dctv.record import field, record, replace
from dctv.rewrite.graph import bottom_up
from dctv.rewrite.settings import RewriteSettings
from dctv.run.context import ExecutionContext
from dctv.run.fleet.members import FleetMember
from dctv.run.fleet.metadata import MountSettings, TraceStore
from dctv.run.fleet.starts import with_start
from dctv.run.fleet.table import FleetTable, in_promised_order, nothing, tables_in
from dctv.run.materialized import computed, scans_of_stored
from dctv.run.plans import environment, optimized, optimized_result, table_of
from dctv.run.stored_rows import loaded_or_computed, may_store, row_store
from dctv.run.templates import SharedRows, Templates, with_values
from dctv.syntax import ast
from dctv.types.schema import ColumnType, Kind, Schema

_views = Templates(500)
"""Bound views by their names."""
_plans = Templates(32)
"""Optimized plans of parts by their query."""


@record
class PartTrace:
    """A trace that a part of a plan is run for."""

    member: FleetMember
    state: tuple[tuple[str, int, int], ...]
    """The state of its files when it was mounted."""
    format: str
    """That it had then."""
    start: int | None = None
    """When its time 0 was, in ns since 1970, if that is known and the plan asks for it."""
    store: TraceStore | None = None
    """Its column store, if the part is of several traces."""
    tables: str = ""
    """The same for those of them that have the same tables."""


@record
class FleetPart:
    """The part of a plan to run for one trace, or for several."""

    traces: Sequence[PartTrace]
    way: MountSettings
    plan: Plan
    """Its stored tables are those of a fleet; here they have the rows of each of the traces by itself."""
    settings: RewriteSettings
    query: str
    """The same for all parts that one reading of a fleet has, and for no others."""
    combines: bool
    """Whether rows may be partial aggregates of several of the traces."""


@record(frozen=False)
class PartReport:
    """Warnings and costs of a part, complete once its rows have been read."""

    warnings: list[tuple[str, str, int]] = field(default_factory=list)
    """Each with the name of the trace, the text, and how often it occurred."""
    spent: RunCost | None = None

    def add(self, warnings: Sequence[tuple[str, str, int]], spent: RunCost | None) -> None:
        """Add those of a run."""
        self.warnings += warnings
        if spent is not None:
            self.spent = spent if self.spent is None else self.spent + spent


def plan_of_trace(part: FleetPart, trace: PartTrace, context: ExecutionContext, mount: Mount) -> Plan:
    """Return the plan to run for a trace; most traces of a fleet have the same one, but for their tables."""

    def made() -> Plan:
        plan = part.plan if trace.start is None else with_start(part.plan, trace.member.name, trace.start)
        return _bound(plan, part, trace.member, context)

    tables = tables_in(part.plan)
    values = {one.name: trace.member.value(one) for table in tables for one in table.fixed}
    if context.chosen_engine.remote is not None or any(one.arguments is not None for one in tables):
        # Where tables lie, which another engine reads there, is of the trace; so is the end of the trace, which a
        # function may have made part of the plan.
        return optimized(_filled(with_values(made(), values), context, mount), context)
    start = None if trace.start is None else (trace.member.name, trace.start)
    key = (part.query, start, may_store(mount), *(differs(one, trace.member) for one in tables))
    plan = _plans.plan(key, mount, context, made, lambda plan: optimized(plan, context), values)
    return _filled(plan, context, mount)


def plan_of_any(part: FleetPart, trace: PartTrace, context: ExecutionContext, mount: Mount) -> Plan | None:
    """Return the plan to run for any trace that has the tables of a mounted one; None if it is of that alone."""
    key = (part.query, "any", *(differs(one, trace.member) for one in tables_in(part.plan)))
    template = _plans.template(
        key,
        mount,
        context,
        lambda: _bound(part.plan, part, trace.member, context, shares=False),
        lambda plan: optimized(plan, context),
        several=True,
    )
    return None if template is None else template.plan


def _bound(plan: Plan, part: FleetPart, member: FleetMember, context: ExecutionContext, *, shares: bool = True) -> Plan:
    """Return the plan of a trace; with `shares`, rows of views that are stored are read."""
    views: dict[object, Plan] = {}
    return as_rows(bottom_up(plan, lambda one: _of_member(one, part, member, context, views, shares=shares)))


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


def differs(table: FleetTable, member: FleetMember) -> Hashable:
    """Return what the plan of a table has of a trace besides its values: which are NULL, and which rows are needed."""
    nulls = [one.name for one in table.fixed if member.lacks(one)]
    needed = table.predicate if table.predicate == ALWAYS else table.needed(member, table.read_schema.names)
    return *nulls, repr(needed)


def as_rows(plan: Plan) -> Plan:
    """Return a part as rows in any order that is the same in every run, with types that Arrow has.

    A table of spans or events would be sorted by time in each trace, and again with those of the others. Columns have
    the engine's names, of which no two are the same.
    """
    columns = with_names(carried_schema(plan.schema), physical_names(plan.schema)).columns
    return with_types(plan, Schema(Kind.REGULAR, columns))


def _of_member(
    plan: Plan,
    part: FleetPart,
    member: FleetMember,
    context: ExecutionContext,
    views: dict[object, Plan],
    *,
    shares: bool,
) -> Plan:
    """Return the rows that one trace has of a fleet's table; `views` has the trace's own plans that were bound before.

    Tables that are read twice, perhaps with other columns, so become one plan, which runs once.
    """
    if not isinstance(plan, Scan) or not isinstance(plan.source, FleetTable):
        return plan
    table = plan.source
    if not table.parts:
        return _row_of_trace(table, member)
    found = _own_rows(table, part, context, views, shares=shares)
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


def _own_rows(
    table: FleetTable, part: FleetPart, context: ExecutionContext, views: dict[object, Plan], *, shares: bool
) -> Plan | None:
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
            shares = shares and may_store(mount) and context.chosen_engine.remote is None

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
