"""One server, and one DuckDB to compare it with, for each worker."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from dctv.engines.duckdb import DuckDB
from dctv.engines.spark.connection import Connection
from tests.engines.edges import duckdb, edges
from tests.engines.sail.served import sail


@pytest.fixture(scope="session")
def spark() -> Iterator[Connection]:
    with sail() as running:
        yield running


@pytest.fixture(scope="session")
def engine() -> Iterator[DuckDB]:
    with duckdb() as opened:
        yield opened


@pytest.fixture(scope="session")
def table() -> pa.Table:
    return edges()
