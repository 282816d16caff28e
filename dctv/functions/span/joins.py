"""Join spans, broadcast them, and join events with the spans that cover them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dctv.contracts.span_operator import FilterPushdown, Lineage, Remarked, SpanOperator, TimeLocality, joined_payload
from dctv.functions.span.forms import joins as queries
from dctv.plan.nodes import ArrowStream
from dctv.types.schema import Schema


def _span_join(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels  # compiled; only needed when a query runs

    return _watched(_kernels.span_join, inputs, options, cancel)


def _event_join(inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any) -> ArrowStream:
    from dctv import _kernels

    return _watched(_kernels.event_join, inputs, options, cancel)


def _watched(
    sweep: Callable[..., ArrowStream], inputs: list[ArrowStream], options: Mapping[str, Any], cancel: Any
) -> ArrowStream:
    """Run a join; if nothing matched and the columns have different names, warn."""
    compared = options.get("compared")
    given = {name: value for name, value in options.items() if name != "compared"}
    if compared is None or options["how"] != "inner":
        return sweep(*inputs, cancel=cancel, **given)
    from dctv import _kernels

    read, made = [_kernels.Meter() for _ in inputs], _kernels.Meter()
    sides = [_kernels.metered(side, meter) for side, meter in zip(inputs, read, strict=True)]
    stream = _kernels.metered(sweep(*sides, cancel=cancel, **given), made)

    def remark() -> str | None:
        if made.rows or not all(meter.rows for meter in read):
            return None
        left, right = compared
        return f"nothing matched: PARTITION AS compares the values of `{left}` with those of `{right}`"

    return Remarked(stream, remark)


def _lineage(inputs: Sequence[Schema], _: Mapping[str, Any], made: Schema) -> Lineage:
    return joined_payload(inputs, len(made.columns))


def _equal(inputs: Sequence[Schema], options: Mapping[str, Any], *, keys_only: bool) -> dict[int, dict[int, int]]:
    """Return, for each side, its columns by the numbers of the output columns that equal them."""
    keys, times = options["partitions"], len(inputs[0].kind.time_columns)
    sides: dict[int, dict[int, int]] = {}
    first = times + keys
    for number, side in enumerate(inputs):
        same: dict[int, int] = {}
        if side.partitions:
            same |= {times + k: len(side.kind.time_columns) + k for k in range(keys)}
        if not keys_only:
            same |= {first + i: side.special_count + i for i in range(len(side.payload))}
        if same:
            sides[number] = same
        first += len(side.payload)
    return sides


def _join_filters(inputs: Sequence[Schema], options: Mapping[str, Any], _: Schema) -> FilterPushdown:
    """Filter both sides by partitions, and a side that every row has a span of also by payload."""
    how = options["how"]
    keys, whole = _equal(inputs, options, keys_only=True), _equal(inputs, options, keys_only=False)
    kept = {"inner": (0, 1), "left": (0,), "right": (1,), "outer": ()}[how]
    payload = tuple({side: whole[side]} for side in kept if side in whole)
    return FilterPushdown((*([keys] if keys else []), *payload), (TimeLocality((0, 1), covered=how == "inner"),))


def _event_filters(inputs: Sequence[Schema], options: Mapping[str, Any], _: Schema) -> FilterPushdown:
    """Filter events by all their columns, and spans by partitions and, if each event requires one, by payload."""
    keys, whole = _equal(inputs, options, keys_only=True), _equal(inputs, options, keys_only=False)
    events = {0: {**whole.get(0, {}), 0: 0}}
    spans = [{1: whole[1]}] if options["how"] == "inner" and 1 in whole else []
    times = TimeLocality((1,), covered=True, duration=None)
    return FilterPushdown((*([keys] if keys else []), events, *spans), (times,))


SPAN_JOIN = SpanOperator(
    "span join",
    "SPAN JOIN and SPAN BROADCAST of span tables",
    _span_join,
    queries.span_join,
    lineage=_lineage,
    filters=_join_filters,
    apart=True,
    by_time=True,
)
EVENT_JOIN = SpanOperator(
    "event join",
    "SPAN JOIN of an event table with a span table",
    _event_join,
    queries.event_join,
    lineage=_lineage,
    filters=_event_filters,
    apart=True,
    by_time=True,
)
