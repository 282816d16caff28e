"""Conditions above a span operator -> conditions that its inputs are read with, down to the engine's regions.

A conjunct of WHERE, or of HAVING if it is about group keys alone, goes down from a query to the one plan that it is
about, through selects that only rename, sort or group, and through every span operator that says (`Filters`) that the
condition is as good on its inputs: then it is gone above. Where an operator only says which rows matter at which times
(`push_time_range`), the condition stays above, and is applied below as well.

Sound, step by step:

- A select without DISTINCT, LIMIT, QUALIFY and window functions gives each row by itself, or each group by its rows; a
  condition over columns that it hands on (or groups by) holds for a row above just when it holds for the rows below.
  With outer joins only conditions on the preserved first table go down.
- What is written once may be read by others: the plan below is copied with its condition, never changed.
- A condition moves only if it cannot fail: comparisons of columns and literals within one family of types, IN, LIKE, IS
  NULL, and AND, OR, NOT of these. So rows that it would not have reached do no harm. It never passes a select that
  checks its rows or counts warnings, nor one whose values depend on the order of rows (`serial`) and could change.
- Inputs keep their order: what is left out leaves the others as they are.
- An operator stops at overlapping spans only where it meets them: spans that a condition leaves out are not checked
  again, after the check of the table that they come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from dctv.contracts.span_operator import Filters, SpanOperator
from dctv.plan.nodes import Kernel, Plan, Relation, column_names
from dctv.plan.shape import nodes_of
from dctv.plan.sql import aliased, column, table
from dctv.record import field, record, replace
from dctv.rewrite.conditions import bound_of, cannot_fail, conjuncts, names_in, renamed, sum_of
from dctv.rewrite.graph import inputs, with_inputs
from dctv.rewrite.push_time_range import time_range
from dctv.rewrite.way_down import Way, reads, way_down
from dctv.types.schema import Kind


def push_filter(plan: Plan, operators: Mapping[str, SpanOperator]) -> Plan:
    """Filter as early as it is sound."""
    return _Pushing(operators).visit(plan)


@record(frozen=False)
class _Pushing:
    operators: Mapping[str, SpanOperator]
    visited: dict[int, tuple[Plan, Plan]] = field(default_factory=dict)
    sweeps: dict[int, tuple[Plan, bool]] = field(default_factory=dict)
    filters: dict[tuple[object, ...], tuple[Plan, Plan]] = field(default_factory=dict)
    """Plans with their conditions: what is read twice with the same condition stays one plan."""

    def visit(self, plan: Plan) -> Plan:
        """Push what a plan says of its inputs, then what those say of theirs."""
        if id(plan) not in self.visited:
            node = self._own(plan) if isinstance(plan, Relation) else plan
            self.visited[id(plan)] = (plan, with_inputs(node, tuple(self.visit(one) for one in inputs(node))))
        return self.visited[id(plan)][1]

    def _own(self, relation: Relation) -> Relation:
        """Push the conditions that are written in a relation's query."""
        if not any(self._has_sweep(leaf) for _, leaf in relation.leaves):
            return relation
        if not any(isinstance(node, exp.Where | exp.Having) for node in nodes_of(relation.query)):
            return relation
        query = relation.query.copy()
        leaves = dict(relation.leaves)
        read = reads(query)
        changed = False
        for select in list(query.find_all(exp.Select)):
            for clause, form in (("where", exp.Where), ("having", exp.Having)):
                found = select.args.get(clause)
                if found is None:
                    continue
                left = []
                for test in conjuncts(found.this):
                    way = way_down(select, test, read, grouped=clause == "having")
                    new, done = (None, False) if way is None else self._push(leaves, way)
                    if way is not None and new is not None:
                        leaves[way.leaf], changed = new, True
                    if not done:
                        left.append(test)
                _set(select, clause, form, left)
        return replace(relation, query=query, leaves=tuple(leaves.items())) if changed else relation

    def _push(self, leaves: Mapping[str, Plan], way: Way) -> tuple[Plan | None, bool]:
        """Return a leaf with a condition, or None, and whether the condition is done with."""
        leaf = leaves.get(way.leaf)
        if leaf is None or not self._has_sweep(leaf) or not _known(leaf, way.test):
            return None, False
        new, done = self.absorb(leaf, way.test)
        return (None if new is leaf else new), done

    def _has_sweep(self, plan: Plan) -> bool:
        """Whether some operator is below, at which conditions could arrive."""
        if id(plan) not in self.sweeps:
            found = isinstance(plan, Kernel) or any(self._has_sweep(one) for one in inputs(plan))
            self.sweeps[id(plan)] = (plan, found)
        return self.sweeps[id(plan)][1]

    def absorb(self, plan: Plan, test: exp.Expr) -> tuple[Plan, bool]:
        """Return a plan that leaves out rows of which a condition is not true, and whether all of them."""
        match plan:
            case Kernel():
                return self._into_kernel(plan, test)
            case Relation():
                return self._into_relation(plan, test)
            case _:
                return plan, False

    def _into_relation(self, relation: Relation, test: exp.Expr) -> tuple[Plan, bool]:
        way = None
        if not relation.serial:
            way = way_down(relation.query, test, reads(relation.query), grouped=False, above=True)
        if way is None:
            return relation, False
        new, done = self._push(dict(relation.leaves), way)
        if new is None:
            return relation, False
        leaves = tuple((name, new if name == way.leaf else leaf) for name, leaf in relation.leaves)
        return replace(relation, leaves=leaves), done

    def _into_kernel(self, kernel: Kernel, test: exp.Expr) -> tuple[Plan, bool]:
        operator = self.operators[kernel.name]
        if operator.filters is None:
            return kernel, False
        filters = operator.filters([one.schema for one in kernel.inputs], kernel.options, kernel.schema)
        names = column_names(kernel)
        exact = _exact(filters, kernel, names, test)
        near = _near(filters, kernel, names, test)
        new = []
        for number, one in enumerate(kernel.inputs):
            needed = one if exact is None else self._filtered(one, exact[number], needed=True)
            new.append(self._filtered(needed, near[number], needed=False))
        return with_inputs(kernel, tuple(new)), exact is not None

    def _filtered(self, plan: Plan, tests: Sequence[exp.Expr], *, needed: bool) -> Plan:
        """Return an input with conditions: further down where that is possible, else read through a select.

        Those that are not needed are worth a select over what the engine reads anyway, not over a sweep's output.
        """
        key = (id(plan), needed, *(t.sql(dialect="duckdb") for t in tests))
        if key not in self.filters:
            new, left = plan, []
            for test in tests:
                new, done = self.absorb(new, test)
                if not done:
                    left.append(test)
            self.filters[key] = (plan, _selected(new, left) if needed or not _hands_on_a_sweep(new) else new)
        return self.filters[key][1]


def _hands_on_a_sweep(plan: Plan) -> bool:
    """Whether a plan is a sweep's output, maybe through queries with nothing but a select list."""
    if not isinstance(plan, Relation):
        return isinstance(plan, Kernel)
    clauses = {k for k, v in plan.query.args.items() if v} - {"expressions", "from_"}
    return not clauses and len(plan.leaves) == 1 and _hands_on_a_sweep(plan.leaves[0][1])


def _known(plan: Plan, test: exp.Expr) -> bool:
    """Whether a condition is about a plan's columns, and cannot fail or bounds what may be the end of spans."""
    names = column_names(plan)
    return names_in(test) <= set(names) and (_cannot_fail(plan, test) or _sum(test) is not None)


def _cannot_fail(plan: Plan, test: exp.Expr) -> bool:
    names = column_names(plan)
    return cannot_fail(test, {n: c.type for n, c in zip(names, plan.schema.columns, strict=True)})


def _sum(test: exp.Expr) -> frozenset[str] | None:
    found = bound_of(test)
    return None if found is None else sum_of(found[0])


def _is_end(plan: Plan, test: exp.Expr) -> bool:
    """Whether a bound is one of the ends of a span table, which fit into 64 bits."""
    return plan.schema.kind is Kind.SPAN and _sum(test) == frozenset(column_names(plan)[:2])


def _set(select: exp.Select, clause: str, form: type[exp.Expr], tests: Sequence[exp.Expr]) -> None:
    """Write the conditions that are left."""
    whole: exp.Expr | None = None
    for test in tests:
        atom = test if isinstance(test, exp.Paren) else exp.Paren(this=test.copy())
        whole = atom if whole is None else exp.And(this=whole, expression=atom)
    select.set(clause, None if whole is None else form(this=whole))


def _exact(filters: Filters, kernel: Kernel, names: list[str], test: exp.Expr) -> list[list[exp.Expr]] | None:
    """Return the conditions on each input that together do what the condition does; None if there are none."""
    used = {names.index(n) for n in names_in(test)}
    for entry in filters.same:
        if all(used <= set(same) for same in entry.values()):
            tests: list[list[exp.Expr]] = [[] for _ in kernel.inputs]
            for number, same in entry.items():
                inner = column_names(kernel.inputs[number])
                tests[number] = [renamed(test, {names[c]: inner[same[c]] for c in used})]
            pairs = zip(kernel.inputs, tests, strict=True)
            safe = all(_cannot_fail(plan, t) or _is_end(plan, t) for plan, own in pairs for t in own)
            return tests if safe else None
    return None


def _near(filters: Filters, kernel: Kernel, names: list[str], test: exp.Expr) -> list[list[exp.Expr]]:
    """Return the conditions on times of each input that the condition implies."""
    tests: list[list[exp.Expr]] = [[] for _ in kernel.inputs]
    for times in filters.times:
        for number in times.inputs:
            tests[number] += time_range(test, times, names, kernel.inputs[number].schema)
    return tests


def _selected(plan: Plan, tests: Sequence[exp.Expr]) -> Plan:
    """Read a plan through a select with conditions that it does not have yet."""
    before = plan.pushed if isinstance(plan, Relation) else ()
    new = {t.sql(dialect="duckdb"): t for t in tests}
    new = {text: test for text, test in new.items() if text not in before}
    if not new:
        return plan
    if isinstance(plan, Relation) and before:
        (leaf,) = plan.leaves
        query = plan.query.copy()
        assert isinstance(query, exp.Select)
        _set(query, "where", exp.Where, [*conjuncts(query.args["where"].this), *new.values()])
    else:
        leaf = ("unfiltered", plan)
        query = exp.Select(expressions=[aliased(column(n), n) for n in column_names(plan)]).from_(table(leaf[0]))
        _set(query, "where", exp.Where, list(new.values()))
    return Relation(plan.schema, plan.ordered, query, (leaf,), keeps_order=plan.stable, pushed=(*before, *new))
