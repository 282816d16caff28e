"""Write statements."""

from __future__ import annotations

from dctv.syntax import ast
from dctv.syntax.write.writer import Form, NodeWriter


def _select_statement(w: NodeWriter, node: ast.SelectStatement) -> str:
    return w.write(node.select)


def _create_view(w: NodeWriter, node: ast.CreateView) -> str:
    replace = " OR REPLACE" if node.replace else ""
    recursive = " RECURSIVE" if node.recursive else ""
    name = ("IF NOT EXISTS " if node.if_not_exists else "") + w.path(node.path)
    return f"CREATE{replace}{recursive} VIEW {name}{w.names(node.columns)} AS {w.write(node.select)}"


def _create_state_system(w: NodeWriter, node: ast.CreateStateSystem) -> str:
    replace = " OR REPLACE" if node.replace else ""
    return f"CREATE{replace} STATE SYSTEM {w.path(node.path)}{_options(w, node.options)} AS {w.write(node.select)}"


def _options(w: NodeWriter, given: tuple[tuple[ast.Name, ast.Argument], ...]) -> str:
    options = ", ".join(f"{w.name(name)} => {w.write(argument)}" for name, argument in given)
    return f" WITH ({options})" if options else ""


def _drop_state_system(w: NodeWriter, node: ast.DropStateSystem) -> str:
    return f"DROP STATE SYSTEM {'IF EXISTS ' if node.if_exists else ''}{w.path(node.path)}"


def _drop_view(w: NodeWriter, node: ast.DropView) -> str:
    return f"DROP VIEW {'IF EXISTS ' if node.if_exists else ''}{w.path(node.path)}"


def _drop_all(w: NodeWriter, node: ast.DropAll) -> str:
    return f"DROP ALL {w.path(node.path)}"


def _mount_trace(w: NodeWriter, node: ast.MountTrace) -> str:
    return f"MOUNT TRACE {w.write(node.file)} AS {w.path(node.path)}{_options(w, node.options)}"


def _mount_traces(w: NodeWriter, node: ast.MountTraces) -> str:
    return f"MOUNT TRACES {w.write(node.file)} AS {w.path(node.path)}{_options(w, node.options)}"


def _set(w: NodeWriter, node: ast.Set) -> str:
    return f"SET {w.path(node.path)} = {w.expr(node.value)}"


def _explain(w: NodeWriter, node: ast.Explain) -> str:
    manner = {"PLAN": "", "ANALYZE": "ANALYZE ", "SQL": "(SQL) "}[node.manner]
    return f"EXPLAIN {manner}{w.write(node.select)}"


def _describe(w: NodeWriter, node: ast.Describe) -> str:
    return f"DESCRIBE {w.write(node.subject)}"


def _summarize(w: NodeWriter, node: ast.Summarize) -> str:
    return f"SUMMARIZE {w.write(node.subject)}"


def _show_tables(w: NodeWriter, node: ast.ShowTables) -> str:
    return "SHOW TABLES" if node.path is None else f"SHOW TABLES FROM {w.path(node.path)}"


FORMS: dict[type[ast.Node], Form] = {
    ast.SelectStatement: _select_statement,
    ast.CreateView: _create_view,
    ast.CreateStateSystem: _create_state_system,
    ast.DropStateSystem: _drop_state_system,
    ast.DropView: _drop_view,
    ast.DropAll: _drop_all,
    ast.MountTrace: _mount_trace,
    ast.MountTraces: _mount_traces,
    ast.Set: _set,
    ast.Explain: _explain,
    ast.Describe: _describe,
    ast.Summarize: _summarize,
    ast.ShowTables: _show_tables,
}
