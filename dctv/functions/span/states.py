"""Turn switches and wakeups into thread states, and those into the critical path of one thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dctv.contracts.span_operator import Lineage, SpanOperator, handed_on
from dctv.functions.span.forms import states as queries
from dctv.plan.nodes import ArrowStream
from dctv.types.schema import Schema


def _states(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels  # compiled; only needed when a query runs

    return _kernels.thread_states(inputs[0], cancel=cancel, **options)


def _critical(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    return _kernels.critical_path(inputs[0], cancel=cancel, **options)


def _states_lineage(inputs: Sequence[Schema], _: Mapping[str, Any], made: Schema) -> Lineage:
    return handed_on(made, queries.MADE, inputs[0], queries.OWN)


STATES = SpanOperator("thread states", "dctv.thread_states", _states, queries.states, lineage=_states_lineage)
CRITICAL = SpanOperator("critical path", "dctv.critical_path", _critical, queries.critical_path)
