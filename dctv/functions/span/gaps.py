"""Fills the gaps of spans, merges neighbours, checks and repairs what overlaps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dctv.contracts.span_operator import SpanOperator
from dctv.functions.span.forms import neighbours, overlaps
from dctv.plan.nodes import ArrowStream


def _fill_gaps(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels  # compiled; only wanted when a query runs

    return _kernels.fill_gaps(inputs[0], cancel=cancel, **options)


def _merge_adjacent(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    return _kernels.merge_adjacent(inputs[0], cancel=cancel, **options)


def _checked(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    told = {key: value for key, value in options.items() if key != "sorted"}
    return _kernels.checked(inputs[0], cancel=cancel, **told)


def _truncate(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    return _kernels.truncate(inputs[0], cancel=cancel, **options)


def _lanes(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    return _kernels.lanes(inputs[0], cancel=cancel, **options)


FILL_GAPS = SpanOperator(
    "fill gaps", "dctv.fill_gaps and dctv.complement: where a partition has no span", _fill_gaps, neighbours.fill_gaps
)
MERGE_ADJACENT = SpanOperator(
    "merge adjacent",
    "dctv.merge_adjacent and SELECT SPAN DISTINCT: neighbours with equal payload become one",
    _merge_adjacent,
    neighbours.merge_adjacent,
)
CHECKED = SpanOperator(
    "check", "dctv.as_spans and dctv.as_events: the rows are in order and do not overlap", _checked, neighbours.check
)
TRUNCATE = SpanOperator(
    "truncate", "on_overlap=>'truncate': a span ends where the next begins", _truncate, neighbours.truncate
)
LANES = SpanOperator("lanes", "on_overlap=>'lanes': the lowest lane that is free", _lanes, overlaps.lanes)
