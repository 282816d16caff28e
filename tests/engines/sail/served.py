"""Start servers of Sail, connect to them as sessions do, and send them queries."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pyarrow as pa

from dctv.contracts.remote import Typed
from dctv.engines.spark.connection import Connection, connect
from dctv.plan.node import Query

Mode = Literal["local", "local-cluster"]
ROOT = Path(__file__).parents[3]


@contextmanager
def served(mode: Mode = "local", *, keeps_rows: bool = True) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Start a server in a process of its own; give its address, and the process."""
    port = free_port()
    # Its workers run our operators; with two of them a query is spread out.
    env = {**os.environ, "PYTHONPATH": str(ROOT), "RUST_LOG": "off", "SAIL_MODE": mode}
    env["SAIL_CLUSTER__WORKER_INITIAL_COUNT"] = "2"
    sail = Path(sys.executable).with_name("sail")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as kept:
        if keeps_rows:
            env["SAIL_EXECUTION__CHECKPOINT__PATH"] = Path(kept).as_uri()
        process = subprocess.Popen([sail, "spark", "server", "--port", str(port)], env=env)
        try:
            wait_for(port)
            yield f"sc://127.0.0.1:{port}", process
        finally:
            process.kill()
            process.wait()


def free_port() -> int:
    """Return a port that no program listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


def wait_for(port: int, seconds: float = 30) -> None:
    """Wait for a server to listen."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return


@contextmanager
def sail(mode: Mode = "local", *, keeps_rows: bool = True) -> Iterator[Connection]:
    """Start a server and connect to it."""
    with served(mode, keeps_rows=keeps_rows) as (address, _):
        connection = connect(address)
        try:
            yield connection
        finally:
            connection.close()


def run(sail: Connection, query: Query, tables: Mapping[str, tuple[pa.Table, Sequence[Typed]]]) -> pa.Table:
    """Run a query over some tables, whose columns have these types of DuckDB."""
    job = sail.job(lambda: False)
    try:
        given = {name: (job.table(table, columns), columns) for name, (table, columns) in tables.items()}
        return pa.concat_tables(job.rows(job.query(query, given)))
    finally:
        job.close()
