"""Remove sorts of rows that are only counted, summed up, grouped or compared with each other, or sorted again.

Sound because what is read through groups and DISTINCT is the same in whatever order its rows come, and so is what is
sorted by all of its columns, unless a query says that it is not: by `serial`, by a limit or a sample below these, by an
as-of join, by a check that names the first row that fails, or by a collation, under which equal texts differ. Only
sorts below such queries go, so that rows that are shown or swept come as before.
"""

from __future__ import annotations

from collections.abc import Mapping

from dctv.contracts.engine import EXACT_ON_INTEGERS, ORDER_FREE
from dctv.contracts.span_operator import SpanOperator
from dctv.plan.expressions import Call, Window
from dctv.plan.node import Node, Query
from dctv.plan.nodes import Plan, Relation, Scan, column_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import Compound, Derived, Join, Select
from dctv.plan.walk import own, walk
from dctv.record import replace
from dctv.rewrite.graph import inputs, readers_first, with_inputs
from dctv.rewrite.select_lists import has_effect
from dctv.rewrite.sort_keys import compares_exactly, deciding_keys

_AGGREGATES = ORDER_FREE | EXACT_ON_INTEGERS
"""The others make their relation `serial`."""


def drop_orders(plan: Plan, _: Mapping[str, SpanOperator]) -> Plan:
    """Read rows unsorted where no reader depends on their order."""
    order = readers_first(plan)
    if not compares_exactly(order):
        return plan
    needed = {id(plan)}
    for node in order:
        if _passes_on(node, needed=id(node) in needed):
            needed.update(map(id, inputs(node)))
    new: dict[int, Plan] = {}
    for node in reversed(order):
        one = with_inputs(node, tuple(new[id(leaf)] for leaf in inputs(node)))
        if id(node) not in needed:
            unsorted = _unsorted(one)
            # Without its sort, or over inputs without theirs, its rows come in no known order.
            one = one if unsorted is node else replace(unsorted, order=RowOrder.ANY)
        new[id(node)] = one
    return new[id(plan)]


def _passes_on(plan: Plan, *, needed: bool) -> bool:
    """Whether the rows that a plan reads must be in order, given whether its own must."""
    if not isinstance(plan, Relation):
        return True
    query, decided = plan.query, deciding_keys(plan, column_names(plan)) is not None
    if decided and isinstance(query, Select) and query.limit is not None:
        # Which rows are the first is decided, too.
        query = replace(query, limit=None, offset=None)
    if plan.serial or query.once(meets_rows_in_order):
        return True
    return needed and not decided and not query.once(_puts_together)


def _puts_together(query: Query) -> bool:
    """Whether a query makes its rows of groups of others, or of all of them."""
    if not isinstance(query, Select):
        return False
    if query.distinct or query.group is not None or any(map(_aggregates, own(*query.items))):
        return True
    return isinstance(query.source, Derived) and not query.joins and _puts_together(query.source.query)


def _aggregates(node: Node) -> bool:
    return isinstance(node, Call) and node.function.lower() in _AGGREGATES


def meets_rows_in_order(query: Query) -> bool:
    """Whether the order in which a query meets rows may mean something."""
    return has_effect(query) or any(_is_of_order(node) for node in walk(query))


def _is_of_order(node: Node) -> bool:
    match node:
        case Select(group=None) | Compound():
            return node.limit is not None or node.offset is not None or bool(node.steps)
        case Join():
            return node.asof
        case _:
            return isinstance(node, Window)


def _unsorted(plan: Plan) -> Plan:
    match plan:
        case Relation(query=Select(limit=None, offset=None) as query) if query.order_by:
            return replace(plan, query=replace(query, order_by=()))
        case Scan(source=source):
            unsorted = source.unordered()
            return plan if unsorted is source else replace(plan, source=unsorted)
        case _:
            return plan
