"""The files of generate_pfw.py become CPU seconds per reader: dctv's, DuckDB and Polars on the same data.

Run as `python benchmarks/decode_pfw.py DIRECTORY [--rounds 5] [--threads 1]`. Every run is a process of its own; rounds
take turns, so that a slow minute of the machine hits all readers. Printed are medians: CPU and wall seconds, megabytes
of JSON text per CPU second, and peak memory in MiB.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from statistics import median

COLUMNS = (
    "id: 'BIGINT', name: 'VARCHAR', cat: 'VARCHAR', type: 'INTEGER', pid: 'BIGINT', tid: 'BIGINT', ts: 'BIGINT', "
    "dur: 'BIGINT', ph: 'INTEGER', args: '{args}'"
)
STRUCT = (
    'STRUCT(hhash VARCHAR, fhash VARCHAR, flags BIGINT, mode BIGINT, ret BIGINT, count BIGINT, "offset" BIGINT, '
    "whence BIGINT, cmd BIGINT, bytes BIGINT, rate DOUBLE, epoch BIGINT, step BIGINT, dataset VARCHAR, policy VARCHAR, "
    "layout VARCHAR, device VARCHAR, model VARCHAR, algorithm VARCHAR, final BOOLEAN, num_events BIGINT, "
    "cmd_hash VARCHAR, name VARCHAR, value VARCHAR)"
)
READERS = ("dctv", "duckdb-json", "duckdb-struct", "polars")


def read_dctv(files: list[str], threads: int) -> int:
    """Load with dctv: one sorted table per event name, hashes resolved."""
    from dctv.contracts.reader import LoadContext
    from dctv.readers.dftracer import READER

    trace = READER.load([Path(file) for file in files], LoadContext({}, threads, lambda _done, _total: None))
    return sum(table.data.num_rows for table in trace.tables.values() if table.event is not None)


def read_duckdb(files: list[str], threads: int, args: str) -> int:
    """Read all columns into one Arrow table with explicit types."""
    import duckdb

    connection = duckdb.connect(config={"threads": threads})
    columns = "{" + COLUMNS.format(args=args) + "}"
    query = f"SELECT * FROM read_json(?, format='newline_delimited', columns={columns}) WHERE ts IS NOT NULL"
    return int(connection.execute(query, [files]).to_arrow_table().num_rows)


def read_polars(files: list[str]) -> int:
    """Read all columns into one frame, types inferred."""
    import polars as pl

    frames = pl.scan_ndjson(files, infer_schema_length=20_000).filter(pl.col("ts").is_not_null())
    return int(frames.collect().height)


def run_one(reader: str, directory: Path, threads: int) -> None:
    """Run one reader in this process and print its figures as JSON."""
    files = sorted(str(path) for path in directory.glob("*.pfw*"))
    os.environ["POLARS_MAX_THREADS"] = str(threads)
    # What a reader imports is not decoding: numpy and pyarrow alone cost more than a tenth of a second.
    for module in ("pyarrow.compute", reader.split("-", maxsplit=1)[0]):
        import_module(module)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    before, started = usage.ru_utime + usage.ru_stime, time.perf_counter()
    if reader == "dctv":
        rows = read_dctv(files, threads)
    elif reader == "polars":
        rows = read_polars(files)
    else:
        rows = read_duckdb(files, threads, "JSON" if reader == "duckdb-json" else STRUCT)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    cpu = usage.ru_utime + usage.ru_stime - before
    print(json.dumps([cpu, time.perf_counter() - started, usage.ru_maxrss / 1024, rows]))


def main() -> None:
    """Run all readers in turns and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--one", choices=READERS)
    given = parser.parse_args()
    if given.one:
        run_one(given.one, given.directory, given.threads)
        return
    expected = json.loads((given.directory / "expected.json").read_text(encoding="utf-8"))
    runs: dict[str, list[list[float]]] = {reader: [] for reader in READERS}
    for _ in range(given.rounds):
        for reader in READERS:
            command = [sys.executable, __file__, str(given.directory), "--threads", str(given.threads), "--one", reader]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                runs[reader].append(json.loads(done.stdout))
            else:
                print(f"{reader}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
    megabytes = expected["bytes"] / 1e6
    print(f"{megabytes:.0f} MB of text, {expected['events']} events, {given.threads} threads, {given.rounds} rounds")
    print(f"{'reader':<14} {'cpu s':>7} {'wall s':>7} {'MB/cpu s':>9} {'MiB':>6} {'rows':>9}")
    for reader, figures in runs.items():
        if figures:
            cpu, wall, memory, rows = (median(column) for column in zip(*figures, strict=True))
            print(f"{reader:<14} {cpu:7.2f} {wall:7.2f} {megabytes / cpu:9.0f} {memory:6.0f} {rows:9.0f}")


if __name__ == "__main__":
    main()
