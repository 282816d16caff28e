"""Plan to text: the operators, their kinds, columns with types and units, and the engine's queries."""

from __future__ import annotations

from collections.abc import Callable

from dctv.plan.nodes import Kernel, Plan, Relation, Scan
from dctv.types.schema import Schema
from dctv.types.values import dialect_type


def explain(plan: Plan, sql: Callable[[Relation], tuple[str, list[Plan]]]) -> list[str]:
    """Return lines: each operator with its schema, its inputs indented below.

    `sql` gives the engine's text of a region and the plans that it reads.
    """
    return list(_lines(plan, sql, 0))


def _lines(plan: Plan, sql: Callable[[Relation], tuple[str, list[Plan]]], depth: int) -> list[str]:
    pad = "  " * depth
    schema = f"{plan.schema.describe()}{'' if plan.ordered or not plan.schema.partitions else ', unsorted'}"
    match plan:
        case Scan():
            return [f"{pad}scan {plan.name}: {schema}", f"{pad}  columns: {columns(plan.schema)}"]
        case Kernel():
            details = ", ".join(f"{k}: {v}" for k, v in plan.options.items() if k != "names" and v not in (None, False))
            lines = [
                f"{pad}{plan.name}{f' ({details})' if details else ''}: {schema}",
                f"{pad}  columns: {columns(plan.schema)}",
            ]
            inputs = list(plan.inputs)
        case Relation():
            text, inputs = sql(plan)
            lines = [f"{pad}engine: {schema}", f"{pad}  columns: {columns(plan.schema)}"]
            lines += [f"{pad}  pushed: {test} (from above)" for test in plan.pushed]
            lines += [f"{pad}  sql: {line}" for line in text.split("\n")]
        case _:
            raise AssertionError(type(plan))
    for leaf in inputs:
        lines += _lines(leaf, sql, depth + 1)
    return lines


def columns(schema: Schema) -> str:
    """Return the columns of a schema with types and units."""
    shown = []
    for column in schema.columns:
        unit = str(column.unit)
        shown.append(f"{column.name} {dialect_type(column.type)}{f' [{unit}]' if unit else ''}")
    return ", ".join(shown)
