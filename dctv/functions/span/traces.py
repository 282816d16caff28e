"""Run another span operator for each of many traces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dctv.contracts.span_operator import SpanOperator
from dctv.plan.nodes import ArrowStream


def _trace_by_trace(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    made: ArrowStream = options["sweep"].run(inputs, options, cancel)
    return made


TRACE_BY_TRACE = SpanOperator(
    "trace by trace",
    "The rows that another operator, the option `sweep`, has in each trace. The number of the trace is in the last "
    "column of its inputs, which come trace by trace, and of its rows.",
    _trace_by_trace,
    None,
)
