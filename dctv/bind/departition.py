"""Lets the departition kernel aggregate by itself where the aggregates are simple ones of integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from dctv.bind.context import Leaves
from dctv.bind.spans import sorted_plan
from dctv.plan.nodes import Plan, Relation, physical_names
from dctv.plan.sql import aliased, table
from dctv.types.schema import ColumnType, Kind, Schema
from dctv.types.values import is_integer

if TYPE_CHECKING:
    from dctv.bind.binder import Binder

_SIMPLE = ("sum", "count", "min", "max")
_RESULTS = {"sum": "BIGINT", "count": "BIGINT"}
_WIDER_THAN_INT64 = ("UBIGINT", "HUGEINT", "UHUGEINT")


@dataclass(frozen=True, slots=True)
class _Aggregate:
    function: str
    column: str | None
    """The engine's name of a payload column; None for COUNT(*)."""


def in_kernel(
    binder: Binder, plan: Plan, keep: Sequence[int], trees: Sequence[exp.Expr], intersect: Plan | None
) -> tuple[Plan, list[exp.Expr]] | None:
    """Return the kernel's plan, and the expressions reading its columns instead of aggregating pieces.

    None where some aggregate is not one of SUM, COUNT, MIN or MAX of an integer column. Floats are left to the engine,
    since a sum that goes up and down with the sweep would round differently; so is AVG, whose sum the engine keeps in
    128 bits.
    """
    types = dict(zip(physical_names(plan.schema), plan.schema.columns, strict=True))
    payload = {n: types[n].type for n in physical_names(plan.schema)[plan.schema.special_count :]}
    found = _aggregates(binder, trees, payload)
    if found is None:
        return None
    columns = [f"dctv:{number}" for number in range(len(found))]
    special = plan.schema.special
    kept = [special[2 + i] for i in keep]
    made = tuple(ColumnType(n, _result(a, payload)) for n, a in zip(columns, found, strict=True))
    schema = Schema(Kind.REGULAR, (*special[:2], *kept, *made))
    needed = list(dict.fromkeys(a.column for a in found if a.column is not None))
    options = {
        "partitions": len(plan.schema.partitions),
        "keep": list(keep),
        "aggregates": [(a.function, None if a.column is None else needed.index(a.column)) for a in found],
        "names": physical_names(schema),
    }
    inputs = [sorted_plan(_narrowed(plan, needed)), *([intersect] if intersect is not None else [])]
    # With partitions kept, intervals come in the order of their ends.
    kernel = binder.kernel("departition", schema, inputs, options, ordered=not keep)
    return kernel, [_replaced(tree.copy(), found, columns, payload) for tree in trees]


def _result(aggregate: _Aggregate, payload: Mapping[str, str]) -> str:
    """Return the type of the kernel's column: MIN and MAX keep that of what they aggregate."""
    if aggregate.function in ("min", "max") and aggregate.column is not None:
        return payload[aggregate.column]
    return _RESULTS[aggregate.function]


def _aggregates(binder: Binder, trees: Sequence[exp.Expr], payload: Mapping[str, str]) -> list[_Aggregate] | None:
    kinds = binder.env.engine.functions()
    found: dict[_Aggregate, None] = {}
    for tree in trees:
        if tree.find(exp.Filter, exp.Subquery, exp.Exists) is not None:
            return None
        for call in tree.find_all(exp.Anonymous, exp.Count):
            if isinstance(call, exp.Anonymous) and kinds.get(str(call.this).lower()) != "aggregate":
                continue
            simple = _simple(call, payload)
            if simple is None:
                return None
            found[simple] = None
    return list(found)


def _simple(call: exp.Expr, payload: Mapping[str, str]) -> _Aggregate | None:
    if isinstance(call, exp.Count):
        return _Aggregate("count", None) if isinstance(call.this, exp.Star) else None
    name = str(call.this).lower()
    if name not in _SIMPLE or len(call.expressions) != 1 or not isinstance(call.expressions[0], exp.Column):
        return None
    column = call.expressions[0].name
    known = payload.get(column)
    if known is None or not (name == "count" or (is_integer(known) and known not in _WIDER_THAN_INT64)):
        return None
    return _Aggregate(name, column)


def _replaced(
    tree: exp.Expr, found: Sequence[_Aggregate], columns: Sequence[str], payload: Mapping[str, str]
) -> exp.Expr:
    """Read the kernel's column where an aggregate stood."""

    def swap(node: exp.Expr) -> exp.Expr:
        simple = _simple(node, payload) if isinstance(node, exp.Anonymous | exp.Count) else None
        if simple is None or simple not in found:
            return node
        return exp.column(columns[found.index(simple)], "pieces", quoted=True)

    return tree.transform(swap)


def _narrowed(plan: Plan, needed: Sequence[str]) -> Plan:
    """Project a plan to its special columns and some of its payload."""
    schema, names = plan.schema, physical_names(plan.schema)
    wanted = [*names[: schema.special_count], *needed]
    if wanted == names:
        return plan
    leaves = Leaves()
    source = leaves.name(plan)
    by_name = dict(zip(names, schema.columns, strict=True))
    narrow = Schema(schema.kind, tuple(by_name[n] for n in wanted), schema.partitions)
    columns = [
        aliased(exp.column(n, source, quoted=True), new) for n, new in zip(wanted, physical_names(narrow), strict=True)
    ]
    tree = exp.Select(expressions=columns).from_(table(source))
    return Relation(narrow, ordered=plan.ordered, query=tree, leaves=leaves.all(), keeps_order=plan.stable)
