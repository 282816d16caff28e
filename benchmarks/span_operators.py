"""Prints what the span operators cost: compiled kernels against the best forms in plain SQL.

Run as `python benchmarks/span_operators.py [rows ...]`. Each figure is the median of interleaved runs, each in a
process of its own: CPU seconds (user and system) of the work without making the tables, and the process's peak memory.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from dctv import _kernels

RUNS = 3
PARTS = 8


def tables(rows: int) -> dict[str, Any]:
    """Make the two span tables, a grouper of 1,000 windows and the events of the first table."""
    i = np.arange(rows, dtype=np.int64)
    step, part = i // PARTS, i % PARTS
    a = {"_ts": step * 1000 + part * 13, "_duration": 400 + (i * 7919) % 600, "cpu": part, "utid": (i * 31) % 1000}
    b = {"_ts": step * 1000 + part * 17 + 250, "_duration": 300 + (i * 104729) % 700, "cpu": part, "freq": (i * 13) % 7}
    width = -(-int(step[-1] + 2) * 1000 // 1000)
    windows = np.arange(1000, dtype=np.int64) * width
    grouper = {"_ts": windows, "_duration": np.full(1000, width)}
    events = {name: a[name] for name in ("_ts", "cpu", "utid")}
    return {name: pa.table(t) for name, t in {"a": a, "b": b, "g": grouper, "e": events}.items()}


def drain(stream: Any) -> int:
    """Read a stream batch by batch and count its rows."""
    return sum(batch.num_rows for batch in pa.RecordBatchReader.from_stream(stream))


def kernel_join(t: dict[str, Any], how: str = "inner") -> int:
    """Join by the kernel."""
    names = ["_ts", "_duration", "cpu", "utid", "freq"]
    return drain(_kernels.span_join(t["a"], t["b"], how=how, partitions=1, names=names))


def kernel_outer(t: dict[str, Any]) -> int:
    """Outer join by the kernel."""
    return kernel_join(t, "outer")


def kernel_group(t: dict[str, Any]) -> int:
    """Cut into windows and aggregate by the kernel."""
    calls: list[Any] = [("sum", "_duration"), ("max", 0)]
    names = ["g_ts", "g_duration", "cpu", "total", "most"]
    options: dict[str, Any] = {"events": False, "partitions": 1, "names": names}
    return drain(_kernels.span_group([t["a"], t["g"]], aggregates=calls, **options))


def kernel_pieces(t: dict[str, Any]) -> int:
    """Cut into windows by the kernel; the engine aggregates the stream."""
    names = ["number", "g_ts", "g_duration", "cpu", "present", "_ts", "_duration", "utid"]
    pieces = _kernels.span_pieces(t["a"], t["g"], events=False, partitions=1, names=names)
    query = "SELECT number, cpu, sum(_duration), max(utid) FROM pieces GROUP BY ALL"
    connection = duckdb.connect()
    connection.register("pieces", pieces)
    return len(connection.sql(query).fetchall())


def kernel_departition(t: dict[str, Any]) -> int:
    """Departition by the kernel, aggregates included."""
    calls: list[tuple[Any, int | None]] = [("sum", 0), ("max", 0)]
    names = ["_ts", "_duration", "total", "most"]
    return drain(_kernels.departition(t["a"], partitions=1, keep=[], aggregates=calls, names=names))


def kernel_series(t: dict[str, Any]) -> int:
    """Make spans of events by the kernel."""
    names = ["_ts", "_duration", "cpu", "utid"]
    columns: list[Any] = [(0, 0, "rising")]
    return drain(_kernels.series_to_spans([t["e"]], starts=[True], partitions=1, columns=columns, names=names))


def sql(query: str) -> Callable[[dict[str, Any]], int]:
    """Make a run of a query whose result is read as a stream."""

    def run(t: dict[str, Any]) -> int:
        connection = duckdb.connect()
        for name, table in t.items():
            connection.register(name, table)
        return drain(connection.sql(query))

    return run


JOIN = """
    WITH x AS (SELECT *, _ts + _duration AS _end, row_number() OVER () AS n FROM a),
         y AS (SELECT *, _ts + _duration AS _end, row_number() OVER () AS n FROM b),
         p AS (SELECT x.n AS xn, y.n AS yn, x._ts AS t FROM x ASOF JOIN y ON x.cpu = y.cpu AND x._ts >= y._ts
               UNION ALL
               SELECT x.n, y.n, y._ts FROM y ASOF JOIN x ON x.cpu = y.cpu AND y._ts > x._ts)
    SELECT t AS _ts, least(x._end, y._end) - t AS _duration, x.cpu, utid, freq
    FROM p JOIN x ON x.n = p.xn JOIN y ON y.n = p.yn WHERE least(x._end, y._end) > t ORDER BY _ts"""

GROUP = """
    WITH w AS (SELECT _duration AS width FROM g LIMIT 1),
         s AS (SELECT a.*, unnest(range(_ts // width, (_ts + _duration - 1) // width + 1)) AS number, width FROM a, w)
    SELECT number, cpu, sum(least(_ts + _duration, (number + 1) * width) - greatest(_ts, number * width)), max(utid)
    FROM s GROUP BY ALL"""

DEPARTITION = """
    WITH d AS (SELECT _ts AS t, utid AS v, 1 AS n FROM a UNION ALL SELECT _ts + _duration, -utid, -1 FROM a),
         c AS (SELECT t, sum(v) AS v, sum(n) AS n FROM d GROUP BY t),
         r AS (SELECT t, lead(t) OVER (ORDER BY t) - t AS _duration, sum(v) OVER (ORDER BY t) AS total,
                      sum(n) OVER (ORDER BY t) AS n FROM c)
    SELECT t AS _ts, _duration, total FROM r WHERE n > 0 ORDER BY _ts"""

SERIES = """
    WITH s AS (SELECT _ts, lead(_ts) OVER (PARTITION BY cpu ORDER BY _ts) - _ts AS _duration, cpu, utid FROM e)
    SELECT * FROM s WHERE _duration > 0 ORDER BY _ts"""

WORK: dict[str, Callable[[dict[str, Any]], int]] = {
    "span join: kernel": kernel_join,
    "span join: SQL, as-of on row numbers": sql(JOIN),
    "span outer join: kernel": kernel_outer,
    "group into 1,000 windows: kernel": kernel_group,
    "group into 1,000 windows: kernel, aggregated by SQL": kernel_pieces,
    "group into 1,000 windows: SQL, arithmetic": sql(GROUP),
    "departition, SUM and MAX: kernel": kernel_departition,
    "departition, SUM only: SQL": sql(DEPARTITION),
    "series to spans: kernel": kernel_series,
    "series to spans: SQL": sql(SERIES),
}


def measure(name: str, rows: int) -> dict[str, float]:
    """Run one piece of work in this process."""
    made = tables(rows)
    duckdb.connect().sql("SELECT 1").fetchall()
    before = resource.getrusage(resource.RUSAGE_SELF)
    count = WORK[name](made)
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"cpu": cpu, "peak": after.ru_maxrss / 1024, "rows": count}


def main() -> None:
    """Measure all work, or one piece of it when called by itself."""
    if len(sys.argv) == 4 and sys.argv[1] == "--one":
        print(json.dumps(measure(sys.argv[2], int(sys.argv[3]))))
        return
    for rows in [int(text) for text in sys.argv[1:]] or [1_000_000, 5_000_000]:
        found: dict[str, list[dict[str, float]]] = {name: [] for name in WORK}
        for _ in range(RUNS):
            for name, results in found.items():
                command = [sys.executable, __file__, "--one", name, str(rows)]
                results.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
        print(f"\n{rows:,} rows, {PARTS} partitions")
        for name, results in found.items():
            cpu, peak = (statistics.median(one[key] for one in results) for key in ("cpu", "peak"))
            print(f"{name:<55} {cpu:7.3f} CPU s {peak:8,.0f} MB {results[0]['rows']:>12,} rows")


if __name__ == "__main__":
    main()
