"""Tell which columns of a plan no two of its rows share, and so which joins find at most one row."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from dctv.plan.expressions import Binary, Column, Expression
from dctv.plan.node import Query
from dctv.plan.nodes import Plan, Relation, Scan, column_names
from dctv.plan.queries import Compound, Derived, GroupingSets, Join, Select, TableName
from dctv.record import field, record
from dctv.rewrite.conditions import conjuncts
from dctv.rewrite.select_lists import has_effect, result_names

_EQUAL = ("=", "<=>")

Leaves = Mapping[str, Plan]
"""The plans that a relation reads, by name."""


@record(frozen=False)
class UniqueRows:
    """What is known of plans, each of which is looked at once for the same columns."""

    known: dict[tuple[int, frozenset[str]], tuple[Plan, bool]] = field(default_factory=dict)
    """By the plan's identity; the plan is kept, so that no other gets that."""

    def by(self, plan: Plan, names: Collection[str]) -> bool:
        """Whether no two rows of a plan have the same values in some of its columns."""
        if not isinstance(plan, Relation | Scan):
            return False
        declared = bool(plan.unique) and set(plan.unique) <= set(names)
        if declared or isinstance(plan, Scan):
            return declared
        key = id(plan), frozenset(names)
        if key not in self.known:
            self.known[key] = plan, self._of_query(plan.query, names, dict(plan.leaves))
        return self.known[key][1]

    def matches_once(self, select: Select, join: Join, leaves: Leaves) -> bool:
        """Whether a LEFT JOIN finds at most one row for each of those before it."""
        source = join.source
        if join.kind != "LEFT" or join.asof or not isinstance(source, TableName) or source.columns:
            return False
        return source.name in leaves and self.by(leaves[source.name], set(_matched(select, join.on, source, leaves)))

    def _of_query(self, query: Query, names: Collection[str], leaves: Leaves) -> bool:
        assert isinstance(query, Select | Compound)
        results = result_names(query)
        if query.steps or results is None or len(set(results)) < len(results):
            return False
        if isinstance(query, Compound):
            return query.operator == "UNION" and not query.all and set(results) <= set(names)
        if has_effect(*query.items):
            return False
        if query.distinct and set(results) <= set(names):
            return True
        values = {item.value for item in query.items if item.output in names}
        if query.group is not None:
            keys = query.group.keys
            return (
                not query.group.all and not any(isinstance(key, GroupingSets) for key in keys) and set(keys) <= values
            )
        return self._of_source(query, values, leaves) and all(
            self.matches_once(query, join, leaves) for join in query.joins
        )

    def _of_source(self, select: Select, values: Collection[Expression], leaves: Leaves) -> bool:
        """Whether a select's first source is unique in what the select passes on of it."""
        first = select.source
        if first is None or first.columns:
            return False
        tables = (first.called,) if select.joins else (first.called, None)
        own = {one.name for one in values if isinstance(one, Column) and one.table in tables}
        match first:
            case TableName(name):
                return name in leaves and self.by(leaves[name], own)
            case Derived(query):
                return self._of_query(query, own, leaves)
            case _:
                return False


def _matched(select: Select, on: Expression | None, source: TableName, leaves: Leaves) -> Iterator[str]:
    """Yield the columns of a source that equal a column of the same type of another one: no cast makes more equal."""
    types = _types(leaves[source.name])
    for test in conjuncts(on):
        if not isinstance(test, Binary) or test.operator not in _EQUAL:
            continue
        for own, other in ((test.left, test.right), (test.right, test.left)):
            if not isinstance(own, Column) or not isinstance(other, Column) or own.table != source.called:
                continue
            if own.name in types and types[own.name] == _type_of(select, other, source, leaves):
                yield own.name


def _type_of(select: Select, column: Column, but: TableName, leaves: Leaves) -> str | None:
    """Return the type of a column of another source, if that is a leaf."""
    for source in select.sources:
        if source is not but and source.called == column.table:
            leaf = leaves.get(source.name) if isinstance(source, TableName) and not source.columns else None
            return None if leaf is None else _types(leaf).get(column.name)
    return None


def _types(plan: Plan) -> dict[str, str]:
    return dict(zip(column_names(plan), (column.type for column in plan.schema.columns), strict=True))
