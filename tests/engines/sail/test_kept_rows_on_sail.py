"""Rows of steps that a query reads many times are computed once, where the server has a folder for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pyarrow as pa
import pytest

from dctv.engines.spark.connection import Connection
from dctv.engines.spark.job import SparkJob
from dctv.errors import DctvError, Interrupted
from dctv.plan.node import Query
from dctv.session import Session
from tests.engines.sail.blocks import on_engine
from tests.engines.sail.served import sail, served


def doubled(steps: int, first: str = "SELECT v, COUNT(*) AS n FROM a GROUP BY v") -> str:
    """Return a query of some steps, each of which, like the query, reads the one before twice."""
    texts = [f"s0 AS ({first})"]
    for number in range(1, steps):
        read = f"s{number - 1} AS x JOIN s{number - 1} AS y USING (v)"
        texts.append(f"s{number} AS (SELECT x.v, MAX(x.n + y.n) % 1000 AS n FROM {read} GROUP BY x.v)")
    last = f"s{steps - 1}"
    return f"WITH {', '.join(texts)} SELECT x.v, x.n + y.n AS n FROM {last} AS x JOIN {last} AS y USING (v) ORDER BY v"


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list of the tables whose rows are kept from now on."""
    found: list[str] = []
    usual = SparkJob._kept_rows

    def noted(self: SparkJob, query: Query) -> str:
        found.append(usual(self, query))
        return found[-1]

    monkeypatch.setattr(SparkJob, "_kept_rows", noted)
    return found


@pytest.fixture(scope="module")
def keeping_none() -> Iterator[Connection]:
    with sail(keeps_rows=False) as running:
        yield running


def test_rows_are_computed_once(spark: Connection, kept: list[str]) -> None:
    with Session(index=False) as session:
        session.add_table("a", pa.table({"v": list(range(100)) * 3}))
        expected = session.sql(doubled(20)).fetchall()
        with on_engine(session, spark):
            found = session.sql(doubled(20))
            assert (found.fetchall(), found.warnings) == (expected, [])
    assert len(kept) == 9
    assert not [one.name for one in spark.session.catalog.listTables() if one.name in kept]


def test_a_server_without_a_folder_computes_them_again(keeping_none: Connection, kept: list[str]) -> None:
    with Session(index=False) as session:
        session.add_table("a", pa.table({"v": [1, 2, 2]}))
        expected = session.sql(doubled(4)).fetchall()
        with on_engine(session, keeping_none):
            assert session.sql(doubled(4)).fetchall() == expected
    assert not kept


def test_a_step_that_fails(spark: Connection) -> None:
    with Session(index=False) as session:
        session.add_table("a", pa.table({"v": [1, 2]}))
        with on_engine(session, spark), pytest.raises(DctvError, match=r"[Oo]verflow"):
            session.sql(doubled(6, "SELECT v, v + 9223372036854775807 AS n FROM a")).fetchall()


def test_an_interrupt_while_rows_are_computed() -> None:
    slow = "SELECT x.v, COUNT(*) AS n FROM a AS x JOIN a AS y ON x.v < y.v JOIN a AS z ON x.v + y.v < z.v GROUP BY x.v"
    # In a server of its own: Sail lets a join that has begun go on.
    with served() as (address, _), Session(warn=False, engine=address) as session:
        session.add_table("a", pa.table({"v": list(range(20_000))}))
        threading.Timer(3, session.interrupt).start()
        began = time.monotonic()
        with pytest.raises(Interrupted):
            session.sql(doubled(5, slow)).fetchall()
        assert time.monotonic() - began < 20
