"""Rows that come to a worker of an engine are divided into the groups that an operator sees."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import pyarrow as pa
import pytest

from dctv.engines.spark import sweeps
from dctv.engines.spark.sweeps import BUCKET, SIDE, SLAB, Slabs, SweepGroup, SweepInput

TIMED = SweepInput(pa.schema({"_ts": pa.int64(), "name": pa.string()}), ("c0", "c2"), timed=True)
PLAIN = SweepInput(pa.schema({"x": pa.int64(), "y": pa.int64()}), ("c1", "c0"), timed=False)
INPUTS = (TIMED, PLAIN)


def group(*, slabs: bool, apart: bool) -> SweepGroup:
    return SweepGroup(lambda *_: pa.table({}), INPUTS, None, Slabs(0, 10, 4) if slabs else None, {}, apart)


def batches(made: random.Random, count: int, pieces: int) -> list[pa.RecordBatch]:
    """Return rows of both inputs in batches; those of a batch are in order of time, as in a file."""
    found = []
    for number in range(pieces):
        sides = made.choice([(0,), (1,), (0, 1)])
        times = sorted(made.randint(0, 40) for _ in range(count))
        rows = [
            {
                SIDE: made.choice(sides),
                BUCKET: made.randint(0, 2),
                SLAB: made.randint(0, 3),
                "c0": time,
                "c1": number,
                "c2": f"{number}.{place}",
            }
            for place, time in enumerate(times)
        ]
        found.append(pa.RecordBatch.from_pylist(rows))
    return found


@pytest.mark.parametrize("piece", [1, 256])
@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("slabs", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_rows_are_those_of_each_group(
    seed: int, *, slabs: bool, apart: bool, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeps, "_PIECE", piece)
    made = random.Random(seed)
    given = batches(made, 5, seed + 1)
    expected: dict[tuple[int, int], list[list[dict[str, Any]]]] = defaultdict(lambda: [[], []])
    for row in (row for batch in given for row in batch.to_pylist()):
        key = (row[SLAB] if slabs else 0, row[BUCKET] if apart else 0)
        own = INPUTS[row[SIDE]]
        expected[key][row[SIDE]].append(
            {name: row[column] for name, column in zip(own.schema.names, own.columns, strict=True)}
        )
    found = list(group(slabs=slabs, apart=apart)._divided(given))
    assert [slab for slab, _ in found] == [slab for slab, _ in sorted(expected)]
    for (_, tables), key in zip(found, sorted(expected), strict=True):
        timed, plain = (one.to_pylist() for one in tables)
        assert [one.schema for one in tables] == [one.schema for one in INPUTS]
        # Rows of one time stay in the order in which they came.
        assert timed == sorted(expected[key][0], key=lambda row: row["_ts"])
        assert plain == expected[key][1]
