"""Print the cost of building and keeping a state history, and the time of its answers: full and partial ones.

Run as `python benchmarks/state.py [--sizes small medium large] [--granularity 50000] [--rounds 5]`. Changes are made
up: each sets an attribute, drawn at random, to a number below 1,000. Histories are built in processes of their own; all
are asked in one, in turn, so that what else the machine does disturbs all sizes alike. A cold answer is the first of a
history that was just opened, after the system was asked to drop the file from memory; a warm one comes after many like
it. CPU seconds of building are those of `apply` and `close`, not of making changes up. Partial histories read the
changes that they make again from an Arrow file, which is mapped, as an index or a cache of a trace would be.

Two questions are about 50 attributes at 2,000 times. One spreads these over the whole history, so that each is in
another interval of the large history, while of the small one all intervals are found, which are a quarter as many. The
other spreads them over 500 intervals of each attribute, which is all of the small history and 1 in 40 of the large one,
so that answers are of one size.
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
from bisect import bisect_right
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
WINDOW = 500
"""Intervals of each attribute that these are asked for in the question whose answers are of one size."""
SINGLE, FULL, OBJECTS, PARTIAL = "one state", "all states, Arrow", "all states, Python", "partial: all states, Arrow"
WHOLE = f"{SHOWN} attributes x {PIXELS:,} times, whole history"
PART = f"{SHOWN} attributes x {PIXELS:,} times, {WINDOW} intervals"
BARS = {SINGLE: 50e-6, FULL: 3e-3, WHOLE: 50e-3, PARTIAL: 20e-3}
"""Seconds that the median may be, warm, at 30 M intervals."""
RATE, PEAK, SHARE, GROWTH = 3.0, 300, 1.0, 3.0
"""M changes per CPU second, MiB, per cent of the full history's size, growth from small to large."""


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


def batches_of(size: str) -> int:
    """Return how many batches of changes a history of a size is made of."""
    attributes, each = SIZES[size]
    return -(-attributes * each // ROWS)


def write_changes(path: Path, size: str) -> None:
    """Write the changes that a partial history makes again."""
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, changes(0, 1).schema) as writer:
        for number in range(batches_of(size)):
            writer.write_batch(changes(number, SIZES[size][0]))


def replayed(path: Path) -> Callable[[int, int], Iterator[pa.RecordBatch]]:
    """Return what reads changes between two times from a file."""
    reader = pa.ipc.open_file(pa.memory_map(str(path)))
    firsts = [reader.get_batch(number).column("time")[0].as_py() for number in range(reader.num_record_batches)]

    def replay(first: int, last: int) -> Iterator[pa.RecordBatch]:
        for number in range(max(bisect_right(firsts, first) - 1, 0), bisect_right(firsts, last)):
            batch = reader.get_batch(number)
            times = batch.column("time").to_numpy()
            begin, end = np.searchsorted(times, first), np.searchsorted(times, last, side="right")
            yield batch.slice(int(begin), int(end - begin))

    return replay


def no_changes(*_: int) -> Iterator[pa.RecordBatch]:
    """Return nothing: a partial history that is only built asks for no changes."""
    yield from ()


def build(path: Path, size: str, granularity: int) -> None:
    """Build a history and print its figures as JSON."""
    attributes = SIZES[size][0]
    system = StateSystem.on_disk(path) if granularity == 0 else None
    system = system or PartialStateSystem.build(path, no_changes, granularity=granularity)
    for number in range(attributes):
        system.add(str(number))
    spent = 0.0
    for number in range(batches_of(size)):
        batch = changes(number, attributes)
        started = time.process_time()
        system.apply(batch)
        spent += time.process_time() - started
    started = time.process_time()
    system.close(batches_of(size) * SPAN)
    spent += time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures = {"cpu": spent, "peak": peak, "intervals": system.interval_count, "bytes": path.stat().st_size}
    print(json.dumps({**figures, "changes": batches_of(size) * ROWS}))


Taken = tuple[float, float]
"""Seconds that went by, and seconds of a CPU."""


def told(taken: list[Taken], bar: float | None = None) -> str:
    """Write the median, the least and the 99th percentile of some times, the median of CPU times, and a bar."""
    walls, cpus = sorted(wall for wall, _ in taken), sorted(cpu for _, cpu in taken)
    last = walls[min(len(walls) - 1, int(len(walls) * 0.99))]
    figures = {"": median(walls), "least": walls[0], "p99": last, "cpu": median(cpus)}
    text = "  ".join(f"{name} {seconds * 1e6:9,.0f} us".strip() for name, seconds in figures.items())
    if bar is None:
        return text
    return f"{text}  {against(median(walls) * 1e6, bar * 1e6)} cpu {against(median(cpus) * 1e6, bar * 1e6)}"


def against(measured: float, bar: float, *, most: bool = True) -> str:
    """Write what was measured and its bar, which it has to be at most or at least."""
    met = measured <= bar if most else measured >= bar
    return f"[{measured:,.2f} / bar {bar:,.0f}{'' if met else ', MISSED'}]"


def clocked(work: Callable[[], object]) -> Taken:
    """Return what something takes."""
    started = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - started[0], time.process_time() - started[1]


Question = tuple[Callable[[StateSystem], object], int, int]
"""What is asked, and how often in a round, warm and cold."""


def questions(size: str) -> dict[str, Question]:
    """Return the questions to a full history."""
    attributes, each = SIZES[size]
    end = batches_of(size) * SPAN
    window = min(end * WINDOW // each, end)
    draw = random.Random(7)
    shown = list(range(0, attributes, attributes // SHOWN))[:SHOWN]

    def pixels(one: StateSystem, begin: int, length: int) -> int:
        times = np.linspace(begin, begin + length, PIXELS, endpoint=False).astype(int).tolist()
        return sum(len(batch) for batch in one.batches_2d(shown, times=times))

    return {
        SINGLE: (lambda one: one.state(draw.randrange(end), draw.randrange(attributes)), 2_000, 40),
        FULL: (lambda one: one.full_batch(draw.randrange(end)), 100, 10),
        OBJECTS: (lambda one: one.full_state(draw.randrange(end)), 20, 4),
        WHOLE: (lambda one: pixels(one, 0, end), 10, 3),
        PART: (lambda one: pixels(one, draw.randrange(end - window + 1), window), 10, 3),
    }


def opened_cold(path: Path) -> StateSystem:
    """Open a history whose file is no longer in memory, as far as the system does what it is asked for."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return StateSystem.open(path)


def warm(work: Callable[[], object], often: int) -> list[Taken]:
    """Return what something takes each time after it was done a few times."""
    for _ in range(max(often // 5, 2)):
        work()
    return [clocked(work) for _ in range(often)]


def ask(folder: Path, sizes: list[str], rounds: int) -> None:
    """Print how long answers take."""
    full = {size: StateSystem.open(folder / f"{size}.full") for size in sizes}
    small = {
        size: PartialStateSystem.open_partial(folder / f"{size}.partial", replayed(folder / f"{size}.arrow"))
        for size in sizes
    }
    asked = {size: questions(size) for size in sizes}
    draw = random.Random(7)
    found: dict[tuple[str, str], list[Taken]] = {}
    for _ in range(rounds):
        for size in sizes:
            opening = partial(opened_cold, folder / f"{size}.full")
            found.setdefault((size, "open, cold"), []).extend(clocked(opening) for _ in range(4))
            for name, (question, _, cold) in asked[size].items():
                firsts = [clocked(partial(question, opening())) for _ in range(cold)]
                found.setdefault((size, f"{name}, cold"), []).extend(firsts)
        for name in asked[sizes[0]]:
            for size in sizes:
                question, often, _ = asked[size][name]
                found.setdefault((size, name), []).extend(warm(partial(question, full[size]), often))
        for size in sizes:
            # Nearly each is of a part that is not at hand.
            question = partial(lambda one, end: one.full_batch(draw.randrange(end)), small[size], full[size].end)
            found.setdefault((size, PARTIAL), []).extend(warm(question, 20))
    for size in sizes:
        print(f"{named(size)}: answers, medians of {rounds} rounds in turn")
        for (of, name), taken in found.items():
            if of == size:
                print(f"  {name:<50} {told(taken, BARS.get(name))}")
    grown(found, asked, full)


def grown(
    found: dict[tuple[str, str], list[Taken]], asked: dict[str, dict[str, Question]], full: dict[str, StateSystem]
) -> None:
    """Print how much longer answers of the large history take than those of the small one, whoever else is at work."""
    if not {"small", "large"} <= set(asked):
        return
    print("growth of CPU time from 0.75 M to 30 M intervals: of medians, and of the least")
    for name in asked["small"]:
        small, large = ([cpu for _, cpu in found[size, name]] for size in ("small", "large"))
        grows = median(large) / median(small)
        sizes = ("small", "large") if name in (WHOLE, PART) else ()
        rows = [asked[size][name][0](full[size]) for size in sizes]
        answered = f"  {rows[0]:,} -> {rows[1]:,} intervals found" if rows else ""
        print(f"  {name:<50} {grows:6.2f} {min(large) / min(small):6.2f}  {against(grows, GROWTH)}{answered}")


def named(size: str) -> str:
    """Return how large a size is."""
    attributes, each = SIZES[size]
    return f"{attributes * each / 1e6:.2f} M intervals of {attributes:,} attributes"


def built(folder: Path, size: str, granularity: int, rounds: int) -> None:
    """Build the histories of one size, some times in turn, and print what that takes."""
    write_changes(folder / f"{size}.arrow", size)
    kinds = {"full": 0, "partial": granularity}
    figures: dict[str, list[dict[str, float]]] = {name: [] for name in kinds}
    for _ in range(rounds):
        for name, every in kinds.items():
            path = folder / f"{size}.{name}"
            path.unlink(missing_ok=True)
            command = [sys.executable, __file__, "--build", str(path), size, str(every)]
            figures[name].append(json.loads(run(command).output))
    print(named(size))
    for name, runs in figures.items():
        cpu, peak = median(one["cpu"] for one in runs), median(one["peak"] for one in runs)
        rate = against(runs[0]["changes"] / cpu / 1e6, RATE, most=False)
        memory = against(peak, PEAK)
        least = min(one["cpu"] for one in runs)
        print(f"  {name + ': build':<20} {cpu:.2f} cpu s, least {least:.2f}, M changes per cpu s {rate}, MiB {memory}")
    whole, small = (runs[0] for runs in figures.values())
    each = whole["bytes"] / whole["intervals"]
    print(f"  {'full: size':<20} {whole['bytes'] / 1e6:.2f} MB, {each:.2f} B per interval")
    share = against(100 * small["bytes"] / whole["bytes"], SHARE)
    print(f"  {'partial: size':<20} {small['bytes'] / 1e6:.3f} MB, per cent of the full one {share}", flush=True)


def main() -> None:
    """Measure the sizes that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--granularity", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--build", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--ask", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.build:
        build(Path(given.build[0]), given.build[1], int(given.build[2]))
    elif given.ask:
        ask(Path(given.ask), given.sizes, given.rounds)
    else:
        with tempfile.TemporaryDirectory(prefix="dctv-bench-") as folder:
            for size in given.sizes:
                built(Path(folder), size, given.granularity, min(given.rounds, 3))
            command = [sys.executable, __file__, "--ask", folder, "--rounds", str(given.rounds), "--sizes"]
            print(run([*command, *given.sizes]).output, end="")


if __name__ == "__main__":
    main()
