"""Some `.test` files give the same rows on Apache Spark as in this process.

It is started from the environment that DCTV_SPARK_HOME names, if that is given; DCTV_SPARK is the address of another
server.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from dctv.engines.spark.connection import Connection, connect
from tests.engines.apache.served import apache
from tests.engines.sail.blocks import Tally, run_files
from tests.sqltest import ROOT

FILES = ["sql/manual/span_join", "sql/dialect/selects", "fleet/in_each_trace"]
LEAST = 50
"""How many of their queries are carried out there, as a whole or in part."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Connection]:
    home, address = os.environ.get("DCTV_SPARK_HOME"), os.environ.get("DCTV_SPARK")
    if address is not None:
        connection = connect(address)
        yield connection
        connection.close()
        return
    assert home is not None
    with apache(Path(home).resolve(), tmp_path) as started:
        connection = connect(started)
        yield connection
        connection.close()


def test_files(server: Connection) -> None:
    tally = Tally(server)
    run_files([ROOT / "tests" / f"{name}.test" for name in FILES], tally)
    tally.check(LEAST)
