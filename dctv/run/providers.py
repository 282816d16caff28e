"""The standard library's providers of a mounted trace: views that its state system or timeline is computed from."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property, partial

from dctv.bind.binder import Binder
from dctv.bind.dependencies import Dependencies
from dctv.catalog.mount import Mount
from dctv.catalog.program_data import stored
from dctv.catalog.stdlib import LibraryModule, library
from dctv.plan.build import typed_nothing
from dctv.plan.nodes import Plan, Relation, Scan
from dctv.plan.order import RowOrder
from dctv.plan.source import TableSource
from dctv.record import replace
from dctv.rewrite.graph import bottom_up, put_together, readers_first
from dctv.run.context import ExecutionContext
from dctv.run.plans import environment, optimized, optimized_result, result_of
from dctv.run.result import Result
from dctv.run.templates import SharedRows, Templates
from dctv.syntax import ast
from dctv.types.schema import Kind, Schema

_plans = Templates(1_000)
"""Those of providers, bound and optimized, for the traces of fleets."""
_LACKING = Relation(Schema(Kind.REGULAR, ()), RowOrder.STABLE, typed_nothing(Schema(Kind.REGULAR, ())))
"""Stands for the plan of a provider that is empty for a trace; templates keep plans without inputs as they are."""


class Providers:
    """The providers in a folder of the standard library, for a mounted trace.

    Views in `shared`, which several of them read, are computed once, and their rows kept in memory.
    """

    def __init__(self, folder: str, mount: Mount, context: ExecutionContext, shared: Sequence[str] = ()) -> None:
        self._folder, self._mount, self._context, self._shared = folder, mount, context, shared
        self._sources: dict[str, TableSource] = {}
        """The rows of shared views that were needed."""

    def bound(self) -> list[tuple[LibraryModule, Plan]]:
        """Bind the providers, without those that are empty for the trace."""
        reader = self._mount.trace.format or self._mount.reader
        modules = [one for one in library().modules if one.parts[0] == self._folder and one.covers(reader)]
        plans = [self._planned(one.parts, partial(self._bound, one)) for one in modules]
        return [(module, plan) for module, plan in zip(modules, plans, strict=True) if plan is not _LACKING]

    def result(self, name: Hashable, plan: Plan) -> Result:
        """Return the result of a plan that `bound` gave, or of one over it; no other plan of a trace has this name."""
        if self._context.chosen_engine.remote is not None:
            return result_of(self._filled(plan), self._context)
        key = (name, repr(self._context.settings))
        made = self._planned(key, lambda: plan, lambda one: optimized(one, self._context))
        return optimized_result(self._filled(made), plan.schema, self._context)

    def _bound(self, module: LibraryModule) -> Plan:
        dependencies = Dependencies()
        plan = self._binder(dependencies).plan(module.select())
        return _LACKING if dependencies.lacking else self._with_shared(plan)

    def _binder(self, dependencies: Dependencies) -> Binder:
        binder = Binder(environment(self._context))
        return binder.copy(home=self._mount.parts, dependencies=dependencies, within=True)

    @cached_property
    def _views(self) -> Mapping[str, Plan]:
        """The plans of shared views: the same objects are within the plans of all that read them."""
        binder = self._binder(Dependencies())
        return {name: binder.table(ast.TableName(ast.Path.of(name))) for name in self._shared}

    def _with_shared(self, plan: Plan) -> Plan:
        """Return a plan that reads the rows of shared views, but for its own, instead of computing them."""
        rows = {
            id(view): Scan(view.schema, view.order, name, SharedRows(None, name))
            for name, view in self._views.items()
            if view is not plan
        }
        order = readers_first(plan)
        return put_together(order, {id(one): rows.get(id(one), one) for one in order})

    def _filled(self, plan: Plan) -> Plan:
        """Return a plan with the rows of the shared views that it reads."""

        def filled(one: Plan) -> Plan:
            if isinstance(one, Scan) and isinstance(one.source, SharedRows):
                return replace(one, source=self._source(one.source.view))
            return one

        return bottom_up(plan, filled)

    def _source(self, name: str) -> TableSource:
        if name not in self._sources:
            plan = self._planned(name, lambda: self._with_shared(self._views[name]))
            rows = self.result((SharedRows, name), plan).arrow()
            self._sources[name] = stored(name, plan.schema, rows).source
        return self._sources[name]

    def _planned(
        self, key: Hashable, made: Callable[[], Plan], improved: Callable[[Plan], Plan] = lambda plan: plan
    ) -> Plan:
        """Return `improved` of the plan that `made` returns; traces of a fleet that have the same tables share it."""
        if not self._context.of_fleet:
            return improved(made())
        return _plans.plan((self._folder, key), self._mount, self._context, made, improved)
