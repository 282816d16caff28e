"""What a span operator must bring: its compiled sweep, and the query that gives the same rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from dctv.plan.nodes import ArrowStream
from dctv.types.schema import Schema


@dataclass(frozen=True, slots=True)
class Input:
    """One input as a relational form sees it: a table of the query.

    `row_number() OVER ()` numbers the rows in the order in which the sweep meets them; no other step may rely on order.
    """

    table: str
    columns: tuple[str, ...]
    """The engine's names of its columns: times, partitions, payload."""
    schema: Schema


@dataclass(frozen=True, slots=True)
class SpanOperator:
    """An operator over streams that are sorted by `_ts`; columns are positional: times, partitions, payload."""

    name: str
    doc: str
    run: Callable[[list[ArrowStream], Mapping[str, Any], Any], ArrowStream]
    """Called with the inputs, the operator's options and a cancel token."""
    relational: Callable[[Sequence[Input], Mapping[str, Any], Schema], exp.Query]
    """Called with the inputs, the same options and the output's schema: the query has the columns `options["names"]`
    and gives the same rows; it fails where the sweep fails, such as for overlapping spans. If it has an ORDER BY, that
    is the sweep's order, events of equal time included; without one the rows come in no promised order."""
