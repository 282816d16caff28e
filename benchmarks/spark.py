"""Measure a span join on a server of Spark Connect against the same join in this process.

    sail spark server --port 15002 &
    python benchmarks/spark.py sc://127.0.0.1:15002

Both read the same rows: those of indexed files, which the server reads where they lie, then those of tables in memory,
which are sent to it; the time that this takes is printed, too. Each figure is the median of several runs.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

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


STORED = """CREATE VIEW {0} AS SELECT SPAN * FROM dctv.as_spans((SELECT _ts, dur AS _duration, cpu, v
FROM f{0}.raw_events.{0}), partition => 'cpu', duration => '_duration')"""


def in_memory(session: Session, rows: int) -> None:
    """Give a session both tables."""
    for number, name in enumerate("ab"):
        session.add_table(name, spans(rows, 8, number), kind="span", partitions=["cpu"])


def stored(session: Session, folder: Path) -> None:
    """Mount the files of both tables."""
    for name in "ab":
        mount = f"MOUNT TRACE '{folder / name}.parquet' AS f{name} WITH (duration => '_duration')"
        for text in (mount, STORED.format(name)):
            list(session.execute(text))


def measured(here: Session, there: Session, times: int) -> str:
    """Return how long the join takes on both sides, and how many times as long on the server."""
    took = [seconds(session, JOIN, times) for session in (here, there)]
    assert here.sql(JOIN).fetchall() == there.sql(JOIN).fetchall()
    return f"{took[0]:.2f} s | {took[1]:.2f} s | {took[1] / took[0]:.1f}"


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("--rows", type=int, nargs="*", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--times", type=int, default=5)
    args = parser.parse_args()
    print("| spans on each side | here | there | ratio | of that, sending |\n|---|---|---|---|---|")
    for rows in args.rows:
        with tempfile.TemporaryDirectory() as folder:
            for number, name in enumerate("ab"):
                pq.write_table(spans(rows, 8, number), f"{folder}/{name}.parquet")
            indexed = {"warn": False, "index": True, "index_dir": f"{folder}/indexes"}
            with Session(**indexed) as here, Session(engine=args.address, **indexed) as there:
                for session in (here, there):
                    stored(session, Path(folder))
                print(f"| {rows:,} in files | {measured(here, there, args.times)} | |", flush=True)
        with Session(warn=False) as here, Session(warn=False, engine=args.address) as there:
            for session in (here, there):
                in_memory(session, rows)
            both = measured(here, there, args.times)
            print(f"| {rows:,} in memory | {both} | {seconds(there, SENT, args.times):.2f} s |", flush=True)


if __name__ == "__main__":
    main()
