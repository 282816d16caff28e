"""Merge spans that are shorter than a step, and values that change within one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dctv.contracts.span_operator import FilterPushdown, Lineage, SpanOperator, by_partitions, handed_on
from dctv.functions.span.forms import zoom as forms
from dctv.plan.nodes import ArrowStream
from dctv.types.schema import Schema


def _zoom(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels  # compiled; only needed when a query runs

    return _kernels.zoom(inputs[0], cancel=cancel, **options)


def _zoom_counter(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    return _kernels.zoom_counter(inputs[0], cancel=cancel, **options)


def _lineage(inputs: Sequence[Schema], options: Mapping[str, Any], made: Schema) -> Lineage:
    """Cells depend on times and partitions; their payload is that of one of their spans."""
    return handed_on(made, 5 + options["partitions"], inputs[0])


def _filters(inputs: Sequence[Schema], options: Mapping[str, Any], made: Schema) -> FilterPushdown:
    """Each partition has its own cells; a span that a filter on time or values removed would be missing in its cell."""
    return FilterPushdown(by_partitions(made, inputs, options["partitions"]))


ZOOM = SpanOperator(
    "zoom",
    "dctv.zoom: spans that are shorter than a step become one",
    _zoom,
    forms.zoom,
    lineage=_lineage,
    filters=_filters,
)
ZOOM_COUNTER = SpanOperator(
    "zoom counter",
    "dctv.zoom_counter: what values come to in each step",
    _zoom_counter,
    forms.zoom_counter,
    filters=_filters,
)
