"""Some `.test` files, and queries over fleets, give the same rows on Apache Spark as in this process.

It is started from the environment that DCTV_SPARK_HOME names, if that is given; DCTV_SPARK is the address of another
server.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from dctv.engines.spark.connection import connect
from dctv.session import Session
from tests.engines.apache.served import apache
from tests.engines.sail.blocks import Tally, run_files
from tests.fleet.test_fleet_queries import check_rows_of_a_fleet
from tests.sqltest import ROOT

FILES = ("manual/span_join", "manual/departition", "manual/span_broadcast", "dialect/selects")
LEAST = 6
"""How many queries of a file are carried out there as a whole, at least."""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    home, known = os.environ.get("DCTV_SPARK_HOME"), os.environ.get("DCTV_SPARK")
    if known is not None:
        yield known
        return
    assert home is not None
    with apache(Path(home).resolve(), tmp_path) as started:
        yield started


def test_files_and_fleets(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # One test, since each worker of pytest would start a server of its own.
    connection = connect(address)
    for name in FILES:
        tally = Tally(connection)
        run_files([ROOT / "tests" / "sql" / f"{name}.test"], tally)
        assert tally.differing == {}, name
        assert tally.elsewhere >= LEAST, name
    connection.close()
    for count in (1, 3, 50):
        folder = tmp_path / str(count)
        folder.mkdir()
        monkeypatch.chdir(folder)
        with Session(index=False, engine=address) as there:
            check_rows_of_a_fleet(there, folder, count)
