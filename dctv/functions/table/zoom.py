"""dctv.zoom: a span table as it looks from afar, at most one cell a step beside the spans that are longer than that."""

from __future__ import annotations

from collections.abc import Mapping

from dctv.contracts.table_function import REQUIRED, Argument, Parameter, PlanBuilder, TableFunction
from dctv.errors import BindError
from dctv.functions.table.interval_tables import NS, ordered, refuse_name, span_table
from dctv.plan.nodes import Plan, physical_names
from dctv.record import replace
from dctv.types.schema import ColumnType, Kind

_MADE = (ColumnType("count", "BIGINT"), ColumnType("total", "BIGINT", NS), ColumnType("longest", "BIGINT", NS))


def _time(argument: Argument, name: str) -> int | None:
    return None if argument.value is None else argument.nanoseconds(f"`{name}`")


def _zoom(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    plan = span_table(arguments["spans"])
    for made in _MADE:
        refuse_name(made.name, plan.schema.columns, arguments["spans"])
    step = arguments["step"].nanoseconds("`step`")
    if step <= 0:
        raise BindError(f"expected a step of more than 0, found {step} ns", arguments["step"].place)
    start, stop = _time(arguments["from"], "from"), _time(arguments["to"], "to")
    if start is not None and stop is not None and stop < start:
        raise BindError(f"`to`, {stop} ns, comes before `from`, {start} ns", arguments["to"].place)
    special = plan.schema.special
    schema = replace(plan.schema, columns=(*special, *_MADE, *plan.schema.payload))
    options = {
        "partitions": len(schema.partitions),
        "step": step,
        "start": start,
        "stop": stop,
        "names": physical_names(schema),
    }
    source = ordered(plan, plan.schema.columns, Kind.SPAN, schema.partitions, builder)
    # A cell is known once its step is over, when other partitions may have gone on.
    return builder.kernel("zoom", schema, [source], options, ordered=not schema.partitions)


ZOOM = TableFunction(
    "zoom",
    "the spans within a time range that last a `step` or longer, and one cell for all shorter ones of a partition that "
    "begin in one step: from the first to the end of the last, with their `count`, their `total` duration, that of the "
    "`longest`, and the payload of that one, the first of equals. Steps begin at multiples of `step`",
    (
        Parameter("spans", "the span table", REQUIRED),
        Parameter("step", "a time: what shorter spans are not told apart in", REQUIRED, keyword_only=True),
        Parameter("from", "where the time range begins; NULL for the first span", None, keyword_only=True),
        Parameter("to", "and where it ends; NULL for the last span", None, keyword_only=True),
    ),
    _zoom,
)
