"""Streams a plan: engine regions and kernels hand Arrow batches on to each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from dctv.contracts.engine import Engine
from dctv.contracts.span_operator import Counted
from dctv.errors import WarningLog
from dctv.plan.nodes import ArrowStream, Kernel, Plan, Relation, Scan, physical_names, ranked_names
from dctv.plan.sql import typed_nothing
from dctv.run.regions import cut
from dctv.types.schema import Kind, Schema


class KernelStream:
    """The output of a kernel; every opening runs it anew."""

    def __init__(self, open_: Callable[[], ArrowStream], schema: Callable[[], object]) -> None:
        self._open = open_
        self._schema = schema

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._open().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._schema()


class Runner:
    """Runs plans on one engine; `cancel` is handed to every kernel."""

    def __init__(self, engine: Engine, cancel: object) -> None:
        self._engine = engine
        self._cancel = cancel
        self._counted: list[Counted] = []

    def warn(self, log: WarningLog) -> None:
        """Log what kernels passed over; a kernel that ran twice, or two that say the same, say it once."""
        for message in dict.fromkeys(counted.message for counted in self._counted):
            if message is not None and message not in log.entries:
                log.add(message)

    def stream(self, plan: Plan) -> Any:
        """Return what streams the rows of a plan: an object with `__arrow_c_stream__`."""
        match plan:
            case Scan():
                return plan.open()
            case Kernel():
                return self._kernel(plan)
            case Relation():
                region = cut(plan)
                sources = {name: self.stream(leaf) for name, leaf in region.sources.items()}
                return self._engine.stream(region.sql, sources, serial=region.serial)
            case _:
                raise AssertionError(type(plan))

    def _kernel(self, plan: Kernel) -> KernelStream:
        inputs = [self.stream(_through_engine(leaf)) for leaf in plan.inputs]

        def run() -> ArrowStream:
            stream = plan.run(inputs, plan.options, self._cancel)
            if isinstance(stream, Counted):
                self._counted.append(stream)
            return stream

        return KernelStream(run, lambda: self._arrow_schema(plan.schema))

    def _arrow_schema(self, schema: Schema) -> object:
        """Return the Arrow schema that the engine gives to a table's types."""
        import pyarrow as pa

        empty = self._engine.stream(typed_nothing(schema).sql(dialect="duckdb"), {}, serial=False)
        return pa.RecordBatchReader.from_stream(empty).schema.__arrow_c_schema__()


def _through_engine(plan: Plan) -> Plan:
    """Let the engine read a stored table for a kernel, so that its columns have the engine's Arrow types."""
    if not isinstance(plan, Scan):
        return plan
    columns = [exp.column(n, quoted=True) for n in physical_names(plan.schema)]
    tree = exp.Select(expressions=columns).from_(exp.Table(this=exp.to_identifier("stored", quoted=True)))
    return Relation(plan.schema, ordered=plan.ordered, query=tree, leaves=(("stored", plan),), keeps_order=True)


def in_final_order(plan: Plan) -> Plan:
    """Put a result into an order that is the same in every run, by time for spans and events."""
    if plan.ordered or (plan.schema.kind is Kind.REGULAR and plan.stable):
        return plan
    names = ranked_names(plan.schema)
    tree = exp.Select(expressions=[exp.Star()]).from_(exp.Table(this=exp.to_identifier("result", quoted=True)))
    order = [exp.Ordered(this=exp.column(n, quoted=True), nulls_first=False) for n in names]
    return Relation(
        plan.schema,
        ordered=plan.schema.kind is not Kind.REGULAR,
        query=tree.order_by(*order, copy=False),
        leaves=(("result", plan),),
        keeps_order=True,
    )
