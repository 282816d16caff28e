"""dctv.timeline_rows: the rows of a table in the form of timeline tracks."""

from __future__ import annotations

from collections.abc import Mapping

from dctv.contracts.table_function import REQUIRED, Argument, Parameter, PlanBuilder, TableFunction
from dctv.errors import BindError
from dctv.functions.table.interval_tables import number_column, ordered
from dctv.plan.nodes import SPILL_FOLDER, Plan, physical_names
from dctv.timeline.table import SCHEMA
from dctv.types.schema import Kind


def _rows(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    argument = arguments["table"]
    plan = argument.table("spans or events")
    schema = plan.schema
    if schema.kind is Kind.REGULAR:
        hint = "SELECT SPAN and SELECT EVENT keep times"
        raise BindError("expected spans or events, found a regular table", argument.place, hint=hint)
    name, value = arguments["name"], arguments["value"]
    if value.value is not None and schema.kind is Kind.EVENT:
        raise BindError("events have no duration, expected spans", value.place)
    chosen = {
        "name": None if name.value is None else name.column(schema, "the column of names").name,
        "value": None if value.value is None else number_column(value, schema, "the column of values").name,
    }
    source = ordered(plan, schema.columns, schema.kind, schema.partitions, builder)
    options = {"names": physical_names(SCHEMA), "schema": schema, **chosen, SPILL_FOLDER: None}
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
