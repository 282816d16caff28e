"""Statements that keep rows and those that check, to text."""

from __future__ import annotations

from dctv.syntax import ast, commands
from dctv.syntax.write.writer import Form, Writer


def _check(w: Writer, node: ast.Assert | commands.Expect) -> str:
    word = "ASSERT" if isinstance(node, ast.Assert) else "EXPECT"
    message = "" if node.message is None else f", {w.expr(node.message)}"
    return f"{word} {w.expr(node.expr)}{message}"


def _create_table(w: Writer, node: commands.CreateTable) -> str:
    replace, exists = " OR REPLACE" if node.replace else "", "IF NOT EXISTS " if node.if_not_exists else ""
    named = f"{w.path(node.path)}{w.names(node.columns)}"
    return f"CREATE{replace} TABLE {exists}{named} AS {w.write(node.select)}"


def _drop_table(w: Writer, node: commands.DropTable) -> str:
    return f"DROP TABLE {'IF EXISTS ' if node.if_exists else ''}{w.path(node.path)}"


FORMS: dict[type[ast.Node], Form] = {
    ast.Assert: _check,
    commands.Expect: _check,
    commands.CreateTable: _create_table,
    commands.DropTable: _drop_table,
}
