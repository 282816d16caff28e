"""Remove partitions that have one value from the inputs of span operators, and give them back above.

The part of a fleet's plan that one trace runs is partitioned by the trace, whose name would be made, handed on and
compared for each row. Sound for an operator that works on each partition alone (`SpanOperator.apart`): rows of one
partition are then the rows of all, and its other columns do not depend on the value.
"""

from __future__ import annotations

from collections.abc import Mapping

from dctv.contracts.span_operator import SpanOperator
from dctv.plan.build import select
from dctv.plan.expressions import Column, Expression, OfTrace
from dctv.plan.nodes import Kernel, Plan, Relation, column_names, physical_names
from dctv.plan.queries import Item, Select, TableName
from dctv.record import record, replace
from dctv.rewrite.graph import bottom_up
from dctv.rewrite.literals import literal_of
from dctv.rewrite.select_shapes import is_projection
from dctv.types.schema import Schema

_BELOW = "apart"


def drop_partitions(plan: Plan, operators: Mapping[str, SpanOperator]) -> Plan:
    """Run span operators without the partitions that are the same in all of their rows."""

    def change(node: Plan) -> Plan:
        if not isinstance(node, Kernel) or not operators[node.name].apart or node.options.get("broadcast") is not None:
            return node
        for number in reversed(range(node.options["partitions"])):
            value, *others = (_constant(one, _partition(one, number)) for one in node.inputs)
            if value is not None and all(one == value for one in others):
                return _with(change(_without(node, number)), node, number, value)
        return node

    return bottom_up(plan, change)


def _partition(plan: Plan, number: int) -> str:
    """Return the engine's name of a partition."""
    return column_names(plan)[len(plan.schema.kind.time_columns) + number]


def _without(kernel: Kernel, number: int) -> Kernel:
    """Return an operator over inputs that lack a partition."""
    at = len(kernel.schema.kind.time_columns) + number
    names = column_names(kernel)
    return replace(
        kernel,
        schema=_narrowed(kernel.schema, at),
        inputs=tuple(_input(one, len(one.schema.kind.time_columns) + number) for one in kernel.inputs),
        options={
            **kernel.options,
            "partitions": kernel.options["partitions"] - 1,
            "names": [*names[:at], *names[at + 1 :]],
        },
    )


def _with(rows: Plan, kernel: Kernel, number: int, value: Expression) -> Relation:
    """Return the rows of an operator with a partition as it was."""
    at = len(kernel.schema.kind.time_columns) + number
    items = [Item(value, name) if n == at else Item(Column(name)) for n, name in enumerate(column_names(kernel))]
    return Relation(kernel.schema, kernel.order, select(*items, source=_BELOW), ((_BELOW, rows),))


def _input(plan: Plan, at: int) -> Relation:
    """Return an input without a column; projections of projections become one, which `drop_copies` may remove."""
    names = [name for n, name in enumerate(column_names(plan)) if n != at]
    found = _Projection(select(*names, source=_BELOW), _BELOW, plan)
    while (inner := _projection(found.leaf)) is not None and (composed := _composed(found.query, inner)) is not None:
        found = composed
    return Relation(_narrowed(plan.schema, at), plan.order, found.query, ((found.name, found.leaf),))


@record
class _Projection:
    """A query that only selects columns and values of one plan."""

    query: Select
    name: str
    """Of the plan in the query."""
    leaf: Plan


def _projection(plan: Plan) -> _Projection | None:
    """Return a plan as a projection, None if it is none."""
    if not isinstance(plan, Relation) or len(plan.leaves) != 1 or plan.serial or not is_projection(plan.query):
        return None
    ((name, leaf),) = plan.leaves
    source = plan.query.source
    named = isinstance(source, TableName) and not source.columns and not any(one.is_star for one in plan.query.items)
    return _Projection(plan.query, name, leaf) if named else None


def _composed(outer: Select, inner: _Projection) -> _Projection | None:
    """Return a projection of a projection as one of what that reads; None if it does more than select columns."""
    values = {item.output: item.value for item in inner.query.items}
    if not all(isinstance(item.value, Column) and item.value.name in values for item in outer.items):
        return None
    items = tuple(Item(values[item.value.name], item.output) for item in outer.items if isinstance(item.value, Column))
    return replace(inner, query=replace(inner.query, items=items))


def _constant(plan: Plan, name: str) -> Expression | None:
    """Return the value of a column that is the same in all rows of a plan, None if there is none that is known."""
    if not isinstance(plan, Relation) or not isinstance(plan.query, Select):
        return None
    value = next((item.value for item in plan.query.items if item.output == name), None)
    if value is None or isinstance(value, OfTrace) or literal_of(value) not in (None, ...):
        return value
    inner = _projection(plan)
    return _constant(inner.leaf, value.name) if inner is not None and isinstance(value, Column) else None


def _narrowed(schema: Schema, at: int) -> Schema:
    """Return a schema, with the engine's names, without a partition."""
    names = physical_names(schema)
    columns = [replace(one, name=name) for name, one in zip(names, schema.columns, strict=True)]
    times = len(schema.kind.time_columns)
    partitions = [name for n, name in enumerate(names[: schema.special_count]) if n >= times and n != at]
    return Schema(schema.kind, (*columns[:at], *columns[at + 1 :]), tuple(partitions))
