"""Stream a plan: engine regions and kernels hand Arrow batches on to each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from dctv.contracts.engine import Engine, EngineQuery
from dctv.contracts.span_operator import Counted, Remarked
from dctv.contracts.streams import OpenedStream
from dctv.errors import WarningLog
from dctv.plan.build import STAR, by_names, columns, select, typed_nothing
from dctv.plan.nodes import SPILL_FOLDER, ArrowStream, Kernel, Plan, Relation, Scan, physical_names, ranked_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import Select
from dctv.plan.source import PlanRun
from dctv.record import replace
from dctv.run.metering import Metering
from dctv.run.regions import cut
from dctv.run.sharing import Sharing
from dctv.types.schema import Kind, Schema

_SHARE_OF_MEMORY = 4
"""Shared plans keep a fourth of the engine's memory, all of them together."""
_PATIENCE = 100
"""Milliseconds between two attempts to end what reads ahead."""
_ATTEMPTS = 50


_schemas: WeakKeyDictionary[Engine, dict[Select, Any]] = WeakKeyDictionary()


def arrow_schema(engine: Engine, schema: Schema) -> Any:
    """Return the Arrow schema that an engine gives to a table's types: an object with `__arrow_c_schema__`.

    It is asked once, which takes as long as a small query.
    """
    from dctv import _kernels  # compiled; only wanted when a query runs

    nothing, schemas = typed_nothing(schema), _schemas.setdefault(engine, {})
    if nothing not in schemas:
        stream = engine.stream(nothing, {}, serial=False)
        schemas[nothing] = _kernels.schema_of(stream)
        stream.close()
    return schemas[nothing]


class Runner:
    """One run of a plan on an engine: every opened source gets `run`, and every kernel gets its cancellation token."""

    def __init__(
        self, engine: Engine, sharing: Sharing, run: PlanRun, metering: Metering | None, *, ahead: bool
    ) -> None:
        self._engine = engine
        # On one processor, or beside other processes, such threads contend for Python's lock, which takes a sixth of
        # the time of small queries. Metering needs them: it measures a kernel by the CPU time of its thread.
        self._reads_ahead = ahead or metering is not None
        self.run = run
        self._cancel = run.cancel
        self._sharing = sharing
        self._metering = metering
        self._queries: list[EngineQuery] = []
        self._buffers: dict[int, Any] = {}
        self._kept: list[Plan] = []
        """Plans made here: what is known of a plan goes by its identity, so it must not be given to another."""
        self._counted: list[Counted | Remarked] = []

    def warn(self, log: WarningLog) -> None:
        """Log rows that kernels skipped; equal messages, as of a kernel that ran twice, are logged once."""
        for message in dict.fromkeys(counted.message for counted in self._counted):
            if message is not None and message not in log.entries:
                log.add(message)

    def stream(self, plan: Plan) -> Any:
        """Return a stream of a plan's rows: an object with `__arrow_c_stream__`, or a scan's opener of one."""
        return self._shared(plan) if plan in self._sharing else self._made(plan)

    def _made(self, plan: Plan) -> Any:
        match plan:
            case Scan():
                return lambda: self._opened(plan)
            case Kernel():
                return self._kernel(plan)
            case Relation():
                return self._region(plan)
            case _:
                raise AssertionError(type(plan))

    def _opened(self, plan: Scan) -> Any:
        opened = plan.source.open(self.run)
        return opened if self._metering is None else self._metering.metered(plan, opened)

    def _region(self, plan: Relation) -> Any:
        region = cut(plan, self._sharing)
        sources = {name: self.stream(leaf) for name, leaf in region.sources.items()}
        profiled = self._metering is not None
        query = self._engine.stream(region.query, sources, serial=region.serial, profiled=profiled)
        self._queries.append(query)
        if self._metering is None:
            return query
        return self._metering.metered(plan, query, query=query, sources=list(region.sources.values()))

    def _kernel(self, plan: Kernel) -> OpenedStream:
        inputs = [self._input(_through_engine(leaf)) for leaf in plan.inputs]
        # Only now, since kept rows of a view are found by its plan.
        spills = {SPILL_FOLDER: str(self.run.spill_folder)} if SPILL_FOLDER in plan.options else {}

        def run() -> ArrowStream:
            made = plan.run([open_() for open_ in inputs], {**plan.options, **spills}, self._cancel)
            if isinstance(made, Counted | Remarked):
                self._counted.append(made)
            return made if self._metering is None else self._metering.metered(plan, made)

        return self._known(run, plan)

    def _known(self, open_: Callable[[], ArrowStream], plan: Plan) -> OpenedStream:
        return OpenedStream(open_, lambda: arrow_schema(self._engine, plan.schema).__arrow_c_schema__())

    def _input(self, plan: Plan) -> Callable[[], ArrowStream]:
        """Return a function that opens an input of a kernel; if there are several threads, one reads it ahead."""
        from dctv import _kernels  # compiled; only wanted when a query runs

        self._kept.append(plan)
        stream = self.stream(plan)
        source = self._known(lambda: stream, plan)
        return lambda: _kernels.ahead(source, cancel=self._cancel) if self._reads_ahead else source

    def _shared(self, plan: Plan) -> OpenedStream:
        """Return a reader of rows that are computed once."""
        from dctv import _kernels

        if id(plan) not in self._buffers:
            made = self._made(plan)
            limit = self._engine.memory_limit() // _SHARE_OF_MEMORY // len(self._sharing.readers)
            self._buffers[id(plan)] = _kernels.SharedBuffer(
                self._known(lambda: made, plan),
                readers=self._sharing.readers[id(plan)],
                limit=limit,
                folder=str(self.run.spill_folder),
                cancel=self._cancel,
                ahead=self._reads_ahead,
            )
            if self._metering is not None:
                self._metering.buffers[id(plan)] = self._buffers[id(plan)]
        return self._known(self._buffers[id(plan)].open, plan)

    def interrupt(self) -> None:
        """Interrupt the kernels and queries that run for the plan; one that begins just now does not hear it."""
        self._cancel.set()
        for query in list(self._queries):
            query.interrupt()

    def finish(self) -> None:
        """Stop everything that still runs for the plan, and free its data."""
        if self._metering is not None:
            self._metering.collect()
        self._cancel.set()
        for _ in range(_ATTEMPTS):
            if self._cancel.wait(0):
                break
            self.interrupt()
            self._cancel.wait(_PATIENCE)
        for query in self._queries:
            query.close()
        for buffer in self._buffers.values():
            buffer.close()
        self._buffers.clear()
        self.run.kept.clear()


def _through_engine(plan: Plan) -> Plan:
    """Let the engine read a stored table for a kernel, so that its columns have the engine's Arrow types."""
    if not isinstance(plan, Scan):
        return plan
    query = select(*columns(physical_names(plan.schema)), source="stored")
    return Relation(
        plan.schema, order=RowOrder.TIME if plan.ordered else RowOrder.STABLE, query=query, leaves=(("stored", plan),)
    )


def in_final_order(plan: Plan) -> Plan:
    """Put a result into an order that is the same in every run, by time for spans and events."""
    if plan.ordered or (plan.schema.kind is Kind.REGULAR and plan.stable):
        return plan
    query = replace(select(STAR, source="result"), order_by=by_names(ranked_names(plan.schema)))
    timed = plan.schema.kind is not Kind.REGULAR
    return Relation(
        plan.schema, order=RowOrder.TIME if timed else RowOrder.STABLE, query=query, leaves=(("result", plan),)
    )
