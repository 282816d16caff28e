"""What a span operator must bring: the compiled sweep behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dctv.plan.nodes import ArrowStream


@dataclass(frozen=True, slots=True)
class SpanOperator:
    """An operator over streams that are sorted by `_ts`; columns are positional: times, partitions, payload."""

    name: str
    doc: str
    run: Callable[[list[ArrowStream], Mapping[str, Any], Any], ArrowStream]
    """Called with the inputs, the operator's options and a cancel token."""
