"""Runs Spark's SQL on Sail, in a server of this process, over tables that come as Arrow and go as Arrow."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from dctv.errors import DctvError

_NARROWER = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}
"""What holds the values of types that Spark does not have."""


class Sail:
    """A session of a client of Spark Connect."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._alone = threading.Lock()
        """Held while names of tables are in use: kernels read their inputs in threads."""

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """What comes out of queries that it does not carry out: the client's errors, and those of who reads them."""
        from pyspark.errors import PySparkException

        return (PySparkException, DctvError, ValueError)

    def run(self, sql: str, tables: Mapping[str, pa.Table]) -> pa.Table:
        """Run a query over some tables."""
        with self._alone:
            return self._run(sql, tables)

    def _run(self, sql: str, tables: Mapping[str, pa.Table]) -> pa.Table:
        for name, table in tables.items():
            self._frame(table).createOrReplaceTempView(name)
        try:
            return self._session.sql(sql).toArrow()
        finally:
            for name in tables:
                self._session.catalog.dropTempView(name)

    def _frame(self, table: pa.Table) -> Any:
        held = _held(table)
        if len(held):
            return self._session.createDataFrame(held)
        # The client takes no empty tables.
        nothing = pa.table([pa.nulls(1, one.type) for one in held.schema], schema=held.schema)
        return self._session.createDataFrame(nothing).where("false")


def _held(table: pa.Table) -> pa.Table:
    fields = [pa.field(one.name, _NARROWER.get(one.type, one.type)) for one in table.schema]
    # Of an empty batch Sail says that something in it is divided by zero.
    return table.cast(pa.schema(fields)).combine_chunks()


@contextmanager
def sail() -> Iterator[Sail]:
    """Start a server and connect to it."""
    os.environ.setdefault("RUST_LOG", "error")
    # In a worker of xdist the client takes itself for its own doctests, and those want a Spark at hand.
    os.environ.setdefault("SPARK_HOME", "none")
    with warnings.catch_warnings():
        # The client is careful about the versions of pandas, which it does not get to see here.
        warnings.simplefilter("ignore")
        from pysail.spark import SparkConnectServer
        from pyspark.sql import SparkSession

        server = SparkConnectServer(ip="127.0.0.1", port=0)
        server.start(background=True)
        address, port = server.listening_address
        session = SparkSession.builder.remote(f"sc://{address}:{port}").getOrCreate()
        session.conf.set("spark.sql.session.timeZone", "UTC")
        try:
            yield Sail(session)
        finally:
            # The client first: it asks the server for minutes to end its session.
            session.stop()
            server.stop()
