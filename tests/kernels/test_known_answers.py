"""The span tables of the benchmarks, a million rows each: rows and sums that other engines agree on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from dctv import _kernels as kernels

N = 1_000_000
ROW = np.arange(N, dtype=np.int64)


def table(step: int, lead: int, shortest: int, factor: int, modulus: int, parts: int) -> pa.Table:
    ts = (ROW // parts) * 1000 + (ROW % parts) * step + lead
    columns = {"_ts": ts, "_duration": shortest + (ROW * factor) % modulus, "cpu": ROW % parts, "x": ROW}
    return pa.table(columns if parts > 1 else {name: columns[name] for name in ("_ts", "_duration", "x")})


A = table(13, 0, 400, 7919, 600, 8)
B = table(17, 250, 300, 104729, 700, 8)
A1 = table(0, 0, 400, 7919, 600, 1)
B1 = table(0, 250, 300, 104729, 700, 1)


def totals(stream: Any, duration: str = "_duration") -> tuple[int, int]:
    found = pa.RecordBatchReader.from_stream(stream).read_all()
    return found.num_rows, pc.sum(found[duration]).as_py()


@pytest.mark.parametrize(
    ("how", "wanted"),
    [
        ("inner", (1_375_712, 452_225_362)),
        ("left", (2_600_948, 699_501_400)),
        ("outer", (3_373_092, 896_777_638)),
    ],
)
def test_span_joins(how: Any, wanted: tuple[int, int]) -> None:
    names = ["_ts", "_duration", "cpu", "a", "b"]
    assert totals(kernels.span_join(A, B, how=how, partitions=1, names=names)) == wanted


def test_unpartitioned_join() -> None:
    names = ["_ts", "_duration", "a", "b"]
    found = totals(kernels.span_join(A1, B1, how="inner", partitions=0, names=names))
    assert found == (1_355_714, 457_823_853)


def test_broadcast() -> None:
    first = B.filter(pc.equal(B["cpu"], 0)).drop_columns(["cpu"])
    names = ["_ts", "_duration", "cpu", "a", "b"]
    stream = kernels.span_join(A, first, how="inner", broadcast="right", partitions=1, names=names)
    assert totals(stream) == (1_288_571, 475_754_736)


def test_windows() -> None:
    windows = pa.table({"_ts": np.arange(125) * 1_000_000, "_duration": np.full(125, 1_000_000)})
    names = ["group", "g_ts", "g_duration", "cpu", "present", "_ts", "_duration", "x"]
    stream = kernels.span_pieces(A, windows, events=False, partitions=1, names=names)
    found = pa.RecordBatchReader.from_stream(stream).read_all()
    assert len(found.group_by(["group", "cpu"]).aggregate([])) == 1000
    assert pc.sum(found["_duration"]).as_py() == 699_501_360


def test_how_many_spans_are_open() -> None:
    names = ["_ts", "_duration", "n"]
    stream = kernels.departition(A, partitions=1, keep=[], aggregates=[("count", None)], names=names)
    found = pa.RecordBatchReader.from_stream(stream).read_all()
    assert pc.max(found["n"]).as_py() == 8
    assert pc.sum(pc.multiply(found["n"], found["_duration"])).as_py() == 699_501_400
    edges = pa.concat_arrays([A["_ts"].combine_chunks(), pc.add(A["_ts"], A["_duration"]).combine_chunks()])
    assert set(found["_ts"].to_pylist()) <= set(edges.to_pylist())
