"""Make the plan of a file that a query names in FROM: the file is mounted while the query is bound."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dctv.bind.binder import Binder
from dctv.bind.context import Environment
from dctv.catalog.files import list_files
from dctv.catalog.mount import Mount
from dctv.errors import BindError, TraceError, UsageError, nearest
from dctv.home import expanded
from dctv.plan.nodes import Plan
from dctv.run.context import ExecutionContext
from dctv.run.mounting import Wanted, mount
from dctv.syntax import ast
from dctv.syntax.write.writer import dotted

_SPACE = ("_files", "file")
"""The name of the temporary mount, which is dropped once the query is bound."""
_FEW = 6


def file_table(node: ast.TableFile, env: Environment, context: ExecutionContext) -> Plan:
    """Mount a file, and bind the table of it that is named, or its only one.

    Raises:
        BindError: the query may not name the file, or it has no such table, or several.
        TraceError: the file cannot be read.
    """
    file = node.file
    _check_is_no_table(file, env, context)
    _check_allowed(file, env, context)
    try:
        mount(Wanted([file.text], ast.Path(tuple(map(ast.Name, _SPACE))), {}, env.base), context)
    except (TraceError, UsageError) as error:
        raise type(error)(error.message, error.place or file.place, hint=error.hint) from None
    made = context.mounts[_SPACE]
    context.unread.extend(reason for reason in made.incomplete if reason not in context.unread)
    try:
        return _plan(node, made, env)
    finally:
        del context.mounts[_SPACE]
        context.catalog.drop_space(_SPACE[:1])


def _check_is_no_table(file: ast.String, env: Environment, context: ExecutionContext) -> None:
    """Refuse the name of a table in quotes, unless there is a file of that name which a query may read."""
    if env.catalog.find(tuple(file.text.split("."))) is None:
        return
    if not (context.engine.reads_files() and ((env.base or Path()) / file.text).exists()):
        raise BindError(
            "found a string, expected a table", file.place, hint=f"names of tables stand without quotes: {file.text}"
        )


def _check_allowed(file: ast.String, env: Environment, context: ExecutionContext) -> None:
    """Refuse files that a query may not name, also where a folder or a pattern means them; none is opened for that."""
    engine = context.engine
    allowed = engine.reads_files() and engine.may_name((env.base or Path()) / expanded(file.text))
    if allowed:
        try:
            allowed = all(map(engine.may_name, list_files([file.text], context.registries.readers, env.base)))
        except TraceError as error:
            raise TraceError(error.message, file.place, hint=error.hint) from None
    if not allowed:
        refused = engine.refused_file(file.text)
        raise BindError(refused.message, file.place, hint=refused.hint)


def _plan(node: ast.TableFile, made: Mount, env: Environment) -> Plan:
    if node.table is None:
        names = list(made.trace.tables)
        if len(names) != 1:
            raise _several(node, names)
        return made.given[names[0]]()
    catalog = env.catalog
    parts = tuple(part.text for part in node.table.parts)
    if catalog.find((*_SPACE, *parts)) is None:
        space = catalog.space(_SPACE)
        near = nearest(node.table.text, [dotted(parts) for parts, _ in space.walk()] if space is not None else [])
        hint = f"did you mean `{near}`?" if near else None
        raise BindError(f"`{node.file.text}` has no table `{node.table.text}`", node.table.place, hint=hint)
    path = ast.Path((*map(ast.Name, _SPACE), *node.table.parts), place=node.table.place)
    return Binder(env.outside()).table(ast.TableName(path, place=node.table.place))


def _several(node: ast.TableFile, names: Sequence[str]) -> BindError:
    if not names:
        return BindError(f"`{node.file.text}` has no table", node.file.place)
    shown = ", ".join(names[:_FEW]) + (", ..." if len(names) > _FEW else "")
    hint = f"name one of them, or a view, after the file: '{node.file.text}'.events"
    return BindError(f"`{node.file.text}` has {len(names)} tables: {shown}", node.file.place, hint=hint)
