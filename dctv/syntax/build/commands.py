"""Forms of the statements that keep rows and those that check."""

from __future__ import annotations

from collections.abc import Callable

from dctv.errors import Place
from dctv.syntax import ast, commands
from dctv.syntax.build.names import unquote
from dctv.syntax.lexer import Raw


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


def create_type(
    at: Place,
    replace: bool,
    _temporary: bool,
    if_not_exists: bool,
    path: ast.Path,
    meaning: ast.TypeName | ast.Select,
) -> commands.CreateType:
    """Make the definition of a type."""
    return commands.CreateType(path, meaning, replace, if_not_exists, place=at)


def drop_type(at: Place, if_exists: bool, path: ast.Path) -> commands.DropType:
    """Make the removal of a type."""
    return commands.DropType(path, if_exists, place=at)


def copy_option(at: Place, name: ast.Name, value: Raw | None = None) -> tuple[ast.Name, ast.String | None]:
    """Make an option of COPY; a bare word is the same as a string."""
    if value is None:
        return name, None
    text = unquote(value.text) if value.kind == "STRING" else value.text
    return name, ast.String(text, place=Place(at.source, value.start, value.stop))


def copy(
    at: Place,
    source: ast.Path | ast.Select,
    file: ast.String,
    options: tuple[tuple[ast.Name, ast.String | None], ...] | None,
) -> commands.Copy:
    """Make a copy to a file."""
    return commands.Copy(source, file, options or (), place=at)


def show_functions(at: Place) -> commands.Show:
    """Make the list of functions of expressions."""
    return commands.Show("FUNCTIONS", place=at)


def show_units(at: Place) -> commands.Show:
    """Make the list of units."""
    return commands.Show("UNITS", place=at)


def show_mounts(at: Place) -> commands.Show:
    """Make the list of mounted traces."""
    return commands.Show("MOUNTS", place=at)


FORMS: dict[str, Callable[..., object]] = {
    "expectation": expectation,
    "create_table": create_table,
    "drop_table": drop_table,
    "macro_parameter": macro_parameter,
    "create_macro": create_macro,
    "drop_macro": drop_macro,
    "create_type": create_type,
    "drop_type": drop_type,
    "copy_option": copy_option,
    "copy": copy,
    "show_functions": show_functions,
    "show_units": show_units,
    "show_mounts": show_mounts,
}
