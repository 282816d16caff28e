"""Cut a plan into regions: adjacent relational plans become one query of the engine; its inputs stay outside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from dctv.plan.node import Node, Query
from dctv.plan.nodes import Plan, Relation, Scan
from dctv.plan.queries import CommonTable, Compound, Derived, Select, TableName
from dctv.plan.source import RowsInMemory
from dctv.plan.walk import replaced, walk
from dctv.record import field, record, replace
from dctv.run.sharing import Sharing

_MOST_NESTED = 100
"""Stored tables that a query reads as common tables.

The engine nests common tables: with 1,000 of them it refuses the query, and with some hundreds it plans for seconds.
"""


@record(frozen=False)
class Region:
    """One query for the engine and the plans that it reads."""

    query: Query
    sources: dict[str, Plan]
    """Its inputs, by the names of their tables in the query."""
    stored: list[Scan]
    """Stored tables that the engine reads itself, where they are."""
    serial: bool
    pushed: list[str]
    """Conditions that rules put into it."""


@record(frozen=False)
class _Cutting:
    """The state of the recursion."""

    shared: Sharing
    names: dict[int, str] = field(default_factory=dict)
    kept: dict[str, Plan] = field(default_factory=dict)
    """Common tables by name."""
    reads: Counter[str] = field(default_factory=Counter)
    sources: dict[str, Plan] = field(default_factory=dict)
    stored: list[Scan] = field(default_factory=list)
    tables: list[tuple[str, Query]] = field(default_factory=list)
    serial: bool = False
    pushed: list[str] = field(default_factory=list)

    def query(self, plan: Relation) -> Query:
        """Return a relation's query, reading its leaves by their names in the region."""
        self.serial = self.serial or plan.serial
        self.pushed += plan.pushed
        names = {name: self.name(leaf) for name, leaf in plan.leaves}
        if not names:
            return plan.query
        query, reads = _renamed(plan.query, names)
        self.reads.update(reads)
        return query

    def name(self, plan: Plan) -> str:
        """Return the name of a leaf in the region, cutting it out first if it is new."""
        if id(plan) not in self.names:
            query = None if plan in self.shared else self.inside(plan)
            self.names[id(plan)] = name = f"dctv_{len(self.names) + 1}"
            if query is None:
                self.sources[name] = plan
            else:
                self.tables.append((name, query))
                self.kept[name] = plan
        return self.names[id(plan)]

    def inside(self, plan: Plan) -> Query | None:
        """Return the query of a leaf that the engine computes or reads itself, or None."""
        match plan:
            case Relation():
                return self.query(plan)
            case Scan():
                query = plan.source.query()
                if query is not None:
                    self.stored.append(plan)
                return query
            case _:
                return None

    def common_table(self, name: str, query: Query) -> CommonTable:
        """Return the common table of a leaf, which is computed once if that is worth keeping its rows."""
        keep: bool | None = None
        if self.reads[name] > 1 and self.shared.is_work(self.kept[name]):
            keep = True
        elif isinstance(self.kept[name], Scan):
            keep = False
        return CommonTable(name, query, materialized=keep)


_Renamed = tuple[Query, Counter[str]]
"""A query with other names for its leaves, and how often it reads each."""


def _renamed(query: Query, names: Mapping[str, str]) -> _Renamed:
    """Rename the leaves of a query; it remembers the last names, since the traces of a fleet share queries."""
    key = tuple(names.items())
    known = query.once(_last_renamed)
    # Looked up once: another thread may make it forget them at any time.
    found = known.get(key)
    if found is None:
        found = _with_names(query, names)
        known.clear()
        known[key] = found
    return found


def _last_renamed(_: Query) -> dict[tuple[tuple[str, str], ...], _Renamed]:
    return {}


def _with_names(query: Query, names: Mapping[str, str]) -> _Renamed:
    reads: Counter[str] = Counter()

    def change(node: Node) -> Node | None:
        if not isinstance(node, TableName) or node.name not in names:
            return None
        reads[names[node.name]] += 1
        return replace(node, name=names[node.name], alias=node.called)

    return replaced(query, change), reads


def cut(plan: Relation, shared: Sharing) -> Region:
    """Return the region of a relation: it and all relations that it reads directly, but for shared ones."""
    cutting = _Cutting(shared)
    query = cutting.query(plan)
    assert isinstance(query, Select | Compound)
    tables = [cutting.common_table(name, one) for name, one in cutting.tables]
    if len(cutting.stored) > _MOST_NESTED:
        query, tables = _read_in_place(query, tables, cutting.kept)
    query = _computed_once(query, tables, cutting.sources)
    return Region(query, cutting.sources, cutting.stored, cutting.serial, cutting.pushed)


def _read_in_place(
    query: Select | Compound, tables: Sequence[CommonTable], plans: Mapping[str, Plan]
) -> tuple[Select | Compound, list[CommonTable]]:
    """Write the queries of stored tables wherever these are read, in place of common tables."""
    stored = {table.name: table.query for table in tables if isinstance(plans[table.name], Scan)}

    def change(node: Node) -> Node | None:
        if isinstance(node, TableName) and node.name in stored:
            return Derived(stored[node.name], node.called, node.columns)
        return None

    rest = [replace(table, query=replaced(table.query, change)) for table in tables if table.name not in stored]
    return replaced(query, change), rest


def _computed_once(query: Select | Compound, tables: Sequence[CommonTable], sources: Mapping[str, Plan]) -> Query:
    """Put common tables before a query; keep the rows of those read more than once that would be computed each time.

    They would be if they are made of what runs again.
    """
    whole = replace(query, steps=(*tables, *query.steps))
    again = {
        name for name, plan in sources.items() if not (isinstance(plan, Scan) and isinstance(plan.source, RowsInMemory))
    }
    if not again:
        return whole
    # Each part remembers what it has, and the traces of a fleet have the same parts.
    parts = [query, *(one.query for one in tables)]
    tables = [*tables, *(table for part in parts for table in part.once(_tables))]
    reads: Counter[str] = Counter()
    for part in parts:
        reads.update(part.once(_reads))
    before = 0
    while before < len(again):
        before = len(again)
        again |= {table.name for table in tables if not again.isdisjoint(table.query.once(_reads))}

    def is_kept(table: CommonTable) -> bool:
        if table.materialized is not None or table.name not in again:
            return False
        return reads[table.name] > 1 and table.name not in table.query.once(_reads)

    def change(node: Node) -> Node | None:
        if isinstance(node, CommonTable) and is_kept(node):
            return replace(node, query=replaced(node.query, change), materialized=True)
        return None

    return replaced(whole, change) if any(map(is_kept, tables)) else whole


def _tables(query: Query) -> list[CommonTable]:
    return [node for node in walk(query) if isinstance(node, CommonTable)]


def _reads(query: Query) -> Counter[str]:
    """Return how often a query reads each name."""
    return Counter(node.name for node in walk(query) if isinstance(node, TableName))
