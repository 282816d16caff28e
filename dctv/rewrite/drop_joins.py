"""Drop left joins of which nothing is read and which find at most one row: views join names that few queries read.

Sound because such a join neither adds rows nor leaves any out. That the joined table has no two rows of one key is
known where it is grouped by the key, without duplicates, or declared so. A join stays where its table is computed by a
span operator, which may warn, or checks or counts rows.

Without the joins, the other rules meet a smaller plan. So the rule comes first, and leaves a plan without such joins as
it is; in others it leaves out the columns that are not read, to find more of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from dctv.contracts.span_operator import SpanOperator
from dctv.plan.nodes import Kernel, Plan, Relation, column_names
from dctv.plan.queries import Join, Select, TableName
from dctv.plan.walk import walk
from dctv.record import replace
from dctv.rewrite.graph import bottom_up, readers_first
from dctv.rewrite.joined_sources import contains_column, stands_apart
from dctv.rewrite.prune_columns import prune_columns
from dctv.rewrite.select_lists import has_effect
from dctv.rewrite.select_shapes import clauses
from dctv.rewrite.unique_rows import Leaves, UniqueRows


def drop_joins(plan: Plan, operators: Mapping[str, SpanOperator]) -> Plan:
    """Drop joins that change nothing."""
    unique = UniqueRows()
    while _joins(plan, unique):
        pruned = prune_columns(plan, operators)
        made = bottom_up(pruned, lambda node: _without(node, unique) if isinstance(node, Relation) else node)
        if made is pruned:
            break
        plan = made
    return plan


def _joins(plan: Plan, unique: UniqueRows) -> bool:
    """Whether there is any left join that finds at most one row."""
    for node in readers_first(plan):
        if isinstance(node, Relation) and isinstance(node.query, Select) and node.query.joins:
            leaves = dict(node.leaves)
            if any(unique.matches_once(node.query, join, leaves) for join in node.query.joins):
                return True
    return False


def _without(relation: Relation, unique: UniqueRows) -> Relation:
    """Return a relation without the joins that change nothing."""
    query = relation.query
    if not isinstance(query, Select) or query.steps or any(join.kind in ("RIGHT", "FULL") for join in query.joins):
        return relation
    leaves = dict(relation.leaves)
    for join in reversed(query.joins):
        if unique.matches_once(query, join, leaves) and _is_unread(query, join, leaves):
            query = replace(query, joins=tuple(one for one in query.joins if one is not join))
    if query is relation.query:
        return relation
    named = {node.name for node in walk(query) if isinstance(node, TableName)}
    return replace(relation, query=query, leaves=tuple(leaf for leaf in relation.leaves if leaf[0] in named))


def _is_unread(select: Select, join: Join, leaves: Leaves) -> bool:
    """Whether a select reads nothing of a joined table but in the condition of the join."""
    source = join.source
    assert isinstance(source, TableName)
    plan = leaves[source.name]
    read = (*select.items, *clauses(select), *(one.on for one in select.joins if one is not join))
    return (
        not contains_column(source.called.lower(), *read)
        and stands_apart(select, source, column_names(plan))
        and _only_values(plan)
    )


def _only_values(plan: Plan) -> bool:
    """Whether a plan does nothing but give rows: it neither warns nor checks."""
    return not any(
        isinstance(node, Kernel) or (isinstance(node, Relation) and node.query.once(has_effect))
        for node in readers_first(plan)
    )
