"""Build spans from overlapping intervals and from events that follow each other closely, and label events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dctv.contracts.span_operator import FilterPushdown, Lineage, SpanOperator, TimeLocality, by_partitions, handed_on
from dctv.functions.span.forms import neighbours, overlaps
from dctv.plan.nodes import ArrowStream
from dctv.types.schema import Schema


def _flatten(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels  # compiled; only needed when a query runs

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


def _flatten_lineage(inputs: Sequence[Schema], options: Mapping[str, Any], made: Schema) -> Lineage:
    """The innermost interval depends on times and row numbers; payload is passed through."""
    return handed_on(made, 2 + options["partitions"], inputs[0])


def _flatten_filters(inputs: Sequence[Schema], options: Mapping[str, Any], made: Schema) -> FilterPushdown:
    """The innermost interval at a time is one of the partition's intervals that are open then."""
    return FilterPushdown(by_partitions(made, inputs, options["partitions"]), (TimeLocality((0,), covered=False),))


def _concurrency_filters(inputs: Sequence[Schema], options: Mapping[str, Any], made: Schema) -> FilterPushdown:
    """Counts are per partition, and boundaries are begins and ends of intervals that touch the result."""
    duration = 1 if options["result"] == "spans" else None
    times = TimeLocality((0,), covered=False, duration=duration)
    return FilterPushdown(by_partitions(made, inputs, options["partitions"]), (times,))


def _session_filters(inputs: Sequence[Schema], options: Mapping[str, Any], made: Schema) -> FilterPushdown:
    """A session is within one partition, and extends as long as events follow: filters on time do not pass."""
    return FilterPushdown(by_partitions(made, inputs, options["partitions"]))


def _label_lineage(inputs: Sequence[Schema], _: Mapping[str, Any], made: Schema) -> Lineage:
    """The latest label depends on times and row numbers, which come last; payloads are passed through."""
    payload = [((n, c),) for n, s in enumerate(inputs) for c in range(s.special_count, len(s.columns) - 1)]
    return Lineage((*[None] * (len(made.columns) - len(payload)), *payload))


def _label_filters(inputs: Sequence[Schema], options: Mapping[str, Any], made: Schema) -> FilterPushdown:
    """Labels belong to the event's partition, at any earlier time; events are independent of each other."""
    keys = () if options["broadcast"] else by_partitions(made, inputs, options["partitions"])
    return FilterPushdown((*keys, {0: {c: c for c in range(len(inputs[0].columns) - 1)}}))


FLATTEN = SpanOperator(
    "flatten",
    "dctv.flatten: the innermost open interval at each time",
    _flatten,
    overlaps.flatten,
    lineage=_flatten_lineage,
    filters=_flatten_filters,
    apart=True,
)
CONCURRENCY = SpanOperator(
    "concurrency",
    "dctv.concurrency: how many intervals are open",
    _concurrency,
    overlaps.concurrency,
    filters=_concurrency_filters,
)
SESSIONS = SpanOperator(
    "sessions",
    "dctv.session: events that follow closely",
    _sessions,
    neighbours.sessions,
    filters=_session_filters,
)
LABEL_EVENTS = SpanOperator(
    "label events",
    "dctv.label_events: the latest earlier label",
    _label_events,
    neighbours.label_events,
    lineage=_label_lineage,
    filters=_label_filters,
)
