"""dctv.zoom and dctv.zoom_counter: spans and values zoomed out, in steps of time."""

from __future__ import annotations

from collections.abc import Mapping

from dctv.contracts.table_function import REQUIRED, Argument, Parameter, PlanBuilder, TableFunction
from dctv.errors import BindError
from dctv.functions.table.interval_tables import NS, VALUE, number_column, ordered, refuse_name, span_table
from dctv.plan.nodes import Plan, physical_names
from dctv.record import replace
from dctv.types.schema import ColumnType, Kind, Schema

_MADE = (ColumnType("count", "BIGINT"), ColumnType("total", "BIGINT", NS), ColumnType("longest", "BIGINT", NS))
_PICKED = ("min", "max", "last")


def _time(argument: Argument, name: str) -> int | None:
    return None if argument.value is None else argument.nanoseconds(f"`{name}`")


def _steps(arguments: Mapping[str, Argument]) -> dict[str, int | None]:
    """Read `step`, and `from` and `to`, which may be NULL."""
    step = arguments["step"].nanoseconds("`step`")
    if step <= 0:
        raise BindError(f"expected a step of more than 0, found {step} ns", arguments["step"].place)
    start, stop = _time(arguments["from"], "from"), _time(arguments["to"], "to")
    if start is not None and stop is not None and stop < start:
        raise BindError(f"`to`, {stop} ns, comes before `from`, {start} ns", arguments["to"].place)
    return {"step": step, "start": start, "stop": stop}


def _zoom(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    plan = span_table(arguments["spans"])
    for made in _MADE:
        refuse_name(made.name, plan.schema.columns, arguments["spans"])
    steps = _steps(arguments)
    special = plan.schema.special
    schema = replace(plan.schema, columns=(*special, *_MADE, *plan.schema.payload))
    options = {
        "partitions": len(schema.partitions),
        "names": physical_names(schema),
        **steps,
    }
    source = ordered(plan, plan.schema.columns, Kind.SPAN, schema.partitions, builder)
    # A cell is complete once its step is over, when other partitions may be ahead.
    return builder.kernel("zoom", schema, [source], options, ordered=not schema.partitions)


def _zoom_counter(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    plan = span_table(arguments["spans"])
    value = number_column(arguments["column"], plan.schema, "the column of values")
    keys = plan.schema.special[2:]
    made = (*(replace(value, name=name) for name in _PICKED), ColumnType("mean", "DOUBLE", value.unit))
    for one in made:
        refuse_name(one.name, keys, arguments["spans"])
    times = plan.schema.special[:2]
    schema = Schema(Kind.SPAN, (*times, *keys, *made), plan.schema.partitions)
    options = {"partitions": len(keys), "names": physical_names(schema), **_steps(arguments)}
    columns = (*plan.schema.special, replace(value, name=VALUE))
    read = Schema(Kind.SPAN, columns, schema.partitions)
    named = [*((c.name, c.name) for c in plan.schema.special), (value.name, VALUE)]
    source = builder.ordered(plan, named, read)
    return builder.kernel("zoom counter", schema, [source], options, ordered=not keys)


_RANGE = (
    Parameter("from", "where the time range begins; NULL for the first span", None, keyword_only=True),
    Parameter("to", "and where it ends; NULL for the last span", None, keyword_only=True),
)

ZOOM = TableFunction(
    "zoom",
    "the spans within a time range that last a `step` or longer, and one cell for all shorter ones of a partition that "
    "begin in one step: from the first to the end of the last, with their `count`, their `total` duration, that of the "
    "`longest`, and the payload of that one, the first of equals. Steps begin at multiples of `step`",
    (
        Parameter("spans", "the span table", REQUIRED),
        Parameter("step", "a time: shorter spans are merged into cells of this length", REQUIRED, keyword_only=True),
        *_RANGE,
    ),
    _zoom,
)
ZOOM_COUNTER = TableFunction(
    "zoom_counter",
    "what the values of a column come to in each step of a time range in which a partition has spans: their `min` and "
    "`max`, the `last` of them, and their `mean` over time. NULLs count only where there is nothing else. A row lasts "
    "from the first to the last time that is covered in its step; steps that lie wholly within one span are one row "
    "together, so that a span makes three rows at most. Steps begin at multiples of `step`",
    (
        Parameter("spans", "the span table", REQUIRED),
        Parameter("column", "name of the column of numbers", REQUIRED, keyword_only=True),
        Parameter("step", "a time: the length of the steps that cells summarize", REQUIRED, keyword_only=True),
        *_RANGE,
    ),
    _zoom_counter,
)
