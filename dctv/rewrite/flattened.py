"""Flatten the plan that each of many traces runs into one that runs once for all of them.

Opening a trace, and planning and running a query over it, take longer than reading 10,000 of its rows. Queries get the
number of the trace as one more column (`flattened_queries`); span operators sweep the rows of one trace after another.
What is the same for all traces stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dctv.catalog.mount import TABLE, is_in_order_of_tables
from dctv.plan.build import ROW_NUMBER, by_names, columns, select
from dctv.plan.expressions import Column, Number, OfTrace
from dctv.plan.node import Node, Query
from dctv.plan.nodes import ArrowStream, Kernel, Plan, Relation, Scan, column_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import Item, Join, Select, TableName
from dctv.plan.walk import replaced, walk
from dctv.record import field, record, replace
from dctv.rewrite.flattened_queries import NUMBER, FlattenedTraces, NotFlat, QueryFlattening
from dctv.rewrite.graph import inputs, readers_first
from dctv.types.schema import ColumnType, Kind, Schema

Sweep = Callable[[list[ArrowStream], Mapping[str, Any], object], ArrowStream]
"""What a kernel runs: called with its inputs, its options and a cancel token."""
_PLACE = "dctv:row"
NUMBER_COLUMN = ColumnType(NUMBER, "BIGINT")


def flattened(
    plan: Plan,
    traces: FlattenedTraces,
    scan: Callable[[Scan], Plan | None],
    sweep: Callable[[Kernel], Sweep],
) -> Plan:
    """Return a plan of the rows that a plan has in each of some traces.

    The number of the trace is in the last column. If the plan is stable, rows come trace by trace, each in its order.

    Args:
        plan: the plan of any trace.
        traces: the traces.
        scan: returns the rows of a table of all traces, trace by trace, with their numbers in the last column; None if
            there are none, but the rows of the tables that the table is a union of, if it is one.
        sweep: returns how a span operator is run for each trace: the number of the trace is in the last column of the
            streams, which come trace by trace, and of its rows; the options name that, too.

    Raises:
        NotFlat: that is not possible.
    """
    flattening = _Flattening(traces, scan, sweep)
    flattening.visit_all(plan)
    return flattening.of_traces(plan)


@record(frozen=False)
class _Flattening:
    traces: FlattenedTraces
    scan: Callable[[Scan], Plan | None]
    sweep: Callable[[Kernel], Sweep]
    flat: dict[int, Plan] = field(default_factory=dict)
    """The plans of all traces by the identities of those of one; others are the same for all."""
    unions: list[Plan] = field(default_factory=list)
    """Plans made here: others are not to get their identities."""

    def visit_all(self, plan: Plan) -> None:
        """Flatten a plan and all that it reads."""
        for one in reversed(readers_first(plan)):
            self.visit(one)

    def visit(self, plan: Plan) -> None:
        """Flatten a plan whose inputs were visited before."""
        match plan:
            case Scan():
                self.flat[id(plan)] = self.scan(plan) or self._union(plan)
            case Kernel() if any(id(one) in self.flat for one in plan.inputs):
                self.flat[id(plan)] = self._kernel(plan)
            case Relation():
                if any(id(one) in self.flat for one in inputs(plan)) or plan.query.once(_has_values):
                    self.flat[id(plan)] = self._relation(plan)

    def _union(self, plan: Scan) -> Plan:
        if plan.union is None:
            raise NotFlat
        union = plan.union()
        self.unions.append(union)
        self.visit_all(union)
        return self.flat[id(union)]

    def _kernel(self, plan: Kernel) -> Kernel:
        options = {**plan.options, "names": [*column_names(plan), NUMBER]}
        sources = tuple(map(self.of_traces, plan.inputs))
        if not all(one.stable for one in sources):
            raise NotFlat
        order = min(plan.order, RowOrder.STABLE)
        return Kernel(_with_number(plan), order, plan.name, sources, options, self.sweep(plan))

    def _relation(self, plan: Relation) -> Relation:
        leaves = dict(plan.leaves)
        flat = [name for name, leaf in leaves.items() if id(leaf) in self.flat]
        names = {name: column_names(leaf) for name, leaf in leaves.items()}
        new = tuple((name, self.flat.get(id(leaf), leaf)) for name, leaf in leaves.items())
        in_order = [name for name, leaf in new if name in flat and leaf.stable]
        if plan.serial and len(in_order) < sum(leaves[name].stable for name in flat):
            raise NotFlat
        flattening = QueryFlattening(self.traces, names, flat, in_order, plan.serial)
        query = flattening.query(_placed(plan))
        order = RowOrder.STABLE if flattening.keeps_order(plan.query) else RowOrder.ANY
        return Relation(_with_number(plan), order, query, new, plan.serial, pushed=plan.pushed)

    def of_traces(self, plan: Plan) -> Plan:
        """Return the rows of a plan in each trace, also of one that is the same for all."""
        if id(plan) in self.flat:
            return self.flat[id(plan)]
        numbers, names = self.traces.numbers, column_names(plan)
        placed = select(*columns(names, "rows"), Item(ROW_NUMBER, _PLACE), source="rows")
        number = Item(Column(NUMBER, numbers.called), NUMBER)
        query = select(*columns(names, "placed"), number, source=placed, alias="placed")
        query = replace(query, joins=(Join(numbers, "CROSS"),))
        query = replace(query, order_by=by_names([NUMBER, _PLACE]))
        return Relation(_with_number(plan), min(plan.order, RowOrder.STABLE), query, (("rows", plan),))


def _with_number(plan: Plan) -> Schema:
    """Return the schema of a flattened plan; its columns have the engine's names."""
    names = column_names(plan)
    own = tuple(replace(one, name=name) for one, name in zip(plan.schema.columns, names, strict=True))
    return Schema(Kind.REGULAR, (*own, NUMBER_COLUMN))


def place_of(table: str) -> str:
    """Return the name of the value of a trace that is the place of a table among all of its tables."""
    return f"{TABLE} {table}"


def _placed(plan: Relation) -> Query:
    """Return the query of a relation in which the places of tables, if it sorts by them, are those in each trace."""
    if not plan.query.once(is_in_order_of_tables):
        return plan.query
    tables = {name: leaf.name for name, leaf in plan.leaves if isinstance(leaf, Scan)}

    def change(node: Node) -> Node | None:
        if isinstance(node, Item) and node.output == TABLE and isinstance(node.value, Number):
            raise NotFlat
        if not isinstance(node, Select) or not isinstance(node.source, TableName) or node.source.name not in tables:
            return None
        place = OfTrace(place_of(tables[node.source.name]), "BIGINT")
        items = (replace(one, value=place) if one.output == TABLE else one for one in node.items)
        return replace(node, items=tuple(items))

    return replaced(plan.query, change)


def _has_values(query: Query) -> bool:
    return any(isinstance(node, OfTrace) for node in walk(query))
