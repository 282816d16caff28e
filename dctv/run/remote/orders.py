"""Whether a query depends on the order in which rows come, and the order that its result has in every run."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from dctv.errors import NotOnThisEngine
from dctv.plan.build import ROW_NUMBER
from dctv.plan.expressions import Call, Column, Expression, Number, Ordered, Window
from dctv.plan.node import Node, Query
from dctv.plan.nodes import Relation
from dctv.plan.queries import Compound, Derived, Item, Select, TableName
from dctv.plan.walk import columns_in, replaced, walk
from dctv.record import replace

_FIRST_COME = {
    *("first", "last", "any_value", "arbitrary", "list", "array_agg", "string_agg", "group_concat", "listagg"),
    *("arg_max", "arg_min", "max_by", "min_by", "arg_max_null", "arg_min_null", "mode", "histogram"),
    *("map_from_entries", "approx_quantile", "reservoir_quantile"),
}
"""Aggregates whose result may depend on the order of rows."""


def meets_order(relation: Relation) -> bool:
    """Whether the rows of a relation, or their order, may depend on the order of those that it reads."""
    return relation.serial or any(map(_meets_order, walk(relation.query)))


def _meets_order(node: Node) -> bool:
    match node:
        case Select() | Compound():
            return node.limit is not None or node.offset is not None
        case Call():
            return node.function.lower() in _FIRST_COME and not node.order_by
        case _:
            return isinstance(node, Window)


def check_limits(query: Query) -> None:
    """Refuse LIMIT or OFFSET without ORDER BY.

    Raises:
        NotOnThisEngine: the query has such a clause.
    """
    for node in walk(query):
        is_cut = isinstance(node, Select | Compound) and (node.limit is not None or node.offset is not None)
        if is_cut and not is_sorted(node):
            raise NotOnThisEngine(
                "LIMIT without ORDER BY is not on Spark: rows have no order there", hint="sort by something"
            )


def hoisted(query: Query) -> Query:
    """Move the ORDER BY of a query's source up to the query itself: rows keep no order between queries.

    Raises:
        NotOnThisEngine: a sort key has no name in the query.
    """
    if not isinstance(query, Select) or query.order_by or not _hands_on(query):
        return query
    source = query.source
    if isinstance(source, Derived):
        inner, terms = _numbered(hoisted(source.query), source.called)
        if not terms:
            return query
        return replace(query, items=_spelled(query, source.query), source=replace(source, query=inner), order_by=terms)
    for place, step in enumerate(query.steps):
        if isinstance(source, TableName) and step.name == source.name and not (step.columns or source.columns):
            assert isinstance(step.query, Select | Compound)
            whole = hoisted(replace(step.query, steps=(*query.steps[:place], *step.query.steps)))
            inner, terms = _numbered(whole, source.called)
            if not terms:
                return query
            inner = replace(inner, steps=inner.steps[place:])
            steps = (*query.steps[:place], replace(step, query=inner), *query.steps[place + 1 :])
            return replace(query, items=_spelled(query, step.query), steps=steps, order_by=terms)
    return query


def _hands_on(query: Select) -> bool:
    """Whether each row is made of one row of the only source."""
    cut = query.limit is not None or query.offset is not None or query.distinct
    return not (query.joins or query.group or query.having or query.qualify or cut)


def _spelled(query: Select, inner: Query) -> tuple[Item, ...]:
    """Return the columns of a query by name, where it shows all that it reads: it reads more than it shows now."""
    if not any(item.is_star for item in query.items):
        return query.items
    assert query.source is not None
    shown = inner.items if isinstance(inner, Select) else ()
    if len(query.items) > 1 or not shown or not all(item.output and not item.is_star for item in shown):
        raise _LOST
    return tuple(Item(Column(item.output, query.source.called)) for item in shown)


_LOST = NotOnThisEngine("an order that the result does not show is not on Spark: rows keep none on their way")


def _numbered(query: Query, called: str) -> tuple[Any, tuple[Ordered, ...]]:
    """Return a query that also returns its sort keys, and the ORDER BY of its reader, where its alias is `called`."""
    if not isinstance(query, Select | Compound) or not query.order_by:
        return query, ()
    first = query if isinstance(query, Select) else query.parts[0]
    items = first.items if isinstance(first, Select) else ()
    more: list[Item] = []
    terms = []
    for term in query.order_by:
        name = _shown(term.operand, items)
        if name is None:
            if not isinstance(query, Select) or query.distinct:
                raise _LOST
            name = f"dctv:order{len(more)}"
            more.append(Item(term.operand, name))
        terms.append(replace(term, operand=Column(name, called)))
    made = replace(query, items=(*query.items, *more)) if isinstance(query, Select) and more else query
    return made, tuple(terms)


def _shown(term: Expression, items: Sequence[Item]) -> str | None:
    """Return the name of the column of a result that is sorted by."""
    if isinstance(term, Number) and term.text.isdecimal() and int(term.text) <= len(items):
        return items[int(term.text) - 1].output or None
    names = [item.output for item in items]
    if isinstance(term, Column) and names.count(term.name) == 1 and term.table is None:
        return term.name
    return next((item.output for item in items if item.output and item.value == term), None)


def decided(query: Query, sortable: Collection[str] = ()) -> Query:
    """Return a query whose parts with ORDER BY and LIMIT have the same rows in every run.

    Rows with equal sort keys are sorted by the other columns; those of the whole query by the sortable ones.
    """
    assert isinstance(query, Select | Compound)

    def change(node: Node) -> Node | None:
        if node is query or not isinstance(node, Select) or not node.order_by or node.limit is None:
            return None
        return replace(node, order_by=_whole(node, None))

    inner = replaced(query, change)
    assert isinstance(inner, Select | Compound)
    return replace(inner, order_by=_whole(inner, sortable)) if inner.order_by else inner


def _whole(query: Select | Compound, sortable: Collection[str] | None) -> tuple[Ordered, ...]:
    """Return the sort keys of a query, followed by its other columns."""
    first = query if isinstance(query, Select) else query.parts[0]
    items = first.items if isinstance(first, Select) else ()
    names = [item.output for item in items if not item.is_star and item.output]
    alone = [name for name in names if [one.lower() for one in names].count(name.lower()) == 1]
    known = {_shown(one.operand, items) for one in query.order_by}
    more = [name for name in alone if name not in known and (sortable is None or name in sortable)]
    return (*query.order_by, *(Ordered(Column(name)) for name in more))


def is_sorted(query: Node) -> bool:
    """Whether the rows of a query come in an order."""
    return isinstance(query, Select | Compound) and bool(query.order_by)


def unsorted(query: Query) -> Query:
    """Return a query without its sort unless it has a limit: its reader does not see the order."""
    if isinstance(query, Select | Compound) and query.order_by and query.limit is None and query.offset is None:
        return replace(query, order_by=())
    return query


def unnumbered(query: Query) -> Query:
    """Remove the numbering of rows in their input order from a query that uses it only to sort rows with equal keys.

    The reader sorts the rows, and does not see the order of equal ones.
    """
    match query:
        case Select(source=Derived(query=Select() as inner) as source, order_by=order) if order:
            numbers = [item for item in inner.items if item.value == ROW_NUMBER]
            terms = [term.operand for term in order]
            if len(numbers) == 1 and Column(numbers[0].output) in terms:
                if any(columns.name == numbers[0].output for columns in columns_in(*query.items, query.where)):
                    return query
                left = tuple(item for item in inner.items if item is not numbers[0])
                return replace(query, source=replace(source, query=replace(inner, items=left)), order_by=())
    return query
