"""dctv.fill_gaps, complement and merge_adjacent: gaps between spans, and spans that touch."""

from __future__ import annotations

from collections.abc import Mapping

from dctv.contracts.table_function import REQUIRED, Argument, Parameter, PlanBuilder, TableFunction
from dctv.errors import BindError
from dctv.functions.table.interval_tables import ordered, span_table
from dctv.plan.nodes import Plan, physical_names
from dctv.record import replace
from dctv.types.schema import Kind


def time_range(arguments: Mapping[str, Argument]) -> dict[str, int | None]:
    """Read `start` and `stop`, which may be NULL."""
    times = {
        key: None if arguments[key].value is None else arguments[key].nanoseconds(f"`{key}`")
        for key in ("start", "stop")
    }
    start, stop = times["start"], times["stop"]
    if start is not None and stop is not None and stop < start:
        raise BindError(f"the stop, {stop} ns, comes before the start, {start} ns", arguments["stop"].place)
    return times


def _gaps(arguments: Mapping[str, Argument], builder: PlanBuilder, *, keep: bool) -> Plan:
    plan = span_table(arguments["spans"])
    columns = plan.schema.columns if keep else plan.schema.special
    schema = replace(plan.schema, columns=columns)
    options = {
        "partitions": len(schema.partitions),
        "keep": keep,
        "names": physical_names(schema),
        **time_range(arguments),
    }
    source = ordered(plan, columns, Kind.SPAN, schema.partitions, builder)
    # A gap is complete once it is over, when other partitions may be ahead.
    return builder.kernel("fill gaps", schema, [source], options, ordered=not schema.partitions)


def _fill_gaps(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    return _gaps(arguments, builder, keep=True)


def _complement(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    return _gaps(arguments, builder, keep=False)


def _merge_adjacent(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    return builder.merged(span_table(arguments["spans"]))


_SPANS = Parameter("spans", "the span table", REQUIRED)
_RANGE = (
    Parameter("start", "where gaps are looked for from; the first start of any partition if NULL", None),
    Parameter("stop", "and until; the last end of any partition if NULL", None),
)

FILL_GAPS = TableFunction(
    "fill_gaps",
    "the spans and, for every partition that occurs, spans with NULL as payload where it has none between `start` and "
    "`stop`; what lies outside is kept as it is. An unpartitioned table has its one partition even if it is empty",
    (_SPANS, *_RANGE),
    _fill_gaps,
    by_partition=False,
)
COMPLEMENT = TableFunction(
    "complement",
    "only the gaps that dctv.fill_gaps would fill, without payload",
    (_SPANS, *_RANGE),
    _complement,
    by_partition=False,
)
MERGE_ADJACENT = TableFunction(
    "merge_adjacent",
    "the spans, neighbours of one partition that touch and have equal payload made one; NULL equals NULL",
    (_SPANS,),
    _merge_adjacent,
)
