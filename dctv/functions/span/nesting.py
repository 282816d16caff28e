"""Place slices that may overlap on lanes, and compute over rows that refer to their parents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dctv.contracts.span_operator import Lineage, SpanOperator, handed_on
from dctv.plan.nodes import ArrowStream
from dctv.types.schema import Schema


def _nest_lanes(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels  # compiled; only needed when a query runs

    return _kernels.nest_lanes(inputs[0], cancel=cancel, **options)


def _ancestry(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    return _kernels.ancestry(inputs[0], cancel=cancel, **options)


def _reachable(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    return _kernels.reachable(inputs[0], cancel=cancel, **options)


def _self_time(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    return _kernels.self_time(inputs[0], cancel=cancel, **options)


def _stack_paths(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    return _kernels.stack_paths(inputs[0], cancel=cancel, **options)


def _flame_slices(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    return _kernels.flame_slices(inputs[0], cancel=cancel, **options)


def _flame_stacks(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    return _kernels.flame_stacks(inputs[0], cancel=cancel, **options)


def _lanes_lineage(inputs: Sequence[Schema], options: Mapping[str, Any], made: Schema) -> Lineage:
    """Places depend on times, lengths, and which slices come from begin and end events."""
    own = 2 if options["paired"] else 1
    width = len(inputs[0].payload) - own
    return handed_on(made, len(made.columns) - width, inputs[0], own)


NEST_LANES = SpanOperator(
    "nest lanes", "dctv.nested_slices: slices that overlap", _nest_lanes, None, lineage=_lanes_lineage
)
ANCESTRY = SpanOperator("ancestry", "dctv.ancestors and dctv.descendants: who is above or below", _ancestry, None)
REACHABLE = SpanOperator("reachable", "dctv.flow_path: where arrows lead to", _reachable, None)
SELF_TIME = SpanOperator("self time", "dctv.self_time: time without children", _self_time, None)
STACK_PATHS = SpanOperator("stack paths", "dctv.flatten_slices: what each slice is in", _stack_paths, None)
FLAME_SLICES = SpanOperator("flame slices", "dctv.flame_graph of slices: sums by stack", _flame_slices, None)
FLAME_STACKS = SpanOperator("flame stacks", "dctv.flame_graph of samples: sums by stack", _flame_stacks, None)
