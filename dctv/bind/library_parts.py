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


def bind_part(binder: Binding, part: LibraryPart) -> tuple[Plan, Dependencies]:
    """Return the rows of a part together; views whose events the trace lacks are left out."""
    whole = Dependencies(any=True)
    return replace(_rows_of(binder, part, whole), unique=part.unique), whole


def _rows_of(binder: Binding, part: LibraryPart, whole: Dependencies) -> Relation:
    plans: list[Relation] = []
    numbered = True
    for view in part.views:
        dependencies = Dependencies()
        plan = binder.copy(dependencies=dependencies).plan(view.select())
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
