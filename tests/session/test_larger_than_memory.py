"""Traces larger than the memory limit."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from benchmarks.generate_pfw import generate
from dctv import Session
from dctv.cli.measure import measured
from dctv.engines.failures import failure

EVENTS = 200_000


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace with tables for 23 names of events."""
    path: Path = tmp_path_factory.mktemp("trace") / "job"
    generate(path, EVENTS)
    return path


@pytest.fixture
def indexes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.getbasetemp() / "larger-than-memory"


def test_events_are_summed_up_within_the_limit(trace: Path, indexes: Path) -> None:
    """Their tables are not sorted for that, which the engine would do at once for all of them, in memory."""
    with Session(memory_limit="50MB", threads=2, index=True, index_dir=indexes) as session:
        session.mount(trace, "t")
        ((rows, length),) = session.sql("SELECT COUNT(*), SUM(LENGTH(args)) FROM t.events").fetchall()
    assert rows > EVENTS
    assert length > 100 * EVENTS


def test_exact_quantiles_hold_each_duration_once(trace: Path, indexes: Path) -> None:
    """They cannot be put onto the disk, so what they hold has to fit into the limit."""
    with Session(memory_limit="22MB", threads=2, index=True, index_dir=indexes) as session:
        session.mount(trace, "trace")
        found = measured(session)
    known = json.loads((trace / "expected.json").read_text())["names"]
    assert {one.name: [one.events, one.durations.total // 1000] for one in found.names if one.name in known} == known


def test_a_full_disk_is_told_in_our_words() -> None:
    limits: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": "20MB",
        "max_temp_directory_size": "1MB",
        "threads": "1",
    }
    connection = duckdb.connect(config=limits)
    with pytest.raises(duckdb.OutOfMemoryException) as caught:
        connection.sql("SELECT hash(range) AS h, range FROM range(3000000) ORDER BY h OFFSET 2999999").fetchall()
    error = failure(caught.value)
    assert error.message == "cannot spill more than 976.5 KiB to disk: there is no more room"
    assert "--temp-directory" in (error.hint or "")
