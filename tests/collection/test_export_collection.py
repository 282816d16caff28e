"""Traces of the kernel and of programs, written for each viewer: the rows that are read back, and what was counted."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.command_line import run
from tests.export.round_trip import answers, differences

TRACES = (
    "trace-cmd/lisa_sched_load.dat",
    "trace-cmd/live_overrun.dat",
    "ftrace-text/trappy_surfaceflinger_systrace.html",
    "perf/live/tracepoints.data",
    "chrome-json/catapult/flow.json",
    "dftracer/dftracer_dfanalyzer_test.pfw",
)

LOSSES = {
    ("trace-cmd/lisa_sched_load.dat", "out.pftrace"): {"threads": "99 names of threads were left out"},
    ("trace-cmd/live_overrun.dat", "out.pftrace"): {"threads": "419 names of threads were left out"},
    # The last event of the kernel is a sample, so the states that last until then end at the one before.
    ("perf/live/tracepoints.data", "out.pftrace"): {"thread states": "77 events `sample` were left out"},
}
"""Questions whose answers differ, and what stderr says of it."""


def _collection() -> Path:
    folder = os.environ.get("DCTV_TRACES")
    if folder is None:
        pytest.fail("the environment variable DCTV_TRACES does not say where the trace collection is")
    return Path(folder)


@pytest.mark.parametrize("name", TRACES)
def test_rows_read_back(name: str, tmp_path: Path) -> None:
    trace = _collection() / name
    expected = answers(trace)
    for target in ("out.pftrace", "out.json"):
        done = run("convert", str(trace), str(tmp_path / target), "--allow-partial")
        assert done.code == 0, done.err
        lost = LOSSES.get((name, target), {})
        differing = list(differences(expected, answers(tmp_path / target)))
        assert [line.partition(":")[0] for line in differing] == list(lost), (target, differing, done.err)
        assert all(words in done.err for words in lost.values()), done.err


def test_the_peer_shows_scheduling(tmp_path: Path) -> None:
    """DCTV_PEER is a command that prints the rows of a query over a trace; without it our reader is asked."""
    trace, out = _collection() / TRACES[0], tmp_path / "out.pftrace"
    assert run("convert", str(trace), str(out)).code == 0
    peer = os.environ.get("DCTV_PEER")
    if peer is None:
        counted = run("query", f"t={out}", "SELECT COUNT(*) > 0 AS found FROM t.scheduler.timeslices_p_cpu")
        assert "true" in counted.out.lower()
        return
    done = subprocess.run(
        [*peer.split(), str(out), "SELECT COUNT(*) > 0 FROM sched"], capture_output=True, text=True, check=True
    )
    assert done.stdout.split()[-1] == "1"
