"""Build state systems in the namespace: from statements, and from providers written in Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any

from dctv.bind.arguments import bind_argument
from dctv.bind.binder import Binder
from dctv.bind.context import Environment
from dctv.bind.int128 import narrowed
from dctv.catalog.namespace import Catalog
from dctv.contracts.states import History, States
from dctv.contracts.table_function import Argument
from dctv.errors import BindError, Place, UsageError, nearest
from dctv.plan.nodes import Plan
from dctv.record import record, replace
from dctv.run import states
from dctv.run.changes import Range, changes_of, in_order
from dctv.run.context import ExecutionContext
from dctv.run.fingerprint import fingerprint, mounts_of
from dctv.run.histories import BACKENDS, FULL, PARTIAL, Options, Provider, Recipe, open_or_build
from dctv.run.plans import environment, result_of
from dctv.run.recursion import deep_recursion
from dctv.run.result import Done
from dctv.state import StateSystem
from dctv.syntax import ast

_OPTIONS = ("backend", "granularity", "end")
_OF_PROVIDERS = ("backend", "start", "end")


@record
class ProvidedChanges:
    """Changes that Python makes of the rows of a select."""

    provider: Provider
    select: ast.Select
    version: str | None
    """The version of the provider's behaviour; None if its history is not to be kept."""


def change(statement: ast.CreateStateSystem | ast.DropStateSystem, context: ExecutionContext, env: Environment) -> Done:
    """Run CREATE STATE SYSTEM or DROP STATE SYSTEM."""
    if isinstance(statement, ast.DropStateSystem):
        return _drop(statement, context.catalog)
    return _create(statement, context, env)


def _create(statement: ast.CreateStateSystem, context: ExecutionContext, env: Environment) -> Done:
    parts = _free_name(statement.path, context.catalog, replaces=statement.replace)
    options = _options(statement, Binder(env))
    plan = narrowed(Binder(env).plan(statement.select), statement.select.place)
    changes = changes_of(plan, statement.select.place)

    def run(within: Range | None) -> Iterator[Any]:
        with deep_recursion():
            (ordered,) = in_order([changes], within)
            return result_of(ordered, context).batches()

    recipe = Recipe(statement.path.text, "", run, context, options)
    system = _made(recipe, plan, b"changes", parts, context)
    counts = f"{system.attribute_count:,} attributes, {system.interval_count:,} states"
    return Done(f"created state system {recipe.name}: {counts}")


def provide(
    path: ast.Path, provided: ProvidedChanges, options: Options, context: ExecutionContext, *, replaces: bool
) -> StateSystem:
    """Make a state system of the changes that Python makes."""
    parts = _free_name(path, context.catalog, replaces=replaces)
    plan = narrowed(Binder(environment(context)).plan(provided.select), None)

    def rows(_: Range | None) -> Iterator[Any]:
        return result_of(plan, context).batches()

    recipe = Recipe(path.text, "", rows, context, options, provider=provided.provider)
    version = None if provided.version is None else f"provider {provided.version}".encode("utf-8", "surrogatepass")
    return _made(recipe, plan, version, parts, context)


def _drop(statement: ast.DropStateSystem, catalog: Catalog) -> Done:
    if statement.if_exists and catalog.find(tuple(p.text for p in statement.path.parts)) is None:
        return Done(f"there is no state system {statement.path.text}")
    _, parts = _source(statement.path, catalog)
    catalog.drop(parts)
    catalog.drop_space(parts)
    return Done(f"dropped state system {statement.path.text}")


def options_of(values: Mapping[str, object]) -> Options:
    """Return options that are given in Python.

    Raises:
        UsageError: they mean nothing.
    """
    for name in values:
        if name not in _OF_PROVIDERS:
            near = nearest(name, list(_OF_PROVIDERS))
            hint = f"did you mean `{near}`?" if near else f"its options: {', '.join(_OF_PROVIDERS)}"
            raise UsageError(f"a state system has no option `{name}`", hint=hint)
    backend, start, end = values.get("backend", FULL), values.get("start"), values.get("end")
    if backend == PARTIAL:
        raise UsageError("a partial history cannot be built by a function: its changes cannot be repeated part by part")
    if backend not in BACKENDS:
        choices = [one for one in BACKENDS if one != PARTIAL]
        near = nearest(str(backend), choices)
        listed = ", ".join(f"`{one}`" for one in choices)
        raise UsageError(
            f"`backend` is one of {listed}, found `{backend}`", hint=f"did you mean `{near}`?" if near else None
        )
    if not isinstance(start, int | None) or not isinstance(end, int | None):
        raise UsageError("`start` and `end` are whole numbers of ns")
    return Options(str(backend), end=end, start=start)


def _made(
    recipe: Recipe, plan: Plan, version: bytes | None, parts: tuple[str, ...], context: ExecutionContext
) -> StateSystem:
    """Build a history, store it if it is of one trace and below that trace's name, and show it."""
    mounts = list(context.mounts.values())
    read = mounts_of(plan, mounts)
    options, history_store = recipe.options, None
    if read is not None and len(read) == 1:
        end = read[0].trace.last_ts if options.end is None else options.end
        start = min(read[0].offset, 0) if options.start is None else options.start
        recipe = replace(recipe, options=replace(options, start=start, end=end))
    home = next((one for one in mounts if parts[: len(one.parts)] == one.parts), None)
    printed = None if home is None or version is None else fingerprint(plan, mounts)
    if home is not None and version is not None and printed is not None and printed.mount is home:
        slot = ".".join(parts[len(home.parts) :])
        history_store = home.history_store
        recipe = replace(recipe, slot=slot, version=blake2b(printed.digest + version, digest_size=32).digest())
    system: StateSystem = open_or_build(recipe, history_store)
    states.show(context.catalog, parts, History.of(system), context.log)
    return system


def system_of(path: ast.Path, catalog: Catalog) -> StateSystem:
    """Return the state system of a name, created if it is missing.

    Raises:
        BindError: it is the name of something else.
    """
    return _source(path, catalog)[0].system


def _source(path: ast.Path, catalog: Catalog) -> tuple[States, tuple[str, ...]]:
    found = catalog.find(tuple(p.text for p in path.parts))
    if found is None:
        raise catalog.unknown(path, "state system")
    source = states.source_of(found[0])
    if source is None:
        raise BindError(f"`{path.text}` is not a state system", path.place)
    return source, found[1]


def _free_name(path: ast.Path, catalog: Catalog, *, replaces: bool) -> tuple[str, ...]:
    """Return the parts of a name, which must be free or that of a state system that is to be replaced."""
    parts = tuple(p.text for p in path.parts)
    found = catalog.find(parts)
    if parts[0].lower() == "dctv":
        raise BindError("the name `dctv` belongs to dctv's own functions", path.place)
    is_system = found is not None and states.source_of(found[0]) is not None
    if found is not None and not (replaces and is_system):
        what, hint = ("a state system", "CREATE OR REPLACE replaces it") if is_system else ("a table or view", None)
        raise BindError(f"`{path.text}` is {what} already", path.place, hint=hint)
    if found is None and catalog.space(parts) is not None:
        raise BindError(f"`{path.text}` already contains other names", path.place)
    return found[1] if found else parts


def _options(statement: ast.CreateStateSystem, binder: Binder) -> Options:
    options_: dict[str, Argument] = {}
    for name, value in statement.options:
        if name.text not in _OPTIONS:
            near = nearest(name.text, list(_OPTIONS))
            hint = f"did you mean `{near}`?" if near else f"its options: {', '.join(_OPTIONS)}"
            raise BindError(f"a state system has no option `{name.text}`", name.place, hint=hint)
        if name.text in options_:
            raise BindError(f"the option `{name.text}` is given twice", name.place)
        options_[name.text] = bind_argument(binder, value)
    chosen = Options()
    if "backend" in options_:
        chosen = replace(chosen, backend=options_["backend"].choice("`backend`", BACKENDS))
    if "granularity" in options_:
        _only_partial(chosen, options_["granularity"].place)
        count = options_["granularity"].integer("a whole number of changes for `granularity`")
        if count < 1:
            raise BindError("`granularity` is a whole number from 1", options_["granularity"].place)
        chosen = replace(chosen, granularity=count)
    if "end" in options_:
        chosen = replace(chosen, end=options_["end"].nanoseconds("`end`"))
    return chosen


def _only_partial(options: Options, place: Place | None) -> None:
    if options.backend != PARTIAL:
        raise BindError(
            "`granularity` applies only to partial histories", place, hint=f"write `backend => '{PARTIAL}'` too"
        )
