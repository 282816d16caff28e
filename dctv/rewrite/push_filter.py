"""Push conditions above a span operator down to its inputs, into the engine's regions.

A conjunct of WHERE, or of HAVING if it is about group keys alone, goes down from a query to the one plan that it is
about, through selects that only rename, sort or group, and through every span operator that says (`FilterPushdown`)
that the condition is as good on its inputs: then it is gone above. Where an operator only says which rows matter at
which times (`push_time_range`), the condition stays above, and is applied below as well.

Sound, step by step:

- A select without DISTINCT, LIMIT, QUALIFY and window functions gives each row by itself, or each group by its rows; a
  condition over columns that it hands on (or groups by) holds for a row above just when it holds for the rows below.
  With outer joins only conditions on the preserved first table go down.
- A plan may have other readers: the plan below is copied with its condition, never changed.
- A condition moves only if it cannot fail: comparisons of columns and literals within one family of types, IN, LIKE, IS
  NULL, and AND, OR, NOT of these. So rows that it would not have reached do no harm. It never passes a select that
  checks its rows or counts warnings, nor one whose values depend on the order of rows (`serial`) and could change.
- Inputs keep their order: dropping rows leaves the others as they are.
- An operator stops at overlapping spans only where it meets them: spans that a condition leaves out are not checked
  again, after the check of the table that they come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dctv.contracts.span_operator import FilterPushdown, SpanOperator
from dctv.plan import build as w
from dctv.plan.expressions import Expression
from dctv.plan.infallible import cannot_fail
from dctv.plan.node import Node, Query
from dctv.plan.nodes import Kernel, Plan, Relation, column_names
from dctv.plan.queries import Select
from dctv.plan.walk import mapped, walk
from dctv.record import field, record, replace
from dctv.rewrite.condition_lineage import PathDown, path_from_clause, path_from_result
from dctv.rewrite.conditions import bound_of, conjuncts, names_in, renamed, sum_of
from dctv.rewrite.graph import inputs, with_inputs
from dctv.rewrite.leaf_conditions import filtered, is_read_once
from dctv.rewrite.push_time_range import time_range
from dctv.rewrite.select_shapes import is_projection
from dctv.types.schema import Kind


def push_filter(plan: Plan, operators: Mapping[str, SpanOperator]) -> Plan:
    """Filter as early as is sound."""
    return _Pushing(operators).visit(plan)


@record(frozen=False)
class _Pushing:
    operators: Mapping[str, SpanOperator]
    visited: dict[int, tuple[Plan, Plan]] = field(default_factory=dict)
    sweeps: dict[int, tuple[Plan, bool]] = field(default_factory=dict)
    filters: dict[tuple[object, ...], tuple[Plan, Plan]] = field(default_factory=dict)
    """Plans with their conditions: a plan that is read twice with the same condition stays one plan."""

    def visit(self, plan: Plan) -> Plan:
        """Push the conditions of a plan on its inputs, then the conditions of those on theirs."""
        if id(plan) not in self.visited:
            node = self._own(plan) if isinstance(plan, Relation) else plan
            self.visited[id(plan)] = (plan, with_inputs(node, tuple(self.visit(one) for one in inputs(node))))
        return self.visited[id(plan)][1]

    def _own(self, relation: Relation) -> Relation:
        """Push the conditions that are written in a relation's query."""
        if not any(self._has_sweep(leaf) for _, leaf in relation.leaves):
            return relation
        selects = [one for one in walk(relation.query) if isinstance(one, Select) and (one.where or one.having)]
        left: dict[int, tuple[Expression | None, Expression | None]] = {}
        for one in selects:
            relation, tests = self._left(relation, one, grouped=False)
            relation, groups = self._left(relation, one, grouped=True)
            if tests is not one.where or groups is not one.having:
                # The pushed conditions are about a leaf that is read once, so this select occurs in one place.
                left[id(one)] = (tests, groups)
        return replace(relation, query=_with_conditions(relation.query, left)) if left else relation

    def _left(self, relation: Relation, select: Select, *, grouped: bool) -> tuple[Relation, Expression | None]:
        """Push WHERE or HAVING of a select in a relation's query; return the remaining condition, too."""
        clause = select.having if grouped else select.where
        tests = list(conjuncts(clause))
        left = []
        for test in tests:
            relation, done = self._push(relation, path_from_clause(select, test, grouped=grouped))
            if not done:
                left.append(test)
        return relation, (w.all_of(left) if len(left) < len(tests) else clause)

    def _push(self, relation: Relation, way: PathDown | None) -> tuple[Relation, bool]:
        """Return a relation with a condition pushed into its leaf, and whether it needs no further test."""
        leaf = None if way is None else dict(relation.leaves).get(way.leaf)
        if way is None or leaf is None or not self._has_sweep(leaf) or not _is_pushable(leaf, way.test):
            return relation, False
        if not is_read_once(relation, way.leaf):
            return relation, False
        new, done = self.absorb(leaf, way.test)
        made = with_inputs(relation, tuple(new if name == way.leaf else one for name, one in relation.leaves))
        assert isinstance(made, Relation)
        return made, done

    def _has_sweep(self, plan: Plan) -> bool:
        """Whether some operator is below, at which conditions could arrive."""
        if id(plan) not in self.sweeps:
            found = isinstance(plan, Kernel) or any(self._has_sweep(one) for one in inputs(plan))
            self.sweeps[id(plan)] = (plan, found)
        return self.sweeps[id(plan)][1]

    def absorb(self, plan: Plan, test: Expression) -> tuple[Plan, bool]:
        """Return a plan that leaves out rows for which a condition is not true, and whether it leaves out all."""
        match plan:
            case Kernel():
                return self._into_kernel(plan, test)
            case Relation(serial=False):
                return self._push(plan, path_from_result(plan.query, test))
            case _:
                return plan, False

    def _into_kernel(self, kernel: Kernel, test: Expression) -> tuple[Plan, bool]:
        operator = self.operators[kernel.name]
        if operator.filters is None:
            return kernel, False
        filters = operator.filters([one.schema for one in kernel.inputs], kernel.options, kernel.schema)
        names = column_names(kernel)
        exact = _exact(filters, kernel, names, test)
        near = _time_bounds(filters, kernel, names, test)
        new = []
        for number, one in enumerate(kernel.inputs):
            needed = one if exact is None else self._filtered(one, exact[number], needed=True)
            new.append(self._filtered(needed, near[number], needed=False))
        return with_inputs(kernel, tuple(new)), exact is not None

    def _filtered(self, plan: Plan, tests: Sequence[Expression], *, needed: bool) -> Plan:
        """Return an input with conditions: pushed further down where possible, else read through a select.

        Those that are not needed justify a select over an input that the engine reads, but not over a sweep's output.
        """
        key = (id(plan), needed, *tests)
        if key not in self.filters:
            new, left = plan, []
            for test in tests:
                new, done = self.absorb(new, test)
                if not done:
                    left.append(test)
            self.filters[key] = (plan, filtered(new, left) if needed or not _hands_on_a_sweep(new) else new)
        return self.filters[key][1]


def _hands_on_a_sweep(plan: Plan) -> bool:
    """Whether a plan is a sweep's output, maybe through queries with nothing but a select list."""
    if not isinstance(plan, Relation):
        return isinstance(plan, Kernel)
    return is_projection(plan.query) and len(plan.leaves) == 1 and _hands_on_a_sweep(plan.leaves[0][1])


def _is_pushable(plan: Plan, test: Expression) -> bool:
    """Whether a condition is about a plan's columns, and cannot fail or bounds a possible end of spans."""
    names = column_names(plan)
    return names_in(test) <= set(names) and (_cannot_fail(plan, test) or _sum(test) is not None)


def _cannot_fail(plan: Plan, test: Expression) -> bool:
    names = column_names(plan)
    return cannot_fail(test, {n: c.type for n, c in zip(names, plan.schema.columns, strict=True)})


def _sum(test: Expression) -> frozenset[str] | None:
    found = bound_of(test)
    return None if found is None else sum_of(found[0])


def _is_end(plan: Plan, test: Expression) -> bool:
    """Whether a bound is one of the ends of a span table, which fit into 64 bits."""
    return plan.schema.kind is Kind.SPAN and _sum(test) == frozenset(column_names(plan)[:2])


def _with_conditions(query: Query, left: Mapping[int, tuple[Expression | None, Expression | None]]) -> Query:
    """Return a query with other WHERE and HAVING in some of its selects, by their identity."""

    def visit(node: Node) -> Node:
        made, conditions = mapped(node, visit), left.get(id(node))
        if conditions is None:
            return made
        assert isinstance(made, Select)
        where, having = conditions
        return replace(made, where=where, having=having)

    made = visit(query)
    assert isinstance(made, Query)
    return made


def _exact(
    filters: FilterPushdown, kernel: Kernel, names: list[str], test: Expression
) -> list[list[Expression]] | None:
    """Return the conditions on each input that are together equivalent to the condition; None if there are none."""
    used = {names.index(n) for n in names_in(test)}
    for entry in filters.same:
        if all(used <= set(same) for same in entry.values()):
            tests: list[list[Expression]] = [[] for _ in kernel.inputs]
            for number, same in entry.items():
                inner = column_names(kernel.inputs[number])
                tests[number] = [renamed(test, {names[c]: inner[same[c]] for c in used})]
            pairs = zip(kernel.inputs, tests, strict=True)
            safe = all(_cannot_fail(plan, t) or _is_end(plan, t) for plan, own in pairs for t in own)
            return tests if safe else None
    return None


def _time_bounds(filters: FilterPushdown, kernel: Kernel, names: list[str], test: Expression) -> list[list[Expression]]:
    """Return the conditions on times of each input that the condition implies."""
    tests: list[list[Expression]] = [[] for _ in kernel.inputs]
    for times in filters.times:
        for number in times.inputs:
            tests[number] += time_range(test, times, names, kernel.inputs[number].schema)
    return tests
