"""Run EXPLAIN: write plans as lines of text, and measure the cost of running them."""

from __future__ import annotations

import sys
from time import monotonic, process_time

from dctv.bind.binder import Binder
from dctv.bind.context import Environment
from dctv.plan import show
from dctv.plan.explain import ExplainedRegion, explain
from dctv.plan.nodes import Relation
from dctv.run.carrying import as_relation
from dctv.run.context import ExecutionContext
from dctv.run.metering import Metering, size
from dctv.run.plans import optimized, rows_of
from dctv.run.reading import Reading
from dctv.run.regions import cut
from dctv.run.result import Result
from dctv.run.sharing import sharing
from dctv.syntax import ast


def explained(statement: ast.Explain, context: ExecutionContext, env: Environment) -> Result:
    """Run EXPLAIN, EXPLAIN ANALYZE or EXPLAIN (SQL)."""
    ran = statement.manner == "ANALYZE"
    plan = optimized(Binder(env).plan(statement.select), context, runs=ran)
    if ran:
        plan = as_relation(plan)
    shared = sharing(plan, context.engine.functions)

    def region(relation: Relation) -> ExplainedRegion:
        made = cut(relation, shared)
        inputs = [*made.sources.values(), *made.stored]
        if statement.manner == "SQL":
            return ExplainedRegion(
                [f"sql: {line}" for line in context.engine.write(made.query).split("\n")], inputs, made.pushed
            )
        return ExplainedRegion([f"| {line}" for line in show.query(made.query)], inputs, made.pushed)

    metering = Metering()
    total = _measured(Result(plan.schema, Reading(plan, context, metering), context)) if ran else []
    lines = explain(plan, region, lambda node: node in shared, metering.lines) + total
    return rows_of({"plan": "VARCHAR"}, [[line] for line in lines], context)


def _measured(result: Result) -> list[str]:
    """Read a result to its end and return its total cost."""
    wall, cpu = monotonic(), process_time()
    for _ in result.batches():
        pass
    wall, cpu = monotonic() - wall, process_time() - cpu
    if result.spent is not None:
        # That of other processes.
        cpu += result.spent.cpu
    return [f"total: {wall:.2f} s, {cpu:.2f} s CPU; the process had {size(peak_memory())} of memory at most"]


def peak_memory() -> int:
    """Return the most bytes of memory that the process has had: macOS counts bytes, other systems kibibytes."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
