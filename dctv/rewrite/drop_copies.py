"""Remove selects of all columns between one sweep and the next.

Sound because sweeps take columns by position: a query that hands on every column of one kernel in their order, under
whatever names, with no other clause, hands on the same rows in the same order. It comes last, when the other rules have
removed all they could; kinds and numbers of partitions have to agree, since operators count special columns.
"""

from __future__ import annotations

from collections.abc import Mapping

from dctv.contracts.span_operator import SpanOperator
from dctv.plan.expressions import Column
from dctv.plan.nodes import Kernel, Plan, Relation, column_names
from dctv.plan.queries import TableName
from dctv.rewrite.graph import bottom_up, inputs, with_inputs
from dctv.rewrite.select_shapes import is_projection


def drop_copies(plan: Plan, _: Mapping[str, SpanOperator]) -> Plan:
    """Connect sweeps directly to the sweeps that they read."""
    return bottom_up(plan, _direct)


def _direct(plan: Plan) -> Plan:
    if not isinstance(plan, Kernel):
        return plan
    return with_inputs(plan, tuple(_copied(one) for one in inputs(plan)))


def _copied(plan: Plan) -> Plan:
    """Return the kernel that a plan is a copy of, or the plan."""
    if not isinstance(plan, Relation) or len(plan.leaves) != 1:
        return plan
    ((name, leaf),) = plan.leaves
    same = leaf.schema.kind is plan.schema.kind and len(leaf.schema.partitions) == len(plan.schema.partitions)
    query = plan.query
    if not same or (plan.ordered and not leaf.ordered) or not is_projection(query):
        return plan
    if not isinstance(query.source, TableName) or query.source.name != name or query.source.columns:
        return plan
    values = [item.value.name if isinstance(item.value, Column) else None for item in query.items]
    below = _copied(leaf) if values == column_names(leaf) else plan
    return below if isinstance(below, Kernel) else plan
