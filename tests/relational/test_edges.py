"""Queries at the edges: times at the ends of int64, sides without rows, adjacent spans, and refused values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from dctv.functions.span.groups import AGGREGATED, DEPARTITION, SPAN_GROUP
from dctv.functions.span.joins import EVENT_JOIN, SPAN_JOIN
from dctv.functions.span.series import NEST, SERIES
from tests.kernels.tables import Row, make
from tests.relational.forms import as_query, as_sweep, both_agree

FIRST, LAST = -(2**63), 2**63 - 1
WIDE = [(FIRST, 5, None, 1), (FIRST + 5, LAST, None, 2), (LAST - 6, 5, None, 3), (LAST - 1, 1, None, None)]
SHORT = [(FIRST, 1, None, 10), (-1, 2, None, 20), (LAST - 9, 8, None, 30), (LAST - 1, 1, None, 40)]
TOUCHING = [(0, 5, "a", 1), (0, 1, None, 2), (1, 1, None, 3), (5, 5, "a", 4), (12, 1, "", 5)]
TABLES: dict[str, list[Row]] = {"none": [], "wide": WIDE, "short": SHORT, "touching": TOUCHING}
HOWS = ["inner", "outer", "left", "right"]


def spans(rows: list[Row]) -> pa.Table:
    return make("_ts _duration k v", sorted(rows, key=lambda row: row[0]), k=pa.string()).whole()


def flat(rows: list[Row]) -> pa.Table:
    """Return spans without their partitions, those of NULL."""
    return spans([row for row in rows if row[2] is None]).drop_columns(["k"])


@pytest.mark.parametrize("a", TABLES)
@pytest.mark.parametrize("b", TABLES)
def test_span_operators(a: str, b: str) -> None:
    left, right = spans(TABLES[a]), spans(TABLES[b])
    options: dict[str, Any] = {"partitions": 1, "names": ["_ts", "_duration", "k", "a", "b"]}
    for how in HOWS:
        both_agree(SPAN_JOIN, [left, right], {**options, "how": how, "broadcast": None})
    for how in ("inner", "left"):
        both_agree(SPAN_JOIN, [left, flat(TABLES[b])], {**options, "how": how, "broadcast": "right"})
    names = ["group", "_ts", "_duration", "g", "k", "present", "t", "d", "v"]
    for more in ([], [left.select(["k"]).group_by("k").aggregate([])]):
        group = [left, flat(TABLES[b]), *more]
        both_agree(SPAN_GROUP, group, {"events": False, "partitions": 1, "names": names})
    events = left.select(["_ts", "k", "v"])
    for how, broadcast in (("inner", None), ("left", None), ("left", "right"), ("inner", "left")):
        sides = [events, right]
        if broadcast is not None:
            sides = [events, flat(TABLES[b])] if broadcast == "right" else [events.drop_columns(["k"]), right]
        chosen = {"how": how, "broadcast": broadcast, "partitions": 1, "names": ["_ts", "k", "a", "b"]}
        both_agree(EVENT_JOIN, sides, chosen)


@pytest.mark.parametrize("rows", TABLES)
def test_departition(rows: str) -> None:
    table = spans([(ts, length, key or "n", v) for ts, length, key, v in TABLES[rows]])
    options = {"partitions": 1, "keep": []}
    both_agree(DEPARTITION, [table], {**options, "names": ["i", "_ts", "_duration", "k", "v"]}, skip=1)
    aggregates = [("sum", 0), ("max", 0), ("count", None)]
    names = ["_ts", "_duration", "s", "m", "c"]
    both_agree(AGGREGATED, [table], {**options, "aggregates": aggregates, "names": names})


@pytest.mark.parametrize("close_at", [None, LAST, 0])
def test_series(close_at: int | None) -> None:
    times = [FIRST // 2, FIRST // 2, -1, 0, 7, 7, LAST]
    starts = make("_ts k v", [(t, "ab"[n % 2], n) for n, t in enumerate(times)], k=pa.string()).whole()
    stops = make("_ts k v", [(3, "a", 1), (7, "b", 2)], k=pa.string()).whole()
    columns = [(0, 0, "rising"), (1, 0, "falling"), (0, 0, "falling")]
    options = {"partitions": 1, "starts": [True, False], "columns": columns, "close_at": close_at}
    options |= {"names": ["_ts", "_duration", "k", "x", "y", "z"]}
    both_agree(SERIES, [starts, stops], options)


def test_events_of_equal_time_keep_their_order() -> None:
    rows = [(n // 1000, None, (n * 7919) % 100_003) for n in range(200_000)]
    starts = make("_ts k v", rows, k=pa.string()).whole()
    names = ["_ts", "_duration", "k", "x"]
    options = {"partitions": 1, "starts": [True], "columns": [(0, 0, "rising")], "close_at": 500, "names": names}
    both_agree(SERIES, [starts], options)


def test_blocks_of_a_long_span_are_whole() -> None:
    rows = [(n * 2, 1, n) for n in range(5000)]
    short = make("_ts _duration v", rows).whole()
    long = make("_ts _duration k v", [(0, 3000, "a", 1), (1, 9998, "b", 2), (3000, 9000, "a", 3)], k=pa.string())
    names = ["_ts", "_duration", "k", "a", "b"]
    for how in ("inner", "left"):
        options = {"how": how, "broadcast": "right", "partitions": 1, "names": names}
        both_agree(SPAN_JOIN, [long.whole(), short], options)


def test_deep_and_crossing_calls() -> None:
    rows: list[Row] = [(n, 1, 1, None) for n in range(50)]
    rows += [(50, 1, 0, 30), (51, 1, 0, 40), (51, 1, -1, None), (52, 1, 0, 1), (52, 1, 0, 0), (52, 1, 0, 0)]
    rows += [(80, 1, 0, 5), (81, 1, -1, None), (95, 1, 1, None)]
    calls = make("_ts tid kind duration", rows, kind=pa.int8()).whole()
    options = {"partitions": 1, "names": ["_ts", "_duration", "tid", "id", "parent_id", "depth"]}
    assert as_query(NEST, [calls], options) == as_sweep(NEST, [calls], options)


def failure(execute: Callable[..., object], *arguments: object) -> str:
    """Return the message of the error that a call raises."""
    with pytest.raises((duckdb.Error, pa.ArrowException, ValueError, OSError)) as caught:
        execute(*arguments)
    return str(caught.value)


BAD: dict[str, tuple[list[Row], str]] = {
    "overlap": ([(0, 5, "x", 1), (4, 5, "x", 2)], "spans overlap: [0, 5) and [4, 9) in partition k=x"),
    "no length": ([(3, 0, None, 1)], "the duration of a span is positive, found 0 at _ts 3 in partition k=NULL"),
    "backward": ([(3, -1, "x", 1)], "the duration of a span is positive, found -1 at _ts 3 in partition k=x"),
    "too late": (
        [(LAST, 1, "x", 1)],
        f"beyond the end of time: duration 1 at _ts {LAST} in partition k=x",
    ),
    "no duration": ([(3, None, "x", 1)], "the duration of a span is positive, found NULL at _ts 3 in partition k=x"),
    "no time": ([(None, 3, "x", 1)], "the start of a span is NULL: duration 3 in partition k=x"),
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("how", HOWS)
def test_refused_spans(bad: str, how: str) -> None:
    rows, message = BAD[bad]
    table = make("_ts _duration k v", rows, k=pa.string()).whole()
    names = ["_ts", "_duration", "k", "a", "b"]
    options = {"how": how, "broadcast": None, "partitions": 1, "names": names}
    for good in (spans([]), spans(TOUCHING)):
        for sides, role in (([table, good], "left"), ([good, table], "right")):
            for execute in (as_sweep, as_query):
                assert f"{message} ({role} input)" in failure(execute, SPAN_JOIN, sides, options)


@pytest.mark.parametrize("bad", BAD)
def test_refused_departitions(bad: str) -> None:
    rows, message = BAD[bad]
    table = make("_ts _duration k v", rows, k=pa.string()).whole()
    names = ["_ts", "_duration", "c"]
    options = {"partitions": 1, "keep": [], "aggregates": [("count", None)], "names": names}
    for execute in (as_sweep, as_query):
        assert f"{message} (partitioned input)" in failure(execute, AGGREGATED, [table], options)


def test_refused_sums() -> None:
    table = spans([(0, 5, "a", LAST), (2, 5, "b", LAST)])
    options = {"partitions": 1, "keep": [], "aggregates": [("sum", 0)], "names": ["_ts", "_duration", "s"]}
    for execute in (as_sweep, as_query):
        found = failure(execute, AGGREGATED, [table], options)
        assert f"the sum at 2 exceeds Int64: {2 * LAST}" in found


def test_refused_series() -> None:
    table = make("_ts v", [(FIRST, 1), (0, 2)]).whole()
    options = {"partitions": 0, "starts": [True], "columns": [], "close_at": None, "names": ["_ts", "_duration"]}
    for execute in (as_sweep, as_query):
        found = failure(execute, SERIES, [table], options)
        assert f"span from {FIRST} to 0 is longer than a duration can say" in found


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(4, 1, 5, None)], "kind is not -1, 0 or 1 at 4 in partition tid=1"),
        ([(4, 1, None, None)], "kind is not -1, 0 or 1 at 4 in partition tid=1"),
        ([(4, 1, 0, None)], "complete call without a possible duration at 4 in partition tid=1"),
        ([(4, 1, 0, -1)], "complete call without a possible duration at 4 in partition tid=1"),
        ([(4, 1, 0, LAST)], "complete call without a possible duration at 4 in partition tid=1"),
        ([(FIRST, 1, 1, None), (0, 1, -1, None)], "call is longer than a duration can say at 0 in partition tid=1"),
    ],
)
def test_refused_calls(rows: list[Row], message: str) -> None:
    calls = make("_ts tid kind duration", rows, kind=pa.int8()).whole()
    options = {"partitions": 1, "names": ["_ts", "_duration", "tid", "id", "parent_id", "depth"]}
    for execute in (as_sweep, as_query):
        assert message in failure(execute, NEST, [calls], options)
