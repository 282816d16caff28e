"""Bind PIVOT and UNPIVOT: write each as the syntax tree of a select over its table, and bind that.

The columns of a PIVOT are known when it is bound. Where no values are listed, a query of its own asks for them then.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import product
from typing import Any

from dctv.bind.binding import Binding
from dctv.bind.context import ClauseContext, Leaves
from dctv.bind.many_columns import once_each
from dctv.bind.scope import Scope, table_in_scope
from dctv.bind.spellings import fitting
from dctv.bind.stars import named_columns
from dctv.errors import BindError
from dctv.plan.nodes import Plan
from dctv.record import fields, record, replace
from dctv.syntax import ast
from dctv.syntax.logical import logical
from dctv.syntax.node import nodes
from dctv.syntax.print import header

_SOURCE = "dctv:pivot"
_MOST_COLUMNS = 10_000


@record
class _Value:
    """A value whose rows become a column: the column's name, and the test for the rows."""

    name: str
    test: ast.Expr


def pivoted(binder: Binding, node: ast.Pivot) -> Plan:
    """Bind a pivot: groups, and in each of them every aggregate of the rows of every value."""
    inner, plan, source = _over(binder, node.table)
    found = [_values(inner, choice, source) for choice in node.choices]
    keys = node.group if node.group is not None else _other_columns(plan, (node.choices, node.aggregates))
    columns = [ast.ResultColumn(key, place=key.place) for key in keys]
    count = len(node.aggregates)
    for one in found:
        count *= len(one)
    if count > _MOST_COLUMNS:
        hint = f"list fewer than {_MOST_COLUMNS} values in IN"
        raise BindError(f"the pivot would have {count} columns", node.place, hint=hint)
    for chosen in product(*found):
        columns += [_aggregate(inner, one, chosen, alone=len(node.aggregates) == 1) for one in node.aggregates]
    group = ast.GroupBy(tuple(keys), place=node.place) if keys else None
    core = ast.Core(tuple(columns), source=source, group=group, place=node.place)
    return inner.plan(ast.Select(core, place=node.place))


def unpivoted(binder: Binding, node: ast.Unpivot) -> Plan:
    """Bind an unpivot: for each row a row for each of the columns, which are put into lists and taken out again."""
    inner, plan, source = _over(binder, node.table)
    columns = list(_expanded(inner, node.columns, plan, source))
    values = [_row(one.expr) for one in columns]
    for one, value in zip(columns, values, strict=True):
        if len(value) != len(node.values):
            raise BindError(
                f"UNPIVOT makes {len(node.values)} column{'s' * (len(node.values) != 1)} of values, found {len(value)}",
                one.place or one.expr.place,
            )
    names = ast.List(tuple(ast.String(_name_of(one, plan.schema.names)) for one in columns), place=node.place)
    lists = [ast.List(tuple(one), place=node.place) for one in zip(*values, strict=True)]
    made = [_unnested(names, node.name), *(_unnested(one, to) for one, to in zip(lists, node.values, strict=True))]
    other_columns = [ast.ResultColumn(one, place=one.place) for one in _other_columns(plan, columns)]
    core = ast.Core((*other_columns, *made), source=source, place=node.place)
    rows = ast.TableSelect(ast.Select(core, place=node.place), ast.Alias(ast.Name(_SOURCE)), place=node.place)
    star = ast.ResultColumn(ast.Star(place=node.place), place=node.place)
    tests = () if node.include_nulls else tuple(_known(name) for name in node.values)
    return inner.plan(
        ast.Select(
            ast.Core((star,), source=rows, where=_all_of(tests) if tests else None, place=node.place), place=node.place
        )
    )


def _over(binder: Binding, table: ast.Table) -> tuple[Binding, Plan, ast.Table]:
    """Bind the table of a pivot; return a binding that contains it, its plan, and the node that reads it."""
    if isinstance(table, ast.Join):
        star = ast.ResultColumn(ast.Star(place=table.place), place=table.place)
        table = ast.TableSelect(ast.Select(ast.Core((star,), source=table, place=table.place)), place=table.place)
    plan = binder.table(table)
    alias = getattr(table, "alias", None)
    path = binder.full_path(table)
    name = alias.name if alias is not None else ast.Name(path[-1] if path else "t")
    inner = binder.copy(common={**binder.common, _SOURCE: plan})
    return inner, plan, ast.TableName(ast.Path.of(_SOURCE), ast.Alias(name), place=table.place)


def _other_columns(plan: Plan, named: object) -> list[ast.Expr]:
    """Return the columns of a plan that are not named in some nodes."""
    names = plan.schema.names
    read = {one.path.parts[-1].text for one in nodes(named) if isinstance(one, ast.Column)}
    away = {index for name in read for index in fitting(names, name)}
    return [_column(name) for index, name in enumerate(names) if index not in away]


def _column(name: str) -> ast.Column:
    return ast.Column(ast.Path((ast.Name(name),)))


def _values(binder: Binding, choice: ast.PivotChoice, source: ast.Table) -> list[_Value]:
    """Return the values that one part of ON is about."""
    expr = choice.expr
    if isinstance(expr, ast.InSelect):
        raise BindError("PIVOT takes a list of values, or none", expr.place, hint="without IN, PIVOT uses all values")
    if choice.values is not None:
        return _listed(binder, expr, choice.values)
    distinct = ast.Core((ast.ResultColumn(expr, ast.Name("x"), place=expr.place),), distinct=True, source=source)
    rows = ast.TableSelect(ast.Select(distinct, place=expr.place), ast.Alias(ast.Name("v")))
    shown = ast.Core(
        (ast.ResultColumn(_text(_column("x"))),), source=rows, where=_known(ast.Name("x")), place=expr.place
    )
    plan = binder.plan(ast.Select(shown, order_by=(ast.OrderTerm(_column("x")),), place=expr.place))
    found = dict.fromkeys(str(one) for one in binder.env.evaluate(plan))
    return [_Value(one, _is(_text(expr), ast.String(one, place=expr.place))) for one in found]


def _listed(binder: Binding, expr: ast.Expr, values: Sequence[tuple[ast.Expr, ast.Name | None]]) -> list[_Value]:
    """Return the values that are listed in IN: a bare name is a text, as elsewhere, and each stands there once."""
    found: dict[str, _Value] = {}
    for value, name in values:
        text = _as_text(value, binder.env.macro_arguments)
        one = _Value(_shown(text) if name is None else name.text, _is(expr, text))
        if one.name in found:
            raise BindError(f"PIVOT would make two columns `{one.name}`", value.place, hint="list each value once")
        found[one.name] = one
    return list(found.values())


def _as_text(value: ast.Expr, parameters: Collection[str]) -> ast.Expr:
    """Return the text that a bare name stands for, as it is written; a parameter of a macro is no such name."""
    if isinstance(value, ast.Row):
        return replace(value, items=tuple(_as_text(one, parameters) for one in value.items))
    if not isinstance(value, ast.Column) or len(value.path.parts) > 1 or value.path.text.lower() in parameters:
        return value
    return ast.String(value.path.text, place=value.place)


def _is(expr: ast.Expr, value: ast.Expr) -> ast.Expr:
    if isinstance(expr, ast.Row) and isinstance(value, ast.Row) and len(expr.items) == len(value.items):
        return _all_of([_is(one, other) for one, other in zip(expr.items, value.items, strict=True)])
    missing = isinstance(value, ast.Constant) and value.value is None
    return ast.Binary("<=>" if missing else "=", expr, value, place=value.place)


def _text(expr: ast.Expr) -> ast.Expr:
    """Return a value as text, without its unit."""
    cast = ast.Cast(expr, ast.TypeName("STRING"), place=expr.place)
    return ast.Call(ast.Path.of("unitless"), (cast,), place=expr.place)


def _shown(value: ast.Expr) -> str:
    """Return the column name of a listed value: its text."""
    match value:
        case ast.String(text):
            return text
        case ast.Number(text, unit):
            return f"{text}{unit or ''}"
        case ast.Constant(truth):
            return "NULL" if truth is None else str(truth).lower()
        case ast.Row(items):
            return "_".join(map(_shown, items))
        case _:
            return header(value)


def _aggregate(binder: Binding, column: ast.ResultColumn, chosen: Sequence[_Value], *, alone: bool) -> ast.ResultColumn:
    """Return an aggregate of the rows of some values."""
    own = column.name.text if column.name is not None else None if alone and chosen else header(column.expr)
    name = "_".join([*(one.name for one in chosen), *([] if own is None else [own])])
    expr = column.expr
    if chosen:
        expr = _filtered(binder, expr, _all_of([one.test for one in chosen]))
        if expr == column.expr:
            raise BindError("USING of a PIVOT takes aggregates", expr.place, hint="such as first(x) or SUM(x)")
    return ast.ResultColumn(expr, ast.Name(name), place=column.place)


def _filtered(binder: Binding, node: Any, test: ast.Expr) -> Any:
    """Return an expression with its aggregates filtered by a test."""
    if isinstance(node, tuple):
        return tuple(_filtered(binder, one, test) for one in node)
    if not isinstance(node, ast.Node) or isinstance(node, ast.Select):
        return node
    if isinstance(node, ast.Call) and node.over is None and _is_aggregate(binder, node.function.text.lower()):
        return replace(node, filter=test if node.filter is None else logical("AND", (node.filter, test), node.place))
    changes = {
        one.name: _filtered(binder, getattr(node, one.name), test) for one in fields(node) if one.name != "place"
    }
    return replace(node, **changes)


def _is_aggregate(binder: Binding, name: str) -> bool:
    rule = binder.env.rules.get(name)
    return (binder.env.engine.functions().get(name) if rule is None else rule.kind) == "aggregate"


def _expanded(
    binder: Binding, columns: Sequence[ast.ResultColumn], plan: Plan, source: ast.Table
) -> Iterator[ast.ResultColumn]:
    """Yield the columns of an unpivot, with stars and COLUMNS expanded."""
    context: ClauseContext | None = None
    for one in columns:
        stands = isinstance(one.expr, ast.Star | ast.Columns)
        if not stands:
            nested = next((node for node in nodes(one.expr) if isinstance(node, ast.Columns)), None)
            if nested is not None:
                hint = "compute with the columns in a subquery"
                raise BindError("COLUMNS stands alone among the columns of UNPIVOT", nested.place, hint=hint)
            yield replace(one, expr=_as_column(one.expr))
            continue
        if context is None:
            assert isinstance(source, ast.TableName)
            alias = source.alias.name.text if source.alias else None
            context = binder.context(Scope([table_in_scope(plan, "t", alias)]), Leaves())
        if isinstance(one.expr, ast.Star):
            names = [name for name, _ in named_columns(one.expr, context, ())]
        else:
            names = [column.name for column, _ in once_each(one.expr, context, named_columns) if column is not None]
        for name in names:
            column = replace(_column(name), place=one.place)
            yield ast.ResultColumn(column, place=one.place)


def _as_column(expr: ast.Expr) -> ast.Expr:
    """Return the column that a text stands for: other engines take both kinds of quotes for its name."""
    if isinstance(expr, ast.Row):
        return replace(expr, items=tuple(map(_as_column, expr.items)))
    return replace(_column(expr.text), place=expr.place) if isinstance(expr, ast.String) else expr


def _row(expr: ast.Expr) -> tuple[ast.Expr, ...]:
    return expr.items if isinstance(expr, ast.Row) else (expr,)


def _name_of(column: ast.ResultColumn, declared: Sequence[str]) -> str:
    """Return the text that names the source column of a value, as in the table."""
    if column.name is not None:
        return column.name.text
    named = [one.path.parts[-1].text for one in nodes(column.expr) if isinstance(one, ast.Column)]
    if not named:
        return header(column.expr)
    return "_".join(next((declared[index] for index in fitting(declared, name)), name) for name in named)


def _unnested(items: ast.List, name: ast.Name) -> ast.ResultColumn:
    call = ast.Call(ast.Path.of("unnest"), (items,), place=items.place)
    return ast.ResultColumn(call, name, place=items.place)


def _known(name: ast.Name) -> ast.Expr:
    column = ast.Column(ast.Path((name,), place=name.place), place=name.place)
    return ast.Binary("<!=>", column, ast.Constant(None, place=name.place), place=name.place)


def _all_of(tests: Sequence[ast.Expr]) -> ast.Expr:
    """Say that all of one or more tests hold."""
    return logical("AND", tests, tests[0].place)
