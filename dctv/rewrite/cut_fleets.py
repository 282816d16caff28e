"""Split plans over tables of many traces into a part that each trace runs, and a part over the rows of all.

A plan is cut above its largest parts that are **one-per-trace**: their rows are those of the part over the first trace,
and those over the second, and so on. Sound, part by part:

- A table of the traces is such a part, stored or computed by each of them.
- A select is one if its sources are, and it looks at one row at a time, or at rows of one trace: joins compare the
  traces of both sides, groups have the trace among their keys, windows among their partitions, DISTINCT among its
  columns. LIMIT is about all rows, and so are queries in expressions. A trace knows when it began itself, but not when
  others did (`StartOf`). The current time is the same for all (`current_time`). Columns do not leave a trace as they
  are if a collation compares them, or if Arrow lacks their type (`lost`).
- A span operator is one if its inputs are, and it says (`FilterPushdown.same`) that a condition on the trace is as
  good on all of its inputs as on its output: then its rows of one trace come of the inputs' rows of this trace.

A select above such a part that only groups and aggregates is split (`partial_aggregates`), wherever it stands in a
query: each trace aggregates its rows, and the select combines the results. Exact quantiles of many events are found in
two passes (`exact_quantiles`): what the first finds over all traces is handed to each for the second. Where values
repeat in a sample of the traces, one pass counts them instead (`repeated_values`). Of a select with ORDER BY and LIMIT,
each trace gives its first rows (`first_of_each`).

Any other select above such a part hands conditions on the part's rows to each trace, if they cannot fail, or would fail
there as they would here, and if nothing else reads the part. A trace that fails one itself is not opened.

A part, or an input of a select above, that has no span operator and only tables which all traces store is not run trace
by trace: the engine reads those tables from all column stores at once (`together`). It stays with each trace if columns
of the traces are read and the order of rows may show, since these columns are joined, which may reorder rows.

Rows of a part come trace by trace. Where the part promised an order of time, they are sorted again; one that is sorted
otherwise is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from dctv.contracts.span_operator import SpanOperator
from dctv.plan.build import STAR, by_names, select
from dctv.plan.expressions import Binary, Collate, Column, Expression, StartOf, Window
from dctv.plan.fewer_columns import with_names
from dctv.plan.fleets import FleetSource, PerTracePlan
from dctv.plan.infallible import cannot_fail
from dctv.plan.node import Node, Query
from dctv.plan.nodes import Kernel, Plan, Relation, Scan, column_names, ranked_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import Compound, Derived, FromItem, GroupingSets, Join, Select, TableName
from dctv.plan.restored_types import lost, restored
from dctv.plan.source import RowsInMemory, TableSource
from dctv.plan.walk import columns_in, nested, replaced, walk
from dctv.record import field, record, replace
from dctv.rewrite.conditions import conjuncts, names_in, renamed
from dctv.rewrite.current_time import at_one_time
from dctv.rewrite.drop_orders import meets_rows_in_order
from dctv.rewrite.graph import bottom_up, inputs, readers_first, with_inputs
from dctv.rewrite.leaf_conditions import conditions_on_leaf, filtered
from dctv.rewrite.partial_aggregates import Split, split, split_twice
from dctv.rewrite.push_limit import first_of_each
from dctv.rewrite.select_lists import has_effect, is_volatile, may_aggregate
from dctv.rewrite.select_shapes import clauses, conditions_of_joins, preserved_sources

_MANY, _LARGE, _VAST = 10_000_000, 100_000, 100_000_000
"""Exact quantiles take two passes from this many events on: if a trace has so many on average, since opening a trace
takes as long as reading these, or if there are so many in all that their values would fill the memory."""


def cut_fleets(plan: Plan, operators: Mapping[str, SpanOperator]) -> Plan:
    """Move the one-per-trace parts of a plan into the traces."""
    if not any(isinstance(one, Scan) and isinstance(one.source, FleetSource) for one in readers_first(plan)):
        return plan
    plan = at_one_time(plan)
    cutting = _Cutting(operators)
    order = readers_first(plan)
    cutting.readers.update(id(leaf) for one in order for leaf in inputs(one))
    for one in reversed(order):
        cutting.visit(one)
    return cutting.above(plan)


def per_trace(plan: Plan, operators: Mapping[str, SpanOperator]) -> PerTracePlan | None:
    """Return what is known of a plan that each trace can run by itself, where the order of its traces does not matter.

    Then ORDER BY and set operations are about the rows of one trace, too.
    """
    cutting = _Cutting(operators, whole=False)
    for one in reversed(readers_first(plan)):
        found = cutting.found(one)
        if found is not None:
            cutting.local[id(one)] = found
    return cutting.local.get(id(plan))


@record(frozen=False)
class _Cutting:
    operators: Mapping[str, SpanOperator]
    whole: bool = True
    """Whether the rows of all traces are wanted, one trace after the other."""
    local: dict[int, PerTracePlan] = field(default_factory=dict)
    """Parts that are one-per-trace, by identity."""
    readers: Counter[int] = field(default_factory=Counter)
    """How often a plan is an input of others, by identity."""
    new: dict[int, Plan] = field(default_factory=dict)
    """Replacements of plans that are not one-per-trace, over the results of each trace."""

    def visit(self, plan: Plan) -> None:
        """Classify a plan as one-per-trace, or make its replacement; its inputs were visited before."""
        found = self.found(plan)
        if found is not None:
            self.local[id(plan)] = found
            return
        self.new[id(plan)] = self._cut_alone(plan) or self._over_all(plan)

    def _over_all(self, plan: Plan) -> Plan:
        """Return a plan over what each trace gives: its part of aggregates, or the rows that satisfy the conditions."""
        if not isinstance(plan, Relation):
            return with_inputs(plan, tuple(map(self.above, inputs(plan))))
        new, left, together = plan, [], dict[str, Plan]()
        for name, leaf in plan.leaves:
            local = self.local.get(id(leaf))
            whole = None if local is None else self._together(plan, name, leaf, local)
            if whole is not None:
                together[name] = whole
                continue
            halves = None if local is None else split(new, name, leaf)
            made = None if local is None or halves is None else _over(new, name, local, halves)
            if made is None:
                left.append((name, leaf))
            else:
                new = made
        needed = together | {name: self._needed(new, name, leaf) for name, leaf in left}
        return with_inputs(new, tuple(needed.get(name, leaf) for name, leaf in new.leaves))

    def _together(self, relation: Relation, name: str, leaf: Plan, local: PerTracePlan) -> Plan | None:
        """Return the rows of a leaf that a relation needs, read from all column stores at once."""
        tests = conditions_on_leaf(relation, name, leaf).tests
        of_traces = (renamed(one, local.fixed) for one in tests if names_in(one) <= local.fixed.keys())
        return _read_together(leaf, (*local.tests, *of_traces), relation)

    def _needed(self, relation: Relation, name: str, leaf: Plan) -> Plan:
        """Return the rows of a leaf that a relation needs, as far as its conditions say."""
        local = self.local.get(id(leaf))
        if local is None or self.readers[id(leaf)] > 1:
            return self.above(leaf)
        found = conditions_on_leaf(relation, name, leaf)
        types = {n: c.type for n, c in zip(column_names(leaf), leaf.schema.columns, strict=True)}
        of_traces = [one for one in found.tests if names_in(one) <= local.fixed.keys()]
        others = [one for one in found.tests if one not in of_traces]
        of_rows = others if found.are_all else [one for one in others if cannot_fail(one, types)]
        local = replace(local, tests=(*local.tests, *(renamed(one, local.fixed) for one in of_traces)))
        if not of_traces and not of_rows:
            return self.above(leaf)
        if isinstance(leaf, Scan) and isinstance(leaf.source, FleetSource):
            leaf = replace(leaf, schema=leaf.source.read_schema)
        return gathered(filtered(leaf, of_rows), local)

    def above(self, plan: Plan) -> Plan:
        """Return a plan as an input of the part over the rows of all traces."""
        if id(plan) not in self.local:
            return self.new[id(plan)]
        if id(plan) not in self.new:
            local = self.local[id(plan)]
            whole = _read_together(plan, local.tests, plan) if isinstance(plan, Relation) else plan
            self.new[id(plan)] = whole or gathered(plan, local)
        return self.new[id(plan)]

    def found(self, plan: Plan) -> PerTracePlan | None:
        """Return the facts on a plan if it is one-per-trace; its inputs were visited before."""
        match plan:
            case Scan(source=FleetSource() as source):
                return PerTracePlan(source, {name: name for name in source.fixed_columns}, source.tests)
            case Relation(leaves=leaves) if leaves:
                below = self._below([leaf for _, leaf in leaves])
                return None if below is None else _of_relation(plan, below, whole=self.whole)
            case Kernel():
                below = self._below(plan.inputs)
                return None if below is None else self._of_kernel(plan, below)
            case _:
                return None

    def _below(self, plans: Sequence[Plan]) -> list[PerTracePlan] | None:
        """Return the facts on some plans, if all are one-per-trace of the same traces."""
        found = [one for plan in plans if (one := self.local.get(id(plan))) is not None]
        same = len(found) == len(plans) and all(one.source.fleet is found[0].source.fleet for one in found)
        return found if same else None

    def _of_kernel(self, kernel: Kernel, below: Sequence[PerTracePlan]) -> PerTracePlan | None:
        operator = self.operators[kernel.name]
        if operator.filters is None:
            return None
        names = column_names(kernel)
        filters = operator.filters([one.schema for one in kernel.inputs], kernel.options, kernel.schema)
        of_inputs = [column_names(one) for one in kernel.inputs]
        for same in filters.same:
            if len(same) < len(kernel.inputs):
                continue
            traces = frozenset(
                name
                for number, name in enumerate(names)
                if all(number in same[n] and of_inputs[n][same[n][number]] in one.traces for n, one in enumerate(below))
            )
            if traces:
                return PerTracePlan(below[0].source, dict.fromkeys(traces, below[0].source.trace_column))
        return None

    def _cut_alone(self, plan: Plan) -> Plan | None:
        """Split a select over one part that needs two passes, or cuts its rows."""
        if not isinstance(plan, Relation) or len(plan.leaves) != 1:
            return None
        ((name, leaf),) = plan.leaves
        local = self.local.get(id(leaf))
        if local is None:
            return None
        twice = self._in_two_passes(plan, name, leaf, local)
        first = None if twice is not None or plan.serial else first_of_each(plan, name, leaf)
        return twice if first is None else _over(plan, name, local, Split(first, plan.query, combines=False))

    def _in_two_passes(self, plan: Relation, name: str, leaf: Plan, local: PerTracePlan) -> Plan | None:
        """Split a select of exact quantiles if its traces have so many events that this pays."""
        found = split_twice(plan, name, leaf)
        if found is None:
            return None
        first = _tested(local, found.first)
        traces, events = local.source.size(leaf, first.tests)
        if events < max(_MANY, min(traces * _LARGE, _VAST)):
            return None

        def second(source: TableSource) -> Plan | None:
            known = restored(found.schema, lambda held: Scan(held, RowOrder.ANY, "bounds", source))
            return _over(plan, name, local, found.second(known))

        if second(RowsInMemory(None)) is None:
            return None
        # The second pass warns.
        each = gathered(found.first, first, warns=False)
        bounds = Relation(found.schema, RowOrder.ANY, found.bounds, (("each", each),))
        twice = _found_by(plan, local.source.in_two_passes(bounds, second, self._over_all(plan)))
        by_value = found.by_value
        made = None if by_value is None else _over(plan, name, local, by_value.split)
        if by_value is None or made is None or traces == 0:
            return twice
        sampled = local.source.is_in_sample(leaf, first.tests)
        sample = gathered(by_value.sample, replace(local, tests=(sampled,)), warns=False, combines=True)
        repeat = Relation(by_value.schema, RowOrder.ANY, by_value.repeat, (("sample", sample),))
        return _found_by(plan, local.source.either(repeat, made, twice))


def _read_together(plan: Plan, tests: Sequence[Expression], reader: Relation) -> Plan | None:
    """Return a plan whose tables are read from all column stores at once; None if that is not possible.

    Their rows may come in another order only if neither the plan nor its reader, which may be the plan, shows it.
    """
    every = readers_first(plan)
    relations = [reader, *(one for one in every if isinstance(one, Relation))]
    scans = [one for one in every if isinstance(one, Scan)]
    if any(isinstance(one, Kernel) for one in every) or any(one.query.once(_asks_starts) for one in relations):
        return None
    ordered = reader.order is not RowOrder.ANY or any(
        one.serial or one.query.once(meets_rows_in_order) for one in relations
    )
    sources: dict[int, TableSource] = {}
    for one in scans:
        found = one.source.together(tests, ordered=ordered) if isinstance(one.source, FleetSource) else None
        if found is None:
            return None
        sources[id(one)] = found
    return bottom_up(plan, lambda one: replace(one, source=sources[id(one)]) if isinstance(one, Scan) else one)


def _asks_starts(query: Query) -> bool:
    """Whether a query asks when traces began, which takes long for many of them."""
    return any(isinstance(node, StartOf) for node in walk(query))


def _found_by(plan: Relation, source: TableSource) -> Plan:
    """Return the rows of a plan, as a source finds them."""
    called = with_names(plan.schema, column_names(plan))
    return restored(called, lambda held: Scan(held, plan.order, "each trace", source))


def _over(plan: Relation, name: str, local: PerTracePlan, split: Split) -> Relation | None:
    """Return a plan whose query reads a part of each trace; None if that asks for the starts of others."""
    below = split.part
    assert isinstance(below.query, Select)
    assert isinstance(below.query.source, TableName)
    traces = _Traces({below.query.source.called: local.traces})
    if not traces.ask_own_starts([below.query]):
        return None
    new = gathered(below, _tested(local, below), combines=split.combines)
    leaves = tuple((one, new if one == name else leaf) for one, leaf in plan.leaves)
    return replace(plan, query=split.query, leaves=leaves)


def _tested(local: PerTracePlan, part: Relation) -> PerTracePlan:
    """Return the facts on a part of each trace, which reads one more than the part that is known."""
    query = part.query
    assert isinstance(query, Select)
    assert query.source is not None
    sources = {query.source.called: local}
    return replace(local, tests=(*local.tests, *_tests(query, sources, sources)))


def gathered(plan: Plan, local: PerTracePlan, *, warns: bool = True, combines: bool = False) -> Plan:
    """Return the rows of a part of all traces, in the order that the part promised, with their warnings or without.

    With `combines`, rows may be partial aggregates of several traces.
    """
    called = with_names(plan.schema, column_names(plan))
    source = local.source.in_each(plan, local.tests, warns=warns, combines=combines)
    rows = restored(called, lambda held: Scan(held, RowOrder.STABLE, "each trace", source))
    if plan.order is not RowOrder.TIME:
        return rows
    query = replace(select(STAR, source="each"), order_by=by_names(ranked_names(called)))
    return Relation(called, RowOrder.TIME, query, (("each", rows),))


def _of_relation(plan: Relation, below: Sequence[PerTracePlan], *, whole: bool) -> PerTracePlan | None:
    leaves = {name: one for (name, _), one in zip(plan.leaves, below, strict=True)}
    if not whole:
        return _of_rows(plan.query, leaves)
    if any(lost(one.type) for one in plan.schema.columns):
        return None
    return _of_query(plan.query, leaves, sorted_again=plan.order is RowOrder.TIME)


def _of_rows(query: Query, locals_: Mapping[str, PerTracePlan]) -> PerTracePlan | None:
    """Return the facts on a query if it is one-per-trace, whatever the order of its traces."""
    if not isinstance(query, Compound):
        return _of_query(query, locals_, sorted_again=True, cut=False)
    found = [one for part in query.parts if (one := _of_rows(part, locals_)) is not None]
    if len(found) < len(query.parts) or query.limit or query.offset or query.steps:
        return None
    names = [_outputs(part) for part in query.parts]
    columns = [[one.fixed.get(name) for name in own] for own, one in zip(names, found, strict=True)]
    fixed = {
        name: one
        for name, (one, *others) in zip(names[0], zip(*columns, strict=True), strict=True)
        if one is not None and all(other == one for other in others)
    }
    made = PerTracePlan(
        found[0].source, fixed, tuple(x for x in found[0].tests if all(x in one.tests for one in found))
    )
    return made if made.traces else None


def _outputs(query: Query) -> Sequence[str]:
    while isinstance(query, Compound):
        query = query.parts[0]
    assert isinstance(query, Select)
    return [item.output for item in query.items]


def _of_query(
    query: Query, locals_: Mapping[str, PerTracePlan], *, sorted_again: bool, cut: bool = True
) -> PerTracePlan | None:
    """Return the facts on a query over such tables if it is one-per-trace; ORDER BY is allowed if `sorted_again`."""
    if not isinstance(query, Select) or not query.sources or (query.order_by and not sorted_again):
        return None
    if query.limit or query.offset or query.steps or any(item.is_star for item in query.items):
        return None
    parts = [*query.items, *clauses(query), *conditions_of_joins(query)]
    if nested(*parts) or has_effect(*parts) or (cut and any(isinstance(one, Collate) for one in walk(*query.items))):
        return None
    found = {one.called: local for one in query.sources if (local := _of_source(one, locals_, cut=cut)) is not None}
    traces = _Traces({name: one.traces for name, one in found.items()})
    if (
        len(found) < len(query.sources)
        or not traces.ask_own_starts(parts)
        or not all(traces.joins(join, query) for join in query.joins)
    ):
        return None
    # A column of a source that an outer join may fill with NULLs does not identify a row's trace.
    whole = {one.called: found[one.called] for one in preserved_sources(query)}
    fixed = {item.output: name for item in query.items if (name := _fixed(item.value, whole, found)) is not None}
    source = next(iter(found.values())).source
    sure = _Traces({name: one.traces if name in whole else frozenset() for name, one in found.items()})
    if not _looks_at_one_trace(query, sure) or (query.distinct and source.trace_column not in fixed.values()):
        return None
    return PerTracePlan(
        source, fixed, (*(test for one in whole.values() for test in one.tests), *_tests(query, whole, found))
    )


def _of_source(source: FromItem, known: Mapping[str, PerTracePlan], *, cut: bool) -> PerTracePlan | None:
    match source:
        case TableName(name, _, ()):
            return known.get(name)
        case Derived(query, _, ()):
            return _of_query(query, known, sorted_again=False) if cut else _of_rows(query, known)
        case _:
            return None


def _fixed(value: Node, whole: Mapping[str, PerTracePlan], every: Mapping[str, PerTracePlan]) -> str | None:
    """Return the name in the tables of a column that is constant in each trace.

    `whole` has those of `every` source whose rows are never filled with NULLs.
    """
    if not isinstance(value, Column):
        return None
    called = value.table if value.table is not None else next(iter(every)) if len(every) == 1 else None
    return None if called is None or called not in whole else whole[called].fixed.get(value.name)


def _tests(query: Select, whole: Mapping[str, PerTracePlan], every: Mapping[str, PerTracePlan]) -> Iterator[Expression]:
    """Yield the conditions of a select that are about columns which are the same in all rows of a trace."""

    def named(node: Node) -> Column | None:
        found = _fixed(node, whole, every)
        return None if found is None else Column(found)

    for test in conjuncts(query.where):
        columns = columns_in(test)
        if columns and all(named(one) is not None for one in columns) and not is_volatile(test):
            yield replaced(test, named)


@record
class _Traces:
    """The columns of a select's sources that identify a row's trace, by the names of the sources."""

    columns: Mapping[str, frozenset[str]]

    def contains(self, value: object) -> bool:
        """Whether an expression is such a column."""
        if not isinstance(value, Column):
            return False
        if value.table is not None:
            return value.name in self.columns.get(value.table, ())
        return len(self.columns) == 1 and value.name in next(iter(self.columns.values()))

    def ask_own_starts(self, nodes: Sequence[Node | None]) -> bool:
        """Whether nodes ask only when the traces of their own rows began."""
        return all(self.contains(one.trace) for one in walk(*nodes) if isinstance(one, StartOf))

    def joins(self, join: Join, select: Select) -> bool:
        """Whether a join brings rows of one trace together."""
        own = join.source.called
        tests = [] if join.on is None else conjuncts(join.on)
        before = {one.called for one in select.sources[: 1 + select.joins.index(join)]}
        return any(
            isinstance(test, Binary) and test.operator == "=" and self._links(test.left, test.right, own, before)
            for test in tests
        )

    def _links(self, left: Expression, right: Expression, own: str, before: set[str]) -> bool:
        if not (
            self.contains(left) and self.contains(right) and isinstance(left, Column) and isinstance(right, Column)
        ):
            return False
        tables = {left.table, right.table}
        return own in tables and bool(tables & before)


def _looks_at_one_trace(query: Select, traces: _Traces) -> bool:
    """Whether each row is made of one row, or of rows of one trace."""
    windows = [node for node in walk(*query.items, query.qualify) if isinstance(node, Window)]
    if not all(any(map(traces.contains, window.partition_by)) for window in windows):
        return False
    group = query.group
    if group is None:
        return query.having is None and not may_aggregate(query)
    keys = [key for key in group.keys if not isinstance(key, GroupingSets)]
    return not group.all and len(keys) == len(group.keys) and any(map(traces.contains, keys))
