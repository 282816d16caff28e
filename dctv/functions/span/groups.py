"""Cut spans and events into the pieces that GROUP USING aggregates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dctv.contracts.span_operator import FilterPushdown, Lineage, SpanOperator, TimeLocality, joined_payload
from dctv.functions.span.forms import aggregations
from dctv.functions.span.forms import departition as departitions
from dctv.functions.span.forms import groups as queries
from dctv.plan.nodes import ArrowStream
from dctv.types.schema import TS, Schema


def _span_group(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels  # compiled; only needed when a query runs

    spans, grouper, *partitions = inputs
    return _kernels.span_pieces(spans, grouper, intersect=next(iter(partitions), None), cancel=cancel, **options)


def _departition(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    spans, *partitions = inputs
    return _kernels.partition_pieces(spans, intersect=next(iter(partitions), None), cancel=cancel, **options)


def _aggregated(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    spans, *partitions = inputs
    return _kernels.departition(spans, intersect=next(iter(partitions), None), cancel=cancel, **options)


def _span_aggregation(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    return _kernels.span_group(inputs, cancel=cancel, **options)


def _group_lineage(inputs: Sequence[Schema], _: Mapping[str, Any], made: Schema) -> Lineage:
    """Return the origin of: group, the grouper's columns, partitions, present, times, payload."""
    spans, grouper, *_partitions = inputs
    wide = [((1, c),) for c in range(grouper.special_count, len(grouper.columns))]
    payload = [((0, c),) for c in range(spans.special_count, len(spans.columns))]
    before: list[tuple[tuple[int, int], ...] | None] = [*[None] * (1 + grouper.special_count), *wide]
    return Lineage((*before, *[None] * (len(made.columns) - len(before) - len(payload)), *payload))


def _departition_lineage(inputs: Sequence[Schema], _: Mapping[str, Any], made: Schema) -> Lineage:
    return joined_payload(inputs[:1], len(made.columns))


def _aggregates_lineage(inputs: Sequence[Schema], options: Mapping[str, Any], made: Schema) -> Lineage:
    """Return the origin of each aggregate; one over all pieces or their times reads no payload."""
    aggregates = options["aggregates"]
    special = inputs[0].special_count
    first = len(made.columns) - len(aggregates)
    reads = [((0, special + of),) if isinstance(of, int) else () for _, of in aggregates]

    def renumbered(columns: Sequence[int], kept: Sequence[Sequence[int]]) -> Mapping[str, Any]:
        places = {old - special: new for new, old in enumerate(c for c in kept[0] if c >= special)}
        left = [aggregates[c - first] for c in columns if c >= first]
        return {**options, "aggregates": [(name, places[of] if isinstance(of, int) else of) for name, of in left]}

    return Lineage((*[None] * first, *reads), renumbered)


def _aggregation_lineage(inputs: Sequence[Schema], options: Mapping[str, Any], made: Schema) -> Lineage:
    """Return the origin of: the grouper's columns, partitions, aggregates."""
    grouper = inputs[1]
    whole = _aggregates_lineage(inputs, options, made)
    wide = [((1, c),) for c in range(grouper.special_count, len(grouper.columns))]
    return Lineage((*[None] * grouper.special_count, *wide, *whole.reads[len(grouper.columns) :]), whole.options)


def _group_filters(inputs: Sequence[Schema], options: Mapping[str, Any], made: Schema) -> FilterPushdown:
    """Filter the grouper by its columns, and the spans by partitions, unless all partitions are required.

    Filters on time pass only without partitions: each partition that occurs anywhere has a row in every group.
    """
    spans, grouper, *intersect = inputs
    wide, times, keys = len(grouper.columns), len(spans.kind.time_columns), options["partitions"]
    first = made.names.index(TS)
    same: list[dict[int, dict[int, int]]] = [{1: {first + c: c for c in range(wide)}}]
    if keys and not intersect:
        same.append({0: {first + wide + k: times + k for k in range(keys)}})
    near = () if keys else (TimeLocality((0,), covered=False, start=first, duration=first + 1),)
    return FilterPushdown(tuple(same), near)


def _departition_filters(_: Sequence[Schema], options: Mapping[str, Any], __: Schema) -> FilterPushdown:
    same = {3 + k: 2 + k for k in options["keep"]}
    return FilterPushdown(({0: same},) if same else (), (TimeLocality((0,), covered=False, start=1, duration=2),))


def _aggregated_filters(_: Sequence[Schema], options: Mapping[str, Any], __: Schema) -> FilterPushdown:
    same = {2 + place: 2 + k for place, k in enumerate(options["keep"])}
    return FilterPushdown(({0: same},) if same else (), (TimeLocality((0,), covered=False),))


SPAN_GROUP = SpanOperator(
    "span group",
    "GROUP USING SPANS FROM: the engine aggregates the pieces",
    _span_group,
    queries.span_group,
    lineage=_group_lineage,
    filters=_group_filters,
    by_time=True,
)
SPAN_AGGREGATION = SpanOperator(
    "span aggregation",
    "GROUP USING SPANS FROM with common aggregates",
    _span_aggregation,
    aggregations.span_aggregation,
    lineage=_aggregation_lineage,
    filters=_group_filters,
    by_time=True,
)
DEPARTITION = SpanOperator(
    "span departition",
    "GROUP USING PARTITION: the engine aggregates the pieces",
    _departition,
    departitions.partition_pieces,
    lineage=_departition_lineage,
    filters=_departition_filters,
    by_time=True,
)
AGGREGATED = SpanOperator(
    "departition",
    "GROUP USING PARTITION with common aggregates",
    _aggregated,
    aggregations.departition,
    lineage=_aggregates_lineage,
    filters=_aggregated_filters,
    by_time=True,
)
