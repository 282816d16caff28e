"""Measures a span join on a server of Spark Connect against the same join in this process.

    sail spark server --port 15002 &
    python benchmarks/spark.py sc://127.0.0.1:15002

Both read the same tables in memory, which are sent to the server; the time of that is told, too.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np
import pyarrow as pa

from dctv import Session

JOIN = """SELECT x.v, COUNT(*) AS n, SUM(x._duration) AS d
FROM (SELECT SPAN a.v FROM a SPAN JOIN b) AS x GROUP BY 1 ORDER BY 1"""
SENT = (
    "SELECT COUNT(*) AS n, SUM(x._duration) AS d FROM (SELECT _duration FROM a UNION ALL SELECT _duration FROM b) AS x"
)


def spans(rows: int, partitions: int, seed: int) -> pa.Table:
    """Return spans with gaps between them, as many in each partition."""
    made = np.random.default_rng(seed)
    each = rows // partitions
    starts = np.cumsum(made.integers(10, 100, (partitions, each)), axis=1)
    lengths = made.integers(1, 10, (partitions, each))
    order = np.argsort(starts, axis=None, kind="stable")
    columns = {
        "_ts": starts.ravel()[order],
        "_duration": lengths.ravel()[order],
        "cpu": np.repeat(np.arange(partitions), each)[order],
        "v": made.integers(0, 4, rows)[order],
    }
    return pa.table(columns)


def seconds(session: Session, sql: str, times: int) -> float:
    """Return the median of how long a query takes."""
    took = []
    for _ in range(times):
        began = time.perf_counter()
        session.sql(sql).fetchall()
        took.append(time.perf_counter() - began)
    return statistics.median(took)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("--rows", type=int, nargs="*", default=[100_000, 1_000_000])
    parser.add_argument("--times", type=int, default=3)
    args = parser.parse_args()
    print("| spans on each side | here | there | of that, sending |\n|---|---|---|---|")
    for rows in args.rows:
        took = []
        with Session(warn=False) as here, Session(warn=False, engine=args.address) as there:
            for session in (here, there):
                for number, name in enumerate("ab"):
                    session.add_table(name, spans(rows, 8, number), kind="span", partitions=["cpu"])
                took.append(seconds(session, JOIN, args.times))
            assert here.sql(JOIN).fetchall() == there.sql(JOIN).fetchall()
            sending = seconds(there, SENT, args.times)
        print(f"| {rows:,} | {took[0]:.2f} s | {took[1]:.2f} s | {sending:.2f} s |", flush=True)


if __name__ == "__main__":
    main()
