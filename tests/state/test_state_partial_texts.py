"""Partial histories of texts and spans: the same text again is no change, whichever part of the history it is in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dctv.state import PartialStateSystem, StateSystem
from tests.bounds import bounded

TextChange = tuple[int, str, str | None]
COLUMNS = ("_ts", "_duration", "quark", "path", "number", "real", "text")
CHANGES = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc"), st.sampled_from(["r", "s", "t", None])))


def batches(changes: Sequence[TextChange], first: int = 0, last: int = 1 << 40) -> list[pa.RecordBatch]:
    """Return changes within a range of times, as Arrow columns."""
    found = [one for one in changes if first <= one[0] <= last]
    times, names, texts = zip(*found, strict=True) if found else ((), (), ())
    columns = {"time": pa.array(times, pa.int64()), "path": pa.array(names, pa.string())}
    return [pa.record_batch({**columns, "value": pa.array(texts, pa.string())})]


def rows(system: StateSystem, **asked: Any) -> list[tuple[Any, ...]]:
    """Return spans of all attributes."""
    stream = system.spans(range(system.attribute_count), COLUMNS, **asked)
    table = pa.RecordBatchReader.from_stream(stream).read_all()
    return sorted(zip(*(column.to_pylist() for column in table.columns), strict=True), key=lambda row: (row[2], row[0]))


def same(changes: Sequence[TextChange], granularity: int) -> None:
    """Compare spans of a partial history with those of a full one."""
    end = 5 + max((one[0] for one in changes), default=0)
    full = StateSystem.in_memory()
    with TemporaryDirectory() as folder:

        def replay(first: int, last: int) -> list[pa.RecordBatch]:
            return batches(changes, first, last)

        partial = PartialStateSystem.build(Path(folder) / "partial", replay, granularity=granularity)
        for system in (full, partial):
            system.apply(batches(changes)[0])
            system.close(end)
        middle = end // 2
        asking: list[dict[str, Any]] = [{}, {"first": middle // 2, "last": middle}, {"times": [0, 1, middle, end]}]
        outside: list[dict[str, Any]] = [{"last": -1}, {"first": -9, "last": middle}, {"first": middle, "last": 1}]
        for asked in (*asking, *outside, {"times": []}, {"times": [-3]}, {"times": [-3, middle]}):
            assert rows(partial, **asked) == rows(full, **asked)


def test_the_same_text_again_is_no_change() -> None:
    for granularity in (1, 2, 3, 100):
        same([(1, "a", "r"), (5, "a", "s"), (9, "a", "s")], granularity)


@given(CHANGES, st.sampled_from([1, 2, 5, 1000]))
@bounded(60)
def test_spans_of_texts_match_a_full_history(steps: list[TextChange], granularity: int) -> None:
    time, changes = 0, []
    for step, name, text in steps:
        time += step
        changes.append((time, name, text))
    same(changes, granularity)
