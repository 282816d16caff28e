"""Cuts spans and events into the pieces that GROUP USING aggregates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dctv.contracts.span_operator import SpanOperator
from dctv.functions.span.forms import aggregations
from dctv.functions.span.forms import departition as departitions
from dctv.functions.span.forms import groups as queries
from dctv.plan.nodes import ArrowStream


def _span_group(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels  # compiled; only wanted when a query runs

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


SPAN_GROUP = SpanOperator(
    "span group", "GROUP USING SPANS FROM: the engine aggregates the pieces", _span_group, queries.span_group
)
SPAN_AGGREGATION = SpanOperator(
    "span aggregation",
    "GROUP USING SPANS FROM with common aggregates",
    _span_aggregation,
    aggregations.span_aggregation,
)
DEPARTITION = SpanOperator(
    "span departition",
    "GROUP USING PARTITION: the engine aggregates the pieces",
    _departition,
    departitions.partition_pieces,
)
AGGREGATED = SpanOperator(
    "departition",
    "GROUP USING PARTITION with common aggregates",
    _aggregated,
    aggregations.departition,
)
