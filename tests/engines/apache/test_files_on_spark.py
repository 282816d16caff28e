"""Some `.test` files give the same rows on the server of DCTV_SPARK, such as Apache Spark, as in this process."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from dctv.engines.spark.connection import Connection, connect
from tests.engines.sail.blocks import Tally, run_files
from tests.sqltest import ROOT

FILES = ["manual/span_join", "manual/departition", "manual/span_broadcast", "dialect/selects"]


@pytest.fixture(scope="module")
def server() -> Iterator[Connection]:
    connection = connect(os.environ["DCTV_SPARK"])
    yield connection
    connection.close()


@pytest.mark.parametrize("name", FILES)
def test_files(server: Connection, name: str) -> None:
    tally = Tally(server)
    run_files([ROOT / "tests" / "sql" / f"{name}.test"], tally)
    assert tally.differing == {}
    assert tally.elsewhere >= 6
