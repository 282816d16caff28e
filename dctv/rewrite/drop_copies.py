"""A sweep that reads another through a select of all its columns -> the same without the select.

Sound because sweeps take columns by position: a query that hands on every column of one kernel in their order, under
whatever names, with no other clause, hands on the same rows in the same order. It comes last, when the other rules have
left out what they could; kinds and numbers of partitions have to agree, since operators count special columns.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from dctv.contracts.span_operator import SpanOperator
from dctv.plan.nodes import Kernel, Plan, Relation, column_names
from dctv.rewrite.graph import bottom_up, inputs, with_inputs


def drop_copies(plan: Plan, _: Mapping[str, SpanOperator]) -> Plan:
    """Let sweeps read sweeps."""
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
    if not same or (plan.ordered and not leaf.ordered):
        return plan
    query = plan.query
    clauses = {k for k, v in query.args.items() if v} - {"expressions", "from_"}
    if not isinstance(query, exp.Select) or clauses:
        return plan
    source = query.args["from_"].this
    values = [e.unalias() for e in query.expressions]
    if not isinstance(source, exp.Table) or source.name != name or not all(isinstance(v, exp.Column) for v in values):
        return plan
    if [v.name for v in values] != column_names(leaf):
        return plan
    below = _copied(leaf)
    return below if isinstance(below, Kernel) else plan
