"""Queries of `.test` files give the same rows on Sail as in this process, alone and with workers of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dctv.engines.spark.connection import Connection
from tests.engines.sail.blocks import run_files
from tests.engines.sail.served import sail
from tests.sqltest import ROOT

LEFT_OUT = (ROOT / "tests/fleet/states.test",)
"""Here an engine runs each region of each trace, and timelines have hundreds; in sessions its workers run them."""
FILES = sorted(set((ROOT / "tests").glob("**/*.test")) - set(LEFT_OUT))
WITH_SPANS = [path for path in FILES if "SPAN" in path.read_text(encoding="utf-8")]
PARTS = 12
LEAST = {"kernel": 25, "relational": 15}
"""How many queries of a part are carried out there at least, as a whole or in part; most parts have many more."""


def part(number: int) -> list[Path]:
    """Return every so manieth file: those of one folder take about as long."""
    return FILES[number::PARTS]


@pytest.mark.parametrize("number", range(PARTS))
@pytest.mark.parametrize("way", ["kernel", "relational"])
def test_files(spark: Connection, number: int, way: str) -> None:
    (tally,) = run_files(spark, part(number), [way])
    told = "\n".join(tally.lines())
    assert "\n".join(f"{block}\n{text}" for block, text in tally.differing.items()) == "", told
    assert tally.elsewhere + tally.shared >= LEAST[way], told


@pytest.mark.parametrize("number", range(3))
def test_files_cut_by_time_as_well(spark: Connection, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Partitions that are too large for a worker are cut by time, too; here all are."""
    monkeypatch.setattr("dctv.run.remote.source._LARGE", -1)
    monkeypatch.setattr("dctv.run.remote.source._SLAB", 2)
    (tally,) = run_files(spark, WITH_SPANS[number::3], ["kernel"])
    told = "\n".join(tally.lines())
    assert "\n".join(f"{block}\n{text}" for block, text in tally.differing.items()) == "", told
    assert tally.elsewhere + tally.shared >= LEAST["kernel"], told


@pytest.fixture(scope="module")
def cluster() -> Iterator[Connection]:
    with sail("local-cluster") as running:
        yield running


@pytest.mark.parametrize("number", range(PARTS))
def test_files_on_a_cluster(cluster: Connection, number: int) -> None:
    (tally,) = run_files(cluster, part(number), ["kernel"])
    told = "\n".join(tally.lines())
    assert "\n".join(f"{block}\n{text}" for block, text in tally.differing.items()) == "", told
    assert tally.elsewhere + tally.shared >= LEAST["kernel"], told
