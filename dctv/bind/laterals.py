"""Subqueries and calls in FROM that read columns of the tables before them."""

from __future__ import annotations

from dctv.bind.binding import Binding, LateralTable
from dctv.bind.context import BoundQuery, Leaves
from dctv.bind.json_tables import json_rows
from dctv.bind.relations import names_of
from dctv.bind.scope import Scope, ScopeColumn, ScopeTable
from dctv.errors import BindError
from dctv.plan.expressions import Column
from dctv.plan.nodes import Plan
from dctv.plan.queries import Derived
from dctv.record import replace
from dctv.syntax import ast
from dctv.syntax.keywords import JSON_TABLES, LISTINGS
from dctv.types.schema import ColumnType

Inlined = tuple[Derived, list[ScopeTable], BoundQuery]


def alone_or_beside(binder: Binding, node: ast.Table, scope: Scope, leaves: Leaves) -> Plan | Inlined:
    """Return the plan of a table; of one that reads columns of those before it, a query in its place.

    Any subquery and call of `unnest` may do that, with LATERAL before it or without.
    """
    beside = _lateral_table(binder, node)
    if beside is not None:
        return beside_others(node, beside, leaves)
    if isinstance(node, ast.TableCall) and node.path.text.upper() in JSON_TABLES and (scope.tables or scope.parent):
        return _derived(json_rows(binder, node, scope, leaves), node.alias or ast.Alias(node.path.parts[-1]), leaves)
    select = listed(node)
    if select is None or not (scope.tables or scope.parent):
        return binder.table(node)
    if select.lateral:
        return inlined(binder, select, scope, leaves)
    try:
        return binder.table(node)
    except BindError:
        return inlined(binder, select, scope, leaves)


def _lateral_table(binder: Binding, node: ast.Table) -> LateralTable | None:
    """Return the common table that a name means, if that reads columns of the query around it."""
    if not isinstance(node, ast.TableName):
        return None
    name = binder.common_name(node.path)
    return None if name is None else binder.beside.get(name)


def beside_others(node: ast.Table, found: LateralTable, leaves: Leaves) -> Inlined:
    """Bind a use of a lateral common table, which reads columns of the enclosing query."""
    alias: ast.Alias | None = getattr(node, "alias", None)
    name = found.table.name if alias is None else alias.name
    own = () if found.recursive else found.table.columns
    columns = own if alias is None or not alias.columns else alias.columns
    return _derived(found.binder.query_beside(found, leaves), ast.Alias(name, columns, place=name.place), leaves)


def inlined(binder: Binding, node: ast.TableSelect, scope: Scope, leaves: Leaves) -> Inlined:
    """Bind a subquery in place, within a scope whose columns it may read."""
    if binder.is_typed(node.select.body):
        raise BindError(
            "LATERAL cannot return a span or event table",
            node.place,
            hint="a plain SELECT in LATERAL sees times as columns",
        )
    return _derived(binder.inline(node.select, scope, leaves), node.alias, leaves)


def _derived(query: BoundQuery, alias: ast.Alias | None, leaves: Leaves) -> Inlined:
    """Let a query stand in FROM under a name."""
    shown = None if alias is None else alias.name.text
    inner = leaves.alias(shown or "t")
    columns = tuple(
        ScopeColumn(ColumnType(out.name, "" if out.type is None else out.type.text, out.unit), Column(name, inner))
        for out, name in zip(query.outs, names_of(query.outs), strict=True)
    )
    table = ScopeTable(shown, columns)
    if alias is not None and alias.columns:
        table = renamed(table, alias)
    return Derived(query.query, inner), [table], query


def renamed(table: ScopeTable, alias: ast.Alias) -> ScopeTable:
    """Return a table with renamed columns."""
    count = len(table.columns)
    if len(alias.columns) != count:
        raise BindError(
            f"`{alias.name.text}` has {count} columns, the list names {len(alias.columns)}", alias.columns[0].place
        )
    columns = tuple(one.called(name.text) for one, name in zip(table.columns, alias.columns, strict=True))
    return replace(table, columns=columns)


def listed(node: ast.Table) -> ast.TableSelect | None:
    """Return a subquery, and a call of a function that gives the elements of a list as one."""
    if isinstance(node, ast.TableSelect):
        return node
    if not isinstance(node, ast.TableCall) or node.path.text.upper() not in LISTINGS:
        return None
    values = tuple(one.expr for one in node.arguments if isinstance(one, ast.ValueArgument))
    if len(values) < len(node.arguments) or node.keywords:
        return None
    name = ast.Name(node.path.text.lower())
    call = ast.Call(node.path, values, place=node.place)
    rows = call if name.text == "unnest" else ast.Call(ast.Path.of("unnest"), (call,), place=node.place)
    core = ast.Core((ast.ResultColumn(rows, name, place=node.place),), place=node.place)
    return ast.TableSelect(ast.Select(core, place=node.place), node.alias, place=node.place)
