"""Reuse the plans of the standard library's views for other traces that have the same tables.

A view is bound against the schemas of what it reads, not against rows. So its plan is right for another trace where all
that it reads has the same schemas, once the plans that it reads are exchanged. Views that read other views refer to the
plans that these have in the session, since whoever reads two of them expects to find the common ones once.

Most processes mount one trace, for which nothing is kept: a view is kept when it is bound for the second time.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from dctv.bind.dependencies import Dependencies
from dctv.bind.library_views import BoundView, Name, UnboundView, ViewReads
from dctv.catalog.namespace import StoredTable, View
from dctv.plan.nodes import Plan, Relation, Scan
from dctv.plan.order import RowOrder
from dctv.record import record, replace
from dctv.rewrite.graph import put_together, readers_first
from dctv.run.templates import AnyTable, is_of_any_trace
from dctv.types.schema import Schema

_MOST = 16
"""The maximum number of plans of one view; a plan takes some 25 kB."""
_Form = tuple[bool, str | None, type[Plan], Schema, RowOrder, tuple[str, ...], bool]


@record(eq=False)
class _Template:
    """The plan of a view for any trace."""

    text: Hashable
    tables: Mapping[Name, _Form]
    """The tables that it reads, by their names below the mount."""
    views: Mapping[Name, object]
    """The versions of the views that it reads."""
    order: Sequence[Plan]
    """Its plans, readers before their inputs."""
    exchanged: Mapping[int, Name]
    """The names of what some of these stand for, by identity."""
    dependencies: Dependencies

    def of(self, view: UnboundView) -> BoundView | None:
        """Return the view of a trace; None if that has other tables."""
        plans: dict[Name, Plan] = {}
        if view.text != self.text:
            return None
        for name, form in self.tables.items():
            found = view.catalog.find((*view.home, *name))
            if found is None or not isinstance(found[0], StoredTable) or _form(found[0]) != form:
                return None
            plans[name] = found[0].plan()
        for name, version in self.views.items():
            other = view.other((*view.home, *name))
            if other is None or other.version is not version:
                return None
            plans[name] = other.plan
        changed = {id(one): one for one in self.order}
        changed |= {place: plans[name] for place, name in self.exchanged.items()}
        return BoundView(view.entry, put_together(self.order, changed), self.dependencies, self)


class ViewTemplates:
    """The plans of the standard library's views, by their names below a mount."""

    def __init__(self) -> None:
        self._known: dict[Name, list[_Template]] = {}

    def clear(self) -> None:
        """Forget all plans: views are bound from their texts again."""
        self._known.clear()

    def bound(self, view: UnboundView) -> BoundView:
        """Bind a view, or return its plan for another trace with the tables of this one."""
        if isinstance(view.entry, View) and not view.entry.name:
            # It has filters of its mount.
            return BoundView(view.entry, *view.bind(ViewReads()))
        name = view.name[len(view.home) :]
        known = self._known.get(name)
        for template in known or ():
            found = template.of(view)
            if found is not None:
                return found
        reads = ViewReads()
        made = BoundView(view.entry, *view.bind(reads))
        if known is None:
            self._known[name] = []
            return made
        latest = None if reads.varies else _template(view, made, reads)
        if latest is None:
            return made
        self._known[name] = [latest, *known][:_MOST]
        return replace(made, version=latest)


VIEWS = ViewTemplates()
"""The plans that the sessions of this process share."""


def _template(view: UnboundView, made: BoundView, reads: ViewReads) -> _Template | None:
    """Return the plan of a view as a template, None if there is something else of the trace in it."""
    count = len(view.home)
    if not all(name[:count] == view.home for name in (*reads.tables, *reads.views)):
        return None
    if any(one.version is None for one in reads.views.values()):
        return None
    plans = {name[count:]: one.plan() for name, one in reads.tables.items()}
    plans |= {name[count:]: one.plan for name, one in reads.views.items()}
    stands = {id(one): Scan(one.schema, one.order, ".".join(name), AnyTable()) for name, one in plans.items()}
    whole = readers_first(made.plan)
    order = readers_first(put_together(whole, {id(one): stands.get(id(one), one) for one in whole}))
    names = {id(stands[id(one)]): name for name, one in plans.items()}
    if not all(id(one) in names or is_of_any_trace(one) for one in order):
        return None
    return _Template(
        view.text,
        {name[count:]: _form(one) for name, one in reads.tables.items()},
        {name[count:]: one.version for name, one in reads.views.items()},
        order,
        {id(one): names[id(one)] for one in order if id(one) in names},
        made.dependencies,
    )


def _form(table: StoredTable) -> _Form:
    """Return what binding sees of a table."""
    plan = table.plan()
    unique = plan.unique if isinstance(plan, Scan | Relation) else ()
    is_serial = isinstance(plan, Relation) and plan.serial
    return table.there, table.event, type(plan), plan.schema, plan.order, unique, is_serial
