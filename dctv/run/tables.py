"""Run CREATE TABLE and DROP TABLE: the rows of a select go to a file without a name, and a name to the namespace."""

from __future__ import annotations

import os
from typing import Any

from dctv.bind.binder import Binder
from dctv.bind.context import Environment
from dctv.catalog.namespace import Catalog, StoredTable
from dctv.catalog.program_data import stored
from dctv.contracts.states import aside
from dctv.errors import BindError, EngineError
from dctv.plan.carrying import carried_schema, with_types
from dctv.plan.nodes import Plan
from dctv.plan.restored_types import lost, restored
from dctv.run import naming
from dctv.run.context import ExecutionContext
from dctv.run.naming import free_name, is_there
from dctv.run.plans import result_of
from dctv.run.result import Done
from dctv.syntax import commands
from dctv.temporary import MORE_ROOM
from dctv.types.schema import ColumnType
from dctv.types.values import dialect_type

_HINT = {"TUPLE": "give its members names: {'a': x, 'b': y}", "VARIANT": "cast it: x::JSON"}


def create(statement: commands.CreateTable, context: ExecutionContext, env: Environment) -> Done:
    """Keep the rows of a select under a name.

    Raises:
        BindError: the name is taken, or a column is of a type that cannot be kept.
        EngineError: the select fails, or there is no room for its rows.
    """
    path, catalog = statement.path, context.catalog
    if is_there(statement, catalog, _is_own):
        return Done(f"there is a table {path.text} already")
    parts = free_name(path, catalog, "TABLE", _is_own, replaces=statement.replace)
    plan = Binder(env).plan(statement.select)
    plan = Binder(env).renamed(plan, statement.columns, path.parts[-1])
    for column in plan.schema.columns:
        _check(column, statement)
    data = _materialized(plan, statement, context)
    kept = restored(plan.schema, lambda held: stored(path.text, held, data))
    catalog.add(parts, StoredTable(lambda: kept, "a table of the session", own=True))
    return Done(f"created table {path.text}: {data.num_rows:,} row{'' if data.num_rows == 1 else 's'}")


def drop(statement: commands.DropTable, catalog: Catalog) -> Done:
    """Forget a table, and its rows when nothing reads them any more."""
    return naming.drop(statement, catalog, "table", _is_own, " that CREATE TABLE made")


def _is_own(entry: object) -> bool:
    return isinstance(entry, StoredTable) and entry.own


def _materialized(plan: Plan, statement: commands.CreateTable, context: ExecutionContext) -> Any:
    """Return the rows of a plan as an Arrow table that is mapped from a file."""
    folder = context.engine.spill_folder()
    reader = result_of(with_types(plan, carried_schema(plan.schema)), context).reader()
    try:
        return aside(reader, folder)
    except OSError as error:
        reason = str(error) if error.errno is None else os.strerror(error.errno)
        raise EngineError(
            f"cannot keep the rows of `{statement.path.text}` in `{folder}`: {reason.lower()}",
            statement.path.place,
            hint=MORE_ROOM,
        ) from None


def _check(column: ColumnType, statement: commands.CreateTable) -> None:
    kind = lost(column.type)
    if kind is not None:
        shown = dialect_type(column.type)
        raise BindError(
            f"a table cannot keep the column `{column.name}`, which is of the type {shown}",
            statement.select.place,
            hint=_HINT.get(kind),
        )
