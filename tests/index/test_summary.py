"""The statistics of chunks, added up, are those of all events."""

from __future__ import annotations

import dataclasses
import json
import math
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv._kernels import chunk_statistics
from dctv.errors import IndexUnusable
from dctv.index.keeper import ensure
from dctv.index.records import ChunkSummary, DimensionStatistics
from dctv.index.summary import QUANTILES, DurationSummary, IndexStatistics, Summary, summarize
from tests.bounds import bounded
from tests.index.notes import plan_of, trace_of, write_notes

Row = dict[str, Any]
LONG = 1 << 63


@dataclass
class Chunks:
    """What an index would say of some chunks."""

    summaries: Sequence[ChunkSummary]
    dimensions: Mapping[str, Sequence[DimensionStatistics]]
    counts: Mapping[tuple[str, str], int]

    def dimension(self, name: str) -> Sequence[DimensionStatistics] | None:
        return self.dimensions.get(name)

    def event_counts(self) -> Mapping[tuple[str, str], int]:
        return self.counts


def indexed(chunks: Sequence[Sequence[Row]]) -> Chunks:
    """Make the statistics of chunks of events."""
    summaries, counts = [], Counter[tuple[str, str]]()
    dimensions: dict[str, list[DimensionStatistics]] = {}
    for rows in chunks:
        found = chunk_statistics(batches(rows), [("pid", "pid")])
        columns = found["statistics"]
        summaries.append(ChunkSummary(**{f.name: columns[f.name] for f in dataclasses.fields(ChunkSummary)}))
        for category, name, _, number in found["event_ranges"]:
            counts[category, name] += number
        for row in found["dimensions"]:
            dimensions.setdefault(row["dimension"], []).append(
                DimensionStatistics(
                    row["distinct_count"],
                    row["null_count"],
                    row["min_value"],
                    row["max_value"],
                    row["value_type"],
                    row["value_counts"],
                )
            )
    return Chunks(summaries, dimensions, counts)


def batches(rows: Sequence[Row]) -> list[tuple[str, pa.RecordBatch]]:
    """Sort events into batches by name."""
    kinds = {"_ts": pa.int64(), "dur": pa.int64(), "cat": pa.utf8(), "pid": pa.int64()}
    found = []
    for name in sorted({row["name"] for row in rows}):
        lines = [i for i, row in enumerate(rows) if row["name"] == name]
        columns = {key: pa.array([rows[i][key] for i in lines], type=kind) for key, kind in kinds.items()}
        columns["dctv:line"] = pa.array(lines, type=pa.uint32())
        found.append((name, pa.record_batch(columns)))
    return found


def known(index: IndexStatistics, **options: Any) -> Summary:
    """Summarize what must be known."""
    summary = summarize(index, **options)
    assert summary is not None
    return summary


EVENTS = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.sampled_from(["read", "write", "step"]),
            "_ts": st.integers(0, 1000),
            "dur": st.one_of(st.none(), st.integers(0, 99), st.integers(0, LONG - 2000)),
            "cat": st.sampled_from([None, "POSIX", "APP"]),
            "pid": st.sampled_from([None, 1, -7, 40_000]),
        }
    ),
    max_size=20,
)


@bounded(150)
@given(st.lists(EVENTS, min_size=1, max_size=4), st.booleans())
def test_a_summary_matches_all_events(chunks: list[list[Row]], with_categories: Any) -> None:
    rows = [row for chunk in chunks for row in chunk]
    summary = known(indexed(chunks), categories=with_categories)
    assert summary.events == len(rows)
    assert summary.first == min((row["_ts"] for row in rows), default=None)
    assert summary.last == max((row["_ts"] for row in rows), default=None)
    assert summary.end == max((row["_ts"] + (row["dur"] or 0) for row in rows), default=None)
    assert summary.categories == Counter(row["cat"] if with_categories else None for row in rows)
    assert summary.processes == Counter(row["pid"] for row in rows)
    check_durations(summary.durations, rows)
    assert [named.name for named in summary.names] == sorted({row["name"] for row in rows})
    for named in summary.names:
        own = [row for row in rows if row["name"] == named.name]
        assert named.events == len(own)
        counts = Counter(row["cat"] for row in own)
        most = min((category for category in counts if counts[category] == max(counts.values())), key=lambda c: c or "")
        assert named.category == (most if with_categories else None)
        check_durations(named.durations, own)


def check_durations(found: DurationSummary, rows: Sequence[Row]) -> None:
    """Compare figures of durations with those of the durations themselves."""
    wanted = sorted(row["dur"] for row in rows if row["dur"] is not None)
    if not wanted:
        assert found == DurationSummary()
        return
    mean = Fraction(sum(wanted), len(wanted))
    assert (found.count, found.total, found.mean) == (len(wanted), sum(wanted), mean)
    assert found.variance == sum((value - mean) ** 2 for value in wanted) / len(wanted)
    assert (found.least, found.most) == (wanted[0], wanted[-1])
    assert found.histogram == tuple(Counter(value.bit_length() for value in wanted)[bits] for bits in range(65))
    for q, quantile in zip(QUANTILES, found.quantiles, strict=True):
        exact = wanted[max(1, len(wanted) - math.floor(len(wanted) - len(wanted) * q)) - 1]
        assert quantile is not None
        assert 100 * abs(Fraction(quantile) - exact) <= exact


def two_chunks() -> Chunks:
    """Make the statistics of two events in two chunks."""
    row = {"name": "read", "_ts": 5, "dur": 7, "cat": "POSIX", "pid": 1}
    return indexed([[row], [{**row, "dur": None}]])


def test_processes_are_unknown_without_all_dictionaries() -> None:
    assert known(two_chunks()).processes == {1: 2}
    assert known(two_chunks(), pid="tid").processes is None
    assert known(two_chunks(), pid=None).processes == {None: 2}
    chunks = two_chunks()
    pids = list(chunks.dimensions["pid"])
    pids[1] = dataclasses.replace(pids[1], counts=None)
    assert known(dataclasses.replace(chunks, dimensions={"pid": pids})).processes is None
    assert known(chunks, pid="name").processes is None


def test_too_many_names_leave_all_unknown() -> None:
    row = {"_ts": 5, "dur": 7, "cat": "POSIX", "pid": 1}
    assert known(indexed([[{**row, "name": f"n{i}"} for i in range(1024)]])).durations.count == 1024
    assert summarize(indexed([[{**row, "name": f"n{i}"} for i in range(1025)]])) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"name_duration_counts": "{"},
        {"name_duration_counts": json.dumps({"read": 2})},
        {"name_duration_counts": json.dumps({"write": 1})},
        {"name_duration_sums": "{}"},
        {"name_duration_sums": json.dumps({"read": "x"})},
        {"name_duration_sum_sqs": "[]"},
        {"name_duration_ranges": json.dumps({"write": [1, 2]})},
        {"name_duration_ranges": json.dumps({"read": 3})},
        {"name_duration_sketches": b"x"},
        {"name_duration_sketches": zlib.compress(b"\x01\x00\x00\x00")},
        {"name_duration_sketches": zlib.compress(b"\x00\x00\x00\x00x")},
        {"name_duration_sketches": zlib.compress(bytes(4))},
        {"name_duration_sketches": zlib.compress(bytes(4))[:-3]},
        {"total_events": 3},
    ],
)
def test_statistics_that_contradict_themselves_are_refused(changes: dict[str, Any]) -> None:
    chunks = two_chunks()
    first, second = chunks.summaries
    damaged = dataclasses.replace(chunks, summaries=[dataclasses.replace(first, **changes), second])
    with pytest.raises(IndexUnusable, match=r"^error: the statistics of the index are damaged: "):
        summarize(damaged)


def test_a_dictionary_that_is_none_is_refused() -> None:
    chunks = two_chunks()
    for blob in (b"x", zlib.compress(b"\x01\x00\x00\x00\x05\x00"), zlib.compress(bytes(5))):
        pids = [dataclasses.replace(one, counts=blob) for one in chunks.dimensions["pid"]]
        with pytest.raises(IndexUnusable, match=r"^error: the statistics of the index are damaged: "):
            summarize(dataclasses.replace(chunks, dimensions={"pid": pids}))


def test_an_index_file_is_summarized(tmp_path: Path) -> None:
    trace = trace_of(write_notes(tmp_path / "a.notes", 1000), write_notes(tmp_path / "b.notes", 500, seed=3))
    index, _ = ensure(trace, plan_of(trace, tmp_path / "idx"))
    summary = known(index, pid=None)
    index.close()
    assert (summary.events, summary.first, summary.last, summary.end) == (1500, 1000, 10_990, 11_003)
    assert summary.categories == {"POSIX": 1200, "STDIO": 300}
    assert [(named.name, named.category, named.events) for named in summary.names] == [
        ("read", "POSIX", 999),
        ("write", "POSIX", 501),
    ]
    durations = [(i + seed) % 17 for lines, seed in ((1000, 0), (500, 3)) for i in range(lines)]
    assert (summary.durations.count, summary.durations.total) == (1500, sum(durations))
    assert summary.durations.quantiles == (8.0, 15.0, 16.0)
