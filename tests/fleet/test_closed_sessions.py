"""Results of fleets whose session is closed before they are read."""

from __future__ import annotations

from multiprocessing import active_children
from pathlib import Path

import pytest

from dctv.errors import UsageError
from dctv.rewrite import cut_fleets
from dctv.run import trace_workers
from dctv.session import Session
from tests.fleet.traces import write_fleet, write_run

CLOSED = "the session was closed before all rows of this result were read"


@pytest.mark.parametrize("many", [2, 99])
def test_unread_results_say_that_their_session_was_closed(
    tmp_path: Path, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_workers, "MANY", many)
    write_fleet(tmp_path, 5)
    before = len(active_children())
    with Session(index=False, threads=2) as session:
        session.mount_traces(tmp_path / "*.json", "runs")
        result = session.sql("SELECT _trace, name FROM runs.slices")
    with pytest.raises(UsageError, match=CLOSED):
        result.fetchall()
    assert len(active_children()) <= before


def test_no_worker_starts_for_a_closed_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They would start before the sample is read that quantiles over many events take first."""
    monkeypatch.setattr(cut_fleets, "_MANY", 0)
    monkeypatch.setattr(cut_fleets, "_LARGE", 0)
    write_fleet(tmp_path, 5)
    with Session(index=False, threads=2) as session:
        session.mount_traces(tmp_path / "*.json", "runs")
        monkeypatch.setattr(trace_workers, "MANY", 2)
        result = session.sql("SELECT quantile_disc(_duration, 0.5) AS q FROM runs.slices")
    with pytest.raises(UsageError, match=CLOSED):
        result.fetchall()
    assert session._context.workers.pool is None


def test_results_that_are_half_read_say_so_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_workers, "MANY", 2)
    for number in range(8):
        write_run(tmp_path / f"run{number}.json", number, slices=20_000)
    with Session(index=False, threads=2) as session:
        session.mount_traces(tmp_path / "*.json", "runs")
        batches = session.sql("SELECT * FROM runs.slices").batches()
        next(batches)
    with pytest.raises(UsageError, match=CLOSED):
        list(batches)
