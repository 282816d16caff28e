"""Binds SELECT SPAN and SELECT EVENT: special columns are kept first, the kind is part of the result's type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from dctv.bind import expressions, groups
from dctv.bind.bound import Bound
from dctv.bind.context import Context, Leaves, Query
from dctv.bind.cores import Item, aliases, default_name, output, star
from dctv.bind.grouping import within
from dctv.bind.merging import merged
from dctv.bind.relations import names_of, relation
from dctv.bind.spans import SpanSource, bind_spans, sorted_plan
from dctv.bind.types import BOOLEAN
from dctv.errors import BindError, Place
from dctv.plan.nodes import Plan, Relation, physical_names
from dctv.plan.sql import aliased, table
from dctv.record import replace
from dctv.signatures.types import parse
from dctv.syntax import ast
from dctv.types.schema import DURATION, TS, Kind, Schema

if TYPE_CHECKING:
    from dctv.bind.binder import Binder


def bind_typed(binder: Binder, core: ast.Core, select: ast.Select) -> Plan:
    """Bind a span or event select."""
    _refuse(core, select)
    assert core.source is not None
    if isinstance(core.group, ast.GroupUsingPartition | ast.GroupUsingSpans):
        plan = groups.bind_group(binder, core, core.group)
    else:
        source = bind_spans(binder, core.source, core.where)
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
            f"{mode} has no GROUP BY", core.group.place, hint="GROUP USING SPANS FROM or GROUP USING PARTITION"
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


def _project(binder: Binder, core: ast.Core, source: SpanSource) -> Plan:
    leaves = Leaves()
    alias = leaves.alias("spans")
    scope = source.scope(alias)
    context = binder.context(scope, leaves, clause=f"SELECT {core.kind}", aggregates_allowed=False)
    schema = source.plan.schema
    if not core.columns:
        _warn_of_words(binder, core, schema)
    special = [
        Item(c.name, Bound(exp.column(n, alias, quoted=True), c.unit, type=parse(c.type)))
        for c, n in zip(schema.special, physical_names(schema), strict=False)
    ]
    items = [*special, *payload_items(core, context, special)]
    return assemble(binder, core, context, items, source.plan, schema.partitions)


def _warn_of_words(binder: Binder, core: ast.Core, schema: Schema) -> None:
    """Warn where `SELECT event FROM ...` may have been meant to select a column."""
    meant = next((c.name for c in schema.payload if c.name.upper() == core.kind), None)
    if meant is not None:
        message = f"SELECT {core.kind} without columns; to select the column `{meant}`, write its name in backticks"
        binder.env.warnings.entries[message] = 1


def payload_items(core: ast.Core, context: Context, special: Sequence[Item]) -> list[Item]:
    """Bind the select list of a typed select; the special columns are refused by name and dropped from stars."""
    names = {s.name.lower() for s in special} | {TS, DURATION}
    own = {s.bound.sql.sql() for s in special}
    items: list[Item] = []
    for column in core.columns:
        if isinstance(column.expr, ast.Star):
            items += [item for item in star(column.expr, context, set()) if item.bound.sql.sql() not in own]
            continue
        _refuse_name(column, core, names)
        bound = expressions.bind(column.expr, context)
        if column.name is None and bound.sql.sql() in own:
            raise _listed(column, core, default_name(column.expr, context))
        items.append(Item(column.name.text if column.name else default_name(column.expr, context), bound))
    _refuse_duplicates(core, items, names)
    return items


def _refuse_name(column: ast.ResultColumn, core: ast.Core, names: set[str]) -> None:
    """Refuse the name of a special column; behind a qualifier it may be that of an input's payload."""
    name = column.name.text if column.name else None
    if name is None and isinstance(column.expr, ast.Column) and len(column.expr.path.parts) == 1:
        name = column.expr.path.parts[0].text
    if name is not None and name.lower() in names:
        raise _listed(column, core, name)


def _listed(column: ast.ResultColumn, core: ast.Core, name: str) -> BindError:
    return BindError(
        f"`{name}` may not be listed in SELECT {core.kind}: special columns are always part of it",
        column.place or column.expr.place,
        hint="leave it out",
    )


def _refuse_duplicates(core: ast.Core, items: Sequence[Item], special: set[str]) -> None:
    seen = set(special)
    doubled: list[Item] = []
    for item in items:
        if item.name.lower() in seen:
            doubled.append(item)
        seen.add(item.name.lower())
    if doubled:
        listed = ", ".join(f"`{name}`" for name in dict.fromkeys(item.name for item in doubled))
        starred = any(isinstance(c.expr, ast.Star) for c in core.columns)
        raise BindError(
            f"the result has several columns {listed}",
            doubled[0].bound.place or core.place,
            hint="list the columns with aliases instead of `*`" if starred else "give one of them another alias",
        )


def assemble(
    binder: Binder, core: ast.Core, context: Context, items: Sequence[Item], plan: Plan, partitions: tuple[str, ...]
) -> Relation:
    """Make the plan of a typed select over one leaf; HAVING filters what comes out."""
    scope_alias = context.scope.tables[0].columns[0].sql.args["table"].name
    tree = exp.Select()
    source = exp.From(this=table(context.leaves.name(plan), scope_alias))
    tree.set("from_", source)
    outs = tuple(map(output, items))
    tree.set("expressions", [aliased(i.bound.sql, n) for i, n in zip(items, names_of(outs), strict=True)])
    parts = [i.bound for i in items]
    sure = all(one.type is not None for one in parts)
    if core.having is not None:
        having = expressions.condition(core.having, replace(context, aliases=aliases(items), clause="HAVING"))
        parts.append(having)
        sure = sure and having.type == BOOLEAN
        tree.set("where", exp.Where(this=having.sql))
    plain = len(list(tree.find_all(exp.Select))) == 1 and tree.find(exp.Window) is None
    serial = any(one.serial for one in within(parts))
    query = Query(tree, outs, tuple(parts), source, sure=sure, serial=serial)
    made = relation(query, context.leaves, binder.env, core.place, keeps_order=plain)
    schema = Schema(plan.schema.kind, made.schema.columns, partitions)
    return replace(made, schema=schema, ordered=plan.ordered and plain)


def _distinct(binder: Binder, plan: Plan) -> Plan:
    """SELECT SPAN DISTINCT: merge neighbours that touch and have the same payload; of equal events, keep one."""
    if plan.schema.kind is Kind.SPAN:
        return merged(binder, plan)
    leaves = Leaves()
    source = leaves.name(plan)
    distinct = exp.Select(expressions=[exp.Star()], distinct=exp.Distinct()).from_(table(source))
    return Relation(plan.schema, ordered=False, query=distinct, leaves=leaves.all(), keeps_order=False)


def _limited(binder: Binder, plan: Plan, select: ast.Select) -> Plan:
    """Apply LIMIT and OFFSET in time order."""
    if select.limit is None and select.offset is None:
        return plan
    from dctv.bind.selects import apply_limit

    leaves = Leaves()
    tree = exp.Select(expressions=[exp.Star()]).from_(table(leaves.name(sorted_plan(plan))))
    apply_limit(binder, tree, select)
    return Relation(plan.schema, ordered=True, query=tree, leaves=leaves.all(), keeps_order=True)
