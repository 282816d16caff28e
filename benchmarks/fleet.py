"""Asks many traces one question: in one process, in two, and by a `dctv query` for each.

Run as `python benchmarks/fleet.py [--traces 200] [--lines 10000]`. The question groups the time on CPUs by thread. Each
way begins with traces that have no index; the loop of `dctv query` asks as many of them as `--alone` says, and what it
takes is given for each trace.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from generate_ftrace import generate

QUESTION = "SELECT comm, COUNT(*) AS n, SUM(_duration) AS busy FROM t.scheduler.timeslices_p_cpu GROUP BY comm"


def timed(*words: str) -> tuple[float, float]:
    """Run dctv; return wall and CPU seconds, those of its workers too."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "dctv", "query", "--no-index", *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - begin, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Make traces, ask them, and print what it took for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=int, default=200)
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--alone", type=int, default=20)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(args.traces):
            generate(Path(folder) / f"{number:05}.txt", args.lines, seed=number)
        pattern = f"{folder}/*.txt"
        print(f"{args.traces:,} traces of {args.lines:,} events: milliseconds for each trace")
        print(f"{'way':<24} {'wall':>8} {'CPU':>8}")
        walls = {}
        for jobs in (1, 2):
            wall, cpu = timed("--each", pattern, "--jobs", str(jobs), QUESTION)
            walls[jobs] = wall
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
            each = 1000 / args.traces
            print(f"{f'--each, --jobs {jobs}':<24} {wall * each:8.1f} {cpu * each:8.1f}   {peak:,.0f} MiB at most")
        alone = sorted(Path(folder).glob("*.txt"))[: args.alone]
        taken = [timed(f"t={path}", QUESTION) for path in alone]
        wall, cpu = (sum(column) / len(taken) for column in zip(*taken, strict=True))
        print(f"{'a process for each':<24} {wall * 1000:8.1f} {cpu * 1000:8.1f}")
        print(f"two processes: {walls[1] / walls[2]:.2f} times one; one process: ", end="")
        print(f"{wall * args.traces / walls[1]:.1f} times a process for each")


if __name__ == "__main__":
    main()
