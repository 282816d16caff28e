"""Turn push and pop events into spans of stacks, the contents of stacks, and nested slices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dctv.contracts.span_operator import Counted, Lineage, SpanOperator
from dctv.functions.span.forms import stacks as queries
from dctv.plan.nodes import ArrowStream
from dctv.types.schema import Schema

IGNORED = ("{} stop on an empty stack was ignored", "{} stops on an empty stack were ignored")
UNMATCHED = ("{} end without a begin was ignored", "{} ends without a begin were ignored")


def _history(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels  # compiled; only needed when a query runs

    return Counted(*_kernels.stack_history(*inputs, cancel=cancel, **options), IGNORED)


def _contents(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    return Counted(*_kernels.stack_contents(*inputs, cancel=cancel, **options), IGNORED)


def _pairs(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    return Counted(*_kernels.nest_pairs(*inputs, cancel=cancel, **options), UNMATCHED)


def _pairs_lineage(inputs: Sequence[Schema], options: Mapping[str, Any], made: Schema) -> Lineage:
    """A pop removes the latest push, whatever its values: tokens and payload are passed through.

    No filter passes for these operators: ids count over all partitions, and warnings over all events. Histories and
    contents need their tokens, since equal stacks have one id.
    """
    skipped = options["ranked"]
    payload = [
        ((side, one.special_count + skipped + n),)
        for side, one in enumerate(inputs)
        for n in range(len(one.payload) - skipped)
    ]
    return Lineage((*[None] * (len(made.columns) - len(payload)), *payload))


HISTORY = SpanOperator("stack history", "dctv.stack_history", _history, queries.stack_history)
CONTENTS = SpanOperator("stack contents", "dctv.stack_contents", _contents, queries.stack_contents)
PAIRS = SpanOperator("nest pairs", "dctv.slices_from_stack", _pairs, queries.nest_pairs, lineage=_pairs_lineage)
