"""Run programs as new processes, and return their costs."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median


@dataclass(frozen=True, slots=True)
class Run:
    """What one process took."""

    cpu: float
    wall: float
    peak: float
    """MiB."""
    output: str


def run(command: Sequence[str], environment: dict[str, str] | None = None) -> Run:
    """Run a program once; stop if it fails."""
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | (environment or {})
    with tempfile.TemporaryFile() as output:
        started = time.perf_counter()
        child = os.fork()
        if child == 0:
            os.dup2(output.fileno(), 1)
            os.execvpe(command[0], list(command), variables)
        _, status, usage = os.wait4(child, 0)
        wall = time.perf_counter() - started
        if status:
            raise SystemExit(f"{' '.join(command)}: exit status {os.waitstatus_to_exitcode(status)}")
        output.seek(0)
        return Run(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, output.read().decode())


def show(work: str, runs: Iterable[Run], more: str = "") -> float:
    """Print the medians of some runs; return that of CPU seconds."""
    found = list(runs)
    cpu, wall, peak = (median(column) for column in zip(*((r.cpu, r.wall, r.peak) for r in found), strict=True))
    print(f"  {work:<44} {cpu:8.3f} cpu s {wall:8.3f} s {peak:6.0f} MiB  {more}", flush=True)
    return cpu


def size_of(folder: Path, pattern: str) -> int:
    """Return the bytes of some files."""
    return sum(path.stat().st_size for path in folder.rglob(pattern) if path.is_file())


def dctv(*arguments: str) -> list[str]:
    """Return a command line of dctv."""
    return [sys.executable, "-m", "dctv", *arguments]
