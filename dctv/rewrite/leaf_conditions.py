"""Find conditions of a query on the rows of one leaf, and read a plan through a select with conditions.

WHERE and ON come before everything else in a select: a row for which a condition is not true makes no difference to the
result, unless it stays without a partner in an outer join (`condition_lineage`).
"""

from __future__ import annotations

from collections.abc import Sequence

from dctv.plan import build as w
from dctv.plan import show
from dctv.plan.expressions import Expression, StartOf
from dctv.plan.nodes import Plan, Relation, column_names
from dctv.plan.queries import Select, TableName
from dctv.plan.walk import walk
from dctv.record import record
from dctv.rewrite.condition_lineage import path_from_clause, path_from_join
from dctv.rewrite.conditions import conjuncts, names_in
from dctv.rewrite.select_lists import has_effect, is_volatile


@record
class LeafConditions:
    """Conditions over a leaf's columns, unqualified, that every row which a query needs satisfies."""

    tests: Sequence[Expression] = ()
    are_all: bool = False
    """Whether they are the whole WHERE of a select that reads nothing but the leaf: they fail where that would."""


def conditions_on_leaf(relation: Relation, name: str, leaf: Plan) -> LeafConditions:
    """Return the conditions on a leaf; none if a relation's query reads it in several places."""
    if not is_read_once(relation, name):
        return LeafConditions()
    every = [one for one in walk(relation.query) if isinstance(one, Select)]
    selects = [one for one in every if one.where is not None]
    ways = [path_from_clause(one, test, grouped=False) for one in selects for test in conjuncts(one.where)]
    ways += [path_from_join(one, join, test) for one in every for join in one.joins for test in conjuncts(join.on)]
    columns = set(column_names(leaf))
    found = [way.test for way in ways if way is not None and way.leaf == name and names_in(way.test) <= columns]
    tests = [test for test in found if _is_of_row(test)]
    alone = [one for one in selects if isinstance(one.source, TableName) and one.source.name == name and not one.joins]
    return LeafConditions(tests, len(alone) == len(selects) == 1 and len(tests) == len(ways))


def _is_of_row(test: Expression) -> bool:
    """Whether a condition is one of a row's values alone, the same wherever it is evaluated."""
    return not (has_effect(test) or is_volatile(test) or any(isinstance(node, StartOf) for node in walk(test)))


def is_read_once(relation: Relation, name: str) -> bool:
    """Whether a relation's query reads a leaf in one place."""
    return sum(isinstance(one, TableName) and one.name == name for one in walk(relation.query)) == 1


def filtered(plan: Plan, tests: Sequence[Expression]) -> Plan:
    """Read a plan through a select with conditions that it does not have yet."""
    if isinstance(plan, Relation) and plan.pushed:
        ((name, below),), query, before = plan.leaves, plan.query, plan.pushed
        assert isinstance(query, Select)
    else:
        names = column_names(plan)
        name, below, query, before = (
            "unfiltered",
            plan,
            w.select(*w.named(w.columns(names), names), source="unfiltered"),
            (),
        )
    present = set(conjuncts(query.where))
    new = [test for test in dict.fromkeys(tests) if test not in present]
    if not new:
        return plan
    pushed = (*before, *map(show.expression, new))
    query = w.where(query, *new)
    return Relation(plan.schema, plan.order, query, ((name, below),), pushed=pushed)
