"""Run CREATE TYPE and DROP TYPE: put names of types into the namespace."""

from __future__ import annotations

from dctv.bind.binder import Binder
from dctv.bind.context import Environment
from dctv.bind.type_names import engine_name
from dctv.catalog.namespace import Catalog, NamedType
from dctv.errors import BindError
from dctv.run import naming
from dctv.run.context import ExecutionContext
from dctv.run.naming import free_name, is_there
from dctv.run.plans import result_of
from dctv.run.result import Done
from dctv.syntax import ast, commands
from dctv.types.values import is_type

_WIDTH = 60
"""The number of characters of a type that listings and errors show."""
_MOST_LABELS = 100_000
"""The largest number of values of an ENUM, which are written into every query that names it."""


def create(statement: commands.CreateType, context: ExecutionContext, env: Environment) -> Done:
    """Give a type a name.

    Raises:
        BindError: the name is taken, the type is unknown, or a value of an ENUM is listed twice.
    """
    path, catalog = statement.path, context.catalog
    if is_there(statement, catalog, _is_type):
        return Done(f"there is a type {path.text} already")
    if len(path.parts) > 1:
        raise BindError("the name of a type is a single word", path.place)
    if is_type(path.text):
        raise BindError(f"`{path.text}` is a type already", path.place)
    parts = free_name(path, catalog, "TYPE", _is_type, replaces=statement.replace)
    written = statement.type
    if isinstance(written, ast.Select):
        written = ast.TypeName("ENUM", labels=_labels(written, context, env), place=written.place)
    meaning = engine_name(written, catalog)
    shown = meaning if len(meaning) <= _WIDTH else f"{meaning[:_WIDTH]}..."
    catalog.add(parts, NamedType(meaning, f"the type {shown}"))
    return Done(f"created type {path.text}")


def drop(statement: commands.DropType, catalog: Catalog) -> Done:
    """Forget a type."""
    return naming.drop(statement, catalog, "type", _is_type, " that CREATE TYPE made")


def _is_type(entry: object) -> bool:
    return isinstance(entry, NamedType)


def _labels(select: ast.Select, context: ExecutionContext, env: Environment) -> tuple[str, ...]:
    """Return the values of a query's only column as texts, each once, in order; NULL is none."""
    count = len(Binder(env).plan(select).schema.columns)
    if count != 1:
        raise BindError(f"ENUM takes a query with one column, found {count}", select.place)
    value = ast.Name("value")
    rows = ast.TableSelect(select, ast.Alias(ast.Name("listed"), (value,)), place=select.place)
    text = ast.Cast(ast.Column(ast.Path((value,))), ast.TypeName("STRING"), place=select.place)
    core = ast.Core((ast.ResultColumn(text, place=select.place),), source=rows, place=select.place)
    labels: dict[str, None] = {}
    for batch in result_of(Binder(env).plan(ast.Select(core, place=select.place)), context).reader():
        labels.update(dict.fromkeys(one for one in batch.column(0).to_pylist() if one is not None))
        if len(labels) > _MOST_LABELS:
            raise BindError(f"an ENUM has at most {_MOST_LABELS:,} values, found more", select.place)
    if not labels:
        raise BindError("an ENUM needs a value, found a query without any", select.place)
    return tuple(labels)
