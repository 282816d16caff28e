"""USING KEY of recursive common tables: the columns that identify rows, and the handling of the others."""

from __future__ import annotations

from dctv.bind import expressions
from dctv.bind.binding import Binding
from dctv.bind.bound import Bound
from dctv.bind.context import BoundColumn, BoundQuery, ClauseContext, Leaves
from dctv.bind.relations import relation
from dctv.bind.scope import Scope, ScopeColumn, ScopeTable
from dctv.errors import BindError
from dctv.plan.expressions import Call, Column
from dctv.plan.node import Query
from dctv.plan.nodes import physical_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import Derived, Item, Select
from dctv.record import replace
from dctv.syntax import ast
from dctv.types.schema import ColumnType, Schema

_CLAUSE = "USING KEY"


def using_key(
    binder: Binding, cte: ast.CommonTable, schema: Schema, base: Query, leaves: Leaves
) -> tuple[tuple[Item, ...], Schema]:
    """Bind the columns of USING KEY, and return the schema of the table with it.

    Raises:
        BindError: something is neither a column nor an aggregate of one, or a column is named twice.
    """
    if not cte.keys:
        return (), schema
    names = physical_names(schema)
    columns = tuple(ScopeColumn(one, Column(name)) for one, name in zip(schema.columns, names, strict=True))
    context = binder.context(Scope([ScopeTable(cte.name.text, columns)]), leaves, clause=_CLAUSE)
    keys: list[str] = []
    aggregates: dict[str, Bound] = {}
    items = []
    for one in cte.keys:
        bound = expressions.bind(one.expr, context)
        if isinstance(bound.value, Column):
            keys.append(bound.value.name)
            items.append(Item(bound.value))
            continue
        target = _target(one, bound, schema, names)
        if target in aggregates:
            raise BindError(f"`{_CLAUSE}` aggregates `{target}` twice", one.place)
        aggregates[target] = bound
        items.append(Item(bound.value, target))
    both = next((name for name in keys if name in aggregates), None)
    if both is not None:
        raise BindError(f"`{both}` is a key, so it is not aggregated", cte.keys[0].place)
    return tuple(dict.fromkeys(items)), _aggregated(context, aggregates, schema, base)


def _target(one: ast.ResultColumn, bound: Bound, schema: Schema, names: list[str]) -> str:
    """Return the target column of an aggregate: its alias, or else the first column that it reads."""
    call = bound.value
    if not isinstance(call, Call) or not bound.aggregate:
        raise BindError(
            f"`{_CLAUSE}` names columns, and aggregates of others, such as max(x)",
            one.place,
            hint="compute other values in the select",
        )
    if call.filter is not None or call.order_by or call.distinct:
        raise BindError(f"an aggregate of `{_CLAUSE}` has no DISTINCT, FILTER or ORDER BY", one.place)
    if one.name is None:
        read = next((value.name for value in call.arguments if isinstance(value, Column)), None)
        if read is None:
            raise BindError(
                f"the aggregate is of no column: give it the name of one, such as {call.function}(...) AS x", one.place
            )
        return read
    key_name = one.name.text.lower()
    found = next((n for c, n in zip(schema.columns, names, strict=True) if c.name.lower() == key_name), None)
    if found is None:
        raise BindError(f"the table has no column `{one.name.text}` for an aggregate", one.name.place)
    return found


def _aggregated(context: ClauseContext, aggregates: dict[str, Bound], schema: Schema, base: Query) -> Schema:
    """Return a schema with the types and units of aggregates in their columns."""
    names = physical_names(schema)
    if not aggregates:
        return schema
    outs = tuple(BoundColumn(name, one.unit, type=one.type, wide=True) for name, one in aggregates.items())
    items = tuple(Item(one.value, name) for name, one in aggregates.items())
    sure = all(one.type is not None for one in aggregates.values())
    query = BoundQuery(Select(items, Derived(base, "rows", tuple(names))), outs, tuple(aggregates.values()), sure=sure)
    plan = relation(query, context.leaves, context.env, None, RowOrder.ANY)
    made = dict(zip(aggregates, plan.schema.columns, strict=True))

    def column(name: str, old: ColumnType) -> ColumnType:
        return replace(old, type=made[name].type, unit=made[name].unit) if name in made else old

    return replace(schema, columns=tuple(map(column, names, schema.columns)))
