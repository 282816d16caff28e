"""Match start and stop events into spans, and begin and end events into nested slices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dctv.contracts.span_operator import Counted, FilterPushdown, Lineage, SpanOperator, handed_on
from dctv.functions.span.forms import nest as nests
from dctv.functions.span.forms import series as queries
from dctv.functions.span.stacks import UNMATCHED
from dctv.plan.nodes import ArrowStream
from dctv.types.schema import Schema


def _series_to_spans(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels  # compiled; only needed when a query runs

    return _kernels.series_to_spans(inputs, cancel=cancel, **options)


def _nest(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    stream, counter = _kernels.nest(inputs[0], cancel=cancel, **options)
    return Counted(stream, counter, UNMATCHED)


def _series_lineage(inputs: Sequence[Schema], options: Mapping[str, Any], made: Schema) -> Lineage:
    columns = options["columns"]
    first = len(made.columns) - len(columns)
    reads = [((source, inputs[source].special_count + position),) for source, position, _ in columns]

    def renumbered(outputs: Sequence[int], kept: Sequence[Sequence[int]]) -> Mapping[str, Any]:
        left = [columns[c - first] for c in outputs if c >= first]
        special = [s.special_count for s in inputs]
        return {
            **options,
            "columns": [(s, kept[s].index(special[s] + position) - special[s], edge) for s, position, edge in left],
        }

    return Lineage((*[None] * first, *reads), renumbered)


def _nest_lineage(inputs: Sequence[Schema], _: Mapping[str, Any], made: Schema) -> Lineage:
    """Return the origin of the payload, which follows kind and duration in the input.

    No filter passes: ids count over all partitions, and warnings over all events.
    """
    return handed_on(made, len(made.columns) - len(inputs[0].payload) + 2, inputs[0], 2)


def _series_filters(inputs: Sequence[Schema], options: Mapping[str, Any], _: Schema) -> FilterPushdown:
    """Filter all sources by partitions, which are independent of each other."""
    keys = {2 + k: 1 + k for k in range(options["partitions"])}
    return FilterPushdown((dict.fromkeys(range(len(inputs)), keys),) if keys else ())


SERIES = SpanOperator(
    "series to spans",
    "dctv.time_series_to_spans",
    _series_to_spans,
    queries.series_to_spans,
    lineage=_series_lineage,
    filters=_series_filters,
    apart=True,
)
NEST = SpanOperator("nest", "dctv.slices", _nest, nests.nest, lineage=_nest_lineage)
