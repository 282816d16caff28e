"""Forms of the statements that keep rows and those that check."""

from __future__ import annotations

from collections.abc import Callable

from dctv.errors import Place
from dctv.syntax import ast, commands


def expectation(at: Place, expr: ast.Expr, message: ast.Expr | None = None) -> commands.Expect:
    """Make an expectation."""
    return commands.Expect(expr, message, place=at)


def create_table(
    at: Place,
    replace: bool,
    _temporary: bool,
    if_not_exists: bool,
    path: ast.Path,
    columns: tuple[ast.Name, ...] | None,
    select: ast.Select,
) -> commands.CreateTable:
    """Make the definition of a table; all tables are temporary."""
    return commands.CreateTable(path, select, columns or (), replace, if_not_exists, place=at)


def drop_table(at: Place, if_exists: bool, path: ast.Path) -> commands.DropTable:
    """Make the removal of a table."""
    return commands.DropTable(path, if_exists, place=at)


def macro_parameter(_at: Place, name: ast.Name, default: ast.Expr | None = None) -> commands.Parameter:
    """Make a parameter of a macro."""
    return name, default


def create_macro(
    at: Place,
    replace: bool,
    _temporary: bool,
    path: ast.Path,
    parameters: tuple[commands.Parameter, ...] | None,
    body: ast.Expr | ast.Select,
) -> commands.CreateMacro:
    """Make the definition of a macro."""
    return commands.CreateMacro(path, parameters or (), body, replace, place=at)


def drop_macro(at: Place, if_exists: bool, path: ast.Path) -> commands.DropMacro:
    """Make the removal of a macro."""
    return commands.DropMacro(path, if_exists, place=at)


FORMS: dict[str, Callable[..., object]] = {
    "expectation": expectation,
    "create_table": create_table,
    "drop_table": drop_table,
    "macro_parameter": macro_parameter,
    "create_macro": create_macro,
    "drop_macro": drop_macro,
}
