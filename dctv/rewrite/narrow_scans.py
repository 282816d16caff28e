"""Narrow scans to the rows that a reader needs, and drop the branches of unions that give none.

Sound because a need (`needs`) is implied by all that stands above: the rows that are left out would not have come
through. Conditions stay where they are. A scan that several queries read is narrowed for each by itself; another plan
that several read has the OR of their needs, and stays one plan. Sweeps need all of their inputs: `push_filter` has
already moved conditions above a sweep into queries below it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from dctv.contracts.span_operator import SpanOperator
from dctv.plan.node import Node, Query
from dctv.plan.nodes import Plan, Relation, Scan, column_names
from dctv.plan.predicate import ALWAYS, Predicate, either
from dctv.plan.queries import Compound, TableName
from dctv.plan.walk import mapped, places_in, walk
from dctv.record import field, record, replace
from dctv.rewrite.graph import inputs, put_together, readers_first
from dctv.rewrite.needed_rows import Needs


def narrow_scans(plan: Plan, _: Mapping[str, SpanOperator]) -> Plan:
    """Pass each scan the predicate on the rows that are needed."""
    return _Narrowing().narrowed(plan)


@record(frozen=False)
class _Narrowing:
    needs: dict[int, list[Predicate]] = field(default_factory=dict)
    """The needs of the readers of a plan, by its identity."""
    scans: dict[tuple[int, str], Plan] = field(default_factory=dict)
    """Narrowed scans: equal ones stay one plan."""

    def narrowed(self, plan: Plan) -> Plan:
        """Return a plan whose scans are narrowed."""
        self.needs[id(plan)] = [ALWAYS]
        order = readers_first(plan)
        # A scan that was narrowed for a reader is its own, and not among the plans of the order.
        return put_together(order, {id(node): self._changed(node) for node in order})

    def _changed(self, node: Plan) -> Plan:
        """Return a plan over narrowed scans, and note its needs of its other inputs."""
        if id(node) not in self.needs:
            # Only branches read it that are gone.
            return node
        if not isinstance(node, Relation):
            for one in inputs(node):
                self.needs.setdefault(id(one), []).append(ALWAYS)
            return node
        above = ALWAYS if node.serial else either(self.needs[id(node)])
        found, query = _needs(node, above)
        read = set(found) if query is node.query else {one.name for one in walk(query) if isinstance(one, TableName)}
        leaves = []
        for name, leaf in node.leaves:
            if name not in read:
                continue
            if not isinstance(leaf, Scan):
                self.needs.setdefault(id(leaf), []).append(found[name])
            leaves.append((name, self._scan(leaf, found[name]) if isinstance(leaf, Scan) else leaf))
        same = query is node.query and all(a[1] is b[1] for a, b in zip(leaves, node.leaves, strict=True))
        return node if same else replace(node, query=query, leaves=tuple(leaves))

    def _scan(self, scan: Scan, need: Predicate) -> Plan:
        """Return a scan of the rows that are needed."""
        key = (id(scan), repr(need))
        if key not in self.scans:
            source = scan.source.narrowed(need) if need != ALWAYS else scan.source
            self.scans[key] = scan if source is scan.source else replace(scan, source=source)
        return self.scans[key]


_MOST_KNOWN = 2_000
_known: dict[tuple[object, ...], tuple[Mapping[str, Predicate], Query]] = {}
"""A cache by query: queries of the standard library are bound again for each question."""


def _needs(relation: Relation, above: Predicate) -> tuple[Mapping[str, Predicate], Query]:
    """Return the needs of a relation by leaf, and its query without the branches that give nothing."""
    types = {
        name: dict(zip(column_names(leaf), (c.type for c in leaf.schema.columns), strict=True))
        for name, leaf in relation.leaves
    }
    # As text, since TRUE and 1 are equal to Python.
    columns = tuple((name, tuple(own.items())) for name, own in types.items())
    key = (relation.query, places_in(relation.query), repr(above), columns)
    cached = _known.get(key)
    if cached is None:
        needs = Needs(types)
        of_leaves = needs.of_leaves(relation.query, above)
        cached = of_leaves, without_branches(relation.query, needs.dropped) if needs.dropped else relation.query
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[key] = cached
    found, query = cached
    return found, relation.query if query == relation.query else query


def without_branches(query: Query, dropped: Collection[tuple[int, int]]) -> Query:
    """Return a query without some branches of its unions: the identity of each union with the branch's place."""

    def visit(node: Node) -> Node:
        if isinstance(node, Compound):
            kept = [part for place, part in enumerate(node.parts) if (id(node), place) not in dropped]
            if len(kept) == 1:
                return visit(kept[0])
            if len(kept) < len(node.parts):
                node = replace(node, parts=tuple(kept))
        return mapped(node, visit)

    made = visit(query)
    assert isinstance(made, Query)
    return made
