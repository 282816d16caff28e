"""Materialize views that many others read: a session computes their rows once, from the second query on.

Most views of a trace show the names of threads, processes and tracks. Those are few rows, but all events are read for
them, by queries that take longer to plan than the rest of a short question. The first query of a session computes them
within its own plan, where only the rows and columns that it needs are computed; the next one has their rows computed
alone, and those after that read them. Traces of fleets are each asked once, so nothing is materialized there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any

from dctv.catalog.namespace import View
from dctv.contracts.lazy import Lazy
from dctv.contracts.materialized import ComputedRows, MaterializedRows
from dctv.contracts.states import aside
from dctv.plan.carrying import carried_schema
from dctv.plan.nodes import Plan, Scan, physical_names
from dctv.record import record
from dctv.rewrite.graph import put_together, readers_first
from dctv.run.context import ExecutionContext
from dctv.run.result import Result

ResultOf = Callable[[Plan, ExecutionContext], Result]
"""Returns the result of a bound plan."""
_IN_MEMORY = 16 << 20
"""The bytes of rows that are kept in memory; more are put into a file."""


@record(frozen=False)
class _Reads:
    """The queries that read a view."""

    scan: Scan
    """Of its rows; it has the view's plan, so that no other gets the identity of that."""
    count: int = 0


def with_rows(plan: Plan, context: ExecutionContext, result_of: ResultOf, *, runs: bool) -> Plan:
    """Return a plan that reads the rows of materialized views instead of computing them.

    `runs` says whether the plan will run, which counts as a read of the views in it.
    """
    if context.of_fleet:
        return plan
    views = {
        id(made): view
        for view, made, _ in context.catalog.bound.values()
        if isinstance(view, View) and view.materialized and made is not plan
    }
    order = readers_first(plan) if views else []
    rows: dict[int, Scan] = {}
    known = context.catalog.materialized
    for one in order:
        # Other rows cannot be kept as they are.
        if id(one) in views and carried_schema(one.schema) == one.schema:
            if id(one) not in known:
                known[id(one)] = _Reads(_scan(one, views[id(one)].name, context, result_of))
            reads = known[id(one)]
            if reads.count > 0:
                rows[id(one)] = reads.scan
            reads.count += runs
    return put_together(order, {id(one): rows.get(id(one), one) for one in order}) if rows else plan


def _scan(view: Plan, name: str, context: ExecutionContext, result_of: ResultOf) -> Scan:
    rows = Lazy(partial(_computed, view, context, result_of), context.log)
    return Scan(view.schema, view.order, name, MaterializedRows(view, rows))


def _computed(view: Plan, context: ExecutionContext, result_of: ResultOf) -> ComputedRows:
    result = result_of(view, context)
    names = physical_names(view.schema)
    with result.reader() as reader:
        return ComputedRows(_table(reader, context).rename_columns(names), result.spent)


def _table(reader: Any, context: ExecutionContext) -> Any:
    """Return the rows of a reader in memory, or in a file if there are many."""
    import pyarrow as pa

    seen, size = [], 0
    for batch in reader:
        seen.append(batch)
        size += batch.nbytes
        if size > _IN_MEMORY:
            rest = pa.RecordBatchReader.from_batches(reader.schema, chain(seen, reader))
            return aside(rest, context.engine.spill_folder())
    return pa.Table.from_batches(seen, reader.schema)
