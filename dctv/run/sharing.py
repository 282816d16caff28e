"""Make equal parts of a plan one, and find those that are read more than once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping

from dctv.plan.carrying import carried_schema
from dctv.plan.expressions import Call, Window
from dctv.plan.node import Node, Query
from dctv.plan.nodes import Kernel, Plan, Relation, Scan
from dctv.plan.queries import Compound, Select, TableName
from dctv.plan.walk import walk
from dctv.record import record
from dctv.rewrite.graph import bottom_up, inputs, readers_first
from dctv.rewrite.select_lists import is_volatile
from dctv.run.lookups import lookups


def merged(plan: Plan) -> Plan:
    """Return a plan in which parts that compute the same are the same object.

    A view named twice is bound twice, and an input that is sorted for two operators is sorted twice; both become one.
    """
    first_of: dict[Hashable, Plan] = {}
    return bottom_up(plan, lambda node: first_of.setdefault(_key(node), node))


def _key(plan: Plan) -> Hashable:
    """Return a key that is equal only for plans that compute the same; their inputs have been merged."""
    match plan:
        case Relation():
            if plan.query.once(is_volatile):
                return id(plan)
            leaves = tuple((name, id(leaf)) for name, leaf in plan.leaves)
            return (plan.query, leaves, plan.schema, plan.order, plan.serial)
        case Kernel():
            options = repr(sorted(plan.options.items()))
            return (plan.name, options, tuple(id(leaf) for leaf in plan.inputs), plan.schema, plan.order)
        case _:
            return id(plan)


@record
class Sharing:
    """Which plans are computed once and read again, with the number of their readers."""

    readers: Mapping[int, int]
    """By the identity of the plan."""
    is_work: Callable[[Plan], bool]
    """Whether a plan is more than a filter or projection of stored rows."""

    def __contains__(self, plan: Plan) -> bool:
        return id(plan) in self.readers


def sharing(root: Plan, kinds: Callable[[], Mapping[str, str]]) -> Sharing:
    """Find the plans that more than one region or kernel reads, and groups in which many rows are looked up.

    Reading stored rows again costs less than keeping them, so filters and projections of those are not shared. Inside
    of one region the engine shares by itself. `kinds` gives those of the engine's functions, which take time to list.
    """
    works: dict[int, bool] = {}

    def is_work(plan: Plan) -> bool:
        if carried_schema(plan.schema) != plan.schema:
            return False  # Its rows cannot be kept as they are.
        if id(plan) not in works:
            works[id(plan)] = _is_work(plan, kinds) or any(is_work(leaf) for leaf in inputs(plan))
        return works[id(plan)]

    readers: dict[int, int] = {}
    regions: dict[int, set[Hashable]] = {id(root): {id(root)}}
    reads: Counter[int] = Counter()
    order = readers_first(root)
    before = lookups(order)
    for plan in order:
        own = regions.get(id(plan), set())
        several = (reads[id(plan)] if isinstance(plan, Kernel) else len(own)) > 1
        if (several or id(plan) in before) and is_work(plan):
            readers[id(plan)] = reads[id(plan)]
            own = {id(plan)}
        references = _references(plan)
        for number, leaf in enumerate(inputs(plan)):
            if isinstance(plan, Kernel):
                regions.setdefault(id(leaf), set()).add((id(plan), number))
                reads[id(leaf)] += 1
            else:
                regions.setdefault(id(leaf), set()).update(own)
                reads[id(leaf)] += len(own) * references[number]
    return Sharing(readers, is_work)


def _is_work(plan: Plan, kinds: Callable[[], Mapping[str, str]]) -> bool:
    match plan:
        case Relation():
            return len(plan.leaves) > 1 or any(_works(node, kinds) for node in walk(plan.query))
        case _:
            return not isinstance(plan, Scan)


def _works(node: Node, kinds: Callable[[], Mapping[str, str]]) -> bool:
    """Whether a part of a query is more than a look at rows one after another."""
    match node:
        case Select():
            grouped = node.group is not None or node.distinct
            return bool(node.joins or grouped or node.order_by or node.limit is not None or node.steps)
        case Call():
            return node.distinct or bool(node.order_by) or kinds().get(node.function.lower()) == "aggregate"
        case _:
            return isinstance(node, Compound | Window)


def _references(plan: Plan) -> list[int]:
    """Count the reads of each leaf in a relation's query."""
    if not isinstance(plan, Relation):
        return [1] * len(inputs(plan))
    reads = plan.query.once(_reads)
    return [reads[name] for name, _ in plan.leaves]


def _reads(query: Query) -> Counter[str]:
    """Count the reads of each table."""
    return Counter(node.name for node in walk(query) if isinstance(node, TableName))
