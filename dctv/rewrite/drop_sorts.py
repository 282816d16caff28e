"""Remove sorts of rows that already come in order of time.

A span operator needs its inputs in order of time. Where that is not known when the operator is bound, its input is
sorted; a part of a fleet's plan is one-per-trace, and the tables of one trace do come in order. Sound where the sort
leaves rows of equal time as they came, which it does by their numbers, and where the operator needs the order of time
alone (`SpanOperator.by_time`): rows of equal time then come as they are stored, as they do if the trace is mounted
alone. So do the rows of a select that only projects a table that comes in order, or leaves some of its rows out. Sorts
by more than time stay where other operators need them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeGuard

from dctv.contracts.span_operator import SpanOperator
from dctv.plan.build import ROW_NUMBER, by_names
from dctv.plan.expressions import Cast, Column, Exists, Expression, InQuery, Subquery, Window
from dctv.plan.node import Query
from dctv.plan.nodes import Kernel, Plan, Relation, column_names
from dctv.plan.queries import Derived, Select, TableName
from dctv.plan.walk import walk
from dctv.record import replace
from dctv.rewrite.graph import bottom_up, inputs, with_inputs
from dctv.rewrite.select_shapes import is_projection
from dctv.types.schema import TS

_REORDERED = (Window, Subquery, Exists, InQuery)


def drop_sorts(plan: Plan, operators: Mapping[str, SpanOperator]) -> Plan:
    """Let span operators read rows that come in order of time without another sort."""

    def change(node: Plan) -> Plan:
        if not isinstance(node, Kernel):
            return node
        by_time = operators[node.name].by_time
        return with_inputs(node, tuple(_unsorted(one, by_time=by_time) for one in inputs(node)))

    return bottom_up(plan, change)


def _unsorted(plan: Plan, *, by_time: bool) -> Plan:
    if not isinstance(plan, Relation) or not plan.ordered or len(plan.leaves) != 1:
        return plan
    ((name, leaf),) = plan.leaves
    query = _without_order(plan.query, column_names(plan)[0], by_time=by_time)
    if query is None or query.source != TableName(name) or not _is_by_time(leaf):
        return plan
    time = query.items[0]
    same = column_names(leaf)[0] == TS if time.is_star else _is_time(time.value, name)
    return replace(plan, query=query) if same else plan


def _is_by_time(plan: Plan) -> bool:
    """Whether rows come in order of their column `_ts`."""
    if not isinstance(plan, Relation) or plan.ordered:
        return plan.ordered and column_names(plan)[0] == TS
    query = plan.query
    if not plan.stable or len(plan.leaves) != 1 or not _keeps_order(query):
        return False
    ((name, leaf),) = plan.leaves
    times = [item.value for item in query.items if item.output == TS]
    source = query.source
    if len(times) != 1 or not isinstance(source, TableName) or source != TableName(name, source.alias):
        return False
    return times[0] in (Column(TS), Column(TS, source.called)) and _is_by_time(leaf)


def _is_time(value: Expression, source: str) -> bool:
    """Whether an expression is the time of the rows of a source."""
    if isinstance(value, Cast) and value.type == "BIGINT":
        value = value.operand
    return value in (Column(TS), Column(TS, source))


def _keeps_order(query: Query) -> TypeGuard[Select]:
    """Whether a query only projects rows of one source, or leaves some of them out, without windows or subqueries.

    The engine sorts rows for windows, and joins them with those of subqueries.
    """
    if not isinstance(query, Select) or not is_projection(replace(query, where=None)):
        return False
    return not any(isinstance(node, _REORDERED) for node in walk(query))


def _without_order(query: Query, time: str, *, by_time: bool) -> Select | None:
    """Return a projection without its order, which begins with its time; None for all other queries."""
    if not isinstance(query, Select) or query.order_by[:1] != by_names([time]):
        return None
    order, query = query.order_by, replace(query, order_by=())
    if not is_projection(query):
        return None
    if not isinstance(query.source, Derived):
        return query if by_time else None
    inner = query.source.query
    if not isinstance(inner, Select):
        return None
    if inner.items[-1].value == ROW_NUMBER:
        # Rows that are numbered, so that those of equal time stay as they come.
        number, inner = inner.items[-1].output, replace(inner, items=inner.items[:-1])
        sorts_by_time = order == by_names([time, number])
    else:
        sorts_by_time = by_time
    same = [item.output for item in query.items] == [item.output for item in inner.items]
    return inner if same and sorts_by_time and _keeps_order(inner) else None
