"""dctv.sample: every n-th row of a table."""

from __future__ import annotations

from collections.abc import Mapping

from dctv.contracts.table_function import REQUIRED, Argument, Parameter, PlanBuilder, TableFunction
from dctv.errors import BindError
from dctv.plan.build import ROW_NUMBER, call, columns, equal, minus, number, over, select, sorted_by, where
from dctv.plan.expressions import Binary, Column
from dctv.plan.nodes import Plan, Relation, physical_names, ranked_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import Item
from dctv.types.schema import Kind

_ROW, _PLACE = "dctv:row", "dctv:place"


def _bind(arguments: Mapping[str, Argument], _: PlanBuilder) -> Plan:
    plan = arguments["table"].table("a table")
    n = arguments["n"].integer("a whole number of rows")
    if n < 1:
        raise BindError(f"`n` is at least 1, found {n}", arguments["n"].place)
    per = arguments["per"]
    physical = dict(zip(plan.schema.names, physical_names(plan.schema), strict=True))
    keys = [physical[i.column(plan.schema, "the column `per`").name] for i in per.items()] if per.value else []
    names = physical_names(plan.schema)
    whole = select(*columns(names, "t"), source="t")
    timed = plan.schema.kind is not Kind.REGULAR
    if not (plan.ordered or (plan.stable and not timed)):
        whole = sorted_by(whole, *columns(ranked_names(plan.schema)))
    numbered = select(*columns(names), Item(ROW_NUMBER, _ROW), source=whole)
    place = over(call("row_number"), columns(keys), columns([_ROW]))
    counted = select(*columns([*names, _ROW]), Item(place, _PLACE), source=numbered)
    nth = equal(Binary("%", minus(Column(_PLACE), number(1)), number(n)), number(0))
    query = sorted_by(where(select(*columns(names), source=counted), nth), Column(_ROW))
    return Relation(
        plan.schema,
        order=RowOrder.TIME if timed or plan.ordered else RowOrder.STABLE,
        query=query,
        leaves=(("t", plan),),
    )


SAMPLE = TableFunction(
    "sample",
    "every n-th row of a table in its order, the first one first: of spans and events in order of time",
    (
        Parameter("table", "the table; the result is of its kind", REQUIRED),
        Parameter("n", "how many rows one row stands for", REQUIRED),
        Parameter("per", "name of a column, or list of names: rows are counted per value", None),
    ),
    _bind,
    by_partition=False,
)
