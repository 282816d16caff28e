"""dctv.timeline_rows: the rows of a table as tracks of a timeline have them."""

from __future__ import annotations

from collections.abc import Mapping

from dctv.contracts.table_function import REQUIRED, Argument, Parameter, PlanBuilder, TableFunction
from dctv.errors import BindError
from dctv.functions.table.interval_tables import ordered
from dctv.plan.nodes import Plan, physical_names
from dctv.timeline.table import SCHEMA
from dctv.types.schema import Kind


def _rows(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    argument = arguments["table"]
    plan = argument.table("spans or events")
    schema = plan.schema
    if schema.kind is Kind.REGULAR:
        raise BindError("expected spans or events, found a regular table", argument.place)
    told = {
        name: None if arguments[name].value is None else arguments[name].column(schema, what).name
        for name, what in (("name", "the column of names"), ("value", "the column of values"))
    }
    source = ordered(plan, schema.columns, schema.kind, schema.partitions, builder)
    options = {"names": physical_names(SCHEMA), "schema": schema, **told}
    return builder.kernel("timeline rows", SCHEMA, [source], options, ordered=False)


TIMELINE_ROWS = TableFunction(
    "timeline_rows",
    "spans or events as a timeline shows them, with the columns that the `timeline.rows` of a trace has: a `track` for "
    "each partition, on which spans that overlap are on several lanes",
    (
        Parameter("table", "spans or events", REQUIRED),
        Parameter(
            "name",
            "name of the column that they are called by; else `name`, or the first text",
            None,
            keyword_only=True,
        ),
        Parameter("value", "name of the column of numbers, if they are a counter's", None, keyword_only=True),
    ),
    _rows,
)
