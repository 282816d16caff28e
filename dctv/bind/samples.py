"""Take some rows of a table: their places and a seed alone say which, so that every run takes the same."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.plan import build as w
from dctv.plan.expressions import Binary, Cast, Column, Expression, Number
from dctv.plan.nodes import Plan, Relation, physical_names, ranked_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import Item, Select
from dctv.record import replace
from dctv.syntax import ast
from dctv.types.schema import Kind

ROW = "dctv:row"
_DRAWN, _RANK = "dctv:drawn", "dctv:rank"
_ALL = 2**64
"""How many values a hash may have."""


def has_order(plan: Plan) -> bool:
    """Whether a plan's rows come in an order that is the same in every run."""
    return plan.ordered or (plan.stable and plan.schema.kind is Kind.REGULAR)


def numbered(plan: Plan, leaf: str) -> Select:
    """Return a query of a plan's rows with their numbers, in an order that is the same in every run."""
    names = physical_names(plan.schema)
    whole = w.select(*w.columns(names, leaf), source=leaf)
    if not has_order(plan):
        whole = w.sorted_by(whole, *w.columns(ranked_names(plan.schema)))
    return w.select(*w.columns(names), Item(w.ROW_NUMBER, ROW), source=whole)


def numbered_columns(query: Select, names: Sequence[str]) -> Select:
    """Return a query of another one's rows with row numbers, in an order that is not specific to a run."""
    return w.select(*w.columns(names), Item(w.ROW_NUMBER, ROW), source=w.sorted_by(query, *w.columns(names)))


def sampled(plan: Plan, sample: ast.Sample) -> Plan:
    """Return a table of some rows of another one, of its kind and in its order."""
    if sample.share and sample.size == 100:
        return plan
    query = sampled_rows(numbered(plan, "t"), physical_names(plan.schema), sample)
    timed = plan.schema.kind is not Kind.REGULAR
    order = RowOrder.TIME if timed or plan.ordered else RowOrder.STABLE
    return Relation(plan.schema, order=order, query=query, leaves=(("t", plan),))


def sampled_rows(rows: Select, names: Sequence[str], sample: ast.Sample) -> Select:
    """Return some of the rows of a query that are numbered, in their order."""
    # Hashed twice: of rows and seeds that are put together by one hash, near seeds would draw alike.
    drawn = w.call("hash", w.call("hash", Column(ROW), w.int64(sample.seed)))
    rows = w.select(*w.columns([*names, ROW]), Item(drawn, _DRAWN), source=rows)
    if sample.share and sample.method != "RESERVOIR":
        bound = Number(f"{float(sample.size * _ALL / 100)!r}".replace("e+", "e"))
        test: Expression = Binary("<", Cast(Column(_DRAWN), "DOUBLE"), Cast(bound, "DOUBLE"))
    else:
        rank = Item(w.over(w.call("row_number"), order=w.columns([_DRAWN, ROW])), _RANK)
        rows = w.select(*w.columns([*names, ROW]), rank, source=rows)
        test = Binary("<=", Column(_RANK), w.number(int(sample.size)))
    if sample.share and sample.method == "RESERVOIR":
        count = Item(w.over(w.call("count_star")), _DRAWN)
        rows = w.select(*w.columns([*names, ROW, _RANK]), count, source=rows)
        part = Binary("/", w.times(Column(_DRAWN), w.number(sample.size.numerator)), w.number(sample.size.denominator))
        test = Binary("<=", Column(_RANK), Binary("/", part, w.number(100)))
    query = w.where(w.select(*w.columns(names), source=rows), test)
    return replace(query, order_by=w.by_names([ROW]))
