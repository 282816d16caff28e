"""Reuse the plans of one trace for other traces that have the same tables.

Binding and optimizing see the tables of a trace, but not their rows. So a plan for one trace is right for another that
has the same ones, once the tables are exchanged, and the rows of its metadata. Plans that hold anything else of a trace
are not reused, nor are those that its statistics may answer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from dctv.catalog.mount import METADATA, Mount, is_in_order_of_tables
from dctv.catalog.namespace import Catalog, StoredTable
from dctv.plan.expressions import NULL, Cast, Expression, OfTrace
from dctv.plan.nodes import Plan, Relation, Scan
from dctv.plan.predicate import Predicate
from dctv.plan.queries import Select
from dctv.plan.question import Question
from dctv.plan.rows import has_known_rows
from dctv.plan.source import PlanRun, RowsInMemory, TableSource, WholeSource
from dctv.plan.walk import replaced, walk
from dctv.record import field, record, replace
from dctv.rewrite.graph import bottom_up, inputs, readers_first
from dctv.run.context import ExecutionContext


@record(eq=False)
class AnyTable(WholeSource):
    """A table of any trace: notes how it is narrowed, to do the same with that of a trace."""

    steps: tuple[Callable[[TableSource], TableSource], ...] = ()
    questions: list[Question] = field(default_factory=list)
    """Questions that the statistics of a trace might answer."""

    def of(self, source: TableSource) -> TableSource:
        """Return the table of a trace, narrowed in the same way."""
        for step in self.steps:
            source = step(source)
        return source

    def narrowed(self, predicate: Predicate) -> AnyTable:
        """Note that only some rows are needed."""
        return replace(self, steps=(*self.steps, lambda source: source.narrowed(predicate)))

    def reading(self, columns: Collection[str]) -> AnyTable:
        """Note that only some columns are read."""
        return replace(self, steps=(*self.steps, lambda source: source.reading(columns)))

    def unordered(self) -> AnyTable:
        """Note that rows may come in any order."""
        return replace(self, steps=(*self.steps, lambda source: source.unordered()))

    def answers(self, question: Question) -> None:
        """Note a question, and return None."""
        self.questions.append(question)

    def open(self, _: PlanRun) -> Any:
        """Fail: there are no rows."""
        raise AssertionError(self)


@record(eq=False)
class AnyMetadata(RowsInMemory):
    """The metadata of any trace."""

    name: str
    """The name of their table."""


@record(eq=False)
class SharedRows(RowsInMemory):
    """Stands for the rows of a view of any trace, which are computed before the plan runs."""

    view: str
    """The name of the view."""


@record
class PlanTemplate:
    """A plan over tables of any trace."""

    plan: Plan
    queries: frozenset[int]
    """The identities of its queries that have values of a trace."""
    warnings: Mapping[str, int]
    """The warnings given while it was made, which hold for each trace."""

    def of(self, mount: Mount, catalog: Catalog, values: Mapping[str, Expression]) -> Plan:
        """Return the plan for a trace."""

        def filled(one: Plan) -> Plan:
            if isinstance(one, Relation) and id(one.query) in self.queries:
                return _with_values(one, values)
            return _of_trace(one, mount, catalog)

        return bottom_up(self.plan, filled)


class Templates:
    """Templates by what they are for and the tables of a trace, the latest ones; None where a plan is not reusable."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[Hashable, PlanTemplate | None] = {}

    def plan(
        self,
        key: Hashable,
        mount: Mount,
        context: ExecutionContext,
        made: Callable[[], Plan],
        improved: Callable[[Plan], Plan] = lambda plan: plan,
        values: Mapping[str, Expression] = MappingProxyType({}),
    ) -> Plan:
        """Return a plan for a mounted trace: `improved` of the plan that `made` returns.

        Both are called only for the first trace that has the same tables, if the plan is reusable. `key` says what the
        plan is for; it has `OfTrace` in place of `values`, which differ between traces.
        """
        template = self.template(key, mount, context, made, improved, several=False)
        if template is None:
            return improved(with_values(made(), values))
        return template.of(mount, context.catalog, values)

    def template(
        self,
        key: Hashable,
        mount: Mount,
        context: ExecutionContext,
        made: Callable[[], Plan],
        improved: Callable[[Plan], Plan],
        *,
        several: bool,
    ) -> PlanTemplate | None:
        """Return the plan over tables of any trace that has the same ones as a mounted one.

        One for `several` traces at once is to be flattened: where it is a union of tables, it has the order of those in
        the mounted trace. None if there is something else of the trace in it.
        """
        key = (key, mount.parts, signature(mount))
        template = self._known.get(key, ...)
        if template is ...:
            with context.log.recording() as warnings:
                template = self._known[key] = _template(
                    made(), mount, context.catalog, improved, warnings, several=several
                )
            for oldest in list(self._known)[: -self._most]:
                self._known.pop(oldest, None)
        if template is not None:
            context.log.repeat(template.warnings)
        return template


def with_values(plan: Plan, values: Mapping[str, Expression]) -> Plan:
    """Return a plan with the values of a trace in place of `OfTrace`."""
    return bottom_up(plan, lambda one: _with_values(one, values))


def _with_values(plan: Plan, values: Mapping[str, Expression]) -> Plan:
    if not isinstance(plan, Relation):
        return plan
    query = replaced(plan.query, lambda node: values[node.column] if isinstance(node, OfTrace) else None)
    return plan if query is plan.query else replace(plan, query=query)


def signature(mount: Mount) -> Hashable:
    """Return a key of a trace's tables, and of those that are scanned."""
    trace = mount.trace
    scans_events = _scan(mount, "events") is not None
    # Where `events` is a union it has the order of the tables.
    names = sorted(trace.tables) if scans_events else trace.tables
    tables = tuple(
        (name, one.schema, one.event, one.rows is None, tuple(one.casts.items()))
        for name in names
        for one in [trace.tables[name]]
    )
    return mount.reader, trace.format, mount.offset != 0, scans_events, tables


def _template(
    plan: Plan,
    mount: Mount,
    catalog: Catalog,
    improved: Callable[[Plan], Plan],
    warnings: Mapping[str, int],
    *,
    several: bool,
) -> PlanTemplate | None:
    """Return a plan as a template, None if there is something else of the trace in it.

    For a plan of one trace, that may be the order of its tables, or answers from its statistics.
    """
    metadata = {id(_metadata(mount, name, catalog)): name for name in METADATA}
    tables = {id(one): name for name in mount.given for one in [_scan(mount, name)] if one is not None}
    if not all(id(one) in metadata or id(one) in tables or is_of_any_trace(one) for one in readers_first(plan)):
        return None
    source = AnyTable()
    made = improved(bottom_up(plan, lambda one: _of_any(one, metadata, tables, source, mount)))
    relations = [one for one in readers_first(made) if isinstance(one, Relation)]
    if not several and any(one.query.once(is_in_order_of_tables) for one in relations):
        made = improved(bottom_up(plan, lambda one: _of_any(one, metadata, tables, source, None)))
    if source.questions and not several:
        return None
    queries = (one.query for one in readers_first(made) if isinstance(one, Relation))
    of_trace = frozenset(id(one) for one in queries if any(isinstance(node, OfTrace) for node in walk(one)))
    return PlanTemplate(made, of_trace, warnings)


def _of_any(
    plan: Plan, metadata: dict[int, str], tables: dict[int, str], source: AnyTable, mount: Mount | None
) -> Plan:
    """Return a plan over any table; with a mount, one of all events may be read from its tables."""
    if id(plan) in metadata:
        name = metadata[id(plan)]
        return Scan(plan.schema, plan.order, name, AnyMetadata(None, name))
    if isinstance(plan, Scan) and not isinstance(plan.source, SharedRows):
        union = None if plan.union is None or mount is None else _any_union(plan.union, source, mount)
        return replace(plan, name=tables[id(plan)], source=source, union=union)
    return plan


def _any_union(union: Callable[[], Relation], source: AnyTable, mount: Mount) -> Callable[[], Relation] | None:
    """Return a function that returns a union of any tables in place of those of a mount; None if they are no scans."""
    if any(table.event is not None and _scan(mount, name) is None for name, table in mount.trace.tables.items()):
        return None
    start = ".".join((*mount.parts, ""))

    def any_table(plan: Plan) -> Plan:
        assert isinstance(plan, Scan)
        return replace(plan, name=plan.name.removeprefix(start), source=source)

    def made() -> Relation:
        found = union()
        return replace(found, leaves=tuple((name, any_table(one)) for name, one in found.leaves))

    return cache(made)


def _of_trace(plan: Plan, mount: Mount, catalog: Catalog) -> Plan:
    if not isinstance(plan, Scan) or isinstance(plan.source, SharedRows):
        return plan
    if isinstance(plan.source, AnyMetadata):
        return _metadata(mount, plan.source.name, catalog)
    found, any_table = _scan(mount, plan.name), plan.source
    assert found is not None, plan.name
    assert isinstance(any_table, AnyTable), plan.name
    return replace(found, source=any_table.of(found.source)) if any_table.steps else found


def _scan(mount: Mount, name: str) -> Scan | None:
    """Return the scan of a stored table; None if it has none of its own."""
    plan = mount.given[name]() if name != "events" or mount.sources else None
    return plan if isinstance(plan, Scan) else None


def _metadata(mount: Mount, name: str, catalog: Catalog) -> Plan:
    """Return the plan of one of a trace's tables of metadata, the same one each time."""
    found = catalog.find((*mount.parts, name))
    assert found is not None
    entry: Any = found[0]
    assert isinstance(entry, StoredTable)
    return entry.plan()


def is_of_any_trace(plan: Plan) -> bool:
    """Whether a plan, but for its inputs, is the same for all traces that have the same tables.

    Only scans and known rows have anything of a trace; `OfTrace` stands for its values, `SharedRows` for rows of views.
    """
    if isinstance(plan, Scan):
        return isinstance(plan.source, SharedRows)
    if isinstance(plan, Relation):
        return _is_row_of_trace(plan) or not plan.query.once(has_known_rows)
    return bool(inputs(plan))


def _is_row_of_trace(plan: Plan) -> bool:
    """Whether a plan without inputs is the one row of the values that stand for those of any trace."""
    query = plan.query if isinstance(plan, Relation) else None
    if not isinstance(query, Select) or query.source is not None:
        return False
    values = (one.value.operand if isinstance(one.value, Cast) else one.value for one in query.items)
    return all(isinstance(value, OfTrace) or value == NULL for value in values)
