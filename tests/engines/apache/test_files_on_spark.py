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

FILES = ("manual/span_join", "manual/departition", "manual/span_broadcast", "dialect/selects")
LEAST = 6
"""How many queries of a file are carried out there as a whole, at least."""


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
    # One test, since each worker of pytest would start a server of its own.
    for name in FILES:
        tally = Tally(server)
        run_files([ROOT / "tests" / "sql" / f"{name}.test"], tally)
        assert tally.differing == {}, name
        assert tally.elsewhere >= LEAST, name
