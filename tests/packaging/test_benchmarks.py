"""Every benchmark runs on what its generator writes, in a small size."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.ci
BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
PFW = ["generate_pfw.py", "{data}", "--events", "8000", "--gzip"]
SMALL: dict[str, list[list[str]]] = {
    "calls.py": [["--calls", "2000", "--threads", "2", "--rounds", "1", "--data", "{data}"]],
    "cluster.py": [["--traces", "300", "--events", "500", "5000"]],
    "compile.py": [["--rounds", "1"]],
    "decode_ftrace.py": [["generate_ftrace.py", "{data}", "--lines", "3000"], ["{data}", "--runs", "1"]],
    "decode_pfw.py": [PFW, ["{data}", "--rounds", "1"]],
    "fleet.py": [
        ["fleet.py", "--traces", "3", "--lines", "500", "--alone", "1", "--rounds", "1"],
        ["--format", "dftracer", "--traces", "3", "--lines", "500", "--alone", "1", "--rounds", "1"],
    ],
    "index.py": [PFW, ["{data}", "--rounds", "1"]],
    "ingest.py": [["--events", "2000", "--rounds", "1", "--data", "{data}"]],
    "large_join.py": [["--rows", "1e4"]],
    "page.py": [
        ["--spans", "1e5", "--tracks", "10", "--seconds", "1", "--zooms", "5", "--scale", "0.01", "--data", "{data}"]
    ],
    "spans.py": [["1000", "--only", "span left join"]],
    "start_up.py": [[]],
    "state.py": [["--sizes", "small", "--rounds", "1"]],
    "timeline.py": [["--sizes", "1e4", "1e5"]],
}
PARTS = {
    "__init__.py",
    "__main__.py",
    "page_server.py",
    "processes.py",
    "span_peer.py",
    "span_work.py",
    "warm_fleet.py",
}
ON_A_SERVER = {"spark.py"}
"""What `tests/engines` runs, where there is a server."""


def test_every_benchmark_is_run() -> None:
    scripts = {path.name for path in BENCHMARKS.glob("*.py") if not path.name.startswith("generate_")}
    assert scripts - PARTS - ON_A_SERVER == set(SMALL)


@pytest.mark.parametrize("script", SMALL)
def test_it_runs(script: str, tmp_path: Path) -> None:
    *before, last = [[word.format(data=tmp_path / "data") for word in words] for words in SMALL[script]]
    for words in (*before, [script, *last]):
        command = [sys.executable, str(BENCHMARKS / words[0]), *words[1:]]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=BENCHMARKS.parent, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout
