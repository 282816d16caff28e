"""Zoom tracks of up to a billion spans: the cost of building the index, and of looking up a screen.

Five tracks of spans are written straight into columns of int64, of 10 to 1,000 ns with gaps of up to 100 ns. The index
is written to a file and mapped with the columns. A screen is 2,000 pixels of all tracks; ten screens of each zoom, from
a second to everything, stand anywhere. DuckDB and Polars find the same by `GROUP BY ts // step` over the same columns,
of no more spans than `--peers`.

`python benchmarks/timeline.py --sizes 1e6 1e8 1e9` needs 18 bytes a span in `--data`.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa

from dctv import _kernels as kernels

TRACKS = 5
PIXELS = 2000
ZOOMS = 10
SCREENS = 10
SECOND = 1_000_000_000
AT_ONCE = 10_000_000


class Memory(threading.Thread):
    """Watches how much memory this process has that is no mapped file, which could be given back at any time."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak, self.wanted = 0, True
        self.start()

    def run(self) -> None:
        """Look every now and then."""
        while self.wanted:
            lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
            self.peak = max([self.peak, *(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))])
            time.sleep(0.02)

    def stop(self) -> float:
        """Return the peak in MB."""
        self.wanted = False
        self.join()
        return self.peak / 1024


def generate(folder: Path, size: int) -> None:
    """Write the columns of all tracks, one after the other."""
    random = np.random.default_rng(size)
    with (folder / "begin").open("wb") as begins, (folder / "duration").open("wb") as durations:
        for _ in range(TRACKS):
            now, left = 0, size // TRACKS
            while left:
                count = min(left, AT_ONCE)
                lengths = random.integers(10, 1000, count)
                ends = now + np.cumsum(lengths + random.integers(0, 100, count))
                (ends - lengths).tofile(begins)
                lengths.tofile(durations)
                now, left = int(ends[-1]), left - count


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    """Return wall and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


class Columns:
    """Mapped columns, and the index of them."""

    def __init__(self, folder: Path, size: int) -> None:
        self.arrays = [pa.array(np.memmap(folder / name, np.int64, "r")) for name in ("begin", "duration")]
        self.lanes = pa.array([size // TRACKS] * TRACKS)
        self.path = folder / "index"
        ends = [self.arrays[0][track * (size // TRACKS) - 1].as_py() for track in range(1, TRACKS + 1)]
        self.end = max(ends) + 1000

    def write(self) -> None:
        """Build the index."""
        kernels.Lanes.write(str(self.path), *self.arrays, self.lanes)

    def open(self) -> kernels.Lanes:
        """Map it."""
        return kernels.Lanes(*self.arrays, self.lanes, index=pa.array(np.memmap(self.path, np.uint64, "r")))


def windows(end: int) -> list[tuple[int, list[tuple[int, int]]]]:
    """Return steps, which are powers of two as on a screen, and where screens stand."""
    random = np.random.default_rng(7)
    widths = np.geomspace(min(SECOND, end), end, ZOOMS).astype(np.int64).tolist()
    found = []
    for width in widths:
        step = 1 << max((width // PIXELS).bit_length() - 1, 0)
        starts = random.integers(0, max(end - width, 1), SCREENS).tolist()
        found.append((step, [(start, start + width) for start in starts]))
    return found


def screens(lanes: kernels.Lanes, end: int) -> tuple[list[float], int]:
    """Return how long each screen took, in ms, and how many cells all have."""
    taken, cells = [], 0
    for step, places in windows(end):
        for start, stop in places:
            before = time.perf_counter()
            batch = pa.record_batch(lanes.cells(start, stop, step))
            taken.append((time.perf_counter() - before) * 1000)
            cells += batch.num_rows
    return taken, cells


def by_duckdb(begin: Any, duration: Any, size: int, window: tuple[int, int, int]) -> int:
    """Group one screen of all tracks; return the number of cells."""
    start, stop, step = window
    found = 0
    each = size // TRACKS
    for track in range(TRACKS):
        table = pa.table({"ts": begin[track * each :][:each], "dur": duration[track * each :][:each]})
        found += (
            duckdb.from_arrow(table)
            .filter(f"ts < {stop} AND ts + dur > {start}")
            .aggregate(f"ts // {step} AS cell, COUNT(*), SUM(dur), MAX(dur), ARG_MAX(ts, dur)", f"ts // {step}")
            .arrow()
            .read_all()
            .num_rows
        )
    return found


def by_polars(begin: Any, duration: Any, size: int, window: tuple[int, int, int]) -> int:
    """Group one screen of all tracks; return the number of cells."""
    start, stop, step = window
    found = 0
    each = size // TRACKS
    ts, dur = pl.col("ts"), pl.col("dur")
    for track in range(TRACKS):
        frame = pl.DataFrame(
            {"ts": pl.from_arrow(begin[track * each :][:each]), "dur": duration[track * each :][:each]}
        )
        rows = frame.lazy().filter((ts < stop) & (ts + dur > start)).group_by(ts // step)
        found += (
            rows.agg(pl.len(), dur.sum().alias("total"), dur.max(), ts.get(dur.arg_max()).alias("first"))
            .collect()
            .height
        )
    return found


def compare(columns: Columns, size: int) -> None:
    """Look at everything by other tools, once they are warm."""
    step, places = windows(columns.end)[-1]
    start, stop = 0, places[0][1] - places[0][0]
    lanes = columns.open()
    own = statistics.median(timed(lambda: pa.record_batch(lanes.cells(start, stop, step)))[1] for _ in range(5))
    for name, peer in (("DuckDB", by_duckdb), ("Polars", by_polars)):
        taken = [timed(lambda peer=peer: peer(*columns.arrays, size, (start, stop, step))) for _ in range(3)]
        wall, cpu = (statistics.median(column) for column in zip(*taken, strict=True))
        ratio = cpu / max(own, 1e-6)
        print(f"  {name}: all of it in {wall * 1000:,.1f} ms ({cpu:.2f} CPU s), {ratio:,.0f} times the CPU of dctv")


def measure(folder: Path, size: int, peers: int) -> float:
    """Print what one size takes; return the median of its screens."""
    generate(folder, size)
    columns = Columns(folder, size)
    memory = Memory()
    wall, cpu = timed(columns.write)
    peak = memory.stop()
    beside = columns.path.stat().st_size / size
    print(
        f"{size:,} spans: built in {wall:.2f} s, {cpu:.2f} CPU s: {size / cpu / 1e6:,.0f}M a CPU second; "
        f"{beside:.2f} bytes a span, {peak:,.0f} MB"
    )
    first, _ = timed(
        lambda: pa.record_batch(columns.open().cells(0, columns.end, 1 << (columns.end // PIXELS).bit_length()))
    )
    lanes = columns.open()
    screens(lanes, columns.end)
    taken, cells = screens(lanes, columns.end)
    median = statistics.median(taken)
    warm = f"median {median:.2f} ms, worst {max(taken):.2f} ms, {cells / len(taken):,.0f} cells"
    print(f"  first screen of the mapped file {first * 1000:.1f} ms; warm: {warm}")
    by_zoom = [statistics.median(taken[zoom * SCREENS : (zoom + 1) * SCREENS]) for zoom in range(ZOOMS)]
    print("  by zoom, from a second to everything: " + ", ".join(f"{ms:.2f}" for ms in by_zoom) + " ms")
    if size <= peers:
        compare(columns, size)
    return median


def main() -> None:
    """Measure each size in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=float, nargs="+", default=[1e6, 1e8])
    parser.add_argument("--peers", type=float, default=1e8, help="do not ask peers about more spans (default: 1e8)")
    parser.add_argument("--data", type=Path, help="where columns are written for the time being")
    args = parser.parse_args()
    medians = []
    for size in (int(size) // TRACKS * TRACKS for size in args.sizes):
        with tempfile.TemporaryDirectory(dir=args.data) as folder:
            medians.append((size, measure(Path(folder), size, int(args.peers))))
    for (small, before), (large, after) in pairwise(medians):
        print(f"{small:,} to {large:,} spans: the median grows {after / before:.2f} times")


if __name__ == "__main__":
    main()
