"""Run CREATE VIEW, DROP VIEW and DROP ALL, and check that the names of new objects are free."""

from __future__ import annotations

from collections.abc import Callable

from dctv.bind.binder import Binder
from dctv.bind.context import Environment
from dctv.catalog.namespace import Catalog, Entry, Macro, NamedType, StoredTable, View, WallClock, how_to_drop
from dctv.contracts.table_function import TableFunction
from dctv.errors import BindError
from dctv.run.context import ExecutionContext
from dctv.run.result import Done
from dctv.syntax import ast, commands


def create_view(statement: ast.CreateView, env: Environment) -> Done:
    """Give a select a name; it must be one that can be bound, and may not read a view that it replaces."""
    if is_there(statement, env.catalog, _is_view):
        return Done(f"there is a view {statement.path.text} already")
    parts = free_name(statement.path, env.catalog, "VIEW", _is_view, replaces=statement.replace)
    select = _with_itself(statement) if statement.recursive else statement.select
    found = env.catalog.find(parts)
    if found is not None and parts[:-1]:
        env.catalog.forget_bound()  # Plans of the standard library that are kept may have read it.
    plan = Binder(env).copy(replaced=None if found is None else found[0]).plan(select)
    Binder(env).renamed(plan, statement.columns, statement.path.parts[-1])
    env.catalog.add(parts, View(lambda: select, statement.columns, params=env.params))
    return Done(f"created view {statement.path.text}")


def _with_itself(statement: ast.CreateView) -> ast.Select:
    """Return the select of a recursive view, which reads its own rows by its name."""
    name, place = statement.path.parts[-1], statement.select.place
    own = ast.CommonTable(name, statement.select, statement.columns, place=place)
    every = ast.ResultColumn(ast.Star(place=place), place=place)
    core = ast.Core((every,), source=ast.TableName(ast.Path((name,), place=place), place=place), place=place)
    return ast.Select(core, (own,), recursive=True, place=place)


def free_name(
    path: ast.Path, catalog: Catalog, word: str, alike: Callable[[Entry], bool], *, replaces: bool
) -> tuple[str, ...]:
    """Return the full name of a new object, which must be free, or that of a replaceable object of the same kind.

    Raises:
        BindError: it is taken.
    """
    parts = tuple(p.text for p in path.parts)
    if parts[0].lower() == "dctv":
        raise BindError("the name `dctv` belongs to dctv's own functions", path.place)
    found = catalog.find(parts)
    if found is None:
        return parts
    if replaces and alike(found[0]):
        return found[1]
    hint = f"CREATE OR REPLACE {word} replaces it" if alike(found[0]) else None
    raise BindError(f"`{path.text}` is {_called(found[0])} already", path.place, hint=hint)


def _is_view(entry: Entry) -> bool:
    return isinstance(entry, View)


_KINDS = {View: "a view", TableFunction: "a function", Macro: "a macro", NamedType: "a type", WallClock: "a function"}


def _called(entry: Entry) -> str:
    own = isinstance(entry, StoredTable) and entry.own
    return _KINDS.get(type(entry), "a table" if own else "a table of a trace")


def is_there(
    statement: ast.CreateView | commands.CreateTable | commands.CreateType,
    catalog: Catalog,
    alike: Callable[[Entry], bool],
) -> bool:
    """Whether a statement with IF NOT EXISTS has nothing to make.

    Raises:
        BindError: it says OR REPLACE, too.
    """
    if statement.replace and statement.if_not_exists:
        raise BindError("OR REPLACE and IF NOT EXISTS contradict each other", statement.path.place)
    found = catalog.find(tuple(p.text for p in statement.path.parts))
    return statement.if_not_exists and found is not None and alike(found[0])


def drop_view(statement: ast.DropView, catalog: Catalog) -> Done:
    """Forget a view."""
    return drop(statement, catalog, "view", _is_view)


def drop(
    statement: ast.DropView | commands.DropTable | commands.DropMacro | commands.DropType,
    catalog: Catalog,
    word: str,
    alike: Callable[[Entry], bool],
    made: str = "",
) -> Done:
    """Forget an object of the kind that `word` and `alike` say; `made` says how others of the kind differ.

    Raises:
        BindError: there is none, or the name is that of something else.
    """
    path = statement.path
    found = catalog.find(tuple(p.text for p in path.parts))
    if found is None:
        if statement.if_exists:
            return Done(f"there is no {word} {path.text}")
        raise catalog.unknown(path, word)
    if not alike(found[0]):
        hint = None if found[1][0] == "dctv" else how_to_drop(found[0])
        raise BindError(f"`{path.text}` is not a {word}{made}", path.place, hint=hint)
    catalog.drop(found[1])
    return Done(f"dropped {word} {path.text}")


def drop_all(statement: ast.DropAll, context: ExecutionContext) -> Done:
    """Forget all names and mounts below a name."""
    parts = tuple(p.text for p in statement.path.parts)
    if parts[0].lower() == "dctv":
        raise BindError("`dctv` holds dctv's own functions and cannot be dropped", statement.path.place)
    if not context.catalog.drop_space(parts):
        raise context.catalog.unknown(statement.path, "namespace")
    for mounted in [one for one in context.mounts if one[: len(parts)] == parts]:
        del context.mounts[mounted]
    for fleet in [one for one in context.fleets if one[: len(parts)] == parts]:
        del context.fleets[fleet]
    return Done(f"dropped {statement.path.text}")
