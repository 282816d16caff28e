"""Streams long enough that chunks are let go: every row still carries its own payload, and memory does not grow."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from dctv import _kernels as kernels

N = 600_000
ROW = np.arange(N, dtype=np.int64)
TS = (ROW // 8) * 1000 + (ROW % 8) * 13
DURATION = 400 + (ROW * 7919) % 600
SPANS = pa.table({"_ts": TS, "_duration": DURATION, "cpu": ROW % 8, "x": ROW})
EVENTS = SPANS.drop_columns(["_duration"])
WINDOWS = pa.table(
    {"_ts": np.arange(0, int(TS[-1]) + 2000, 500_000), "_duration": np.full(-(-int(TS[-1] + 2000) // 500_000), 500_000)}
)


def read(stream: Any) -> dict[str, Any]:
    found = pa.RecordBatchReader.from_stream(stream).read_all()
    return {name: found[name].to_numpy() for name in found.column_names}


def inside(found: dict[str, Any], x: Any) -> bool:
    """Say whether each piece lies within the span its payload names, in the same partition."""
    starts, ends = TS[x] <= found["_ts"], found["_ts"] + found["_duration"] <= TS[x] + DURATION[x]
    return bool(starts.all() and ends.all() and (found["cpu"] == x % 8).all())


def test_outer_join() -> None:
    names = ["_ts", "_duration", "cpu", "a", "b"]
    found = read(kernels.span_join(SPANS, SPANS, how="outer", partitions=1, names=names))
    assert (found["a"] == ROW).all()
    assert (found["b"] == ROW).all()
    assert inside(found, found["a"])


def test_event_join() -> None:
    stream = kernels.event_join(EVENTS, SPANS, how="inner", partitions=1, names=["_ts", "cpu", "event", "span"])
    found = read(stream)
    assert (found["event"] == ROW).all()
    assert (found["span"] == ROW).all()


def test_groups_and_their_intersection() -> None:
    names = ["group", "g_ts", "g_duration", "cpu", "present", "_ts", "_duration", "x"]
    counts = []
    for tuples in (None, pa.table({"cpu": np.arange(8)})):
        stream = kernels.span_pieces(SPANS, WINDOWS, events=False, partitions=1, intersect=tuples, names=names)
        table = pa.RecordBatchReader.from_stream(stream).read_all()
        found = read(table.filter(table["present"]))
        assert inside(found, found["x"])
        counts.append(found["_duration"].sum())
    assert counts[0] == DURATION.sum()
    assert 0 < counts[1] < counts[0]


def test_departition() -> None:
    names = ["interval", "_ts", "_duration", "cpu", "x"]
    found = read(kernels.partition_pieces(SPANS, partitions=1, keep=[], names=names))
    assert inside(found, found["x"])
    assert found["_duration"].sum() == DURATION.sum()


def test_series() -> None:
    names = ["_ts", "_duration", "cpu", "opened", "closed"]
    columns: Any = [(0, 0, "rising"), (0, 0, "falling")]
    found = read(kernels.series_to_spans([EVENTS], starts=[True], partitions=1, columns=columns, names=names))
    assert (found["opened"] == ROW[:-8]).all()
    assert (found["closed"] == ROW[8:]).all()


def test_nest() -> None:
    arrays = {"_ts": TS, "cpu": ROW % 8, "kind": np.zeros(N, np.int8), "duration": DURATION, "x": ROW}
    names = ["_ts", "_duration", "cpu", "id", "parent", "depth", "x"]
    stream, counter = kernels.nest(pa.table(arrays), partitions=1, names=names)
    found = read(stream)
    assert (found["x"] == ROW).all()
    assert (found["id"] == ROW + 1).all()
    assert counter.value == 0


def test_chunks_are_freed_while_a_long_span_is_open() -> None:
    schema = pa.schema([(name, pa.int64()) for name in ("_ts", "_duration", "cpu", "x")])
    alive: set[int] = set()
    most = 0

    def batches(side: int) -> Iterator[pa.RecordBatch]:
        nonlocal most
        yield pa.record_batch([[0], [1 << 60], [99], [7]], schema=schema)
        for number in range(120):
            row = np.arange(number * 50_000, (number + 1) * 50_000)
            payload = row.copy()
            alive.add(2 * number + side)
            weakref.finalize(payload, alive.discard, 2 * number + side)
            most = max(most, len(alive))
            yield pa.record_batch([row, np.ones(50_000, np.int64), np.zeros(50_000, np.int64), payload], schema=schema)

    left, right = (pa.RecordBatchReader.from_batches(schema, batches(side)) for side in range(2))
    names = ["_ts", "_duration", "cpu", "a", "b"]
    stream = kernels.span_join(left, right, how="inner", partitions=1, names=names)
    assert sum(batch.num_rows for batch in pa.RecordBatchReader.from_stream(stream)) == 6_000_001
    assert most < 40
