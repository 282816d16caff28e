"""Cut a plan into regions: adjacent relational plans become one query of the engine; its inputs stay outside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from dctv.plan.node import Node, Query
from dctv.plan.nodes import Plan, Relation, Scan
from dctv.plan.queries import CommonTable, Compound, Select, TableName
from dctv.plan.source import RowsInMemory
from dctv.plan.walk import replaced, walk
from dctv.record import field, record, replace
from dctv.run.sharing import Sharing


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
        renamed = {name: self.name(leaf) for name, leaf in plan.leaves}

        def change(node: Node) -> Node | None:
            if not isinstance(node, TableName) or node.name not in renamed:
                return None
            self.reads[renamed[node.name]] += 1
            return replace(node, name=renamed[node.name], alias=node.called)

        return replaced(plan.query, change)

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


def cut(plan: Relation, shared: Sharing) -> Region:
    """Return the region of a relation: it and all relations that it reads directly, but for shared ones."""
    cutting = _Cutting(shared)
    query = cutting.query(plan)
    assert isinstance(query, Select | Compound)
    tables = [cutting.common_table(name, one) for name, one in cutting.tables]
    query = _computed_once(replace(query, steps=(*tables, *query.steps)), cutting.sources)
    return Region(query, cutting.sources, cutting.stored, cutting.serial, cutting.pushed)


def _computed_once(query: Query, sources: Mapping[str, Plan]) -> Query:
    """Keep the rows of common tables that are read more than once and made of what would run again each time."""
    again = {
        name for name, plan in sources.items() if not (isinstance(plan, Scan) and isinstance(plan.source, RowsInMemory))
    }
    tables = [node for node in walk(query) if isinstance(node, CommonTable)] if again else []
    if not tables:
        return query
    reads = Counter(node.name for node in walk(query) if isinstance(node, TableName))
    read_by = {id(table): {node.name for node in walk(table.query) if isinstance(node, TableName)} for table in tables}
    before = 0
    while before < len(again):
        before = len(again)
        again |= {table.name for table in tables if read_by[id(table)] & again}

    def change(node: Node) -> Node | None:
        if not isinstance(node, CommonTable) or node.materialized is not None or node.name not in again:
            return None
        if reads[node.name] < 2 or node.name in read_by[id(node)]:
            return None
        return replace(node, query=replaced(node.query, change), materialized=True)

    return replaced(query, change)
