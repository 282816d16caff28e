"""Prints what a state history costs to build and keep, and how long its answers take: full and partial ones.

Run as `python benchmarks/state.py [--sizes small medium large] [--granularity 50000]`. Changes are made up: each sets
an attribute, drawn at random, to a number below 1,000. Building and asking run in processes of their own. A cold answer
is the first of a history that was just opened, after the system was asked to drop the file from memory; a warm one
comes after many like it. CPU seconds of building are those of `apply` and `close`, not of making changes up.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
from processes import run

from dctv.state import PartialStateSystem, StateSystem

SIZES = {"small": (1_500, 500), "medium": (3_500, 500), "large": (1_500, 20_000)}
"""How many attributes there are, and how many intervals each has."""
ROWS = 1 << 14
"""Changes that are made at once."""
SPAN = 4 * ROWS
"""The time that these take."""
PIXELS = 2_000
SHOWN = 50
"""Attributes that are asked for at once."""


def changes(number: int, attributes: int) -> pa.RecordBatch:
    """Make up one batch of changes, the same whenever it is asked for."""
    draw = np.random.default_rng(number)
    return pa.record_batch(
        {
            "time": number * SPAN + np.cumsum(draw.integers(1, 4, ROWS)),
            "quark": draw.integers(0, attributes, ROWS, dtype=np.int32),
            "value": draw.integers(0, 1000, ROWS),
        }
    )


def replayed(attributes: int, batches: int) -> Callable[[int, int], Iterator[pa.RecordBatch]]:
    """Return what makes changes between two times again."""

    def replay(first: int, last: int) -> Iterator[pa.RecordBatch]:
        for number in range(max(first // SPAN, 0), min(last // SPAN + 1, batches)):
            batch = changes(number, attributes)
            times = batch.column("time").to_numpy()
            begin, end = np.searchsorted(times, first), np.searchsorted(times, last, side="right")
            yield batch.slice(int(begin), int(end - begin))

    return replay


def build(path: Path, size: str, granularity: int) -> None:
    """Build a history and print its figures as JSON."""
    attributes, each = SIZES[size]
    batches = -(-attributes * each // ROWS)
    replay = replayed(attributes, batches)
    system = StateSystem.on_disk(path) if granularity == 0 else None
    system = system or PartialStateSystem.build(path, replay, granularity=granularity)
    for number in range(attributes):
        system.add(str(number))
    spent = 0.0
    for number in range(batches):
        batch = changes(number, attributes)
        started = time.process_time()
        system.apply(batch)
        spent += time.process_time() - started
    started = time.process_time()
    system.close(batches * SPAN)
    spent += time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures = {"cpu": spent, "peak": peak, "intervals": system.interval_count, "bytes": path.stat().st_size}
    print(json.dumps({**figures, "changes": batches * ROWS}))


Taken = tuple[float, float]
"""Seconds that went by, and seconds of a CPU."""


def told(taken: list[Taken]) -> str:
    """Write the median and the 99th percentile of some times, and the median of CPU times."""
    walls = sorted(wall for wall, _ in taken)
    last = walls[min(len(walls) - 1, int(len(walls) * 0.99))]
    cpu = median(cpu for _, cpu in taken)
    return f"{median(walls) * 1e6:10,.0f} us, p99 {last * 1e6:10,.0f} us, cpu {cpu * 1e6:10,.0f} us"


def clocked(work: Callable[[], object]) -> Taken:
    """Return what something takes."""
    started = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - started[0], time.process_time() - started[1]


def questions(attributes: int, end: int) -> dict[str, tuple[Callable[[StateSystem], object], int, int]]:
    """Return questions with how often each is asked, warm and cold."""
    draw = random.Random(7)
    shown = list(range(0, attributes, attributes // SHOWN))[:SHOWN]
    pixels = np.linspace(0, end, PIXELS).astype(int).tolist()
    return {
        "single": (lambda one: one.state(draw.randrange(end), draw.randrange(attributes)), 5_000, 200),
        "full, Arrow": (lambda one: one.full_batch(draw.randrange(end)), 300, 50),
        "full, Python": (lambda one: one.full_state(draw.randrange(end)), 100, 20),
        f"{SHOWN} attributes x {PIXELS:,} times": (
            lambda one: one.batches_2d(shown, times=pixels).read_all().num_rows,
            30,
            10,
        ),
    }


def opened_cold(path: Path) -> StateSystem:
    """Open a history whose file is no longer in memory, as far as the system does what it is asked for."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return StateSystem.open(path)


def ask(path: Path, size: str) -> None:
    """Print how long answers of a full history take."""
    attributes, each = SIZES[size]
    end = -(-attributes * each // ROWS) * SPAN
    print(f"  {'open':<34} {told([clocked(lambda: opened_cold(path)) for _ in range(20)])}")
    for name, (question, warm, cold) in questions(attributes, end).items():
        firsts = [clocked(partial(question, opened_cold(path))) for _ in range(cold)]
        print(f"  {name + ', cold':<34} {told(firsts)}")
        asked = partial(question, StateSystem.open(path))
        for _ in range(warm):
            asked()
        print(f"  {name + ', warm':<34} {told([clocked(asked) for _ in range(warm)])}", flush=True)


def ask_partial(path: Path, size: str) -> None:
    """Print how long answers of a partial history take, nearly each of another part."""
    attributes, each = SIZES[size]
    batches = -(-attributes * each // ROWS)
    system = PartialStateSystem.open_partial(path, replayed(attributes, batches))
    draw = random.Random(7)
    system.full_batch(0)
    taken = [clocked(lambda: system.full_batch(draw.randrange(batches * SPAN))) for _ in range(100)]
    print(f"  {'partial: full, Arrow':<34} {told(taken)}")


def measure(size: str, granularity: int) -> None:
    """Print the figures of one size."""
    attributes, each = SIZES[size]
    print(f"{attributes * each / 1e6:.2f} M intervals of {attributes:,} attributes")
    with tempfile.TemporaryDirectory(prefix="dctv-bench-") as folder:
        full = 0
        for name, every in (("full", 0), ("partial", granularity)):
            path = Path(folder) / name
            found = json.loads(run([sys.executable, __file__, "--build", str(path), size, str(every)]).output)
            rate = found["changes"] / found["cpu"] / 1e6
            part = f", {100 * found['bytes'] / full:.2f} % of the full one" if every else ""
            each_takes = f", {found['bytes'] / found['intervals']:.2f} B per interval" if not every else ""
            full = full or found["bytes"]
            built = f"{found['cpu']:.2f} cpu s, {rate:.2f} M changes per cpu s, {found['peak']:.0f} MiB"
            print(f"  {f'{name}: build':<34} {built}")
            print(f"  {f'{name}: size':<34} {found['bytes'] / 1e6:.2f} MB{each_takes}{part}", flush=True)
            words = "--ask-partial" if every else "--ask"
            print(run([sys.executable, __file__, words, str(path), size]).output, end="", flush=True)


def main() -> None:
    """Measure the sizes that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--granularity", type=int, default=50_000)
    parser.add_argument("--build", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--ask", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--ask-partial", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.build:
        build(Path(given.build[0]), given.build[1], int(given.build[2]))
    elif given.ask:
        ask(Path(given.ask[0]), given.ask[1])
    elif given.ask_partial:
        ask_partial(Path(given.ask_partial[0]), given.ask_partial[1])
    else:
        for size in given.sizes:
            measure(size, given.granularity)


if __name__ == "__main__":
    main()
