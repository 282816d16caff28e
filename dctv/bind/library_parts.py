"""Bind the parts of the standard library's views, and record which of them a trace lacks."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.bind.binding import Binding
from dctv.bind.dependencies import Dependencies
from dctv.catalog.namespace import LibraryPart
from dctv.catalog.stdlib import cast_to
from dctv.plan import build as w
from dctv.plan.nodes import Plan, Relation, physical_names
from dctv.plan.order import RowOrder
from dctv.record import replace
from dctv.types.schema import TS, Kind

LINE = "line"


def bind_part(binder: Binding, part: LibraryPart) -> Plan:
    """Return the rows of a part together; views whose events the trace lacks are left out."""
    cached: tuple[LibraryPart, Plan, Dependencies] | None = binder.env.catalog.bound.get(id(part))
    if cached is None:
        whole = Dependencies(any=True)
        plan = replace(_rows_of(binder, part, whole), unique=part.unique)
        cached = binder.env.catalog.bound[id(part)] = (part, plan, whole)
    if binder.dependencies is not None:
        binder.dependencies.add(cached[2])
    return cached[1]


def _rows_of(binder: Binding, part: LibraryPart, whole: Dependencies) -> Relation:
    plans: list[Relation] = []
    numbered = True
    for view in part.views:
        dependencies = Dependencies()
        inner = binder.copy(
            env=binder.env.outside(),
            home=view.home,
            common={},
            recursive=False,
            depth=binder.depth + 1,
            dependencies=dependencies,
        )
        plan = inner.plan(view.select())
        whole.add(dependencies)
        if dependencies.there:
            numbered = numbered and LINE in plan.schema.names
            plans.append(cast_to(part.schema, plan))
    if not plans:
        return cast_to(part.schema, None)
    if len(plans) == 1 and (plans[0].ordered or part.schema.kind is Kind.REGULAR):
        return plans[0]
    return _together(part, plans, numbered=numbered)


def _together(part: LibraryPart, plans: Sequence[Relation], *, numbered: bool) -> Relation:
    """Return plans of the same columns one after another, those of events sorted by time and line.

    Where events have no lines, the other columns make their order the same in every run.
    """
    names = physical_names(part.schema)
    leaves = {f"source{number}": plan for number, plan in enumerate(plans)}
    query = w.concatenated([w.select(*names, source=leaf) for leaf in leaves])
    timed = part.schema.kind is not Kind.REGULAR
    if timed:
        whole = w.select(*w.columns(names), source=query, alias="every")
        query = w.sorted_by(whole, *w.by_names((TS, LINE) if numbered else names))
    return Relation(
        part.schema, order=RowOrder.TIME if timed else RowOrder.ANY, query=query, leaves=tuple(leaves.items())
    )
