"""Aggregate rows in windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dctv.contracts.span_operator import FilterPushdown, Lineage, SpanOperator
from dctv.functions.span.forms import ranges as forms
from dctv.plan.nodes import ArrowStream
from dctv.types.schema import Schema


def _range_aggregate(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels  # compiled; only needed when a query runs

    table, windows = inputs
    return _kernels.range_aggregate(table, windows, cancel=cancel, **options)


def _lineage(inputs: Sequence[Schema], _: Mapping[str, Any], made: Schema) -> Lineage:
    """The payload of windows is passed through; the rest depends on times, partitions and values."""
    first, last = inputs[1].special_count, len(made.columns) - 1
    return Lineage((*[None] * first, *(((1, c),) for c in range(first, last)), None))


def _filters(inputs: Sequence[Schema], options: Mapping[str, Any], made: Schema) -> FilterPushdown:
    """Windows are independent of each other, and rows matter only to windows of their partition."""
    first = len(inputs[0].kind.time_columns)
    keys = {2 + at: first + n for n, at in enumerate(options["matched"])}
    windows = {1: {c: c for c in range(len(made.columns) - 1)}}
    return FilterPushdown(({0: keys, 1: {c: c for c in keys}}, windows) if keys else (windows,))


RANGE_AGGREGATE = SpanOperator(
    "range aggregate",
    "dctv.range_aggregate: what the rows in each window come to",
    _range_aggregate,
    forms.range_aggregate,
    lineage=_lineage,
    filters=_filters,
)
