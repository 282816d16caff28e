"""Long streams through the sweeps of one table: payload stays with its row, and silent partitions hold nothing."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dctv import _kernels as kernels

BATCHES = 120
SIZE = 50_000
SCHEMA = pa.schema([(name, pa.int64()) for name in ("_ts", "_duration", "cpu", "x")])
OF: dict[str, Any] = {"partitions": 1, "names": SCHEMA.names}

SWEEPS: dict[str, Callable[[Any], Any]] = {
    "checked": lambda spans: kernels.checked(spans, events=False, disjoint=True, **OF),
    "fill gaps": lambda spans: kernels.fill_gaps(spans, keep=True, **OF),
    "merge": lambda spans: kernels.merge_adjacent(spans, **OF),
    "truncate": lambda spans: kernels.truncate(spans, **OF),
    "flatten": lambda spans: kernels.flatten(spans, **OF),
    "zoom": lambda spans: kernels.zoom(
        spans, partitions=1, step=1, names=["_ts", "_duration", "cpu", "count", "total", "longest", "x"]
    ),
    "zoom counter": lambda spans: kernels.zoom_counter(
        spans, partitions=1, step=1, names=["_ts", "_duration", "cpu", "min", "max", "x", "mean"]
    ),
    "lanes": lambda spans: kernels.lanes(spans, partitions=1, names=["_ts", "_duration", "cpu", "lane", "x"]),
}


@pytest.mark.parametrize("name", SWEEPS)
def test_chunks_are_freed(name: str) -> None:
    """One partition has a span that never ends; of the others each is met in one batch only."""
    alive: set[int] = set()
    most = 0

    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal most
        yield pa.record_batch([[0], [1 << 60], [-1], [-1]], schema=SCHEMA)
        for number in range(BATCHES):
            row = np.arange(number * SIZE, (number + 1) * SIZE)
            payload = row.copy()
            alive.add(number)
            weakref.finalize(payload, alive.discard, number)
            most = max(most, len(alive))
            columns = [row, np.ones(SIZE, np.int64), np.full(SIZE, number), payload]
            yield pa.record_batch(columns, schema=SCHEMA)

    stream = SWEEPS[name](pa.RecordBatchReader.from_batches(SCHEMA, batches()))
    met = 0
    for batch in pa.RecordBatchReader.from_stream(stream):
        ts, x = batch["_ts"].to_numpy(), batch["x"].to_numpy(zero_copy_only=False)
        own = ts[x >= 0] if name == "fill gaps" else ts[batch["cpu"].to_numpy() >= 0]
        found = x[x >= 0]
        assert (own == found).all()
        met += len(found)
    assert met == BATCHES * SIZE
    assert most < 40


def test_counts_of_a_long_stream() -> None:
    """Eight spans overlap at any time but at both ends."""
    ts = np.arange(600_000)
    table = pa.table({"_ts": ts, "_duration": np.full(len(ts), 8)})
    names = ["_ts", "_duration", "open"]
    found = pa.RecordBatchReader.from_stream(
        kernels.concurrency(table, partitions=0, names=names, merge=True)
    ).read_all()
    expected = [(n, 1, n + 1) for n in range(7)]
    expected += [(7, 600_000 - 7, 8)]
    expected += [(600_000 + n, 1, 7 - n) for n in range(7)]
    assert list(zip(*(found[name].to_pylist() for name in names), strict=True)) == expected
