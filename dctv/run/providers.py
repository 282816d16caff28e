"""The standard library's providers of a mounted trace: views that its state system or timeline is computed from."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache, cached_property, partial
from hashlib import blake2b
from typing import TYPE_CHECKING

from dctv import resources
from dctv.bind.binder import Binder
from dctv.bind.dependencies import Dependencies
from dctv.catalog.mount import Mount, as_attached
from dctv.catalog.stdlib import LibraryModule, library
from dctv.plan.build import typed_nothing
from dctv.plan.nodes import Plan, Relation, Scan, physical_names
from dctv.plan.order import RowOrder
from dctv.plan.source import RowsInMemory
from dctv.record import replace
from dctv.rewrite.graph import bottom_up
from dctv.run.context import ExecutionContext
from dctv.run.plans import environment, optimized, optimized_result, result_of
from dctv.run.result import Result
from dctv.run.templates import SharedRows, Templates
from dctv.syntax import ast
from dctv.types.schema import Kind, Schema

if TYPE_CHECKING:
    import pyarrow as pa

_plans = Templates(1_000)
"""Those of providers, bound and optimized, for the traces of fleets."""
_LACKING = Relation(Schema(Kind.REGULAR, ()), RowOrder.STABLE, typed_nothing(Schema(Kind.REGULAR, ())))
"""Stands for the plan of a provider that is empty for a trace; templates keep plans without inputs as they are."""


class SharedViews:
    """Views that several providers of a trace read: their rows are computed once, and kept in memory.

    Else each provider computes them, from the same events. Those that read others come first in `names`.
    """

    def __init__(self, names: Sequence[str], mount: Mount, context: ExecutionContext) -> None:
        self._names, self._mount, self._context = names, mount, context
        self._rows: dict[str, pa.Table] = {}

    @cached_property
    def _plans(self) -> Mapping[str, Plan]:
        """Their plans: of a view that is bound, the same object is within all others that read it."""
        binder = _binder(self._mount, self._context, Dependencies())
        return {one: binder.table(ast.TableName(ast.Path.of(one))) for one in self._names}

    def apart(self, plan: Plan) -> Plan:
        """Return a plan that reads the rows of the views in place of these."""
        for name, view in self._plans.items():
            if plan is not view:
                rows = Scan(view.schema, view.order, name, SharedRows(None, name))
                plan = bottom_up(plan, partial(_exchanged, view, rows))
        return plan

    def filled(self, plan: Plan) -> Plan:
        """Return a plan with the rows of the views that it still reads."""
        return bottom_up(plan, self._filled)

    def _filled(self, plan: Plan) -> Plan:
        if not isinstance(plan, Scan) or not isinstance(plan.source, SharedRows):
            return plan
        return replace(plan, source=RowsInMemory(self._rows_of(plan.source.view)))

    def _rows_of(self, name: str) -> pa.Table:
        if name not in self._rows:
            plan = _planned(name, self._mount, self._context, lambda: self.apart(self._plans[name]))
            found = result((SharedRows, name), plan, self._mount, self._context, self).reader().read_all()
            self._rows[name] = found.rename_columns(physical_names(plan.schema))
        return self._rows[name]


def _exchanged(old: Plan, new: Plan, plan: Plan) -> Plan:
    return new if plan is old else plan


def bound(
    mount: Mount, folder: str, context: ExecutionContext, shared: SharedViews | None = None
) -> list[tuple[LibraryModule, Plan]]:
    """Bind the providers in a folder of the standard library, without those that are empty for the trace."""
    reader = mount.trace.format or mount.reader
    modules = [one for one in library().modules if one.parts[0] == folder and one.covers(reader)]
    plans = [_planned(one.parts, mount, context, partial(_bound, one, mount, context, shared)) for one in modules]
    return [(module, plan) for module, plan in zip(modules, plans, strict=True) if plan is not _LACKING]


def _bound(module: LibraryModule, mount: Mount, context: ExecutionContext, shared: SharedViews | None) -> Plan:
    dependencies = Dependencies()
    plan = _binder(mount, context, dependencies).plan(module.select())
    if dependencies.lacking:
        return _LACKING
    return plan if shared is None else shared.apart(plan)


def _binder(mount: Mount, context: ExecutionContext, dependencies: Dependencies) -> Binder:
    return Binder(environment(context)).copy(home=mount.parts, dependencies=dependencies, within=True)


def result(
    name: Hashable, plan: Plan, mount: Mount, context: ExecutionContext, shared: SharedViews | None = None
) -> Result:
    """Return the result of a plan that `bound` gave, or of one over it; no other plan of a trace has this name."""
    if context.chosen_engine.remote is not None:
        return result_of(plan if shared is None else shared.filled(plan), context)
    key = (name, repr(context.settings))
    made = _planned(key, mount, context, lambda: plan, lambda one: optimized(one, context))
    return optimized_result(made if shared is None else shared.filled(made), plan.schema, context)


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
