"""Turns start and stop events into spans, and begin and end events into nested slices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dctv.contracts.span_operator import Counted, SpanOperator
from dctv.functions.span.forms import nest as nests
from dctv.functions.span.forms import series as queries
from dctv.functions.span.stacks import UNMATCHED
from dctv.plan.nodes import ArrowStream


def _series_to_spans(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels  # compiled; only wanted when a query runs

    return _kernels.series_to_spans(inputs, cancel=cancel, **options)


def _nest(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    stream, counter = _kernels.nest(inputs[0], cancel=cancel, **options)
    return Counted(stream, counter, UNMATCHED)


SERIES = SpanOperator("series to spans", "dctv.time_series_to_spans", _series_to_spans, queries.series_to_spans)
NEST = SpanOperator("nest", "dctv.slices", _nest, nests.nest)
