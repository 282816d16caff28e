"""Bind SELECT SPAN and SELECT EVENT: special columns are kept first, the kind is part of the result's type."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.bind import groups
from dctv.bind.binding import Binding
from dctv.bind.bound import Bound
from dctv.bind.context import BoundQuery, ClauseContext, Leaves
from dctv.bind.grouping import parts_of
from dctv.bind.merging import merged
from dctv.bind.payload import payload_items, with_having
from dctv.bind.relations import names_of, relation
from dctv.bind.select_cores import OutputColumn, output
from dctv.bind.selects import apply_limit
from dctv.bind.spans import SpanSource, bind_spans, sorted_plan
from dctv.bind.stars import named_columns
from dctv.errors import BindError, Place
from dctv.plan import build as w
from dctv.plan import walk
from dctv.plan.expressions import Column, Window
from dctv.plan.nodes import Plan, Relation, physical_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import TableName
from dctv.record import replace
from dctv.signatures.types import parse
from dctv.syntax import ast
from dctv.types.schema import Kind, Schema


def bind_typed(binder: Binding, core: ast.Core, select: ast.Select) -> Plan:
    """Bind a span or event select."""
    _refuse(core, select)
    assert core.source is not None
    if isinstance(core.group, ast.GroupUsingPartition | ast.GroupUsingSpans):
        plan = groups.bind_group(binder, core, core.group)
    else:
        source = bind_spans(binder, core.source, core.where, named_columns)
        _check_kind(core, source.plan.schema, core.source.place)
        plan = _project(binder, core, source)
    if core.distinct:
        plan = _distinct(binder, plan)
    return _limited(binder, plan, select)


def _refuse(core: ast.Core, select: ast.Select) -> None:
    """Refuse the clauses that make no sense in these modes, saying why and the way out."""
    mode = f"SELECT {core.kind}"
    if core.source is None:
        raise BindError(f"{mode} needs a FROM", core.place)
    if select.order_by:
        raise BindError(
            f"{mode} has no ORDER BY: a {core.kind.lower()} table is always in order of `_ts`",
            select.order_by[0].place,
            hint="a plain SELECT sees it as a regular table, which can be ordered",
        )
    if isinstance(core.group, ast.GroupBy):
        raise BindError(
            f"{mode} has no GROUP BY",
            core.group.place,
            hint="it has GROUP USING SPANS FROM and GROUP USING PARTITION; a plain SELECT groups by columns",
        )
    if core.qualify is not None:
        raise BindError(f"{mode} has no QUALIFY", core.qualify.place, hint="use a plain SELECT")
    if core.windows:
        raise BindError(f"{mode} has no WINDOW", core.windows[0][0].place, hint="use a plain SELECT")


def _check_kind(core: ast.Core, schema: Schema, place: Place | None) -> None:
    if core.kind != schema.kind.name:
        hint = {
            Kind.SPAN: "SELECT SPAN selects from it",
            Kind.EVENT: "SELECT EVENT selects from it",
            Kind.REGULAR: "dctv.as_spans(...) and dctv.as_events(...) give a regular table a kind",
        }[schema.kind]
        wanted = "an event" if core.kind == "EVENT" else "a span"
        raise BindError(
            f"SELECT {core.kind} expected {wanted} table, found {schema.describe_one()}",
            place,
            hint=hint,
        )


def _project(binder: Binding, core: ast.Core, source: SpanSource) -> Plan:
    leaves = Leaves()
    alias = leaves.alias("spans")
    scope = source.scope(alias)
    context = binder.context(scope, leaves, clause=f"SELECT {core.kind}", aggregates_allowed=False)
    schema = source.plan.schema
    if not core.columns:
        _warn_of_words(binder, core, schema)
    special = [
        OutputColumn(c.name, Bound(Column(n, alias), c.unit, type=parse(c.type)))
        for c, n in zip(schema.special, physical_names(schema), strict=False)
    ]
    items = [*special, *payload_items(core, context, special)]
    return assemble(binder, core, context, items, source.plan, schema.partitions)


def _warn_of_words(binder: Binding, core: ast.Core, schema: Schema) -> None:
    """Warn where `SELECT event FROM ...` may have been meant to select a column."""
    meant = next((c.name for c in schema.payload if c.name.upper() == core.kind), None)
    if meant is not None:
        message = f"SELECT {core.kind} without columns; to select the column `{meant}`, write its name in backticks"
        binder.env.warnings.entries[message] = 1


def assemble(
    binder: Binding,
    core: ast.Core,
    context: ClauseContext,
    items: Sequence[OutputColumn],
    plan: Plan,
    partitions: tuple[str, ...],
) -> Relation:
    """Make the plan of a typed select over one leaf; HAVING filters its output."""
    first = context.scope.tables[0].columns[0].value
    assert isinstance(first, Column)
    source = TableName(context.leaves.name(plan), first.table)
    outs = tuple(replace(output(item), wide=False) for item in items)
    query = w.select(*w.named([i.bound.value for i in items], names_of(outs)), source=source)
    parts, having, sure = with_having(core, context, items)
    if having is not None:
        query = w.where(query, having)
    plain = walk.is_single(query) and not any(isinstance(node, Window) for node in walk.walk(query))
    serial = any(one.serial for one in parts_of(parts))
    bound = BoundQuery(query, outs, tuple(parts), source, sure=sure, serial=serial)
    made = relation(bound, context.leaves, binder.env, core.place, plan.order if plain else RowOrder.ANY)
    schema = Schema(plan.schema.kind, made.schema.columns, partitions)
    return replace(made, schema=schema)


def _distinct(binder: Binding, plan: Plan) -> Plan:
    """SELECT SPAN DISTINCT: merge neighbours that touch and have the same payload; of equal events, keep one."""
    if plan.schema.kind is Kind.SPAN:
        return merged(binder, plan)
    leaves = Leaves()
    distinct = w.distinct(w.select(w.STAR, source=leaves.name(plan)))
    return Relation(plan.schema, order=RowOrder.ANY, query=distinct, leaves=leaves.all())


def _limited(binder: Binding, plan: Plan, select: ast.Select) -> Plan:
    """Apply LIMIT and OFFSET in time order."""
    if select.limit is None and select.offset is None:
        return plan
    leaves = Leaves()
    query, _ = apply_limit(binder, w.select(w.STAR, source=leaves.name(sorted_plan(plan))), select)
    return Relation(plan.schema, order=RowOrder.TIME, query=query, leaves=leaves.all())
