"""Worker processes of a program: they end with it, and say so if it cannot be imported."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dctv.run.processes import started
from tests.fleet.traces import write_fleet

PATIENCE = 30.0
MOUNTS = """
from multiprocessing import active_children
from dctv.run import trace_workers
from dctv.session import Session

trace_workers.MANY, trace_workers.SMALL = 6, 0

def main():
    session = Session(index=False, threads=2, temp_directory="spilled")
    session.mount_traces("*.json", "runs")
    print(session.sql("SELECT COUNT(*) AS n FROM runs.slices").fetchall(), flush=True)
    print(*(one.pid for one in active_children()), flush=True)
    input()
"""
GUARDED = f"{MOUNTS}\nif __name__ == '__main__':\n    main()\n"
UNGUARDED = f"{MOUNTS}\nmain()\n"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """Where to write a program that mounts the traces beside it."""
    write_fleet(tmp_path, 6)
    return tmp_path / "program.py"


def run(script: Path, text: str) -> subprocess.Popen[str]:
    """Run a program in the folder of its traces."""
    script.write_text(text)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    pipe = subprocess.PIPE
    words = [sys.executable, str(script)]
    return subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=script.parent, env=environment)


def is_running(process: int) -> bool:
    """Whether there is a process of this number that has not ended."""
    listed = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False)
    return listed.stdout.strip()[:1] not in ("", "Z")


def test_workers_end_when_the_program_is_killed(script: Path) -> None:
    with run(script, GUARDED) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "[(360,)]\n"
        workers = [int(word) for word in program.stdout.readline().split()]
        assert len(workers) == 2
        assert all(map(is_running, workers))
        program.send_signal(signal.SIGKILL)
    end = time.monotonic() + PATIENCE
    while any(map(is_running, workers)) and time.monotonic() < end:
        time.sleep(0.01)
    assert not any(map(is_running, workers))


def test_this_process_takes_the_place_of_a_worker_where_traces_are_small(script: Path) -> None:
    # Mounting starts as many workers as there may be.
    small = GUARDED.replace(".MANY, trace_workers.SMALL = 6, 0", ".MANY = 7")
    small = small.replace('"runs")\n', '"runs")\n    trace_workers.MANY = 6\n').replace("input()", "session.close()")
    with run(script, small) as program:
        output, errors = program.communicate(timeout=PATIENCE)
    rows, workers = output.splitlines()
    assert (rows, len(workers.split()), errors) == ("[(360,)]", 1, "")


def test_workers_compute_with_one_thread() -> None:
    with started(1) as pool:
        assert pool.submit(os.getenv, "OPENBLAS_NUM_THREADS").result() == os.environ.get("OPENBLAS_NUM_THREADS", "1")


def test_workers_leave_no_folders(script: Path) -> None:
    with run(script, GUARDED.replace("input()", "session.close()")) as program:
        output, errors = program.communicate(timeout=PATIENCE)
    assert (output.splitlines()[0], errors) == ("[(360,)]", "")
    assert list((script.parent / "spilled").iterdir()) == []


def test_a_script_that_each_worker_would_run_again(script: Path) -> None:
    with run(script, UNGUARDED) as program:
        output, errors = program.communicate(timeout=PATIENCE)
    assert program.returncode == 1
    assert output == ""
    way_out = "put what it does under `if __name__ == '__main__':`"
    assert f"a worker process runs the script once more; {way_out}" in errors.splitlines()
    assert errors.splitlines()[-2:] == [
        "dctv.errors.TraceError: error: a process that reads traces of a fleet failed as it started",
        f"hint: each runs the script once more; {way_out}",
    ]
    assert errors.count("Traceback") == 1
