"""Bind the core of a regular select: columns, WHERE, GROUP BY, HAVING, QUALIFY, windows."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dctv.bind import expressions
from dctv.bind.binding import Binding
from dctv.bind.bound import Bound
from dctv.bind.context import BoundColumn, BoundQuery, ClauseContext, Leaves
from dctv.bind.grouping import aggregates, outside, parts_of
from dctv.bind.grouping_sets import grouping_sets
from dctv.bind.int128 import is_wide
from dctv.bind.many_columns import of_all, once_each
from dctv.bind.relations import names_of
from dctv.bind.result_names import ResultNames
from dctv.bind.sampled_joins import sampled_join
from dctv.bind.scope import Scope
from dctv.bind.spellings import fitting
from dctv.bind.stars import named_columns
from dctv.bind.tables import bind_source
from dctv.bind.types import BOOLEAN, settled
from dctv.bind.unit_warnings import warn_of_division
from dctv.bind.unnesting import refuse_others, unnested
from dctv.bind.windows import WITHIN, window
from dctv.contracts.engine import EFFECTS, VOLATILE
from dctv.errors import BindError
from dctv.plan import walk
from dctv.plan.build import named
from dctv.plan.expressions import Call, Expression, Subquery, Window
from dctv.plan.node import Query
from dctv.plan.queries import Group, GroupingSets, Select
from dctv.record import record, replace
from dctv.syntax import ast
from dctv.syntax.node import nodes
from dctv.syntax.print import header


@record
class OutputColumn:
    """One result column: its name and its expression."""

    name: str
    bound: Bound


@record
class BoundCore:
    """A bound core: the query, and the names that ORDER BY may use."""

    query: BoundQuery
    context: ClauseContext
    items: tuple[OutputColumn, ...]
    keeps_order: bool
    keys: tuple[Bound, ...] | None = None
    """What its rows are grouped by; None if they are not grouped."""


def output(item: OutputColumn, *, any_unit: bool = False) -> BoundColumn:
    """Return a result column as outer queries see it."""
    bound = item.bound
    return BoundColumn(item.name, bound.unit, bound.family, any_unit, settled(bound.type), is_wide(bound))


def bind_core(binder: Binding, core: ast.Core, parent: Scope | None, leaves: Leaves) -> BoundCore:
    """Bind a regular core without its ORDER BY and LIMIT."""
    if isinstance(core.group, ast.GroupUsingPartition | ast.GroupUsingSpans):
        raise BindError(
            "GROUP USING makes spans", core.group.place, hint="write SELECT SPAN; a plain SELECT may read its result"
        )
    source = bind_source(binder, core.source, parent, leaves)
    if core.sample is not None:
        source = sampled_join(source, core.sample, leaves)
    context = replace(binder.context(source.scope, leaves), away=source.merged_away)
    tests = list(source.parts)
    where = having = qualify = None
    context = _with_windows(core, context)
    items = expand(core.columns, context)
    outs = tuple(output(item, any_unit=item.bound.fits_all) for item in items)
    context = replace(context, aliases=aliases(items))
    if core.where is not None:
        where = condition(core.where, replace(context, clause="WHERE", aggregates_allowed=False))
        tests.append(where)
    group, keys = _group(core.group, items, replace(context, clause="GROUP BY", aggregates_allowed=False))
    if core.qualify is not None:
        group = _listed_keys(group, keys)
    if core.having is not None:
        grouped = {key.value for key in keys or ()}
        having = condition(core.having, replace(context, clause="HAVING", grouped=grouped))
    if core.qualify is not None:
        qualify = condition(core.qualify, replace(context, clause="QUALIFY"))
    late = [one for one in (having, qualify) if one is not None]
    values = [item.bound for item in items]
    if keys is None and (core.having is not None or any(map(aggregates, [*values, *late]))):
        keys = []
    parts = (*tests, *values, *late)
    serial = any(one.serial for one in parts_of(parts))
    ungrouped = None if keys is None else outside([*values, *late], keys)
    sure = source.sure and ungrouped is None and _is_valid([*tests, *late], [*values, *(keys or ())])
    if core.qualify is not None:
        # The engine requires a window function there, or in the select list.
        sure = sure and any(isinstance(one.value, Window) for one in parts_of([*values, *late]))
    query = Select(
        tuple(named([one.value for one in values], names_of(outs))),
        source.first,
        tuple(source.joins),
        None if where is None else where.value,
        group,
        None if having is None else having.value,
        None if qualify is None else qualify.value,
        core.distinct,
    )
    made = BoundQuery(query, outs, parts, source.first, query.joins, sure, serial, ungrouped)
    stable = source.stable and _is_plain(core, query)
    return BoundCore(made, context, tuple(items), stable, None if keys is None else tuple(keys))


def _listed_keys(group: Group | None, keys: Sequence[Bound] | None) -> Group | None:
    """List the keys of GROUP BY ALL, since the engine takes no QUALIFY after it."""
    if group is None or not group.all or keys is None:
        return group
    varying = tuple(key.value for key in keys if walk.columns_in(key.value))
    return Group(varying) if varying else None


def _is_valid(conditions: Sequence[Bound], values: Sequence[Bound]) -> bool:
    """Whether binding alone shows that the engine accepts conditions and values: their types are known and fit."""
    if any(one.type != BOOLEAN for one in conditions) or any(one.type is None for one in values):
        return False
    # Whether the engine takes a subquery that it was asked about may depend on the select around it.
    return not any(isinstance(one.value, Subquery) and one.type is None for one in parts_of([*conditions, *values]))


def _with_windows(core: ast.Core, context: ClauseContext) -> ClauseContext:
    """Make the windows of WINDOW known; like OVER, they may name result columns."""
    results = _named_in(core, context)
    for name, one in core.windows:
        if name.text.lower() in context.windows:
            raise BindError(f"the window `{name.text}` is given twice", name.place)
        made = window(one, replace(context, aliases=results), expressions.bind)
        context = replace(context, windows={**context.windows, name.text.lower(): made})
    return context


def _named_in(core: ast.Core, context: ClauseContext) -> ResultNames:
    """Return the result columns that WINDOW names and the input lacks; the others may use its windows."""
    found = ResultNames()
    named: dict[str, list[ast.Expr]] = {}
    for one in core.columns:
        if one.name is not None:
            named.setdefault(one.name.text, []).append(one.expr)
    _add_named(core.windows, named, found, replace(context, aliases=found, clause=WITHIN))
    return found


def _add_named(read: object, named: dict[str, list[ast.Expr]], found: ResultNames, context: ClauseContext) -> None:
    """Bind the result columns that an expression names, after those that they name themselves."""
    for path in [node.path for node in nodes(read) if isinstance(node, ast.Column)]:
        name = next((list(named)[index] for index in fitting(named, path.text)), None)
        if name is not None and context.scope.find(path) is None:
            exprs = named.pop(name)
            _add_named(tuple(exprs), named, found, context)
            for expr in exprs:
                found.add(name, expressions.bind(expr, context))


def _is_plain(core: ast.Core, query: Query) -> bool:
    """Whether a core hands the rows of its one table on in their order; the one row of aggregates is in order too."""
    if core.distinct or core.group is not None or core.having is not None:
        return False
    return walk.is_single(query) and not any(isinstance(node, Window) for node in walk.walk(query))


def aliases(items: Sequence[OutputColumn]) -> ResultNames:
    """Return the result columns by name, as HAVING and ORDER BY may name them."""
    return ResultNames([(item.name, item.bound) for item in items])


def condition(expr: ast.Expr, context: ClauseContext) -> Bound:
    """Bind a condition, which holds if it does for all columns that COLUMNS in it stands for."""
    return expressions.condition(of_all(expr, context, named_columns), context)


def expand(columns: Sequence[ast.ResultColumn], context: ClauseContext) -> list[OutputColumn]:
    """Bind the select list; stars become the columns that they stand for."""
    refuse_others(columns)
    items: list[OutputColumn] = []
    named = ResultNames()
    # What a column is called may be said in those after it.
    context = replace(context, aliases=named)
    context.scope.results = named
    for column in columns:
        if isinstance(column.expr, ast.Star):
            items += star(column.expr, context, context.away)
            continue
        for item in bound_column(column, context):
            items.append(item)
            if column.name is not None:
                named.add(item.name, item.bound)
                warn_of_division(column.expr, item.name, item.bound, context)
    if not items:
        raise BindError("the select list is left with no column", columns[0].place or columns[0].expr.place)
    return items


def bound_column(column: ast.ResultColumn, context: ClauseContext) -> list[OutputColumn]:
    """Bind a result column that is no star: several if COLUMNS is in it, which have the names of those."""
    items = []
    for one, expr in once_each(column.expr, context, named_columns):
        spread = unnested(expr, context, expressions.bind)
        if spread is not None and (column.name is None or not spread[0][0]):
            own = default_name(column.expr, context) if column.name is None else column.name.text
            items += [OutputColumn(name if name and column.name is None else own, bound) for name, bound in spread]
            continue
        bound = expressions.bind(expr, context)
        if column.name is not None:
            name = column.name.text if one is None else one.called(column.name.text)
        else:
            name = default_name(column.expr, context) if one is None else one.name
        if not name:
            raise BindError("the name of this column would be empty", column.place, hint="give it one with AS")
        items.append(OutputColumn(name, bound))
    return items


def default_name(expr: ast.Expr, context: ClauseContext) -> str:
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


def star(expr: ast.Star, context: ClauseContext, away: Collection[Expression]) -> list[OutputColumn]:
    """Return the columns that `*` or `t.*` stands for."""
    return [OutputColumn(name, bound) for name, bound in named_columns(expr, context, away)]


def _group(
    group: ast.GroupBy | None, items: Sequence[OutputColumn], context: ClauseContext
) -> tuple[Group | None, list[Bound] | None]:
    """Write GROUP BY, and return its keys."""
    if group is None:
        return None, None
    if group.all:
        every = [item.bound for item in items if not aggregates(item.bound)]
        return _of_all(every), every
    plain: list[Expression | GroupingSets] = []
    keys: list[Bound] = []
    for item in group.items:
        if isinstance(item, ast.GroupingSets):
            sets, own = grouping_sets(item, lambda expr: _group_term(expr, items, context))
            plain.append(sets)
            keys += own
        else:
            keys.append(_group_term(item, items, context))
            plain.append(keys[-1].value)
    return Group(tuple(plain)), keys


def _of_all(keys: Sequence[Bound]) -> Group:
    """Write GROUP BY ALL as the keys that it means, which rules understand; not if a key is more than its text says."""
    values = tuple(dict.fromkeys(key.value for key in keys))
    return Group(values) if values and all(map(_is_key, values)) else Group(all=True)


def _is_key(value: Expression) -> bool:
    """Whether a value may be written twice, as a key and as a column; a constant could be taken for a position."""
    inside = list(walk.walk(value))
    calls = {node.function.lower() for node in inside if isinstance(node, Call)}
    single = not any(isinstance(node, Query | Window) for node in inside) and calls.isdisjoint(EFFECTS | VOLATILE)
    return single and bool(walk.columns_in(value))


def _group_term(expr: ast.Expr, items: Sequence[OutputColumn], context: ClauseContext) -> Bound:
    """Bind one term of GROUP BY; a number means that result column."""
    position = ordinal(expr, items, "GROUP BY")
    if position is None:
        return expressions.compared(expr, context)
    if aggregates(items[position].bound):
        what = f"column {position + 1}, `{items[position].name}`, is an aggregate"
        raise BindError(f"{what}, and GROUP BY applies to single rows", expr.place)
    return items[position].bound


def ordinal(expr: ast.Expr, items: Sequence[OutputColumn], clause: str) -> int | None:
    """Return the result column (from 0) that a bare integer means, or None for other expressions."""
    if not isinstance(expr, ast.Number) or not expr.is_integer or expr.unit is not None:
        return None
    if not 1 <= expr.value <= len(items):
        raise BindError(f"{clause} {expr.text}: the select has {len(items)} columns", expr.place)
    return int(expr.value) - 1
