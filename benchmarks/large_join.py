"""Join spans that do not fit into memory: peak memory, CPU and wall time of a process of its own.

`python -m benchmarks.large_join --rows 1e8 --memory-limit 1GB` joins two sequences of so many spans by time and counts
what comes out; `--unsorted` shuffles them first, so that the engine sorts, and spills.
"""

from __future__ import annotations

import argparse
import resource
import threading
import time
from pathlib import Path

from dctv.session import Session

_LENGTHS = (10, 7)
"""Lengths of the spans of either side in ns."""


def statement(rows: int, *, unsorted: bool) -> str:
    """Return the query: each side has a time, a duration and a payload."""
    left, right = (_side(rows, length, unsorted=unsorted) for length in _LENGTHS)
    joined = f"SELECT SPAN a.v AS v, b.v AS w FROM ({left}) AS a SPAN JOIN ({right}) AS b"
    return f"SELECT COUNT(*) AS n, SUM(v - w) AS difference FROM ({joined})"


def _side(rows: int, length: int, *, unsorted: bool) -> str:
    if unsorted:
        # An odd factor that has no common divisor with the count visits every span once, in no order of time.
        spans = f"SELECT (range * 7368787 % {rows}) * {length} AS _ts, {length} AS _duration FROM range({rows})"
        return f"SELECT SPAN _ts // {length} AS v FROM dctv.as_spans(({spans}))"
    return f"SELECT SPAN _ts // {length} AS v FROM dctv.generate_sequential_spans(0, {rows * length}ns, {length}ns)"


def _expected(rows: int) -> int:
    """Return how many pieces there are: one more with each boundary of either side that the other one does not have."""
    first, second = _LENGTHS
    end = rows * min(_LENGTHS)
    return -(-end // first) + -(-end // second) - -(-end // (first * second))


class _Spilled(threading.Thread):
    """Watches how much is in a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(daemon=True)
        self.folder, self.peak = folder, 0

    def run(self) -> None:
        while True:
            sizes = [file.stat().st_size for file in self.folder.glob("*") if file.exists()]
            self.peak = max(self.peak, sum(sizes))
            time.sleep(0.2)


def main() -> None:
    """Run the join once and print one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e8)
    parser.add_argument("--memory-limit", default="1GB")
    parser.add_argument("--unsorted", action="store_true")
    parser.add_argument("--explain", action="store_true", help="show what each operator did")
    args = parser.parse_args()
    rows = int(args.rows)
    query = statement(rows, unsorted=args.unsorted)
    with Session(memory_limit=args.memory_limit) as session:
        watch = _Spilled(session.spill_folder)
        watch.start()
        before, start = time.process_time(), time.monotonic()
        found = session.sql(f"EXPLAIN ANALYZE {query}" if args.explain else query).fetchall()
        cpu, wall = time.process_time() - before, time.monotonic() - start
    if args.explain:
        print("\n".join(line for (line,) in found))
    else:
        assert found[0][0] == _expected(rows), (found, _expected(rows))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{rows:,} x {rows:,} spans: {wall:.1f} s, {cpu:.1f} s CPU, {peak:,.0f} MB, {watch.peak / 1e6:,.0f} MB on disk"
    )


if __name__ == "__main__":
    main()
