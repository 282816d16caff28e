"""Measure how fast ftrace text becomes Arrow tables, against regular expressions of DuckDB and Polars on one file.

Runs are interleaved, each in a process of its own; CPU seconds and peak memory are those of that process, without what
starting it and importing costs. The others split lines into task, pid, cpu, time, event and body only: no fields.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

LINE = r"^\s*(.+)-(\d+)\s+\[(\d+)\]\s+(\S+)\s+(\d+)\.(\d+): (\w+): (.*)$"
COLUMNS = ("comm", "pid", "cpu", "flags", "s", "us", "event", "body")


def dctv(path: str) -> Callable[[], int]:
    """Decode all events into typed tables."""
    from dctv.contracts.reader import LoadContext
    from dctv.readers.ftrace_text import READER

    import_module("pyarrow.compute")  # the tables are handed over to it, and its start is not what is measured

    def run() -> int:
        trace = READER.load([Path(path)], LoadContext({}, 2, lambda _done, _total: None))
        return sum(len(table.data) for table in trace.tables.values() if table.event is not None)

    return run


def duckdb(path: str) -> Callable[[], int]:
    """Split lines by one regular expression into an Arrow table."""
    import duckdb as engine

    connection = engine.connect(config={"threads": 2})
    names = ", ".join(f"'{c}'" for c in COLUMNS)
    read = (
        "read_csv(?, columns={'line': 'VARCHAR'}, delim=chr(1), quote='', escape='', header=false, auto_detect=false)"
    )
    query = f"SELECT regexp_extract(line, '{LINE}', [{names}]) AS e FROM {read} WHERE line NOT LIKE '#%'"
    return lambda: len(connection.execute(f"SELECT e.* FROM ({query})", [path]).to_arrow_table())


def polars(path: str) -> Callable[[], int]:
    """Split lines by one regular expression into a frame."""
    import polars as engine

    def run() -> int:
        lines = engine.scan_csv(
            path, has_header=False, new_columns=["line"], separator="\x01", quote_char=None, comment_prefix="#"
        )
        pattern = LINE
        for name in COLUMNS:
            pattern = pattern.replace("(", f"\0?P<{name}>", 1)
        groups = engine.col("line").str.extract_groups(pattern.replace("\0", "("))
        return len(lines.select(groups.alias("e")).unnest("e").collect())

    return run


RUNNERS = {"dctv": dctv, "duckdb": duckdb, "polars": polars}


def cpu_seconds() -> float:
    """Return user and system time of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measure(name: str, path: str) -> None:
    """Run once and print the figures as JSON."""
    run = RUNNERS[name](path)
    before, began = cpu_seconds(), time.perf_counter()
    rows = run()
    figures = {
        "rows": rows,
        "cpu": cpu_seconds() - before,
        "wall": time.perf_counter() - began,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(figures))


def compare(path: Path, runs: int) -> None:
    """Run all in turn and print medians."""
    size = path.stat().st_size / 1e6
    figures: dict[str, list[dict[str, float]]] = {name: [] for name in RUNNERS}
    for _ in range(runs):
        for name, found in figures.items():
            command = [sys.executable, __file__, str(path), "--only", name]
            found.append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
    print(f"{path.name}: {size:.0f} MB, medians of {runs} interleaved runs")
    for name, found in figures.items():
        middle = {key: statistics.median(run[key] for run in found) for key in found[0]}
        print(
            f"{name:8} {middle['rows']:>9.0f} rows  {middle['cpu']:6.2f} CPU s  {middle['wall']:6.2f} s  "
            f"{middle['peak']:6.0f} MB peak  {size / middle['cpu']:5.0f} MB per CPU second"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", choices=list(RUNNERS))
    given = parser.parse_args()
    if given.only:
        measure(given.only, str(given.path))
    else:
        compare(given.path, given.runs)
