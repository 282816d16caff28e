"""The benchmark of span joins runs on a server."""

from __future__ import annotations

import subprocess
import sys

from tests.engines.sail.served import served
from tests.sqltest import ROOT


def test_it_prints_both_times() -> None:
    with served() as (address, _):
        command = [sys.executable, str(ROOT / "benchmarks" / "spark.py"), address, "--rows", "1000", "--times", "1"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "| 1,000 in files | " in done.stdout
    assert "| 1,000 in memory | " in done.stdout
