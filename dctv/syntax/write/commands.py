"""Write statements that keep rows and those that check."""

from __future__ import annotations

from dctv.syntax import ast, commands
from dctv.syntax.write.writer import Form, NodeWriter


def _check(w: NodeWriter, node: ast.Assert | commands.Expect) -> str:
    word = "ASSERT" if isinstance(node, ast.Assert) else "EXPECT"
    message = "" if node.message is None else f", {w.expr(node.message)}"
    return f"{word} {w.expr(node.expr)}{message}"


def _create_table(w: NodeWriter, node: commands.CreateTable) -> str:
    replace, exists = " OR REPLACE" if node.replace else "", "IF NOT EXISTS " if node.if_not_exists else ""
    named = f"{w.path(node.path)}{w.names(node.columns)}"
    return f"CREATE{replace} TABLE {exists}{named} AS {w.write(node.select)}"


def _drop_table(w: NodeWriter, node: commands.DropTable) -> str:
    return f"DROP TABLE {'IF EXISTS ' if node.if_exists else ''}{w.path(node.path)}"


def _create_macro(w: NodeWriter, node: commands.CreateMacro) -> str:
    replace, table = " OR REPLACE" if node.replace else "", "TABLE " if isinstance(node.body, ast.Select) else ""
    parameters = ", ".join(
        w.name(name) if default is None else f"{w.name(name)} => {w.expr(default)}" for name, default in node.parameters
    )
    body = w.expr(node.body) if isinstance(node.body, ast.Expr) else w.write(node.body)
    return f"CREATE{replace} MACRO {w.path(node.path)}({parameters}) AS {table}{body}"


def _drop_macro(w: NodeWriter, node: commands.DropMacro) -> str:
    return f"DROP MACRO {'IF EXISTS ' if node.if_exists else ''}{w.path(node.path)}"


def _create_type(w: NodeWriter, node: commands.CreateType) -> str:
    replace, exists = " OR REPLACE" if node.replace else "", "IF NOT EXISTS " if node.if_not_exists else ""
    meaning = f"ENUM ({w.write(node.type)})" if isinstance(node.type, ast.Select) else w.write(node.type)
    return f"CREATE{replace} TYPE {exists}{w.path(node.path)} AS {meaning}"


def _drop_type(w: NodeWriter, node: commands.DropType) -> str:
    return f"DROP TYPE {'IF EXISTS ' if node.if_exists else ''}{w.path(node.path)}"


def _copy(w: NodeWriter, node: commands.Copy) -> str:
    source = w.path(node.source) if isinstance(node.source, ast.Path) else f"({w.write(node.source)})"
    options = [w.name(name) if value is None else f"{w.name(name)} {w.write(value)}" for name, value in node.options]
    listed = f" ({', '.join(options)})" if options else ""
    return f"COPY {source} TO {w.write(node.file)}{listed}"


def _show(_w: NodeWriter, node: commands.Show) -> str:
    return f"SHOW {node.what}"


FORMS: dict[type[ast.Node], Form] = {
    ast.Assert: _check,
    commands.Expect: _check,
    commands.CreateTable: _create_table,
    commands.DropTable: _drop_table,
    commands.CreateMacro: _create_macro,
    commands.DropMacro: _drop_macro,
    commands.CreateType: _create_type,
    commands.DropType: _drop_type,
    commands.Copy: _copy,
    commands.Show: _show,
}
