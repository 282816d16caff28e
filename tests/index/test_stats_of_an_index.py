"""What `dctv stats` makes of an index: the same tables as of the events, but for tildes."""

from __future__ import annotations

import dataclasses
import io
from pathlib import Path

import pytest

from dctv.catalog.files import TraceFiles
from dctv.cli.figures import section
from dctv.cli.measure import TraceMeasure, summarized
from dctv.contracts.reader import Diagnostic, EventColumns, LoadedTrace, TraceTable
from dctv.index.keeper import ensure
from dctv.index.summary import DurationSummary, Summary
from dctv.types.schema import Kind, Schema
from dctv.writers.table import TABLE
from tests.index.notes import notes, plan_of, trace_of, write_notes


def made(tmp_path: Path, event: EventColumns) -> TraceMeasure | None:
    """Index some notes as if their events had these columns, and summarize the index."""
    trace = trace_of(write_notes(tmp_path / "a.notes", 300))
    index, _ = ensure(trace, plan_of(trace, tmp_path / "idx"))
    chunks = notes().chunks
    assert chunks is not None
    lost = Diagnostic("a.notes", "the file ends early", 1, incomplete=True)
    reader = dataclasses.replace(
        notes(),
        chunks=dataclasses.replace(
            chunks,
            tables=lambda _: {"raw_events.read": TraceTable(Schema(Kind.EVENT, ()), None, event)},
            rest=lambda _: LoadedTrace({}, [lost, dataclasses.replace(lost, incomplete=False)], 0),
        ),
    )
    try:
        return summarized(index, TraceFiles(reader, trace.subject.paths))
    finally:
        index.close()


def shown(summary: Summary, name: str) -> str:
    """Print a section as a table."""
    out = io.BytesIO()
    TABLE.write(section(name, summary, readable=False), out)
    return out.getvalue().decode()


def test_quantiles_of_an_index_have_a_tilde(tmp_path: Path) -> None:
    found = made(tmp_path, EventColumns("read", category="cat"))
    assert found is not None
    assert found.incomplete == ["trace: a.notes: the file ends early"]
    assert shown(found.summary, "times") == (
        "events  start [ns]  end [ns]  length [ns]\n"
        "------  ----------  --------  -----------\n"
        "   300        1000      4000         3000\n"
    )
    assert shown(found.summary, "durations") == (
        "timed  sum [ns]  mean [ns]  stddev [ns]  min [ns]  ~p50 [ns]  ~p90 [ns]  ~p99 [ns]  max [ns]\n"
        "-----  --------  ---------  -----------  --------  ---------  ---------  ---------  --------\n"
        "  300      2367       7.89   4.87899238         0          8         15         16        16\n"
    )
    assert shown(found.summary, "categories") == (
        "category  events\n--------  ------\nPOSIX        240\nSTDIO         60\n"
    )
    assert shown(found.summary, "processes") == " pid  events\n----  ------\nNULL     300\n"


def test_events_without_a_category_have_none(tmp_path: Path) -> None:
    found = made(tmp_path, EventColumns("read"))
    assert found is not None
    assert found.summary.categories == {None: 300}


def test_a_dimension_that_is_not_indexed_leaves_processes_unknown(tmp_path: Path) -> None:
    found = made(tmp_path, EventColumns("read", category="cat", pid="size"))
    assert found is not None
    assert found.summary.processes is None


def test_categories_of_another_column_are_unknown(tmp_path: Path) -> None:
    assert made(tmp_path, EventColumns("read", category="kind")) is None


@pytest.mark.parametrize(
    ("value", "text"), [(8.0, "8"), (51.49514563, "51.495"), (123_456.78, "123460"), (None, "NULL")]
)
def test_approximate_quantiles_have_five_digits(value: float | None, text: str) -> None:
    durations = DurationSummary(1, 1, 0.0, 1, 1, (value, value, value))
    summary = Summary(1, 0, 0, 0, durations, {}, [], {}, exact=False)
    assert shown(summary, "durations").splitlines()[2].split()[5:8] == [text] * 3
