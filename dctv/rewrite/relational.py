"""Span operators -> queries of the engine, for `SET span_engine = 'relational'`.

Sound because each operator's relational form gives the same rows as its sweep; where the sweep's rows come in order of
time, the query's are sorted.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from dctv.contracts.span_operator import Input, SpanOperator
from dctv.plan.nodes import Kernel, Plan, Relation, column_names
from dctv.plan.sql import column, subquery
from dctv.rewrite.graph import bottom_up
from dctv.types.schema import TS


def relational(plan: Plan, operators: Mapping[str, SpanOperator]) -> Plan:
    """Replace every kernel by its relational form, if it has one."""
    return bottom_up(plan, lambda node: _form(node, operators[node.name]) if isinstance(node, Kernel) else node)


def _form(kernel: Kernel, operator: SpanOperator) -> Plan:
    if operator.relational is None:
        return kernel
    leaves = tuple((f"input{number}", plan) for number, plan in enumerate(kernel.inputs))
    tables = [Input(name, tuple(column_names(plan)), plan.schema) for name, plan in leaves]
    query = operator.relational(tables, kernel.options, kernel.schema)
    if kernel.ordered and not query.args.get("order"):
        names = column_names(kernel)
        first = sorted(range(len(names)), key=lambda i: (names[i] != TS, i))
        order = [exp.Ordered(this=column(names[i]), nulls_first=False) for i in first]
        whole = exp.Select(expressions=[column(n) for n in names]).from_(subquery(query, "made"))
        query = whole.order_by(*order, copy=False)
    return Relation(kernel.schema, ordered=kernel.ordered, query=query, leaves=leaves, keeps_order=kernel.ordered)
