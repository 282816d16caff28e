"""Push ORDER BY and LIMIT of a select down into each trace.

Sound because a row that is among the first of all is among the first of its trace: a select without groups gives its
rows one by one, and the order is one of values. Without an order the first rows of all traces are those of the first
traces, each in its own order.
"""

from __future__ import annotations

from collections.abc import Sequence

from dctv.plan.build import number
from dctv.plan.expressions import Column, Expression, Number, Ordered, Window
from dctv.plan.nodes import Plan, Relation, column_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import Item, Select, TableName
from dctv.plan.walk import columns_in, nested, walk
from dctv.record import replace
from dctv.rewrite.select_lists import has_effect, may_aggregate, named_columns
from dctv.types.schema import Kind, Schema


def first_of_each(relation: Relation, name: str, leaf: Plan) -> Relation | None:
    """Return the rows of a leaf that a trace has at most in a relation's result; None if all may be needed."""
    select = relation.query
    if not isinstance(select, Select) or not isinstance(select.source, TableName) or select.source.columns:
        return None
    count = _count(select)
    more = (*select.joins, *select.steps, select.qualify, select.group, select.having)
    parts = (*select.items, select.where, *select.order_by)
    if count is None or select.distinct or any(one is not None for one in more) or nested(*parts):
        return None
    terms = [_term(one, select.items) for one in select.order_by]
    known_terms = [one for one in terms if one is not None]
    if len(known_terms) < len(terms) or has_effect(*parts) or _may_mix_rows(select):
        return None
    # The engine would take a literal for the place of a column.
    order = tuple(one for one in known_terms if columns_in(one))
    if not order and leaf.order is RowOrder.ANY:
        # Which rows are the first would differ from run to run.
        return None
    names = column_names(leaf)
    (read,) = named_columns(replace(select, limit=None, offset=None), {name: names})
    columns = {n: replace(c, name=n) for n, c in zip(names, leaf.schema.columns, strict=True)}
    # Not the times of spans and events, too: a scan reads no more than these, or the first where there are none.
    columns_read = list(read) or names[:1]
    schema = Schema(Kind.REGULAR, tuple(columns[one] for one in columns_read))
    items = tuple(Item(Column(one, select.source.called)) for one in columns_read)
    query = Select(items, select.source, where=select.where, order_by=order, limit=number(count))
    return Relation(schema, RowOrder.STABLE, query, ((name, leaf),))


def _count(select: Select) -> int | None:
    """Return the number of rows before the cut, None if it is not a literal."""
    found = 0
    for one in (select.limit, select.offset):
        if isinstance(one, Number) and one.text.isdigit():
            found += int(one.text)
        elif one is not None or one is select.limit:
            return None
    return found


def _term(term: Ordered, items: Sequence[Item]) -> Ordered | None:
    """Return a term of an order without a place in the list of columns."""
    operand: Expression | None = term.operand
    if isinstance(operand, Number):
        place = int(operand.text) if operand.text.isdigit() else 0
        operand = items[place - 1].value if 1 <= place <= len(items) else None
    return None if operand is None else replace(term, operand=operand)


def _may_mix_rows(select: Select) -> bool:
    """Whether a row may be made of several rows."""
    windows = any(isinstance(node, Window) for node in walk(*select.items, *select.order_by))
    return windows or any(item.is_star for item in select.items) or may_aggregate(select)
