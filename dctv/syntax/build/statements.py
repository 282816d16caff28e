"""Forms of statements."""

from __future__ import annotations

from collections.abc import Callable

from dctv.errors import ParseError, Place
from dctv.syntax import ast
from dctv.syntax.build.names import unquote
from dctv.syntax.build.tables import TableKeyword
from dctv.syntax.commands import Statement
from dctv.syntax.lexer import Raw


def script(_at: Place, *statements: Statement) -> list[Statement]:
    """Make a list of statements."""
    return list(statements)


def select_statement(at: Place, select: ast.Select) -> ast.SelectStatement:
    """Make a query."""
    return ast.SelectStatement(select, place=at)


def create_view(
    at: Place,
    replace: bool,
    _temporary: bool,
    words: str,
    named: tuple[bool, ast.Path, tuple[ast.Name, ...] | None],
    select: ast.Select,
) -> ast.CreateView:
    """Make the definition of a view; all views are temporary, and only their session sees their texts (SECURE)."""
    if_not_exists, path, columns = named
    recursive = words.endswith("RECURSIVE")
    if recursive and not columns:
        raise ParseError(f"the recursive view `{path.text}` needs a list of its columns", path.place or at)
    return ast.CreateView(path, select, columns or (), replace, recursive, if_not_exists, place=at)


def create_state_system(
    at: Place, replace: bool, path: ast.Path, options: tuple[TableKeyword, ...] | None, select: ast.Select
) -> ast.CreateStateSystem:
    """Make the definition of a state system."""
    return ast.CreateStateSystem(path, select, replace, _pairs(options), place=at)


def _pairs(options: tuple[TableKeyword, ...] | None) -> tuple[tuple[ast.Name, ast.Argument], ...]:
    return tuple((one.name, one.argument) for one in options or ())


def drop_state_system(at: Place, if_exists: bool, path: ast.Path) -> ast.DropStateSystem:
    """Make the removal of a state system."""
    return ast.DropStateSystem(path, if_exists, place=at)


def drop_view(at: Place, if_exists: bool, path: ast.Path) -> ast.DropView:
    """Make the removal of a view."""
    return ast.DropView(path, if_exists, place=at)


def drop_all(at: Place, path: ast.Path) -> ast.DropAll:
    """Make the removal of a namespace."""
    return ast.DropAll(path, place=at)


def file(at: Place, token: Raw) -> ast.String:
    """Make the name of a trace file."""
    return ast.String(unquote(token.text), place=at)


def mount_trace(
    at: Place, file: ast.String, path: ast.Path, options: tuple[TableKeyword, ...] | None
) -> ast.MountTrace:
    """Make the mounting of a trace."""
    return ast.MountTrace(file, path, _pairs(options), place=at)


def mount_traces(
    at: Place, file: ast.String, path: ast.Path, options: tuple[TableKeyword, ...] | None
) -> ast.MountTraces:
    """Make the mounting of many traces as one."""
    return ast.MountTraces(file, path, _pairs(options), place=at)


def set_variable(at: Place, path: ast.Path, value: ast.Expr) -> ast.Set:
    """Make the setting of a variable."""
    return ast.Set(path, value, place=at)


def explain(at: Place, select: ast.Select) -> ast.Explain:
    """Make the explanation of a query."""
    return ast.Explain(select, place=at)


def explain_analyze(at: Place, select: ast.Select) -> ast.Explain:
    """Make the explanation of a query that is run for it."""
    return ast.Explain(select, "ANALYZE", place=at)


def explain_sql(at: Place, select: ast.Select) -> ast.Explain:
    """Make the explanation of a query as the engine's SQL."""
    return ast.Explain(select, "SQL", place=at)


def describe(at: Place, subject: ast.Path | ast.Select) -> ast.Describe:
    """Make the description of a table or select."""
    return ast.Describe(subject, place=at)


def summarize(at: Place, subject: ast.Path | ast.Select) -> ast.Summarize:
    """Make the summary of a table or select."""
    return ast.Summarize(subject, place=at)


def show_tables(at: Place, path: ast.Path | None = None) -> ast.ShowTables:
    """Make the list of tables."""
    return ast.ShowTables(path, place=at)


def assertion(at: Place, expr: ast.Expr, message: ast.Expr | None = None) -> ast.Assert:
    """Make an assertion."""
    return ast.Assert(expr, message, place=at)


FORMS: dict[str, Callable[..., object]] = {
    "script": script,
    "select_statement": select_statement,
    "create_view": create_view,
    "create_state_system": create_state_system,
    "drop_state_system": drop_state_system,
    "drop_view": drop_view,
    "drop_all": drop_all,
    "file": file,
    "mount_trace": mount_trace,
    "mount_traces": mount_traces,
    "set_variable": set_variable,
    "explain": explain,
    "explain_analyze": explain_analyze,
    "explain_sql": explain_sql,
    "describe": describe,
    "summarize": summarize,
    "show_tables": show_tables,
    "assertion": assertion,
}
