"""Ask many traces the same question several times in one session, whose workers stay.

Run as `python benchmarks/warm_fleet.py 'FOLDER/*.txt' "SELECT ... FROM runs.events"`: for each line on stdin, the
question is asked once, and its wall seconds are printed. `fleet.py` does this with one processor and two in turn.
"""

from __future__ import annotations

import sys
import time

import dctv


def main() -> None:
    """Mount the traces as `runs`, and ask whenever a line comes."""
    pattern, question = sys.argv[1:]
    with dctv.Session() as session:
        session.mount_traces(pattern, "runs")
        for _ in sys.stdin:
            begin = time.perf_counter()
            session.sql(question).fetchall()
            print(f"{time.perf_counter() - begin:.3f}", flush=True)


if __name__ == "__main__":
    main()
