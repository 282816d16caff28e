"""Parts of a select: its clauses, preserved sources, group keys and nested queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from dctv.plan.build import ROW_NUMBER
from dctv.plan.expressions import Cast, Column, Expression, Star
from dctv.plan.node import Node, Query
from dctv.plan.queries import Compound, FromItem, Select
from dctv.plan.walk import nested, walk
from dctv.record import replace


def is_projection(query: Query) -> TypeGuard[Select]:
    """Whether a query is only a projection of one source."""
    return isinstance(query, Select) and query == Select(query.items, query.source)


def all_rows(compound: Compound) -> bool:
    """Whether a compound is UNION ALL and nothing else is done with its rows."""
    return compound == Compound("UNION", compound.parts, all=True)


def clauses(select: Select) -> Sequence[Node | None]:
    """Return the clauses of a select after its joins, except its list."""
    tests = (select.where, select.group, select.having, select.qualify)
    return (*tests, *select.order_by, select.limit, select.offset)


def conditions_of_joins(select: Select) -> Sequence[Node | None]:
    """Return the conditions of ON."""
    return [join.on for join in select.joins]


def preserved_sources(select: Select) -> Sequence[FromItem]:
    """Return the sources whose rows must all satisfy the conditions of the select."""
    if any(join.kind in ("RIGHT", "FULL") for join in select.joins):
        return ()
    plain = (join.source for join in select.joins if join.kind in ("INNER", "CROSS") and not join.asof)
    return (*select.sources[:1], *plain)


def source_of(select: Select, column: Column) -> FromItem | None:
    """Return the source that a column is of, if its columns have their own names there."""
    every = select.sources
    found = every if column.table is None else [one for one in every if one.called == column.table]
    return found[0] if len(found) == 1 and not found[0].columns else None


def group_keys(select: Select) -> set[Expression] | None:
    """Return the columns that a select groups by; None if it does not group."""
    return None if select.group is None else {key for key in select.group.keys if isinstance(key, Column)}


def bare(value: Expression) -> Expression:
    """Return an expression without the casts around it."""
    return bare(value.operand) if isinstance(value, Cast) else value


def numbers_rows(value: Expression) -> bool:
    """Whether a value is `row_number() OVER ()`."""
    return value == ROW_NUMBER


def read_names(select: Select) -> set[str] | None:
    """Return the names of columns that a select reads for more than to sort by them; None where a star reads all."""
    if any(join.asof for join in select.joins):
        return None
    sorting = tuple(term for term in select.order_by if not isinstance(term.operand, Column))
    others = clauses(select if len(sorting) == len(select.order_by) else replace(select, order_by=sorting))
    names = set()
    for node in walk(*select.items, *others, *conditions_of_joins(select)):
        if isinstance(node, Star):
            return None
        if isinstance(node, Column):
            names.add(node.name)
    return names


def nested_queries(select: Select) -> list[Query]:
    """Return the subqueries in a select's expressions."""
    return nested(*select.items, *clauses(select), *conditions_of_joins(select))
