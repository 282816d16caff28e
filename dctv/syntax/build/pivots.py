"""Forms of pivots, as statements and behind tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, cast

from dctv.errors import ParseError, Place
from dctv.syntax import ast

Columns: TypeAlias = tuple[ast.ResultColumn, ...]
Items: TypeAlias = tuple[tuple[ast.Expr, ast.Name | None], ...]


def pivot_statement(
    at: Place,
    table: ast.Table,
    on: tuple[ast.Expr, ...],
    aggregates: Columns | None,
    group: tuple[ast.Expr, ...] | None,
) -> ast.Core:
    """Make the select that PIVOT as a statement is short for."""
    count = ast.Call(ast.Path((ast.Name("count", place=at),), place=at), (ast.Star(place=at),), place=at)
    computed = aggregates or (ast.ResultColumn(count, place=at),)
    return _all_of(at, ast.Pivot(table, computed, tuple(map(_choice, on)), group, place=at))


def pivot_alone(at: Place, table: ast.Table, aggregates: Columns, group: tuple[ast.Expr, ...] | None) -> ast.Core:
    """Make the select that PIVOT without ON is short for."""
    return _all_of(at, ast.Pivot(table, aggregates, (), group or (), place=at))


def unpivot_statement(
    at: Place,
    table: ast.Table,
    columns: Columns,
) -> ast.Core:
    """Make the select that UNPIVOT as a statement is short for."""
    name, value = ast.Name("name", place=at), ast.Name("value", place=at)
    return _all_of(at, ast.Unpivot(table, columns, name, (value,), place=at))


def unpivot_into(at: Place, table: ast.Table, columns: Columns, *parts: object) -> ast.Core:
    """Make the select that UNPIVOT with named columns is short for."""
    word, name, _, values = cast("tuple[ast.Name, ast.Name, None, tuple[ast.Name, ...]]", parts)
    # No keyword, since the terminal of all names has its name.
    if word.text.upper() != "NAME":
        raise ParseError(f"found `{word.text}`, expected `NAME`", word.place or at)
    return _all_of(at, ast.Unpivot(table, columns, name, values, place=at))


def _all_of(at: Place, table: ast.Table) -> ast.Core:
    return ast.Core((ast.ResultColumn(ast.Star(place=at), place=at),), source=table, place=at)


def _choice(expr: ast.Expr) -> ast.PivotChoice:
    """Make a choice from an expression that was parsed as a test for some values."""
    if isinstance(expr, ast.InList) and not expr.negated:
        return ast.PivotChoice(expr.operand, tuple((one, None) for one in expr.items), place=expr.place)
    return ast.PivotChoice(expr, place=expr.place)


def pivot_item(_at: Place, value: ast.Expr, name: ast.Name | None = None) -> tuple[ast.Expr, ast.Name | None]:
    """Make a value with an optional column name."""
    return value, name


def pivot_choice(at: Place, expr: ast.Expr, items: Items | None = None) -> ast.PivotChoice:
    """Make the columns of a pivot, whose values become columns."""
    return ast.PivotChoice(expr, items, place=at)


def pivot_choice_after(
    at: Place, before: tuple[ast.PivotChoice, ...], expr: ast.Expr, items: Items
) -> tuple[ast.PivotChoice, ...]:
    """Add further columns to a pivot."""
    return (*before, ast.PivotChoice(expr, items, place=expr.place or at))


def appended(_at: Place, before: tuple[ast.PivotChoice, ...], choice: ast.PivotChoice) -> tuple[ast.PivotChoice, ...]:
    """Add one after FOR."""
    return (*before, choice)


def pivot(
    at: Place,
    table: ast.Table,
    aggregates: Columns,
    choices: tuple[ast.PivotChoice, ...],
    group: tuple[ast.Expr, ...] | None,
    alias: ast.Alias | None,
) -> ast.Pivot:
    """Make a pivot behind a table."""
    return ast.Pivot(table, aggregates, choices, group, alias, place=at)


def pivot_without(
    at: Place, table: ast.Table, aggregates: Columns, group: tuple[ast.Expr, ...] | None, alias: ast.Alias | None
) -> ast.Pivot:
    """Make a pivot behind a table that makes no columns."""
    return ast.Pivot(table, aggregates, (), group or (), alias, place=at)


def unpivot(at: Place, table: ast.Table, nulls: bool, values: tuple[ast.Name, ...], *parts: object) -> ast.Unpivot:
    """Make an unpivot behind a table."""
    name, columns, alias = cast("tuple[ast.Name, Columns, ast.Alias | None]", parts)
    return ast.Unpivot(table, columns, name, values, nulls, alias, place=at)


FORMS: dict[str, Callable[..., object]] = {
    "pivot_statement": pivot_statement,
    "pivot_alone": pivot_alone,
    "unpivot_statement": unpivot_statement,
    "unpivot_into": unpivot_into,
    "pivot_item": pivot_item,
    "pivot_choice": pivot_choice,
    "pivot_choice_after": pivot_choice_after,
    "appended": appended,
    "pivot": pivot,
    "pivot_without": pivot_without,
    "unpivot": unpivot,
}
