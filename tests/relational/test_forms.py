"""Every operator's query gives the rows of its sweep, whatever its options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dctv.functions.span.groups import AGGREGATED, DEPARTITION, SPAN_GROUP
from dctv.functions.span.joins import EVENT_JOIN, SPAN_JOIN
from dctv.functions.span.series import NEST, SERIES
from tests.bounds import bounded
from tests.kernels.tables import KEY_SETS, event_tables, make, span_tables
from tests.relational.forms import as_query, as_sweep, both_agree

_settings = bounded(40)
KEYS = st.sampled_from(KEY_SETS)
SOME_KEYS = st.sampled_from(KEY_SETS[1:])


def _keys(count: int) -> list[str]:
    return [f"k{n}" for n in range(count)]


def _tuples(table: pa.Table, keys: Sequence[str]) -> pa.Table:
    return table.select(_keys(len(keys))).group_by(_keys(len(keys))).aggregate([])


@_settings
@given(data=st.data(), keys=KEYS, how=st.sampled_from(["inner", "outer", "left", "right"]))
def test_span_join(data: st.DataObject, keys: list[str], how: str) -> None:
    left, right = data.draw(span_tables(keys, "a")).whole(), data.draw(span_tables(keys, "b")).whole()
    options = {"how": how, "partitions": len(keys), "names": ["_ts", "_duration", *_keys(len(keys)), "a", "b"]}
    both_agree(SPAN_JOIN, [left, right], {**options, "broadcast": None})


@_settings
@given(data=st.data(), keys=SOME_KEYS, side=st.sampled_from(["left", "right"]), inner=st.booleans())
def test_broadcast(data: st.DataObject, keys: list[str], side: str, *, inner: bool) -> None:
    left = data.draw(span_tables([] if side == "left" else keys, "a")).whole()
    right = data.draw(span_tables([] if side == "right" else keys, "b")).whole()
    how = "inner" if inner else {"left": "right", "right": "left"}[side]
    names = ["_ts", "_duration", *_keys(len(keys)), "a", "b"]
    options = {"how": how, "partitions": len(keys), "names": names, "broadcast": side}
    both_agree(SPAN_JOIN, [left, right], options)


@_settings
@given(
    data=st.data(),
    keys=SOME_KEYS,
    form=st.sampled_from([("inner", None), ("left", None), ("inner", "right"), ("left", "right"), ("inner", "left")]),
)
def test_event_join(data: st.DataObject, keys: list[str], form: tuple[str, str | None]) -> None:
    how, side = form
    events = data.draw(event_tables([] if side == "left" else keys, "a")).whole()
    spans = data.draw(span_tables([] if side == "right" else keys, "b")).whole()
    options = {"how": how, "partitions": len(keys), "names": ["_ts", *_keys(len(keys)), "a", "b"], "broadcast": side}
    both_agree(EVENT_JOIN, [events, spans], options)
    if side != "left":
        # Events of equal time stay in their order.
        assert as_query(EVENT_JOIN, [events, spans], options) == as_sweep(EVENT_JOIN, [events, spans], options)


@_settings
@given(data=st.data(), keys=KEYS, kind=st.sampled_from(["events", "spans", "intersect"]))
def test_span_group(data: st.DataObject, keys: list[str], kind: str) -> None:
    events = kind == "events"
    grouped = data.draw((event_tables if events else span_tables)(keys, "a")).whole()
    grouper = data.draw(span_tables([], "g")).whole()
    names = ["group", "_ts", "_duration", "g", *_keys(len(keys)), "present", "t", *([] if events else ["d"]), "a"]
    inputs = [grouped, grouper]
    if kind == "intersect" and keys:
        inputs.append(_tuples(grouped, keys))
    both_agree(SPAN_GROUP, inputs, {"events": events, "partitions": len(keys), "names": names})


@_settings
@given(data=st.data(), keys=SOME_KEYS, intersect=st.booleans())
def test_partition_pieces(data: st.DataObject, keys: list[str], *, intersect: bool) -> None:
    spans = data.draw(span_tables(keys, "a")).whole()
    keep = data.draw(st.sampled_from([[], [0], [1]][: len(keys) + 1]))
    names = ["interval", "_ts", "_duration", *_keys(len(keys)), "a"]
    inputs = [spans, _tuples(spans, keys)] if intersect else [spans]
    options = {"partitions": len(keys), "keep": keep, "names": names}
    both_agree(DEPARTITION, inputs, options, skip=1)
    intervals: dict[int, set[Any]] = {}
    for row in as_query(DEPARTITION, inputs, options):
        intervals.setdefault(row[0], set()).add((row[1], row[2], *(row[3 + i] for i in keep)))
    assert all(len(found) == 1 for found in intervals.values())
    assert len({next(iter(found)) for found in intervals.values()}) == len(intervals)


@_settings
@given(data=st.data(), keys=SOME_KEYS, intersect=st.booleans())
def test_departition(data: st.DataObject, keys: list[str], *, intersect: bool) -> None:
    spans = data.draw(span_tables(keys, "a")).whole()
    numbers = st.sampled_from([None, -3, 0, 5, 2**61, -(2**61)])
    column = pa.array(data.draw(st.lists(numbers, min_size=len(spans), max_size=len(spans))), pa.int64())
    spans = spans.append_column("v", column).append_column("f", column.cast(pa.float64(), safe=False))
    keep = data.draw(st.sampled_from([[], [0], [1]][: len(keys) + 1]))
    every = [("count", None), ("count", 0), ("sum", 1), ("min", 1), ("max", 1), ("avg", 1), ("min", 2), ("max", 2)]
    aggregates = data.draw(st.lists(st.sampled_from(every), max_size=4))
    names = ["_ts", "_duration", *(f"k{i}" for i in keep), *(f"r{i}" for i in range(len(aggregates)))]
    inputs = [spans, _tuples(spans, keys)] if intersect else [spans]
    options = {"partitions": len(keys), "keep": keep, "aggregates": aggregates, "names": names}
    both_agree(AGGREGATED, inputs, options)


@_settings
@given(data=st.data(), keys=KEYS)
def test_series(data: st.DataObject, keys: list[str]) -> None:
    count = data.draw(st.integers(1, 3))
    tables = [data.draw(event_tables(keys, f"s{number}")).whole() for number in range(count)]
    edge = st.tuples(st.integers(0, count - 1), st.just(0), st.sampled_from(["rising", "falling"]))
    columns = data.draw(st.lists(edge, max_size=4))
    options = {
        "starts": [data.draw(st.booleans()) for _ in tables],
        "partitions": len(keys),
        "columns": columns,
        "close_at": data.draw(st.none() | st.integers(0, 25)),
        "names": ["_ts", "_duration", *_keys(len(keys)), *(f"c{n}" for n in range(len(columns)))],
    }
    both_agree(SERIES, tables, options)


@_settings
@given(data=st.data(), kinds=st.sampled_from([[0], [1, -1], [0, 1, -1]]))
def test_nest(data: st.DataObject, kinds: list[int]) -> None:
    call = st.tuples(st.integers(0, 12), st.sampled_from([1, 2, None]), st.sampled_from(kinds), st.integers(0, 8))
    drawn = sorted(data.draw(st.lists(call, max_size=16)), key=lambda row: row[0])
    rows = [(t, tid, kind, d if kind == 0 else None, f"f{n}") for n, (t, tid, kind, d) in enumerate(drawn)]
    calls = make("_ts tid kind duration name", rows, kind=pa.int8(), name=pa.string()).whole()
    names = ["_ts", "_duration", "tid", "id", "parent_id", "depth", "name"]
    options = {"partitions": 1, "names": names}
    assert as_query(NEST, [calls], options) == as_sweep(NEST, [calls], options)
