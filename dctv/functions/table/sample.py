"""dctv.sample: a table becomes every n-th of its rows."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from dctv.contracts.table_function import REQUIRED, Argument, Parameter, PlanBuilder, TableFunction
from dctv.errors import BindError
from dctv.plan.nodes import Plan, Relation, physical_names, ranked_names
from dctv.plan.sql import aliased, column, subquery, table
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
    whole: exp.Query = exp.Select(expressions=[column(c, "t") for c in names]).from_(table("t"))
    timed = plan.schema.kind is not Kind.REGULAR
    if not (plan.ordered or (plan.stable and not timed)):
        ranked = ranked_names(plan.schema)
        whole = whole.order_by(*(exp.Ordered(this=column(c), nulls_first=False) for c in ranked), copy=False)
    row = exp.Window(this=exp.Anonymous(this="row_number"))
    numbered = exp.Select(expressions=[*(column(c) for c in names), aliased(row, _ROW)]).from_(subquery(whole, "whole"))
    order = exp.Order(expressions=[column(_ROW)])
    place = exp.Window(this=exp.Anonymous(this="row_number"), partition_by=[column(k) for k in keys], order=order)
    counted = exp.Select(expressions=[*(column(c) for c in names), column(_ROW), aliased(place, _PLACE)])
    tree = exp.Select(expressions=[column(c) for c in names]).from_(
        subquery(counted.from_(subquery(numbered, "numbered")), "counted")
    )
    before = exp.Paren(this=exp.Sub(this=column(_PLACE), expression=exp.Literal.number("1")))
    nth = exp.EQ(this=exp.Mod(this=before, expression=exp.Literal.number(str(n))), expression=exp.Literal.number("0"))
    tree = tree.where(nth, copy=False).order_by(column(_ROW), copy=False)
    return Relation(plan.schema, ordered=timed or plan.ordered, query=tree, leaves=(("t", plan),), keeps_order=True)


SAMPLE = TableFunction(
    "sample",
    "every n-th row of a table in its order, the first one first: of spans and events in order of time",
    (
        Parameter("table", "the table; the result is of its kind", REQUIRED),
        Parameter("n", "how many rows one row stands for", REQUIRED),
        Parameter("per", "name of a column, or list of names: rows are counted per value", None),
    ),
    _bind,
)
