"""Queries of `.test` files give the same rows on Sail, with workers or without, as in this process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dctv.engines.spark.connection import Connection
from tests.engines.sail.blocks import Tally, run_files, with_spans
from tests.engines.sail.served import sail
from tests.sqltest import ROOT
from tests.ways import has_relational_form

LEFT_OUT = (ROOT / "tests/fleet/states.test",)
"""Here an engine runs each region of each trace, and timelines have hundreds; in sessions its workers run them."""
FILES = sorted(set((ROOT / "tests").glob("**/*.test")) - set(LEFT_OUT))
WITH_SPANS = [path for path in FILES if "SPAN" in path.read_text(encoding="utf-8")]
PARTS = 12
LEAST, LEAST_WITH_SPANS = 25, 5
"""How many queries of a part, and how many with span operators, are carried out there at least, as a whole or in part;
most parts have many more."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Connection]:
    with sail("local-cluster") as running:
        yield running


# A part has every twelfth file: those of one folder take about as long. A server gets the same queries whether it has
# workers or not, so each file is run by one of the two.
@pytest.mark.parametrize("number", range(PARTS))
def test_files(spark: Connection, cluster: Connection, number: int) -> None:
    remote = cluster if number % 2 else spark
    kernel, relational = Tally(remote), Tally(remote, "relational", has_relational_form)
    run_files(FILES[number::PARTS], kernel, relational)
    kernel.check(LEAST)
    relational.check(LEAST_WITH_SPANS)


@pytest.mark.parametrize("number", range(3))
def test_files_cut_by_time_as_well(spark: Connection, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Partitions that are too large for a worker are cut by time, too; here all are."""
    monkeypatch.setattr("dctv.run.remote.source._LARGE", -1)
    monkeypatch.setattr("dctv.run.remote.source._SLAB", 2)
    tally = Tally(spark, chosen=with_spans)
    run_files(WITH_SPANS[number::3], tally)
    tally.check(LEAST)
