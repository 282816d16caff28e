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
from dctv.plan.expressions import Cast, Column, Number, OfTrace, Star
from dctv.plan.node import Node, Query
from dctv.plan.nodes import ArrowStream, Kernel, Plan, Relation, Scan, column_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import Item, Join, Select, TableName
from dctv.plan.walk import replaced, walk
from dctv.record import field, record, replace
from dctv.rewrite.flattened_queries import NUMBER, FlattenedTraces, NotFlat, QueryFlattening
from dctv.rewrite.graph import inputs, readers_first, with_inputs
from dctv.types.schema import ColumnType, Kind, Schema

Sweep = Callable[[list[ArrowStream], Mapping[str, Any], object], ArrowStream]
"""What a kernel runs: called with its inputs, its options and a cancel token."""
_PLACE = "dctv:row"
NUMBER_COLUMN = ColumnType(NUMBER, "BIGINT")


@record(frozen=False)
class Flattening:
    """Flattens the plan of any trace."""

    traces: FlattenedTraces
    scan: Callable[[Scan], Plan | None]
    """Returns the rows of a table of all traces, trace by trace, with their numbers in the last column; None if there
    are none, but the rows of the tables that the table is a union of, if it is one."""
    sweep: Callable[[Kernel], Sweep]
    """Returns how a span operator is run for each trace: the number of the trace is in the last column of the streams,
    which come trace by trace, and of its rows; the options name that, too."""
    flat: dict[int, Plan] = field(default_factory=dict)
    """The plans of all traces by the identities of those of one; others are the same for all."""
    unions: list[Plan] = field(default_factory=list)
    """Plans made here: others are not to get their identities."""

    def of_each(self, plan: Plan) -> Plan:
        """Return a plan of the rows that a plan has in each trace.

        The number of the trace is in the last column. If the plan is stable, rows come trace by trace, each in its
        order.

        Raises:
            NotFlat: that is not possible.
        """
        self._visit_all(plan)
        return self._of_traces(plan)

    def of_all(self, plan: Plan) -> Plan:
        """Return a plan that groups and aggregates the rows of all traces as if they were of one, in any order.

        Raises:
            NotFlat: that is not possible.
        """
        around: list[tuple[Relation, Select]] = []
        while isinstance(plan, Relation) and (query := _shown(plan)) is not None:
            around.append((plan, replace(query, order_by=())))
            ((_, plan),) = plan.leaves
        if not isinstance(plan, Relation):
            raise NotFlat
        for _, leaf in plan.leaves:
            self._visit_all(leaf)
        made: Plan = self._together(plan)
        for one, query in reversed(around):
            made = with_inputs(replace(one, order=RowOrder.ANY, query=query), (made,))
        return made

    def _visit_all(self, plan: Plan) -> None:
        """Flatten a plan and all that it reads, but for what was visited before."""
        for one in reversed(readers_first(plan)):
            if id(one) not in self.flat:
                self._visit(one)

    def _visit(self, plan: Plan) -> None:
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
        self._visit_all(union)
        return self.flat[id(union)]

    def _kernel(self, plan: Kernel) -> Kernel:
        options = {**plan.options, "names": [*column_names(plan), NUMBER]}
        sources = tuple(map(self._of_traces, plan.inputs))
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

    def _together(self, plan: Relation) -> Relation:
        """Return a relation that groups the rows of all traces; its inputs were visited before."""
        new = tuple((name, self.flat.get(id(leaf), leaf)) for name, leaf in plan.leaves)
        names = {name: column_names(leaf) for name, leaf in plan.leaves}
        flat = [name for name, leaf in plan.leaves if id(leaf) in self.flat]
        query = QueryFlattening(self.traces, names, flat, (), plan.serial).together(plan.query)
        return replace(plan, query=query, leaves=new)

    def _of_traces(self, plan: Plan) -> Plan:
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


def _shown(plan: Relation) -> Select | None:
    """Return the query of a relation if it only sorts the rows of another, or changes the types of columns."""
    query = plan.query
    if not isinstance(query, Select) or len(plan.leaves) != 1 or not isinstance(query.source, TableName):
        return None
    more = (query.where, query.joins, query.group, query.distinct, query.having, query.qualify, query.limit)
    items = (one.value.operand if isinstance(one.value, Cast) else one.value for one in query.items)
    only = not any((*more, query.offset, query.steps)) and all(isinstance(one, Column | Star) for one in items)
    return query if only else None


def _with_number(plan: Plan) -> Schema:
    """Return the schema of a flattened plan; its columns have the engine's names."""
    names = column_names(plan)
    own = tuple(replace(one, name=name) for one, name in zip(plan.schema.columns, names, strict=True))
    return Schema(Kind.REGULAR, (*own, NUMBER_COLUMN))


_PLACE_OF = f"{TABLE} "


def _place_of(table: str) -> str:
    """Return the name of the value of a trace that is the place of a table among all of its tables."""
    return _PLACE_OF + table


def table_of_place(value: str) -> str | None:
    """Return the table that such a name is about; None for others."""
    return value.removeprefix(_PLACE_OF) if value.startswith(_PLACE_OF) else None


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
        place = OfTrace(_place_of(tables[node.source.name]), "BIGINT")
        items = (replace(one, value=place) if one.output == TABLE else one for one in node.items)
        return replace(node, items=tuple(items))

    return replaced(plan.query, change)


def _has_values(query: Query) -> bool:
    return any(isinstance(node, OfTrace) for node in walk(query))
