"""Traces that are mounted as one: their metadata, and running plans for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate, count
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING
from uuid import uuid4

from dctv.bind.binder import Binder
from dctv.catalog.namespace import Entry
from dctv.catalog.shifting import unix_start
from dctv.contracts.streams import OpenedStream
from dctv.contracts.table_function import Argument, TableFunction
from dctv.errors import DctvError, EngineError, UsageError
from dctv.plan import predicate as p
from dctv.plan import show
from dctv.plan.build import call, is_not_null, select, where
from dctv.plan.explain import ExplainedRegion, explain
from dctv.plan.expressions import Column, Expression
from dctv.plan.nodes import Plan, Relation, Scan, column_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import Item
from dctv.plan.question import Cell, Question
from dctv.plan.rows import of_rows
from dctv.plan.source import PlanRun, RowsInMemory, TableSource
from dctv.record import field, record, replace
from dctv.rewrite.graph import bottom_up
from dctv.run.context import ExecutionContext
from dctv.run.fleet.batching import Batching
from dctv.run.fleet.computed import expanded
from dctv.run.fleet.event_counts import counted
from dctv.run.fleet.examples import Examples
from dctv.run.fleet.grouped_messages import together
from dctv.run.fleet.members import TRACE, FleetMember, named
from dctv.run.fleet.metadata import MemberMetadata, MountSettings, StoredTables, mounted
from dctv.run.fleet.part import FleetPart, PartReport, PartTrace, as_rows
from dctv.run.fleet.part_rows import batches, read_part, run_here, run_part
from dctv.run.fleet.schemas import one_schema, with_known_types
from dctv.run.fleet.starts import without_starts
from dctv.run.fleet.table import EVENTS, FleetTable, Value, nothing, tables_in
from dctv.run.fleet.together import together as read_together
from dctv.run.plans import environment, result_of
from dctv.run.regions import cut
from dctv.run.sharing import sharing
from dctv.run.trace_workers import TraceWork
from dctv.syntax import ast
from dctv.types.schema import TS, ColumnType, Kind, Schema

if TYPE_CHECKING:
    import pyarrow as pa


_SAMPLE = 100_000
"""The number of events in a sample of small traces."""


@record(eq=False)
class Fleet:
    """Many traces under one name."""

    way: MountSettings
    members: Sequence[FleetMember]
    """Readable traces, in the order of their names."""
    metadata: Mapping[str, MemberMetadata]
    """By name of a member."""
    manifest_columns: tuple[ColumnType, ...]
    """The columns of the manifest."""
    context: ExecutionContext
    tables: dict[tuple[str, ...], FleetTable] = field(default_factory=dict)
    """Those whose schemas are known."""
    calls: dict[tuple[tuple[str, ...], str], FleetTable] = field(default_factory=dict)
    """Functions of the traces with some arguments, likewise."""
    kept: dict[str, StoredTables] = field(default_factory=dict)
    """A cache of results."""
    batched: dict[str, PartTrace] = field(default_factory=dict)
    """What parts of several traces need to know of each, by name: made once, since many queries ask for all."""
    examples: Examples = field(default_factory=Examples)
    """Traces that are mounted to look at what names mean in them."""

    def table(self, parts: tuple[str, ...], name: str) -> Plan:
        """Return the plan of a table or view of all traces.

        Raises:
            BindError: traces differ in it.
        """
        if parts not in self.tables:
            self.tables[parts] = self._fleet_table(parts, *self._schema(parts, name))
        return self.tables[parts].plan

    def _schema(self, parts: tuple[str, ...], name: str) -> tuple[Schema, RowOrder]:
        """Unify the schemas of the tables of a name in all traces; return the order of their rows, too."""
        stored = [(one, self.metadata[one.name].tables.get(name)) for one in self.members]
        found = [(member, schema) for member, schema in stored if schema is not None]
        if found:
            typed = with_known_types(found, partial(self._having_values, name))
            return one_schema(self.way.name, name, typed), RowOrder.STABLE
        views = list(self._bound(parts))
        schema = one_schema(self.way.name, name, [(member, plan.schema) for member, plan in views])
        return schema, min(RowOrder.STABLE, *(plan.order for _, plan in views))

    def _having_values(self, name: str, member: FleetMember, columns: Sequence[str]) -> set[str]:
        """Return those of a stored table's columns in which one trace has values."""
        with named(member), mounted(member, self.way, self.context) as (alone, made):
            plan = made.given[name]()
            called = dict(zip(plan.schema.names, column_names(plan), strict=True))
            items = (Item(call("bool_or", is_not_null(Column(called[one]))), one) for one in columns)
            schema = Schema(Kind.REGULAR, tuple(ColumnType(one, "BOOLEAN") for one in columns))
            query = select(*items, source="rows")
            rows = result_of(Relation(schema, RowOrder.STABLE, query, (("rows", plan),)), alone).fetchall()
        return {one for one, has in zip(columns, rows[0], strict=True) if has}

    def call(self, parts: tuple[str, ...], arguments: Mapping[str, Argument]) -> Plan:
        """Return the plan of the rows that a function of each trace has in all of them.

        Raises:
            BindError: an argument is wrong, or traces differ in the columns.
        """
        given = {name: _value(one) for name, one in arguments.items()}
        values = {name: one.value for name, one in given.items()}
        key = (parts, repr(values))
        if key not in self.calls:
            found = []
            for member, alone, entry in self._entries(parts):
                assert isinstance(entry, TableFunction)
                found.append((member, entry.bind(given, Binder(environment(alone)))))
            own = one_schema(self.way.name, ".".join(parts), [(member, plan.schema) for member, plan in found])
            order = min(RowOrder.STABLE, *(plan.order for _, plan in found))
            self.calls[key] = self._fleet_table(parts, own, order, values)
        return self.calls[key].plan

    def _fleet_table(
        self, parts: tuple[str, ...], own: Schema, order: RowOrder, values: Mapping[str, Value] | None = None
    ) -> FleetTable:
        """Return a table of all traces, with the columns that tell them apart."""
        taken = {one.name.lower() for one in own.columns}
        manifest_columns = tuple(one for one in self.manifest_columns if one.name.lower() not in taken)
        called = ".".join((self.way.name, *parts))
        return FleetTable(self, called, parts, own, (TRACE, *manifest_columns), order, arguments=values)

    def _bound(self, parts: tuple[str, ...]) -> Iterator[tuple[FleetMember, Plan]]:
        """Yield the plan of a view for each format; views have the same columns in all traces of one."""
        path = ast.Path(tuple(map(ast.Name, (*self.way.name.split("."), *parts))))
        for member, alone, _ in self._entries(parts):
            yield member, Binder(environment(alone)).table(ast.TableName(path))

    def _entries(self, parts: tuple[str, ...]) -> Iterator[tuple[FleetMember, ExecutionContext, Entry]]:
        """Yield what a name means in one trace of each format that has it, mounted alone meanwhile."""
        seen: set[str] = set()
        for member in self.members:
            kind = self.metadata[member.name].format
            if kind not in seen:
                seen.add(kind)
                with self.examples.mounted(member, self.way, self.context) as alone:
                    found = alone.catalog.find((*self.way.name.split("."), *parts))
                    if found is not None:
                        yield member, alone, found[0]

    def wanted(self, plan: Plan, tests: Sequence[Expression]) -> Sequence[FleetMember]:
        """Return the traces that may have rows of a plan; those that fail a test have none."""
        may_have = [self._may_have_rows(one) for one in tables_in(expanded(plan)) if one.parts]
        found = [one for one in self.members if any(may(one) for may in may_have)]
        if not tests or not found:
            return found
        columns = (TRACE, *self.manifest_columns)
        rows = [[one.name, *(one.cell(column) for column in self.manifest_columns)] for one in found]
        traces = of_rows(Schema(Kind.REGULAR, columns), rows)
        query = where(select(TRACE.name, source="traces"), *tests)
        schema = Schema(Kind.REGULAR, (TRACE,))
        try:
            kept = result_of(Relation(schema, RowOrder.STABLE, query, (("traces", traces),)), self.context).fetchall()
        except EngineError:
            # One may fail for a trace that another condition leaves out.
            return found
        names = {name for (name,) in kept}
        return [one for one in found if one.name in names]

    def _may_have_rows(self, table: FleetTable) -> Callable[[FleetMember], bool]:
        """Return a test of whether a trace may have a table, and rows of it that are needed."""
        name, columns = ".".join(table.parts), table.own_schema.names
        events, every = name == EVENTS, table.predicate == p.ALWAYS
        lacking = {kind for kind, stored in self._stored if stored == name}

        def may_have(member: FleetMember) -> bool:
            metadata = self.metadata[member.name]
            has = events or name in metadata.tables
            if not has and metadata.format in lacking:
                return False
            if every:
                return not events or metadata.counts is None or any(metadata.counts.values())
            need = table.needed(member, columns)
            if need == p.NEVER or (has and _begins_after(need, metadata.last_ts)):
                return False
            if not events or metadata.counts is None:
                return True
            return any(_may_be(need, one) for names in metadata.counts.values() for one in names)

        return may_have

    @property
    def _stored(self) -> StoredTables:
        if "stored" not in self.kept:
            known = (self.metadata[one.name] for one in self.members)
            self.kept["stored"] = frozenset((one.format, name) for one in known for name in one.tables)
        return self.kept["stored"]

    def answers(self, table: FleetTable, question: Question) -> Sequence[Sequence[Cell]] | None:
        """Answer a question about all rows of a table from the metadata of each trace; None if that is not enough."""
        return counted(table, question, self.members, self.metadata, self._stored)

    def stream(
        self, plan: Plan, tests: Sequence[Expression], run: PlanRun, *, warns: bool = True, combines: bool = False
    ) -> OpenedStream:
        """Return the rows that a plan over tables of this fleet has in each trace, in order, with warnings or without.

        With `combines`, rows may be partial aggregates of several traces.

        Each opening runs the plan again: a recursive step reads its tables in every round.

        Raises:
            UsageError: the session has been closed.
        """
        plan = expanded(plan)
        parts = self._parts(plan, tests, combines=combines)
        elsewhere = self._start_workers(parts)
        import pyarrow as pa  # while the workers start

        schema = self._arrow(plan)
        openings = count()

        def opened() -> pa.RecordBatchReader:
            rows = self._rows(parts, run, elsewhere=elsewhere, warns=warns and next(openings) == 0)
            return pa.RecordBatchReader.from_batches(schema, (_of_schema(one, schema) for one in rows))

        return OpenedStream(opened, schema.__arrow_c_schema__)

    def start_workers(self, plan: Plan, tests: Sequence[Expression], *, combines: bool) -> None:
        """Start the workers that will be needed for the rows that a plan has in each trace, unless some run already.

        Raises:
            UsageError: the session has been closed.
        """
        if self.context.workers.pool is None:
            self._start_workers(self._parts(expanded(plan), tests, combines=combines))

    def _parts(self, plan: Plan, tests: Sequence[Expression], *, combines: bool) -> Sequence[FleetPart]:
        """Cut a plan into parts, each for one trace, or for several that run together."""
        if self.context.is_closed:
            raise _closed()
        alone, asks = without_starts(bottom_up(plan, _alone))
        query = uuid4().hex
        members = self.wanted(plan, tests)
        batching = Batching(tables_in(plan), self.metadata)
        batched = self._reads_stores and not asks
        workers = self.context.workers.workers
        # The reader of aggregates waits for all of them.
        batches = batching.batches(members, workers, soon=not combines) if batched else [[one] for one in members]
        settings = self.context.settings
        return [FleetPart(self._traces(one, asks=asks), self.way, alone, settings, query, combines) for one in batches]

    def _start_workers(self, parts: Sequence[FleetPart]) -> bool:
        """Start workers for parts if they are to run outside this process; return whether they are."""
        sizes = [_size(part) for part in parts]
        elsewhere = self.context.workers.is_wanted(len(parts), sum(len(one.traces) for one in parts), sum(sizes))
        if elsewhere:
            self.context.workers.start(self.context.share, sizes)
        return elsewhere

    def rows(self, plan: Plan, run: PlanRun) -> pa.Table:
        """Return the rows of a plan over those of all traces."""
        result = result_of(as_rows(plan), self.context, here=True)
        rows = result.arrow()
        if result.spent is not None:
            run.beside.append(result.spent)
        return rows

    def size(self, plan: Plan, tests: Sequence[Expression]) -> tuple[int, int]:
        """Return how many traces may have rows of a plan, and how many events they have, as far as that is known."""
        members = self.wanted(plan, tests)
        return len(members), sum(map(self._events, members))

    def together(self, table: FleetTable, tests: Sequence[Expression]) -> TableSource | None:
        """Return a source of the rows of a table that the engine reads at once, None if that is not possible."""
        if not self._reads_stores:
            return None
        members = self.wanted(table.scan, (*table.tests, *tests))
        return read_together(table, members, self.metadata, len(self.members))

    @property
    def _reads_stores(self) -> bool:
        """Whether column stores of traces may be read without mounting these."""
        context = self.context
        elsewhere = context.chosen_engine.remote is not None or context.workers.outside() is not None
        return not elsewhere and not self.way.options and bool(context.policy.when)

    def sample(self, plan: Plan, tests: Sequence[Expression]) -> Sequence[str]:
        """Return the name of a trace of middle size that may have rows of a plan, or those of some small ones."""
        members = sorted(self.wanted(plan, tests), key=self._events)
        larger = members[len(members) // 2 :]
        totals = accumulate(self._events(one) or _SAMPLE for one in larger)
        wanted = next((place for place, total in enumerate(totals, 1) if total >= _SAMPLE), len(larger))
        return [one.name for one in larger[:wanted]]

    def _events(self, member: FleetMember) -> int:
        """Return how many events a trace has, as far as that is known."""
        return self.metadata[member.name].known_events

    def _traces(self, members: Sequence[FleetMember], *, asks: bool) -> Sequence[PartTrace]:
        """Return what a part needs to know of its traces; their stores are read only where it is of several."""
        if len(members) > 1:
            return [self._of_batch(one) for one in members]
        (member,) = members
        metadata = self.metadata[member.name]
        start = unix_start(metadata.properties) if asks else None
        return [PartTrace(member, metadata.state, metadata.format, start)]

    def _of_batch(self, member: FleetMember) -> PartTrace:
        if member.name not in self.batched:
            known = self.metadata[member.name]
            made = PartTrace(member, known.state, known.format, store=known.store, tables=known.signature)
            self.batched[member.name] = made
        return self.batched[member.name]

    def explained(self, plan: Plan) -> Sequence[str]:
        """Return lines that explain a plan for each trace."""

        def region(relation: Relation) -> ExplainedRegion:
            made = cut(relation, shared)
            return ExplainedRegion(
                [f"| {line}" for line in show.query(made.query)], [*made.sources.values()], made.pushed
            )

        plan = expanded(plan)
        shared = sharing(plan, self.context.engine.functions)
        # Its tables would report the number of traces again.
        bare = bottom_up(plan, _emptied)
        return explain(bare, region, lambda _: False, lambda _: ())

    def _arrow(self, plan: Plan) -> pa.Schema:
        """Return the Arrow types of a plan's rows: those that it has where the traces have none."""

        def empty(one: Plan) -> Plan:
            tables = tables_in(one) if isinstance(one, Scan) else []
            return nothing(tables[0]) if tables else one

        none = bottom_up(plan, empty)
        return result_of(as_rows(none), self.context).reader().schema

    def _rows(
        self, parts: Sequence[FleetPart], run: PlanRun, *, elsewhere: bool, warns: bool
    ) -> Iterator[pa.RecordBatch]:
        said: list[tuple[str, str, int]] = []
        try:
            yield from self._elsewhere(parts, run, said) if elsewhere else self._here(parts, run, said)
        except (DctvError, RuntimeError) as error:
            # Workers that end with their session look as if they had been killed, or refuse more work.
            reason = _closed() if self.context.is_closed else error
            if isinstance(reason, DctvError):
                # The engine that reads these rows passes on only the error's text.
                self.context.running.note(reason)
            raise reason from error.__cause__
        finally:
            for text, times in together(said) if warns else ():
                self.context.log.add(f"{self.way.name}: {text}", times)

    def _here(
        self, parts: Sequence[FleetPart], run: PlanRun, said: list[tuple[str, str, int]]
    ) -> Iterator[pa.RecordBatch]:
        for number, part in enumerate(parts):
            self._report(number, parts)
            one = PartReport()
            with _named(part):
                yield from batches(self.context, part, one)
            self._note(said, one, run)

    def _elsewhere(
        self, parts: Sequence[FleetPart], run: PlanRun, said: list[tuple[str, str, int]]
    ) -> Iterator[pa.RecordBatch]:
        context = self.context
        sizes = [_size(part) for part in parts]
        with self._targets(len(parts), run) as targets:
            work = list(zip(parts, targets, strict=True))
            wanted = TraceWork(run_part, partial(run_here, context), lambda rows: rows.size)
            given = context.workers.results(wanted, work, context.share, context.progress, sizes)
            with closing(given) as results:
                for number, (part, target) in enumerate(work):
                    self._report(number, parts)
                    with _named(part):
                        rows = next(results)
                    yield from read_part(rows, target)
                    self._note(said, rows.report, run)

    def _report(self, number: int, parts: Sequence[FleetPart]) -> None:
        if self.context.is_closed:
            raise _closed()
        counts = [len(one.traces) for one in parts]
        done = sum(counts[:number])
        self.context.progress.report(f"{done} of {sum(counts)} traces", done, sum(counts))

    @contextmanager
    def _targets(self, count: int, run: PlanRun) -> Iterator[Sequence[str | None]]:
        """Yield files for the rows of workers; None for the program's executor, which may be on another machine."""
        if self.context.workers.outside() is not None:
            yield [None] * count
            return
        run.spill_folder.mkdir(parents=True, exist_ok=True)
        folder = mkdtemp(prefix="fleet-", dir=run.spill_folder)
        try:
            yield [f"{folder}/{number}.arrows" for number in range(count)]
        finally:
            rmtree(folder, ignore_errors=True)

    def _note(self, said: list[tuple[str, str, int]], report: PartReport, run: PlanRun) -> None:
        """Keep the warnings of a part, without those given when its traces were mounted."""
        said += (one for one in report.warnings if one[0] not in self.metadata or not self._is_known(*one))
        if report.spent is not None:
            run.beside.append(report.spent)

    def _is_known(self, trace: str, text: str, _: int) -> bool:
        return text in self.metadata[trace].warnings


def _value(argument: Argument) -> Argument:
    """Return an argument with the value of its subquery in its place."""
    scalar = isinstance(argument.value, Plan) and argument.scalar is not None
    return Argument(argument.quantity("a number"), argument.place) if scalar else argument


def _alone(plan: Plan) -> Plan:
    """Return a plan that can be handed to another process."""
    if isinstance(plan, Scan) and isinstance(plan.source, FleetTable):
        return replace(plan, source=replace(plan.source, fleet=None))
    return plan


def _emptied(plan: Plan) -> Plan:
    """Return a table of a fleet as one in memory."""
    if isinstance(plan, Scan) and isinstance(plan.source, FleetTable):
        return replace(plan, source=RowsInMemory(None))
    return plan


def _of_schema(rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return rows with the names and types of a schema."""
    import pyarrow as pa  # loaded already

    # The first cast of a process loads all of Arrow's functions, and most rows need none.
    if rows.schema.types == schema.types:
        return pa.RecordBatch.from_arrays(rows.columns, schema=schema)
    return rows.rename_columns(schema.names).cast(schema)


def _closed() -> UsageError:
    return UsageError("the session was closed before all rows of this result were read", hint="read them first")


def _size(part: FleetPart) -> int:
    """Return the size of all files of traces in bytes."""
    return sum(size for trace in part.traces for _, size, _ in trace.state)


def _begins_after(need: p.Predicate, last: int) -> bool:
    """Whether only rows after a time are needed; no stored row begins after the last time of its trace."""
    parts = need.parts if isinstance(need, p.And) else (need,)
    return any(
        isinstance(one, p.Compare)
        and one.columns == (TS,)
        and isinstance(one.value, int | Fraction)
        and ((one.operator in (">", ">=", "=") and one.value > last) or (one.operator == ">" and one.value >= last))
        for one in parts
    )


@lru_cache(100_000)
def _may_be(need: p.Predicate, name: str) -> bool:
    """Whether an event of a name may be needed."""
    return p.carried(need, lambda column: p.Constant(name) if column == "name" else column) != p.NEVER


def _named(part: FleetPart) -> AbstractContextManager[None]:
    """Add the name of the trace to errors; a part of several traces does that by itself."""
    return named(part.traces[0].member) if len(part.traces) == 1 else nullcontext()
