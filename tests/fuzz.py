"""Run the property tests with new examples for `FUZZ_MINUTES` (30), in every way that plans are carried out.

Tests of faults, which kill and damage, do so more often here.

Run as `make fuzz`. Each file of property tests runs in a process of its own with a seed of its own, two at a time. The
first failure ends the run: its smallest example, its seed and how to repeat it are printed, and the exit code is 1.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MINUTES = float(os.environ.get("FUZZ_MINUTES") or 30)
WORKERS = min(2, os.cpu_count() or 1)
WAYS = {"DCTV_SPAN_ENGINE": ("kernel", "relational"), "DCTV_REWRITE": ("on", "off")}
"""How plans are carried out; what the environment sets is not varied."""
TIME_IS_UP = 2
"""How pytest exits when it is stopped."""


@dataclass(frozen=True, slots=True)
class Job:
    """One file of tests, with a seed and the settings that it runs with."""

    file: str
    seed: int
    settings: Mapping[str, str]

    def command(self) -> list[str]:
        """Return the words that run it."""
        quiet = ["-q", "-x", "-p", "no:cacheprovider", "--hypothesis-show-statistics"]
        return ["-m", "pytest", *quiet, f"--hypothesis-seed={self.seed}", self.file]

    def repeated(self) -> str:
        """Return the command that repeats it."""
        settings = " ".join(f"{name}={value}" for name, value in self.settings.items())
        return f"{settings} {shlex.join(['python', '-m', 'pytest', f'--hypothesis-seed={self.seed}', self.file])}"


@dataclass(slots=True)
class Run:
    """What the workers share."""

    until: float
    jobs: Iterator[Job]
    examples: Counter[str] = field(default_factory=Counter)
    failure: str | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    children: set[subprocess.Popen[str]] = field(default_factory=set)

    def work(self) -> None:
        """Run jobs until the time is up or one fails."""
        while time.time() < self.until and self.failure is None:
            with self.lock:
                job = next(self.jobs)
            self._do(job)

    def _do(self, job: Job) -> None:
        environment = {**os.environ, **job.settings, "DCTV_UNTIL": str(self.until)}
        with subprocess.Popen(
            [sys.executable, *job.command()],
            cwd=ROOT,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ) as child:
            with self.lock:
                self.children.add(child)
            output, _ = child.communicate()
        with self.lock:
            self.children.discard(child)
            found = sum(int(n) for n in re.findall(r"(\d+) passing", output))
            label = " ".join([job.file, *(v for k, v in job.settings.items() if k != "DCTV_EXPLORE")])
            self.examples[label] += found
            passed = child.returncode == 0 or (child.returncode == TIME_IS_UP and "the time is up" in output)
            if not passed and self.failure is None:
                self.failure = f"{output}\nseed {job.seed}; to repeat it:\n  {job.repeated()}"
                for other in self.children:
                    other.terminate()


def jobs(draw: random.Random) -> Iterator[Job]:
    """Yield jobs for ever, the kinds of them in turn."""
    kinds = []
    ways = [(os.environ[name],) if os.environ.get(name) else values for name, values in WAYS.items()]
    explore = {"DCTV_EXPLORE": str(max(1, round(MINUTES / 6)))}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        # Those over the collection take part where it is named.
        left_out = path.parent.name == "collection" and not os.environ.get("DCTV_TRACES")
        if left_out or not re.search(r"@given\(|\bEXPLORE\b", path.read_text(encoding="utf-8")):
            continue
        for way in product(*ways) if path.parent.name == "semantics" else [()]:
            settings = dict(zip(WAYS, way, strict=False))
            kinds.append((str(path.relative_to(ROOT)), {**explore, **settings}))
    while True:
        draw.shuffle(kinds)
        for file, settings in kinds:
            yield Job(file, draw.randrange(2**32), settings)


def main() -> int:
    """Run, and return the exit code."""
    run = Run(time.time() + MINUTES * 60, jobs(random.Random()))
    workers = [threading.Thread(target=run.work) for _ in range(WORKERS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for label, count in sorted(run.examples.items()):
        sys.stdout.write(f"{count:>10,}  {label}\n")
    sys.stdout.write(f"{run.examples.total():>10,}  examples in {MINUTES:g} minutes\n{run.failure or ''}\n")
    return 1 if run.failure is not None else 0


if __name__ == "__main__":
    sys.exit(main())
