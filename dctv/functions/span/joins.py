"""Span joins and broadcasts, and events joined with the spans that cover them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dctv.contracts.span_operator import Lineage, SpanOperator, joined_payload
from dctv.plan.nodes import ArrowStream
from dctv.types.schema import Schema


def _span_join(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels  # compiled; only wanted when a query runs

    left, right = inputs
    return _kernels.span_join(left, right, cancel=cancel, **options)


def _event_join(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    events, spans = inputs
    return _kernels.event_join(events, spans, cancel=cancel, **options)


def _lineage(inputs: Sequence[Schema], _: Mapping[str, Any], made: Schema) -> Lineage:
    return joined_payload(inputs, len(made.columns))


SPAN_JOIN = SpanOperator("span join", "SPAN JOIN and SPAN BROADCAST of span tables", _span_join, lineage=_lineage)
EVENT_JOIN = SpanOperator("event join", "SPAN JOIN of an event table with a span table", _event_join, lineage=_lineage)
