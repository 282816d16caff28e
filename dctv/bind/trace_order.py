"""Rewrite a plan over tables of a fleet so that its rows come in the order that they have in each trace.

The rows of all traces are sorted by time and then by value, as no other order is the same in every run. In one trace,
rows of equal time keep their order, and functions that take the first or last of them depend on it.
"""

from __future__ import annotations

from dctv.plan.build import by_names
from dctv.plan.expressions import Window
from dctv.plan.fleets import FleetSource
from dctv.plan.node import Query
from dctv.plan.nodes import Kernel, Plan, Relation, Scan, ranked_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import Select, TableName
from dctv.plan.walk import walk
from dctv.record import replace
from dctv.types.schema import Kind


def in_order_of_trace(plan: Plan) -> Plan:
    """Return a plan to run in one trace alone; its tables of spans and events come sorted by time."""
    return _in_order(plan, {})


def _in_order(plan: Plan, known: dict[int, Plan]) -> Plan:
    if id(plan) not in known:
        known[id(plan)] = _changed(plan, known)
    return known[id(plan)]


def _changed(plan: Plan, known: dict[int, Plan]) -> Plan:
    match plan:
        case Scan(source=FleetSource()) if plan.schema.kind is not Kind.REGULAR:
            return replace(plan, order=RowOrder.TIME)
        case Relation():
            leaves = tuple((name, _in_order(leaf, known)) for name, leaf in plan.leaves)
            same = all(new is old for (_, new), (_, old) in zip(leaves, plan.leaves, strict=True))
            return plan if same else _in_time(replace(plan, leaves=leaves))
        case Kernel():
            inputs = tuple(_in_order(one, known) for one in plan.inputs)
            same = all(new is old for new, old in zip(inputs, plan.inputs, strict=True))
            return plan if same else replace(plan, inputs=inputs)
        case _:
            return plan


def _in_time(plan: Relation) -> Plan:
    """Keep the order of a table of which a query takes rows, instead of sorting them again."""
    query = plan.query
    if plan.schema.kind is Kind.REGULAR or len(plan.leaves) != 1 or not isinstance(query, Select):
        return plan
    ((_, leaf),) = plan.leaves
    by_rows = replace(query, items=(), where=None, source=None, order_by=()) == Select()
    # The engine may compute these in another order of rows.
    apart = any(isinstance(one, Window | Query) for one in walk(*query.items, query.where))
    ranked = by_names(ranked_names(plan.schema))
    keeps = by_rows and not apart and query.order_by in ((), ranked)
    if leaf.ordered and isinstance(query.source, TableName) and keeps:
        return replace(plan, order=RowOrder.TIME, query=replace(query, order_by=()))
    return plan
