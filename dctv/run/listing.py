"""DESCRIBE and SHOW TABLES: list names with their columns and documentation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack

from dctv.bind.binder import Binder
from dctv.bind.context import Environment
from dctv.catalog.listing import TableInfo
from dctv.catalog.mount import HIDDEN
from dctv.catalog.namespace import Catalog, LibraryPart, Macro, NamedType, StoredTable, View, WallClock
from dctv.contracts.table_function import TableFunction
from dctv.errors import BindError
from dctv.run.context import ExecutionContext
from dctv.run.plans import rows_of
from dctv.run.result import Result
from dctv.syntax import ast
from dctv.syntax.print import to_sql
from dctv.types.schema import Schema
from dctv.types.values import dialect_type

_OURS = "dctv"
"""The namespace of functions that every session has."""


def describe(statement: ast.Describe, context: ExecutionContext, env: Environment) -> Result:
    """List the columns of a table or select, or the parameters of a function."""
    names = {"column": "VARCHAR", "type": "VARCHAR", "unit": "VARCHAR", "role": "VARCHAR"}
    subject = statement.subject
    if isinstance(subject, ast.Select):
        schema = Binder(env).plan(subject).schema
    else:
        found = context.catalog.find(tuple(p.text for p in subject.parts))
        if found is None:
            raise context.catalog.unknown(subject, "table")
        if isinstance(found[0], Macro):
            defaults = found[0].parameters.items()
            rows = [[name, None, None, None if one is None else f"default {to_sql(one)}"] for name, one in defaults]
            return rows_of(names, rows, context)
        if isinstance(found[0], TableFunction):
            return rows_of(names, [[p.name, None, None, p.doc] for p in found[0].parameters], context)
        schema = Binder(env).table(ast.TableName(subject, place=subject.place)).schema
    rows = [[c.name, dialect_type(c.type), str(c.unit) or None, _role(schema, c.name)] for c in schema.columns]
    return rows_of(names, rows, context)


def show(statement: ast.ShowTables, context: ExecutionContext) -> Result:
    """List the names that FROM accepts: all, or those below one."""
    path = statement.path
    prefix = () if path is None else tuple(p.text for p in path.parts)
    if path is not None and context.catalog.space(prefix) is None:
        raise context.catalog.unknown(path, "namespace")
    rows = [[one.written, one.kind, one.doc] for one in in_order(listing(prefix, context.catalog), context)]
    return rows_of({"name": "VARCHAR", "kind": "VARCHAR", "description": "VARCHAR"}, rows, context)


def listing(prefix: tuple[str, ...], catalog: Catalog) -> Iterator[TableInfo]:
    """Yield every public table, view and function below a prefix."""
    space = catalog.space(prefix)
    if space is None:
        return
    for name, entry in space.walk(prefix):
        if HIDDEN.isdisjoint(name) and not isinstance(entry, WallClock):
            yield TableInfo(name, _kind(entry), getattr(entry, "doc", ""))


def in_order(infos: Iterable[TableInfo], context: ExecutionContext) -> list[TableInfo]:
    """Return names sorted: the user's own first, then those of traces, then functions that are always there."""
    with ExitStack() as stack:
        for fleet in context.fleets.values():
            stack.enter_context(fleet.keep_mounted())
        return sorted(infos, key=lambda info: (_rank(info.parts, context), info.name))


def _rank(parts: tuple[str, ...], context: ExecutionContext) -> int:
    if parts[0] == _OURS:
        return 2
    return int(any(parts[: len(mount)] == mount for mount in (*context.mounts, *context.fleets)))


def _kind(entry: StoredTable | View | LibraryPart | TableFunction | Macro | NamedType) -> str:
    match entry:
        case TableFunction():
            return "function"
        case StoredTable():
            return _kind_of_table(entry)
        case View() | LibraryPart():
            return "view"
        case NamedType():
            return "type"
        case Macro():
            return "table macro" if isinstance(entry.body, ast.Select) else "macro"


def _kind_of_table(entry: StoredTable) -> str:
    try:
        return entry.plan().schema.kind.value
    except BindError:
        # Traces differ in it; a query of it says how.
        return "table"


def _role(schema: Schema, name: str) -> str:
    """Return the role of a column: time, partition or payload."""
    if name in schema.kind.time_columns:
        return "time"
    return "partition" if name in schema.partitions else "payload"
