"""Find tables in which rows of large tables are looked up, such as the threads of slices.

The engine keeps one side of a join in memory: the one of which it expects fewer rows. It expects as many groups as
there are rows to group, and multiplies what joins may multiply, so it would keep millions of slices to join a few
threads. A small side that is computed before reaches it as a stream, of which it expects one row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dctv.plan.node import Query
from dctv.plan.nodes import Plan, Relation, Scan
from dctv.plan.queries import Compound, Derived, FromItem, Select, TableName
from dctv.plan.walk import walk
from dctv.record import field, record
from dctv.rewrite.graph import inputs
from dctv.rewrite.select_lists import may_aggregate

MANY = 1_000_000
"""From this many stored rows on, keeping the smaller side is worth a query of its own."""

FEW = 10_000
"""Up to this many rows, a stored table is small."""


def lookups(plans: Sequence[Plan]) -> set[int]:
    """Return the identities of small tables that are joined with many rows: groups, few rows, and joins of both."""
    sizes = _Sizes()
    found: set[int] = set()
    for plan in plans:
        if not isinstance(plan, Relation):
            continue
        for names in plan.query.once(_joined):
            leaves = [leaf for name, leaf in plan.leaves if name in names]
            few = [leaf for leaf in leaves if sizes.are_few(leaf)]
            if 0 < len(few) < len(leaves) and any(sizes.are_many(leaf) for leaf in leaves if leaf not in few):
                found.update(map(id, few))
    return found


def _joined(query: Query) -> Sequence[frozenset[str]]:
    """Return the names of the tables that are joined with each other."""
    selects = (node for node in walk(query) if isinstance(node, Select) and node.joins)
    return [frozenset(one.name for one in select.sources if isinstance(one, TableName)) for select in selects]


@record(frozen=False)
class _Sizes:
    few: dict[int, bool] = field(default_factory=dict)
    """Whether the rows of a plan are few, by its identity."""

    def are_few(self, plan: Plan) -> bool:
        """Whether the rows of a plan are groups of others, or made of stored tables with few rows."""
        if id(plan) not in self.few:
            self.few[id(plan)] = self._few(plan)
        return self.few[id(plan)]

    def _few(self, plan: Plan) -> bool:
        match plan:
            case Scan():
                rows = plan.source.stored_rows()
                return rows is not None and rows <= FEW
            case Relation():
                return self._of_few(plan.query, dict(plan.leaves))
            case _:
                return False

    def _of_few(self, query: Query, leaves: Mapping[str, Plan]) -> bool:
        if isinstance(query, Compound):
            return all(self._of_few(part, leaves) for part in query.parts)
        assert isinstance(query, Select)
        if query.distinct or query.group is not None or may_aggregate(query):
            return True
        if any(join.on is None for join in query.joins):
            return False  # each row of one with each of the other may be many
        return bool(query.sources) and all(self._source(one, leaves) for one in query.sources)

    def _source(self, source: FromItem, leaves: Mapping[str, Plan]) -> bool:
        match source:
            case TableName(name) if name in leaves:
                return self.are_few(leaves[name])
            case Derived(query):
                return self._of_few(query, leaves)
            case _:
                return False

    def are_many(self, plan: Plan) -> bool:
        """Whether a plan is made of many stored rows, except those of small tables."""
        return sum(self._stored(plan, set())) >= MANY

    def _stored(self, plan: Plan, seen: set[int]) -> Iterator[int]:
        if id(plan) in seen or self.are_few(plan):
            return
        seen.add(id(plan))
        if isinstance(plan, Scan):
            yield plan.source.stored_rows() or 0
        for one in inputs(plan):
            yield from self._stored(one, seen)
