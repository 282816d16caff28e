"""Find the names that are empty in a trace, since it lacks the events that they are computed from."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.bind.binder import Binder
from dctv.bind.dependencies import Dependencies
from dctv.catalog.namespace import Catalog, LibraryPart, StoredTable, View
from dctv.catalog.stdlib import LibraryModule, library
from dctv.errors import DctvError
from dctv.run.context import ExecutionContext
from dctv.run.plans import environment
from dctv.syntax import ast
from dctv.syntax.node import nodes


def lacking(names: Sequence[str], context: ExecutionContext) -> set[str]:
    """Return those of the full names whose views or functions have no rows in these traces.

    This binds them, which takes a second for a whole trace when it is first listed.
    """
    binder = Binder(environment(context))
    kept = dict(context.log.entries)
    found: set[str] = set()
    modules = _functions(context)
    for name in names:
        dependencies, parts = Dependencies(), tuple(name.split("."))
        entry = context.catalog.find(parts)
        if name in modules:
            _count(modules[name], parts, context.catalog, binder, dependencies)
        elif entry is not None and isinstance(entry[0], View):
            _bind(binder, parts, dependencies)
        if dependencies.lacking:
            found.add(name)
    context.log.entries = kept
    for parts, fleet in context.fleets.items():
        below = [name for name in names if tuple(name.split("."))[: len(parts)] == parts]
        found |= fleet.lacking(below) if below else set()
    return found


def _functions(context: ExecutionContext) -> dict[str, LibraryModule]:
    """Return the modules with parameters, by the names that they have below each mount."""
    return {
        ".".join((*mount.parts, *module.parts)): module
        for mount in context.mounts.values()
        for module in library().modules
        if module.parameters and module.covers(mount.trace.format or mount.reader)
    }


def _bind(binder: Binder, parts: Sequence[str], dependencies: Dependencies) -> None:
    """Collect the dependencies of a view; a user's view may be invalid by now, and has none then."""
    names = tuple(ast.Name(part, quoted=True) for part in parts)
    try:
        binder.copy(dependencies=dependencies).table(ast.TableName(ast.Path(names)))
    except DctvError:
        dependencies.any = False


def _count(
    module: LibraryModule, name: tuple[str, ...], catalog: Catalog, binder: Binder, dependencies: Dependencies
) -> None:
    """Collect the tables that the text of a function names; its arguments are not known."""
    home = name[: len(name) - len(module.parts)]
    for node in nodes(module.select()):
        if not isinstance(node, ast.TableName):
            continue
        found = catalog.find(tuple(one.text for one in node.path.parts), home)
        match found:
            case (StoredTable() as table, _):
                dependencies.add_table(table)
            case (View() | LibraryPart(), full):
                _bind(binder, full, dependencies)
            case _:
                pass
