"""Run CREATE MACRO and DROP MACRO: put texts with parameters into the namespace."""

from __future__ import annotations

from dctv.bind.context import Environment
from dctv.bind.spans import columns_in
from dctv.catalog.namespace import Catalog, Macro
from dctv.errors import BindError
from dctv.run import naming
from dctv.run.naming import free_name
from dctv.run.result import Done
from dctv.syntax import ast, commands
from dctv.syntax.node import nodes
from dctv.syntax.print import to_sql


def create(statement: commands.CreateMacro, env: Environment) -> Done:
    """Give a text with parameters a name.

    Raises:
        BindError: the name is taken, or the text cannot be that of a macro.
    """
    path = statement.path
    parts = free_name(path, env.catalog, "MACRO", _is_macro, replaces=statement.replace)
    _check_is_no_function(path, env)
    _check_parameters(statement.parameters)
    _check_body(statement, {name.text.lower() for name, _ in statement.parameters})
    parameters = {name.text.lower(): default for name, default in statement.parameters}
    shown = ", ".join(map(_shown, statement.parameters))
    env.catalog.add(parts, Macro(parameters, statement.body, f"{path.text}({shown})"))
    return Done(f"created macro {path.text}")


def drop(statement: commands.DropMacro, catalog: Catalog) -> Done:
    """Forget a macro."""
    return naming.drop(statement, catalog, "macro", _is_macro)


def _shown(parameter: commands.Parameter) -> str:
    name, default = parameter
    return name.text if default is None else f"{name.text} => {to_sql(default)}"


def _is_macro(entry: object) -> bool:
    return isinstance(entry, Macro)


def _check_is_no_function(path: ast.Path, env: Environment) -> None:
    """Refuse names of functions, which views call by them."""
    engine, name = env.engine, path.text.lower()
    if name in engine.functions() or name in env.rules or name in engine.table_functions():
        raise BindError(f"`{path.text}` is a function already", path.place)


def _check_parameters(parameters: tuple[commands.Parameter, ...]) -> None:
    seen: set[str] = set()
    optional = ""
    for name, default in parameters:
        if name.text.lower() in seen:
            raise BindError(f"two parameters are called `{name.text}`", name.place)
        seen.add(name.text.lower())
        if default is None and optional:
            raise BindError(f"`{name.text}` needs a default, since `{optional}` before it has one", name.place)
        optional = name.text if default is not None else optional


def _check_body(statement: commands.CreateMacro, names: set[str]) -> None:
    own = statement.path.text.lower()
    for node in nodes((statement.body, *(default for _, default in statement.parameters if default is not None))):
        if isinstance(node, ast.Bind):
            raise BindError("a macro has no bind parameters", node.place, hint="give it a parameter of its own")
        called = node.function if isinstance(node, ast.Call) else node.path if isinstance(node, ast.TableCall) else None
        if called is not None and called.text.lower() == own:
            raise BindError(f"the macro `{statement.path.text}` calls itself", node.place)
    if isinstance(statement.body, ast.Select):
        return
    for column in columns_in(statement.body):
        if column.path.parts[0].text.lower() in names:
            continue
        listed = ", ".join(name.text for name, _ in statement.parameters)
        hint = f"its parameters: {listed}" if listed else "give it a parameter"
        raise BindError(f"`{column.path.text}` is no parameter of the macro", column.place, hint=hint)
