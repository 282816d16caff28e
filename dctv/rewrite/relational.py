"""Replace span operators by queries of the engine, for `SET span_engine = 'relational'`.

Sound because each operator's relational form gives the same rows as its sweep; where the sweep's rows come in order of
time, the query's are sorted.
"""

from __future__ import annotations

from collections.abc import Mapping

from dctv.contracts.span_operator import Input, SpanOperator
from dctv.plan.build import by_names, select
from dctv.plan.nodes import Kernel, Plan, Relation, column_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import Compound, Derived, Select
from dctv.record import replace
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
    assert isinstance(query, Select | Compound)
    if kernel.ordered and not query.order_by:
        names = column_names(kernel)
        first = sorted(names, key=lambda name: name != TS)
        query = replace(select(*names, source=Derived(query, "made")), order_by=by_names(first))
    return Relation(kernel.schema, RowOrder.TIME if kernel.ordered else RowOrder.ANY, query, leaves)
