"""Fill gaps of spans, merge neighbours, and check and repair overlaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dctv.contracts.span_operator import FilterPushdown, Lineage, SpanOperator, TimeLocality, by_partitions, handed_on
from dctv.functions.span.forms import neighbours, overlaps
from dctv.plan.nodes import ArrowStream
from dctv.types.schema import Schema


def _fill_gaps(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels  # compiled; only needed when a query runs

    return _kernels.fill_gaps(inputs[0], cancel=cancel, **options)


def _merge_adjacent(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    return _kernels.merge_adjacent(inputs[0], cancel=cancel, **options)


def _checked(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    others = {key: value for key, value in options.items() if key != "sorted"}
    return _kernels.checked(inputs[0], cancel=cancel, **others)


def _truncate(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    return _kernels.truncate(inputs[0], cancel=cancel, **options)


def _lanes(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    return _kernels.lanes(inputs[0], cancel=cancel, **options)


def _gaps_lineage(inputs: Sequence[Schema], options: Mapping[str, Any], made: Schema) -> Lineage:
    """Payload is passed through or NULL; gaps depend only on times and partitions."""
    return handed_on(made, 2 + options["partitions"], inputs[0])


def _gaps_filters(inputs: Sequence[Schema], options: Mapping[str, Any], made: Schema) -> FilterPushdown:
    """Without a given start and stop, no filter passes: these would be those of the remaining spans.

    With both, each partition has its gaps independently, and a gap lies between spans that touch it; a partition whose
    spans all lie elsewhere would be lost, so filters on time pass only for unpartitioned spans.
    """
    if options["start"] is None or options["stop"] is None:
        return FilterPushdown()
    count = options["partitions"]
    return FilterPushdown(by_partitions(made, inputs, count), () if count else (TimeLocality((0,), covered=False),))


def _merge_filters(_: Sequence[Schema], __: Mapping[str, Any], made: Schema) -> FilterPushdown:
    """A run has one partition and one payload, and other rows change no distances; filters on time do not pass."""
    return FilterPushdown(({0: {c: c for c in range(2, len(made.columns))}},) if len(made.columns) > 2 else ())


def _check_lineage(inputs: Sequence[Schema], options: Mapping[str, Any], made: Schema) -> Lineage:
    """Times, partitions and the final row number are checked; payload is passed through."""
    whole = handed_on(made, made.special_count, inputs[0])
    numbered = options["sorted"] and len(made.columns) == len(inputs[0].columns)
    return Lineage((*whole.reads[:-1], None)) if numbered else whole


def _truncate_lineage(inputs: Sequence[Schema], options: Mapping[str, Any], made: Schema) -> Lineage:
    """The end of a span depends on times and row numbers; payload is passed through."""
    return handed_on(made, 2 + options["partitions"], inputs[0])


def _truncate_filters(inputs: Sequence[Schema], options: Mapping[str, Any], made: Schema) -> FilterPushdown:
    """A span is cut by one of its partition that begins at the end of the result, or at the same time as the span."""
    return FilterPushdown(by_partitions(made, inputs, options["partitions"]), (TimeLocality((0,), covered=False),))


def _lanes_lineage(inputs: Sequence[Schema], options: Mapping[str, Any], made: Schema) -> Lineage:
    """A lane depends on times and row numbers; payload is passed through."""
    return handed_on(made, 3 + options["partitions"], inputs[0])


def _lanes_filters(inputs: Sequence[Schema], options: Mapping[str, Any], made: Schema) -> FilterPushdown:
    """Each partition has its own lanes; a lane depends on all earlier spans, so filters on time do not pass."""
    return FilterPushdown(by_partitions(made, inputs, options["partitions"]))


FILL_GAPS = SpanOperator(
    "fill gaps",
    "dctv.fill_gaps and dctv.complement: where a partition has no span",
    _fill_gaps,
    neighbours.fill_gaps,
    lineage=_gaps_lineage,
    filters=_gaps_filters,
)
MERGE_ADJACENT = SpanOperator(
    "merge adjacent",
    "dctv.merge_adjacent and SELECT SPAN DISTINCT: neighbours with equal payload become one",
    _merge_adjacent,
    neighbours.merge_adjacent,
    filters=_merge_filters,
    apart=True,
    by_time=True,
)
CHECKED = SpanOperator(
    "check",
    "dctv.as_spans and dctv.as_events: the rows are in order and do not overlap",
    _checked,
    neighbours.check,
    lineage=_check_lineage,
)
TRUNCATE = SpanOperator(
    "truncate",
    "on_overlap=>'truncate': a span ends where the next begins",
    _truncate,
    neighbours.truncate,
    lineage=_truncate_lineage,
    filters=_truncate_filters,
    apart=True,
)
LANES = SpanOperator(
    "lanes",
    "on_overlap=>'lanes': the lowest lane that is free",
    _lanes,
    overlaps.lanes,
    lineage=_lanes_lineage,
    filters=_lanes_filters,
    apart=True,
)
