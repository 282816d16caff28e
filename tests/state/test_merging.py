"""Streams in order of time are merged as one stable sort of all their rows would do."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dctv.run.merging import merged
from tests.bounds import bounded

TIMES = st.one_of(st.integers(0, 6), st.none())
STREAMS = st.lists(st.lists(st.lists(TIMES, max_size=5), max_size=5), max_size=4)
Row = tuple[int | None, int, int]


def _late(row: Row) -> tuple[bool, int]:
    return row[0] is None, row[0] or 0


def _batch(rows: Sequence[Row]) -> pa.RecordBatch:
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    names = ["time", "stream", "row"]
    return pa.RecordBatch.from_arrays([pa.array(column, pa.int64()) for column in columns], names)


@bounded(300)
@given(STREAMS)
def test_merged(drawn: list[list[list[int | None]]]) -> None:
    streams, everything = [], []
    for number, sizes in enumerate(drawn):
        times = sorted((time for one in sizes for time in one), key=lambda time: (time is None, time or 0))
        rows = [(time, number, row) for row, time in enumerate(times)]
        everything += rows
        rest = iter(rows)
        streams.append([_batch([next(rest) for _ in one]) for one in sizes])
    found = [tuple(row.values()) for batch in merged([iter(one) for one in streams]) for row in batch.to_pylist()]
    assert found == sorted(everything, key=_late)
