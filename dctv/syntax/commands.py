"""Forms of the syntax tree for statements that keep rows or check; and the union of all statements."""

from __future__ import annotations

from typing import Literal

from dctv.record import record
from dctv.syntax import ast


@record(eq=False, text=False)
class Expect(ast.Node):
    """`EXPECT expr [, message]`: a select in it is a value, as in any expression."""

    expr: ast.Expr
    message: ast.Expr | None = None


@record(eq=False, text=False)
class CreateTable(ast.Node):
    """`CREATE [OR REPLACE] [TEMP] TABLE [IF NOT EXISTS] path (columns) AS select`."""

    path: ast.Path
    select: ast.Select
    columns: tuple[ast.Name, ...] = ()
    replace: bool = False
    if_not_exists: bool = False


@record(eq=False, text=False)
class DropTable(ast.Node):
    """`DROP TABLE [IF EXISTS] path`."""

    path: ast.Path
    if_exists: bool = False


Parameter = tuple[ast.Name, ast.Expr | None]
"""A parameter of a macro, with its default."""


@record(eq=False, text=False)
class CreateMacro(ast.Node):
    """`CREATE [OR REPLACE] [TEMP] MACRO path(name, name => default) AS expr`, or `AS TABLE select`."""

    path: ast.Path
    parameters: tuple[Parameter, ...]
    body: ast.Expr | ast.Select
    replace: bool = False


@record(eq=False, text=False)
class DropMacro(ast.Node):
    """`DROP MACRO [IF EXISTS] path`."""

    path: ast.Path
    if_exists: bool = False


@record(eq=False, text=False)
class CreateType(ast.Node):
    """`CREATE [OR REPLACE] [TEMP] TYPE [IF NOT EXISTS] path AS type`, or `AS ENUM (select)`."""

    path: ast.Path
    type: ast.TypeName | ast.Select
    replace: bool = False
    if_not_exists: bool = False


@record(eq=False, text=False)
class DropType(ast.Node):
    """`DROP TYPE [IF EXISTS] path`."""

    path: ast.Path
    if_exists: bool = False


@record(eq=False, text=False)
class Copy(ast.Node):
    """`COPY path TO 'file' (option value)` or `COPY (select) TO 'file'`."""

    source: ast.Path | ast.Select
    file: ast.String
    options: tuple[tuple[ast.Name, ast.String | None], ...] = ()


@record(eq=False, text=False)
class Show(ast.Node):
    """`SHOW FUNCTIONS`, `SHOW UNITS` or `SHOW MOUNTS`."""

    what: Literal["FUNCTIONS", "UNITS", "MOUNTS"]


Definition = CreateMacro | DropMacro | CreateType | DropType
Command = Expect | CreateTable | DropTable | Definition | Copy
Statement = ast.Statement | Command | Show
