"""Queries of `.test` files give the same rows on Sail as in this process, there alone or with workers."""

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
ALL = sorted(set((ROOT / "tests").glob("**/*.test")) - set(LEFT_OUT))
WITH_SPANS = [path for path in ALL if "SPAN" in path.read_text(encoding="utf-8")]
FILES = [*WITH_SPANS, *(path for path in ALL if path not in WITH_SPANS)]
PARTS = 24
LEAST = 5
"""How many queries of a part are carried out there at least, as a whole or in part; most parts have many more."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Connection]:
    with sail("local-cluster") as running:
        yield running


# Every so manieth file: each part has some with spans. We write the same for a server alone as for one that
# has workers, so each file is run by one of them.
@pytest.mark.parametrize("number", range(PARTS))
def test_files(spark: Connection, cluster: Connection, number: int) -> None:
    remote = cluster if number % 2 else spark
    kernel, relational = Tally(remote), Tally(remote, "relational", has_relational_form)
    run_files(FILES[number::PARTS], kernel, relational)
    kernel.check(LEAST)
    relational.check(0)


@pytest.mark.parametrize("number", range(3))
def test_files_cut_by_time_as_well(spark: Connection, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Partitions that are too large for a worker are cut by time, too; here all are."""
    monkeypatch.setattr("dctv.run.remote.source._LARGE", -1)
    monkeypatch.setattr("dctv.run.remote.source._SLAB", 2)
    tally = Tally(spark, chosen=with_spans)
    run_files(WITH_SPANS[number::3], tally)
    tally.check(LEAST)
