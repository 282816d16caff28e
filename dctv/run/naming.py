"""CREATE VIEW, DROP VIEW and DROP ALL to changes of the namespace."""

from __future__ import annotations

from dctv.bind.binder import Binder
from dctv.bind.context import Environment
from dctv.catalog.namespace import Catalog, View
from dctv.errors import BindError
from dctv.run.context import ExecutionContext
from dctv.run.result import Done
from dctv.syntax import ast


def create_view(statement: ast.CreateView, known: Environment) -> Done:
    """Give a select a name; it must be one that can be bound."""
    parts = tuple(p.text for p in statement.path.parts)
    found = known.catalog.find(parts)
    if parts[0].lower() == "dctv":
        raise BindError("the name `dctv` belongs to dctv's own functions", statement.path.place)
    if found is not None and not (statement.replace and isinstance(found[0], View)):
        what = "a view" if isinstance(found[0], View) else "a table of a trace"
        hint = "CREATE OR REPLACE VIEW replaces it" if isinstance(found[0], View) else None
        raise BindError(f"`{statement.path.text}` is {what} already", statement.path.place, hint=hint)
    plan = Binder(known).plan(statement.select)
    Binder(known).renamed(plan, statement.columns, statement.path.parts[-1])
    select = statement.select
    known.catalog.add(found[1] if found else parts, View(lambda: select, statement.columns))
    return Done(f"created view {statement.path.text}")


def drop_view(statement: ast.DropView, catalog: Catalog) -> Done:
    """Forget a view."""
    found = catalog.find(tuple(p.text for p in statement.path.parts))
    if found is None:
        if statement.if_exists:
            return Done(f"there is no view {statement.path.text}")
        raise catalog.unknown(statement.path, "view")
    if not isinstance(found[0], View):
        hint = None if found[1][0] == "dctv" else "DROP ALL unmounts a whole trace"
        raise BindError(f"`{statement.path.text}` is not a view", statement.path.place, hint=hint)
    catalog.drop(found[1])
    return Done(f"dropped view {statement.path.text}")


def drop_all(statement: ast.DropAll, context: ExecutionContext) -> Done:
    """Forget all names below one, and what is mounted there."""
    parts = tuple(p.text for p in statement.path.parts)
    if parts[0].lower() == "dctv":
        raise BindError("`dctv` holds dctv's own functions and cannot be dropped", statement.path.place)
    if not context.catalog.drop_space(parts):
        raise context.catalog.unknown(statement.path, "namespace")
    for mounted in [one for one in context.mounts if one[: len(parts)] == parts]:
        del context.mounts[mounted]
    return Done(f"dropped {statement.path.text}")
