"""Simulate one query over more traces than a machine holds, with costs that are measured on this one.

Run as `python benchmarks/cluster.py [--traces 10000] [--gigabytes 10]`. First it measures the CPU seconds that a query
takes of a small and of a large trace, which gives a price of a trace and one of an event, how fast a trace is indexed,
and the bytes that a trace's groups take. Sizes of traces are drawn from a log-normal distribution with a mean of so
many gigabytes; the larger `skew`, its sigma, the more the few large ones weigh. Printed is how long all workers take,
as a multiple of what they would need if the work could be divided at will:

- two ahead: a piece of work is a trace, in the order of their names, and each worker has two at most;
- in order: the same, but workers may be as far ahead as they like;
- as dctv: the first ones in their order, then, as their results are known to be small, the largest first;
- slabs: traces are cut at times where a piece would be more than `--slab` events; each slab costs once more what a
  trace does without its events.

The network is not simulated: the bytes that workers send are printed for aggregates and for all rows.
"""

from __future__ import annotations

import argparse
import math
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapreplace
from pathlib import Path

from generate_ftrace import generate

from dctv.session import Session

QUERY = "SELECT comm, COUNT(*) AS n, SUM(_duration) AS busy FROM t.scheduler.timeslices_p_cpu GROUP BY comm"
ROWS = "SELECT _ts, _duration, cpu, comm FROM t.scheduler.timeslices_p_cpu"
WORKERS = (16, 256, 2048)
SKEWS = (0.0, 0.5, 1.0, 2.0)
AHEAD = 2
"""Pieces for each worker, where these are few."""
FIRST = 16
"""Pieces that are handed out before it is known how large a result is."""


@dataclass(frozen=True)
class Costs:
    """What was measured, in CPU seconds and bytes."""

    trace: float
    event: float
    bytes_of_an_event: float
    indexed: float
    """Bytes of a trace in a second."""
    groups: int
    """Bytes of what the workers send of a trace that is aggregated."""
    rows: float
    """Bytes of the rows of an event, if it is not."""


def measure(few: int, many: int, folder: Path) -> Costs:
    """Ask a small and a large trace."""
    taken: dict[int, float] = {}
    for events in (few, many):
        path = folder / f"{events}.txt"
        generate(path, events, seed=1)
        begin = time.process_time()
        with Session(index=True, index_dir=folder / "indexes", threads=1) as session:
            session.mount(str(path), "t")
            indexing = time.process_time() - begin
            session.sql(QUERY).arrow()
            session.sql("DROP ALL t")
            best = math.inf
            for _ in range(5):
                begin = time.process_time()
                session.mount(str(path), "t")
                groups = session.sql(QUERY).arrow()
                best = min(best, time.process_time() - begin)
                rows = session.sql(ROWS).arrow()
                session.sql("DROP ALL t")
        taken[events] = best
    event = max(taken[many] - taken[few], 0.0) / (many - few)
    size = path.stat().st_size
    return Costs(taken[few] - event * few, event, size / many, size / indexing, groups.nbytes, rows.nbytes / many)


def makespan(pieces: Sequence[float], workers: int, ahead: int) -> float:
    """Return when the last piece is finished; one begins when a worker is free and the first unfinished is near."""
    free, done = [0.0] * workers, [0.0] * len(pieces)
    prefix = 0.0
    for number, seconds in enumerate(pieces):
        if number >= ahead:
            prefix = max(prefix, done[number - ahead])
        done[number] = max(free[0], prefix) + seconds
        heapreplace(free, done[number])
    return max(done)


def sizes(count: int, mean: float, skew: float) -> list[float]:
    """Draw numbers of events."""
    source = random.Random(0)
    drawn = [source.lognormvariate(0, skew) for _ in range(count)]
    return [one * mean * count / sum(drawn) for one in drawn]


def cut(events: float, most: float) -> list[float]:
    """Cut a trace into slabs of equal numbers of events."""
    slabs = math.ceil(events / most)
    return [events / slabs] * slabs


def main() -> None:
    """Measure, simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=int, default=10_000)
    parser.add_argument("--gigabytes", type=float, default=10.0)
    parser.add_argument("--slab", type=float, default=50e6)
    parser.add_argument(
        "--events", type=int, nargs=2, default=(10_000, 1_000_000), help="of the traces that are measured"
    )
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        costs = measure(*args.events, Path(folder))
    mean = args.gigabytes * 1e9 / costs.bytes_of_an_event
    print(f"measured: {costs.trace * 1e3:.1f} ms CPU a trace, {costs.event * 1e9:.0f} ns an event of the query,")
    print(f"  {costs.bytes_of_an_event:.0f} bytes of text an event, {costs.indexed / 1e6:,.0f} MB indexed a second")
    total = args.traces * (costs.trace + costs.event * mean)
    index = args.traces * args.gigabytes * 1e9 / costs.indexed
    print(f"{args.traces:,} traces of {args.gigabytes:g} GB, {mean / 1e6:,.0f}M events, each on average:")
    print(f"  {index / 3600:,.0f} CPU hours to index once, {total / 3600:,.1f} for the query")
    print(f"  sent by the workers: {args.traces * costs.groups / 1e6:,.0f} MB of groups;")
    print(f"  {args.traces * mean * costs.rows / 1e12:,.1f} TB if all rows were fetched")
    ways = ("two ahead", "in order", "as dctv", "slabs")
    print(f"{'workers':>8} {'skew':>5} {'ideal s':>9} {' '.join(f'{way:>13}' for way in ways)}")
    for workers in WORKERS:
        for skew in SKEWS:
            traces = sizes(args.traces, mean, skew)
            pieces = [costs.trace + costs.event * one for one in traces]
            slabs = [costs.trace + costs.event * part for one in traces for part in cut(one, args.slab)]
            ideal = sum(pieces) / workers
            taken = (
                makespan(pieces, workers, workers * AHEAD),
                makespan(pieces, workers, len(pieces)),
                makespan([*pieces[:FIRST], *sorted(pieces[FIRST:], reverse=True)], workers, len(pieces)),
                makespan(sorted(slabs, reverse=True), workers, len(slabs)),
            )
            told = " ".join(f"{one / ideal:>13.2f}" for one in taken)
            print(f"{workers:>8} {skew:>5} {ideal:>9.1f} {told}")


if __name__ == "__main__":
    main()
