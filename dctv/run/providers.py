"""The standard library's providers of a mounted trace: views that its state system or timeline is computed from."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache, partial
from hashlib import blake2b

from dctv import resources
from dctv.bind.binder import Binder
from dctv.bind.dependencies import Dependencies
from dctv.catalog.mount import Mount, as_attached
from dctv.catalog.stdlib import LibraryModule, library
from dctv.plan.build import typed_nothing
from dctv.plan.nodes import Plan, Relation
from dctv.plan.order import RowOrder
from dctv.run.context import ExecutionContext
from dctv.run.plans import environment, optimized, optimized_result, result_of
from dctv.run.result import Result
from dctv.run.templates import Templates
from dctv.types.schema import Kind, Schema

_plans = Templates(1_000)
"""Those of providers, bound and optimized, for the traces of fleets."""
_LACKING = Relation(Schema(Kind.REGULAR, ()), RowOrder.STABLE, typed_nothing(Schema(Kind.REGULAR, ())))
"""Stands for the plan of a provider that is empty for a trace; templates keep plans without inputs as they are."""


def bound(mount: Mount, folder: str, context: ExecutionContext) -> list[tuple[LibraryModule, Plan]]:
    """Bind the providers in a folder of the standard library, without those that are empty for the trace."""
    reader = mount.trace.format or mount.reader
    modules = [one for one in library().modules if one.parts[0] == folder and one.covers(reader)]
    plans = [_planned(one.parts, mount, context, partial(_bound, one, mount, context)) for one in modules]
    return [(module, plan) for module, plan in zip(modules, plans, strict=True) if plan is not _LACKING]


def _bound(module: LibraryModule, mount: Mount, context: ExecutionContext) -> Plan:
    dependencies = Dependencies()
    inside = Binder(environment(context)).copy(home=mount.parts, dependencies=dependencies, within=True)
    plan = inside.plan(module.select())
    return _LACKING if dependencies.lacking else plan


def result(name: Hashable, plan: Plan, mount: Mount, context: ExecutionContext) -> Result:
    """Return the result of a plan that `bound` gave, or of one over it; no other plan of a trace has this name."""
    if context.chosen_engine.remote is not None:
        return result_of(plan, context)
    key = (name, repr(context.settings))
    made = _planned(key, mount, context, lambda: plan, lambda one: optimized(one, context))
    return optimized_result(made, plan.schema, context)


def _planned(
    key: Hashable,
    mount: Mount,
    context: ExecutionContext,
    made: Callable[[], Plan],
    improved: Callable[[Plan], Plan] = lambda plan: plan,
) -> Plan:
    """Return `improved` of the plan that `made` returns; the traces of a fleet that have the same tables share it."""
    return _plans.plan(key, mount, context, made, improved) if context.of_fleet else improved(made())


def version_of(mount: Mount, context: ExecutionContext) -> bytes | None:
    """Return a digest of the behaviour of a mount's providers; None if the user has changed their possible inputs."""
    if not as_attached(context.catalog, mount, library()):
        return None
    digest = blake2b(_library_digest(), digest_size=32)
    digest.update(f"{mount.offset}".encode())
    return digest.digest()


@cache
def _library_digest() -> bytes:
    """Return a digest of the texts of the standard library: providers are made of its views."""
    root = resources.root() / "stdlib"
    digest = blake2b(digest_size=32)
    for path in sorted(one for one in root.rglob("*") if one.suffix in (".sql", ".toml")):
        for part in (path.relative_to(root).as_posix().encode(), path.read_bytes()):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
    return digest.digest()
