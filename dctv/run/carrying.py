"""Add casts around the kernels of a plan, so that their inputs and outputs have only types that Arrow has."""

from __future__ import annotations

from dctv.plan.build import STAR, select
from dctv.plan.carrying import carried_schema, with_types
from dctv.plan.nodes import Kernel, Plan, Relation
from dctv.plan.order import RowOrder
from dctv.record import replace
from dctv.rewrite.graph import bottom_up


def around_kernels(plan: Plan) -> Plan:
    """Return a plan that casts, before a kernel and after it, values that Arrow has no type for."""
    return bottom_up(plan, _around)


def _around(plan: Plan) -> Plan:
    if not isinstance(plan, Kernel):
        return plan
    inputs = tuple(with_types(one, carried_schema(one.schema)) for one in plan.inputs)
    schema = carried_schema(plan.schema)
    if schema == plan.schema and all(a is b for a, b in zip(inputs, plan.inputs, strict=True)):
        return plan
    return with_types(replace(plan, inputs=inputs, schema=schema), plan.schema)


def as_relation(plan: Plan) -> Plan:
    """Wrap plans of kernels and stored tables in a query too, so that results have types that Arrow has."""
    plan = with_types(plan, carried_schema(plan.schema))
    if isinstance(plan, Relation):
        return plan
    query = select(STAR, source="whole")
    order = RowOrder.TIME if plan.ordered else RowOrder.STABLE
    return Relation(plan.schema, order=order, query=query, leaves=(("whole", plan),))
