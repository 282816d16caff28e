"""Write plans as text: operators, kinds, columns with types and units, and the queries of engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dctv.plan.nodes import Kernel, Plan, Relation, Scan
from dctv.record import field, record
from dctv.types.schema import Kind, Schema
from dctv.types.values import dialect_type


@record
class ExplainedRegion:
    """The part of a plan that an engine runs as one query."""

    lines: list[str]
    """The steps of the query."""
    inputs: list[Plan]
    pushed: list[str]
    """Conditions that rules put into it."""


Cut = Callable[[Relation], ExplainedRegion]
"""Gives the region of a relation."""


def explain(plan: Plan, cut: Cut, is_shared: Callable[[Plan], bool], ran: Callable[[Plan], Sequence[str]]) -> list[str]:
    """Return lines: each operator with its schema, its inputs indented below.

    A plan that is computed once and read more than once is shown once; `ran` returns the statistics of an operator.
    """
    return list(_Explaining(cut, is_shared, ran).lines(plan, 0))


@record(frozen=False)
class _Explaining:
    """The state of the recursion: its constant inputs, and the shared plans already shown."""

    cut: Cut
    is_shared: Callable[[Plan], bool]
    ran: Callable[[Plan], Sequence[str]]
    shown: dict[int, int] = field(default_factory=dict)

    def lines(self, plan: Plan, depth: int) -> Iterator[str]:
        pad = "  " * depth
        mark = ""
        if self.is_shared(plan):
            if id(plan) in self.shown:
                yield f"{pad}shared {self.shown[id(plan)]}: see above"
                return
            number = self.shown[id(plan)] = len(self.shown) + 1
            mark = f"shared {number}: "
        name, details, inputs = self._parts(plan)
        yield f"{pad}{mark}{name}: {plan.schema.describe()}{_order(plan)}"
        for line in (f"columns: {columns(plan.schema)}", *details, *self.ran(plan)):
            yield f"{pad}  {line}"
        for leaf in inputs:
            yield from self.lines(leaf, depth + 1)

    def _parts(self, plan: Plan) -> tuple[str, Sequence[str], Sequence[Plan]]:
        """Return the text before the schema, the lines below it, and the input plans."""
        match plan:
            case Scan():
                return f"scan {plan.name}", plan.source.lines(), ()
            case Kernel():
                shown = {k: v for k, v in plan.options.items() if k != "names" and v not in (None, False)}
                options = ", ".join(f"{k}: {v}" for k, v in shown.items())
                return f"{plan.name}{f' ({options})' if options else ''}", (), plan.inputs
            case Relation():
                region = self.cut(plan)
                pushed = [f"pushed: {test} (from above)" for test in region.pushed]
                return "engine", [*pushed, *region.lines], region.inputs
            case _:
                raise AssertionError(type(plan))


def _order(plan: Plan) -> str:
    """Describe the row order of a table of spans or events."""
    if plan.schema.kind is Kind.REGULAR:
        return ""
    return ", sorted by time" if plan.ordered else ", unsorted"


def columns(schema: Schema) -> str:
    """Return the columns of a schema with types and units."""
    shown = []
    for column in schema.columns:
        unit = str(column.unit)
        shown.append(f"{column.name} {dialect_type(column.type)}{f' [{unit}]' if unit else ''}")
    return ", ".join(shown)
