"""Reuse the bound views of one trace for other traces that have the same tables."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from dctv.catalog.mount import Mount
from dctv.catalog.namespace import Catalog, StoredTable
from dctv.plan.expressions import FALSE
from dctv.plan.nodes import Plan, Relation, Scan
from dctv.plan.queries import Select
from dctv.plan.source import Held
from dctv.record import replace
from dctv.rewrite.graph import bottom_up, inputs, readers_first

_MOST = 500
_LAST = "last_ts"
"""The table of one row that views read."""
_known: dict[Hashable, Plan | None] = {}
"""Bound plans of views, over empty tables, by the existing tables; None where a plan is not reusable."""


def bound(parts: tuple[str, ...], mount: Mount, catalog: Catalog, bind: Callable[[], Plan]) -> Plan:
    """Return the plan of a table or view of a mounted trace; `bind` binds it.

    Binding sees the tables of a trace, but not their rows. So a plan for one trace is right for another that
    has the same ones, once the tables are exchanged. Plans that hold anything else of a trace are not reused.
    """
    key = (parts, _signature(mount))
    if key not in _known:
        plan = bind()
        if len(_known) >= _MOST:
            _known.clear()
        _known[key] = _template(plan, mount, catalog)
        return plan
    template = _known[key]
    return bind() if template is None else bottom_up(template, lambda one: _filled(one, mount, catalog))


def _signature(mount: Mount) -> Hashable:
    """Return a key of a trace's tables, and of those that are scanned."""
    trace = mount.trace
    tables = tuple(
        (name, table.schema, table.event, table.rows is None, tuple(table.casts.items()))
        for name, table in trace.tables.items()
    )
    return mount.parts, mount.reader, trace.format, mount.offset != 0, _scan(mount, "events") is not None, tables


def _template(plan: Plan, mount: Mount, catalog: Catalog) -> Plan | None:
    """Return a plan over empty tables, None if there is something else of the trace in it."""
    last = _last(mount, catalog)
    tables = {id(one): name for name in mount.given for one in [_scan(mount, name)] if one is not None}
    for one in readers_first(plan):
        if inputs(one) or one is last or id(one) in tables or _is_empty(one):
            continue
        return None
    return bottom_up(plan, lambda one: _emptied(one, last, tables))


def _emptied(plan: Plan, last: Plan, tables: dict[int, str]) -> Plan:
    if plan is last:
        return Scan(plan.schema, plan.order, _LAST, Held(None))
    if isinstance(plan, Scan):
        return replace(plan, name=tables[id(plan)], source=Held(None))
    return plan


def _filled(plan: Plan, mount: Mount, catalog: Catalog) -> Plan:
    if not isinstance(plan, Scan):
        return plan
    found = _last(mount, catalog) if plan.name == _LAST else _scan(mount, plan.name)
    assert found is not None, plan.name
    return found


def _scan(mount: Mount, name: str) -> Scan | None:
    """Return the scan of a stored table; None if it has none of its own."""
    plan = mount.given[name]() if name != "events" or mount.sources else None
    return plan if isinstance(plan, Scan) else None


def _last(mount: Mount, catalog: Catalog) -> Plan:
    found = catalog.find((*mount.parts, _LAST))
    assert found is not None
    entry: Any = found[0]
    assert isinstance(entry, StoredTable)
    return entry.plan()


def _is_empty(plan: Plan) -> bool:
    """Whether a plan without inputs has no rows: the table of an event that the trace lacks."""
    return isinstance(plan, Relation) and isinstance(plan.query, Select) and plan.query.where == FALSE
