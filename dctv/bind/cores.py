"""Binds the core of a regular select: columns, WHERE, GROUP BY, HAVING, QUALIFY, windows."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dctv.bind import calls, expressions
from dctv.bind.binding import Binding
from dctv.bind.bound import Bound
from dctv.bind.context import Context, Leaves, Out, Query
from dctv.bind.grouping import aggregates, outside, within
from dctv.bind.relations import names_of
from dctv.bind.scope import Scope, ScopeColumn, unknown_column
from dctv.bind.tables import Source, bind_source
from dctv.bind.types import BOOLEAN, settled
from dctv.bind.unit_slips import warn_of_division
from dctv.errors import BindError, nearest
from dctv.plan.shape import nodes_of
from dctv.plan.sql import aliased, identifier
from dctv.record import record, replace
from dctv.syntax import ast
from dctv.syntax.print import header


@record
class Item:
    """One result column: its name and its expression."""

    name: str
    bound: Bound


@record
class BoundCore:
    """A bound core: the query, and what ORDER BY may name."""

    query: Query
    context: Context
    items: tuple[Item, ...]
    keeps_order: bool
    keys: tuple[Bound, ...] | None = None
    """What its rows are grouped by; None if they are not grouped."""


def output(item: Item, *, any_unit: bool = False) -> Out:
    """Return what a result column is to those who read it."""
    bound = item.bound
    return Out(item.name, bound.unit, bound.family, any_unit, settled(bound.type))


def bind_core(binder: Binding, core: ast.Core, parent: Scope | None, leaves: Leaves) -> BoundCore:
    """Bind a regular core without its ORDER BY and LIMIT."""
    if isinstance(core.group, ast.GroupUsingPartition | ast.GroupUsingSpans):
        raise BindError(
            "GROUP USING makes spans", core.group.place, hint="write SELECT SPAN; a plain SELECT may read its result"
        )
    source = bind_source(binder, core.source, parent, leaves)
    context = binder.context(source.scope, leaves)
    tests = list(source.parts)
    tree = exp.Select()
    if source.first is not None:
        tree.set("from_", source.first)
        tree.set("joins", source.joins)
    if core.where is not None:
        where = expressions.condition(core.where, replace(context, clause="WHERE", aggregates_allowed=False))
        tests.append(where)
        tree.set("where", exp.Where(this=where.sql))
    context = _with_windows(tree, core, context)
    items = expand(core.columns, context, source)
    outs = tuple(output(item, any_unit=fits_all(item.bound)) for item in items)
    named = replace(context, aliases=aliases(items))
    tree.set("expressions", [aliased(i.bound.sql, n) for i, n in zip(items, names_of(outs), strict=True)])
    keys: list[Bound] | None = None
    if core.group is not None:
        keys = _group(tree, core.group, items, replace(named, clause="GROUP BY", aggregates_allowed=False))
    late = []
    for clause, expr, form in (("having", core.having, exp.Having), ("qualify", core.qualify, exp.Qualify)):
        if expr is not None:
            late.append(expressions.condition(expr, replace(named, clause=clause.upper())))
            tree.set(clause, form(this=late[-1].sql))
    if core.distinct:
        tree.set("distinct", exp.Distinct())
    values = [item.bound for item in items]
    if keys is None and (core.having is not None or any(map(aggregates, [*values, *late]))):
        keys = []
    parts = (*tests, *values, *late)
    serial = any(one.serial for one in within(parts))
    ungrouped = None if keys is None else outside([*values, *late], keys)
    sure = source.sure and ungrouped is None and all(one.type == BOOLEAN for one in (*tests, *late))
    sure = sure and all(one.type is not None for one in (*values, *(keys or ())))
    if core.qualify is not None:
        # The engine wants a window function there, or among what is selected.
        sure = sure and any(isinstance(one.sql, exp.Window) for one in within([*values, *late]))
    query = Query(tree, outs, parts, source.first, tuple(source.joins), sure, serial, ungrouped)
    stable = source.stable and _is_plain(core, tree)
    return BoundCore(query, named, tuple(items), stable, None if keys is None else tuple(keys))


def _with_windows(tree: exp.Select, core: ast.Core, context: Context) -> Context:
    """Write the definitions of WINDOW, and make them known."""
    windows = []
    for name, one in core.windows:
        written, made = calls.window(one, context, expressions.bind, identifier(name.text))
        windows.append(written)
        context = replace(context, windows={**context.windows, name.text.lower(): made})
    if windows:
        tree.set("windows", windows)
    return context


def _is_plain(core: ast.Core, tree: exp.Select) -> bool:
    """Whether a core hands the rows of its one table on in their order; the one row of aggregates is in order too."""
    if core.distinct or core.group is not None or core.having is not None or tree.find(exp.Window) is not None:
        return False
    return sum(isinstance(node, exp.Select) for node in nodes_of(tree)) == 1


def aliases(items: Sequence[Item]) -> dict[str, Bound]:
    """Return the result columns by lower-case name, as HAVING and ORDER BY may name them."""
    return {item.name.lower(): item.bound for item in reversed(items)}


def expand(columns: Sequence[ast.ResultColumn], context: Context, source: Source | None) -> list[Item]:
    """Bind the select list; stars become the columns that they stand for."""
    items: list[Item] = []
    for column in columns:
        if isinstance(column.expr, ast.Star):
            away = source.merged_away if source is not None else set()
            items += star(column.expr, context, away)
        else:
            bound = expressions.bind(column.expr, context)
            if column.name is not None:
                warn_of_division(column.expr, column.name.text, bound, context)
            items.append(Item(column.name.text if column.name else default_name(column.expr, context), bound))
    return items


def default_name(expr: ast.Expr, context: Context) -> str:
    """Return the name of a column without an alias: a plain column's own spelling, or the expression.

    A column in another unit keeps its name: the unit is no part of it.
    """
    if isinstance(expr, ast.InUnit) and isinstance(expr.operand, ast.Column):
        return default_name(expr.operand, context)
    if isinstance(expr, ast.Column):
        scope = context.aggregated if context.inside_aggregate and context.aggregated else context.scope
        found = scope.find(expr.path)
        if found is not None:
            return found.name
    return header(expr)


def star(expr: ast.Star, context: Context, away: set[str]) -> list[Item]:
    """Return the columns that `*` or `t.*` stands for."""
    columns = _starred(expr, context.scope, away)
    if not columns:
        raise BindError("`*` needs a FROM", expr.place)
    names = [c.name for c in columns]
    excluded = {_listed(name, names).lower() for name in expr.exclude}
    replaced = {_listed(name, names).lower(): expressions.bind(e, context) for e, name in expr.replace}
    items = []
    for column in columns:
        if column.name.lower() in excluded:
            continue
        bound = replaced.get(column.name.lower()) or Bound(
            column.sql.copy(), column.column.unit, expr.place, type=column.type
        )
        items.append(Item(column.name, bound))
    return items


def _starred(expr: ast.Star, scope: Scope, away: set[str]) -> list[ScopeColumn]:
    if expr.qualifier is not None:
        table = scope.find_table(tuple(p.text for p in expr.qualifier.parts))
        if table is None:
            known = [t.alias for t in scope.tables if t.alias]
            near = nearest(expr.qualifier.text, known)
            hint = f"did you mean `{near}`?" if near else f"tables here: {', '.join(known)}" if known else None
            raise BindError(f"unknown table `{expr.qualifier.text}`", expr.qualifier.place or expr.place, hint=hint)
        return list(table.columns)
    columns: list[ScopeColumn] = []
    full = set()
    for column in scope.columns():
        if column.sql.sql() in away:
            merged = scope.merged.get(column.name.lower())
            if merged is not None and isinstance(merged.sql, exp.Anonymous) and column.name.lower() not in full:
                full.add(column.name.lower())
                columns.append(merged)
            continue
        columns.append(column)
    return columns


def _listed(name: ast.Name, names: list[str]) -> str:
    for candidate in names:
        if candidate.lower() == name.text.lower():
            return candidate
    raise unknown_column(name.text, nearest(name.text, names), names, name.place)


def _group(tree: exp.Select, group: ast.GroupBy, items: Sequence[Item], context: Context) -> list[Bound]:
    """Write GROUP BY, and return what it groups by."""
    if group.all:
        tree.set("group", exp.Group(all=True))
        return [item.bound for item in items if not aggregates(item.bound)]
    plain: list[exp.Expr] = []
    keys: list[Bound] = []
    for item in group.items:
        if isinstance(item, ast.GroupingSets):
            sets = [[_group_term(e, items, context) for e in one] for one in item.sets]
            plain.append(_grouping_sets(item.kind, sets))
            keys += [key for one in sets for key in one]
        else:
            keys.append(_group_term(item, items, context))
            plain.append(keys[-1].sql.copy())
    tree.set("group", exp.Group(expressions=plain))
    return keys


def _group_term(expr: ast.Expr, items: Sequence[Item], context: Context) -> Bound:
    """Bind one term of GROUP BY; a number means that result column."""
    position = ordinal(expr, items, "GROUP BY")
    return expressions.bind(expr, context) if position is None else items[position].bound


def ordinal(expr: ast.Expr, items: Sequence[Item], clause: str) -> int | None:
    """Return the result column (from 0) that a bare integer means, or None for other expressions."""
    if not isinstance(expr, ast.Number) or not expr.is_integer or expr.unit is not None:
        return None
    if not 1 <= expr.value <= len(items):
        raise BindError(f"{clause} {expr.text}: the select has {len(items)} columns", expr.place)
    return int(expr.value) - 1


def _grouping_sets(kind: str, sets: Sequence[Sequence[Bound]]) -> exp.Expr:
    written = [[key.sql.copy() for key in one] for one in sets]
    tuples: list[exp.Expr] = [one[0] if len(one) == 1 else exp.Tuple(expressions=one) for one in written]
    if kind == "GROUPING SETS":
        return exp.GroupingSets(expressions=tuples)
    return (exp.Rollup if kind == "ROLLUP" else exp.Cube)(expressions=tuples)


def fits_all(bound: Bound) -> bool:
    """Whether an expression goes with every unit: a bare NULL or 0."""
    return bound.is_zero or isinstance(bound.sql, exp.Null)
