"""Makes spans of what overlaps, of events that follow each other closely, and labels events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dctv.contracts.span_operator import SpanOperator
from dctv.functions.span.forms import neighbours, overlaps
from dctv.plan.nodes import ArrowStream


def _flatten(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels  # compiled; only wanted when a query runs

    return _kernels.flatten(inputs[0], cancel=cancel, **options)


def _concurrency(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    return _kernels.concurrency(inputs[0], cancel=cancel, **options)


def _sessions(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    return _kernels.sessions(inputs[0], cancel=cancel, **options)


def _label_events(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    events, labels = inputs
    return _kernels.label_events(events, labels, cancel=cancel, **options)


FLATTEN = SpanOperator("flatten", "dctv.flatten: the innermost open interval at each time", _flatten, overlaps.flatten)
CONCURRENCY = SpanOperator(
    "concurrency", "dctv.concurrency: how many intervals are open", _concurrency, overlaps.concurrency
)
SESSIONS = SpanOperator("sessions", "dctv.session: events that follow closely", _sessions, neighbours.sessions)
LABEL_EVENTS = SpanOperator(
    "label events", "dctv.label_events: the latest earlier label", _label_events, neighbours.label_events
)
