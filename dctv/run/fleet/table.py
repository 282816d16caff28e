"""A table of a fleet: its rows are those of all traces, each found when it is read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from dctv.contracts.table_function import Quantity
from dctv.plan import predicate as p
from dctv.plan.build import any_of, by_names, equal, select, typed_nothing
from dctv.plan.carrying import with_types
from dctv.plan.expressions import Column, Expression, Text
from dctv.plan.fewer_columns import with_names, without
from dctv.plan.nodes import Plan, Relation, Scan, physical_names, ranked_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import Select
from dctv.plan.question import Cell, Question
from dctv.plan.restored_types import restored
from dctv.plan.source import OrderedSource, PlanRun, RowsInMemory, TableSource, WholeSource
from dctv.record import record, replace
from dctv.rewrite.graph import readers_first
from dctv.run.fleet.members import FleetMember
from dctv.types.schema import ColumnType, Kind, Schema

EVENTS = "events"
"""The table of all events of a trace."""
Value = bool | str | Quantity | None
"""A value of an argument."""


class Traces(Protocol):
    """The traces that a table is of."""

    @property
    def members(self) -> Sequence[FleetMember]:
        """The readable traces."""
        ...

    def wanted(self, plan: Plan, tests: Sequence[Expression], /) -> Sequence[FleetMember]:
        """Return the traces that may have rows of a plan; those that fail a test have none."""
        ...

    def stream(
        self, plan: Plan, tests: Sequence[Expression], run: PlanRun, /, *, warns: bool = True, combines: bool = False
    ) -> Any:
        """Return the rows that a plan over their tables has in each of them, in order, with warnings or without.

        With `combines`, rows may be partial aggregates of several traces.
        """
        ...

    def start_workers(self, plan: Plan, tests: Sequence[Expression], /, *, combines: bool) -> None:
        """Start the workers that will be needed for the rows that a plan has in each trace, unless some run already."""
        ...

    def explained(self, plan: Plan, /) -> Sequence[str]:
        """Return lines that explain a plan for each trace."""
        ...

    def rows(self, plan: Plan, run: PlanRun, /) -> Any:
        """Return the rows of a plan over those of all traces."""
        ...

    def together(self, table: FleetTable, tests: Sequence[Expression], /) -> TableSource | None:
        """Return a source of the rows of a table that the engine reads at once, None if that is not possible."""
        ...

    def sample(self, plan: Plan, tests: Sequence[Expression], /) -> Sequence[str]:
        """Return the name of a trace of middle size that may have rows of a plan, or those of some small ones."""
        ...

    def size(self, plan: Plan, tests: Sequence[Expression], /) -> tuple[int, int]:
        """Return how many traces may have rows of a plan, and how many events they have, as far as that is known."""
        ...

    def answers(self, table: FleetTable, question: Question, /) -> Sequence[Sequence[Cell]] | None:
        """Answer a question about all rows of a table from the metadata of each trace; None if that is not enough."""
        ...


@record(eq=False)
class FleetTable(OrderedSource):
    """The rows of one table of every trace of a fleet."""

    fleet: Traces | None
    """None in a plan that was handed to another process."""
    name: str
    """As queries call it."""
    parts: tuple[str, ...]
    """Its name below a mount."""
    own_schema: Schema
    """The schema of its rows in one trace, including columns that only some traces have."""
    fixed: tuple[ColumnType, ...]
    """The columns that are the same in all rows of a trace: its name, and those of the manifest."""
    order: RowOrder = RowOrder.STABLE
    """Whether a trace's rows come in the same order in every run; those of all never come in order of time."""
    predicate: p.Predicate = p.ALWAYS
    columns: frozenset[str] | None = None
    """The columns to read, None for all."""
    rows: Plan | None = None
    """The plan of its rows in one trace, over tables of the same traces, if it is no stored table or view."""
    tests: tuple[Expression, ...] = ()
    """Traces for which any of these is not true have no rows."""
    arguments: Mapping[str, Value] | None = None
    """Those of a function that each trace has."""

    @property
    def schema(self) -> Schema:
        """Its schema in queries: partitioned by trace where it is timed."""
        return with_trace(self.own_schema, self.fixed)

    @property
    def trace_column(self) -> str:
        """The column that identifies a row's trace."""
        return self.fixed[0].name

    @property
    def scan(self) -> Scan:
        """The plan of its rows."""
        return Scan(self.schema, self.order, self.name, self)

    @property
    def fixed_columns(self) -> list[str]:
        """The columns that are the same in all rows of a trace."""
        return [one.name for one in self.fixed]

    def in_each(self, plan: Plan, tests: Sequence[Expression], *, warns: bool, combines: bool) -> EachTrace:
        """Return a source of the rows of a plan over tables of these traces, run in each trace by itself."""
        assert self.fleet is not None
        return EachTrace(self.fleet, plan, tuple(tests), warns, combines)

    def computed(self, name: str, rows: Plan, shown: Collection[str], tests: Sequence[Expression]) -> Plan:
        """Return the plan of the rows that a plan over tables of these traces has in each of them, run by itself."""
        own = without(rows, [self.trace_column])
        taken = {one.name.lower() for one in own.schema.columns}
        fixed = [one for one in self.fixed[1:] if one.name in shown and one.name.lower() not in taken]
        order, columns = min(own.order, RowOrder.STABLE), (self.fixed[0], *fixed)
        # Two columns may have the same name.
        called = with_names(own.schema, physical_names(own.schema))
        table = FleetTable(self.fleet, name, (), called, columns, order, rows=own, tests=tuple(tests))
        plan = with_types(table.plan, with_trace(own.schema, columns))
        if not own.ordered:
            return plan
        # As in `gathered`, but with names, so that each trace can do this, too.
        query = select(*physical_names(plan.schema), source="each")
        query = replace(query, order_by=by_names(ranked_names(plan.schema)))
        return Relation(plan.schema, RowOrder.TIME, query, (("each", plan),))

    @property
    def plan(self) -> Plan:
        """The plan of its rows, with the types that it has in each trace."""
        return restored(self.schema, lambda held: replace(self.scan, schema=held))

    def together(self, tests: Sequence[Expression], *, ordered: bool) -> TableSource | None:
        """Return a source of the rows of all traces that pass some tests, if the engine can read them at once."""
        if self.fleet is None or self.rows is not None or self.arguments is not None or not self.parts:
            return None
        if ordered and any(map(self.is_fixed, self.read_schema.columns)):
            # They are joined to the rows, which the engine may reorder.
            return None
        return self.fleet.together(self, tests)

    def in_two_passes(self, first: Plan, second: Callable[[TableSource], Plan], otherwise: Plan) -> TwoPasses:
        """Return a source of the rows of a plan that needs to know those of another, which are found first."""
        assert self.fleet is not None
        return TwoPasses(self.fleet, first, second, otherwise)

    def either(self, test: Plan, plan: Plan, otherwise: Plan) -> EitherPlan:
        """Return a source of the rows of a plan if a plan of one truth value finds it true, otherwise of another."""
        assert self.fleet is not None
        return EitherPlan(self.fleet, test, plan, otherwise)

    def is_in_sample(self, plan: Plan, tests: Sequence[Expression]) -> Expression:
        """Return a test that is true for a trace of middle size that may have rows of a plan, or for small ones."""
        assert self.fleet is not None
        return any_of(equal(Column(self.trace_column), Text(one)) for one in self.fleet.sample(plan, tests))

    def size(self, plan: Plan, tests: Sequence[Expression]) -> tuple[int, int]:
        """Return how many traces may have rows of a plan, and how many events they have, as far as that is known."""
        assert self.fleet is not None
        return self.fleet.size(plan, tests)

    @property
    def read_schema(self) -> Schema:
        """Its schema without columns that are not read, as the engine calls them; regular if a time or partition is."""
        names = physical_names(self.schema)
        columns = tuple(
            replace(one, name=name) for name, one in zip(names, self.schema.columns, strict=True) if self.reads(name)
        )
        whole = all(map(self.reads, names[: self.schema.special_count]))
        return replace(self.schema, columns=columns) if whole else Schema(Kind.REGULAR, columns)

    def is_fixed(self, column: ColumnType) -> bool:
        """Whether a column is the same in all rows of a trace."""
        return column in self.fixed

    def reads(self, name: str) -> bool:
        """Whether a column is read."""
        return self.columns is None or name in self.columns

    def needed(self, member: FleetMember, among: Collection[str]) -> p.Predicate:
        """Return the part of a predicate that some columns of a trace can decide."""
        if self.predicate == p.ALWAYS:
            return self.predicate
        named = zip(physical_names(self.schema), self.schema.columns, strict=True)
        fixed = {name: one for name, one in named if self.is_fixed(one)}

        def found(name: str) -> str | p.Constant | None:
            if name in fixed:
                return member.constant(fixed[name])
            return name if name in among else None

        return p.carried(self.predicate, found)

    def narrowed(self, predicate: p.Predicate) -> FleetTable:
        """Return a source of the traces, and of the rows of these, that are needed."""
        return replace(self, predicate=p.both([self.predicate, predicate]))

    def reading(self, columns: Collection[str]) -> FleetTable:
        """Return a source that reads these columns of the traces, at least one."""
        return replace(self, columns=frozenset(columns or physical_names(self.schema)[:1]))

    def answers(self, question: Question) -> Sequence[Sequence[Cell]] | None:
        """Answer from the metadata of the traces without opening any; None leaves it to each trace."""
        known = self.rows is None and self.arguments is None and self.predicate == p.ALWAYS
        return self.fleet.answers(self, question) if self.fleet is not None and known else None

    def query(self) -> None:
        """Return None: the traces are read when the run begins."""

    def open(self, run: PlanRun) -> Any:
        """Return the rows, trace by trace."""
        assert self.fleet is not None
        return self.fleet.stream(self.scan, self.tests, run)

    def lines(self) -> Sequence[str]:
        """Return the number of traces that are read, and the plan of each if it is more than to read a table."""
        assert self.fleet is not None
        shown = _shown(self.fleet, self.scan, self.tests)
        if self.rows is None:
            return (shown,)
        return (f"{shown}, each of which does:", *(f"  {line}" for line in self.fleet.explained(self.scan)))

    def bytes_read(self) -> None:
        """Return None: the traces count for themselves."""


@record(eq=False)
class EachTrace(WholeSource):
    """The rows of a plan over tables of a fleet that runs in each trace by itself."""

    fleet: Traces
    plan: Plan
    tests: tuple[Expression, ...]
    """Traces for which any of these is not true have no rows."""
    warns: bool
    """Whether the warnings of the traces are wanted."""
    combines: bool
    """Whether rows may be partial aggregates of several traces."""

    def open(self, run: PlanRun) -> Any:
        """Return the rows, trace by trace."""
        return self.fleet.stream(self.plan, self.tests, run, warns=self.warns, combines=self.combines)

    def lines(self) -> Sequence[str]:
        """Return the number of traces that are read, and the plan of each."""
        shown = _shown(self.fleet, self.plan, self.tests)
        return (f"{shown}, each of which does:", *(f"  {line}" for line in self.fleet.explained(self.plan)))


@record(eq=False)
class TwoPasses(WholeSource):
    """The rows of a plan that needs to know those of another, which are found first."""

    fleet: Traces
    first: Plan
    second: Callable[[TableSource], Plan]
    """Returns the plan, given the rows that are found first."""
    otherwise: Plan
    """The plan if these are none."""

    def open(self, run: PlanRun) -> Any:
        """Return the rows."""
        known = self.fleet.rows(self.first, run)
        return self.fleet.rows(self.second(RowsInMemory(known)) if known.num_rows else self.otherwise, run)

    def lines(self) -> Sequence[str]:
        """Return the plan of the second pass, with that of the first in its place."""
        plan = self.second(_FirstPass(self.fleet.explained(self.first)))
        return ("in two passes:", *(f"  {line}" for line in self.fleet.explained(plan)))


@record(eq=False)
class EitherPlan(WholeSource):
    """The rows of one of two plans."""

    fleet: Traces
    test: Plan
    """The plan of one truth value."""
    plan: Plan
    """The plan if it is true."""
    otherwise: Plan

    def open(self, run: PlanRun) -> Any:
        """Return the rows."""
        for each in (one.source for one in readers_first(self.plan) if isinstance(one, Scan)):
            if isinstance(each, EachTrace):
                # They get ready while this process looks at the sample.
                self.fleet.start_workers(each.plan, each.tests, combines=each.combines)
        (found,) = self.fleet.rows(self.test, run).column(0).to_pylist()
        return self.fleet.rows(self.plan if found else self.otherwise, run)

    def lines(self) -> Sequence[str]:
        """Return both plans."""
        return (
            "if values repeat in a sample of the traces:",
            *(f"  {line}" for line in self.fleet.explained(self.plan)),
            "otherwise:",
            *(f"  {line}" for line in self.fleet.explained(self.otherwise)),
        )


@record(eq=False)
class _FirstPass(RowsInMemory):
    """The rows of a plan that are found first, in an explanation."""

    data: Sequence[str]
    """The lines that explain the plan."""

    def lines(self) -> Sequence[str]:
        """Return the plan."""
        return ("found first, and handed to each trace:", *(f"  {line}" for line in self.data))


def _shown(fleet: Traces, plan: Plan, tests: Sequence[Expression]) -> str:
    return f"fleet: {len(fleet.wanted(plan, tests)):,} of {len(fleet.members):,} traces"


def with_trace(own: Schema, fixed: Sequence[ColumnType]) -> Schema:
    """Return the schema of rows of many traces: their trace comes before their partitions, the manifest at the end."""
    times = len(own.kind.time_columns)
    trace, *shown = fixed
    columns = (*own.columns[:times], trace, *own.columns[times:], *shown)
    return Schema(own.kind, columns, (trace.name, *own.partitions) if own.kind.time_columns else ())


def tables_in(plan: Plan) -> list[FleetTable]:
    """Return the tables of fleets that a plan reads."""
    return [one.source for one in readers_first(plan) if isinstance(one, Scan) and isinstance(one.source, FleetTable)]


def nothing(table: FleetTable) -> Plan:
    """Return a plan of no rows of a table, with the columns that are read of it."""
    schema = table.read_schema
    return Relation(schema, RowOrder.TIME if schema.kind.time_columns else RowOrder.STABLE, typed_nothing(schema))


def in_promised_order(query: Select, rows: Plan, plan: Plan, schema: Schema) -> tuple[Select, RowOrder]:
    """Return a query over rows that stand in for a plan, and its order: by time if the plan promises that."""
    if plan.ordered and not rows.ordered:
        return replace(query, order_by=by_names(ranked_names(schema))), RowOrder.TIME
    return query, rows.order if schema.kind.time_columns else min(rows.order, RowOrder.STABLE)
