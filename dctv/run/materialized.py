"""Materialize views that many others read: their rows are computed once, and read by later queries.

Most views of a trace show the names of threads, processes and tracks. Those are few rows, but all events are read for
them, by queries that take longer to plan than the rest of a short question. The first query of a session computes them
within its own plan, where only the rows and columns that it needs are computed; the second one has their rows computed
alone, and those after that read them. Rows that most of the others follow from are stored beside the index of a trace,
if it has one, by the first query that needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any

from dctv.bind.library_views import BoundView
from dctv.catalog.namespace import View
from dctv.contracts.lazy import Lazy
from dctv.contracts.materialized import ComputedRows, MaterializedRows
from dctv.contracts.states import aside
from dctv.plan.carrying import carried_schema
from dctv.plan.nodes import Plan, Relation, Scan, physical_names
from dctv.plan.source import TableSource
from dctv.record import record
from dctv.rewrite.graph import put_together, readers_first
from dctv.run.context import ExecutionContext
from dctv.run.result import Result
from dctv.run.stored_rows import IN_MEMORY, loaded_or_computed, may_store, row_store

ResultOf = Callable[[Plan, ExecutionContext], Result]
"""Returns the result of a bound plan."""


@record(frozen=False)
class _Reads:
    """The queries that read a view."""

    view: Plan
    """Kept, so that no other plan gets its identity."""
    scan: Scan
    """Of its rows."""
    stored: bool
    """Whether its rows are stored beside an index."""
    count: int = 0


def with_rows(plan: Plan, context: ExecutionContext, result_of: ResultOf, *, runs: bool) -> Plan:
    """Return a plan that reads the rows of materialized views instead of computing them.

    `runs` says whether the plan will run, which counts as a read of the views in it. Each trace of a fleet is asked
    once, and `scans_of_stored` has replaced what is stored.
    """
    if context.of_fleet:
        return plan
    known = context.catalog.materialized
    rows: dict[int, Scan] = {}
    for view, one in _views(plan, context):
        if id(one) not in known:
            known[id(one)] = _reads(view, one, context, result_of)
        reads = known[id(one)]
        if reads.count > 0 or reads.stored:
            rows[id(one)] = reads.scan
        reads.count += runs
    return _replaced(plan, rows)


def scans_of_stored(plan: Plan, context: ExecutionContext, source: Callable[[str], TableSource]) -> Plan:
    """Return a plan that scans the views whose rows are stored beside an index: a source for the name of each."""
    views = ((view.name, one) for view, one in _views(plan, context) if _is_stored(view, context))
    return _replaced(plan, {id(one): _scan_of(one, name, source(name)) for name, one in views})


def _scan_of(view: Plan, name: str, source: TableSource) -> Scan:
    """Return a scan of the rows of a view."""
    unique = view.unique if isinstance(view, Relation) else ()
    return Scan(view.schema, view.order, name, source, unique=unique)


def computed(result: Result, context: ExecutionContext) -> ComputedRows:
    """Read the rows of a view: into memory, or into a file if there are many."""
    with result.reader() as reader:
        table = _table(reader, context).rename_columns(physical_names(result.schema))
    return ComputedRows(table, result.spent)


def _views(plan: Plan, context: ExecutionContext) -> Iterator[tuple[View, Plan]]:
    """Yield the materialized views within a plan, each with its plan."""
    bound: Iterable[BoundView] = context.catalog.bound.values()
    views = {
        id(one.plan): one.entry
        for one in bound
        if isinstance(one.entry, View) and one.entry.materialized and one.plan is not plan
    }
    for one in readers_first(plan) if views else ():
        # Other rows cannot be kept as they are.
        if id(one) in views and carried_schema(one.schema) == one.schema:
            yield views[id(one)], one


def _is_stored(view: View, context: ExecutionContext) -> bool:
    return view.materialized == "index" and view.home in context.mounts and may_store(context.mounts[view.home])


def _replaced(plan: Plan, rows: dict[int, Scan]) -> Plan:
    if not rows:
        return plan
    order = readers_first(plan)
    return put_together(order, {id(one): rows.get(id(one), one) for one in order})


def _reads(view: View, plan: Plan, context: ExecutionContext, result_of: ResultOf) -> _Reads:
    def compute() -> ComputedRows:
        return computed(result_of(plan, context), context)

    place = row_store(context.mounts[view.home], context) if _is_stored(view, context) else None
    rows = compute if place is None else partial(loaded_or_computed, view.name, place, context, compute)
    scan = _scan_of(plan, view.name, MaterializedRows(Lazy(rows, context.log)))
    return _Reads(plan, scan, place is not None)


def _table(reader: Any, context: ExecutionContext) -> Any:
    import pyarrow as pa

    seen, size = [], 0
    for batch in reader:
        seen.append(batch)
        size += batch.nbytes
        if size > IN_MEMORY:
            rest = pa.RecordBatchReader.from_batches(reader.schema, chain(seen, reader))
            return aside(rest, context.engine.spill_folder())
    return pa.Table.from_batches(seen, reader.schema)
