"""Shows calls that filters let through."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dctv.contracts.span_operator import SpanOperator
from dctv.plan.nodes import ArrowStream


def _filter_calls(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels  # compiled; only wanted when a query runs

    return _kernels.filter_calls(inputs[0], cancel=cancel, **options)


FILTER_CALLS = SpanOperator("filter calls", "dctv.filter_calls: what filters show", _filter_calls, None)
