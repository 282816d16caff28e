"""Small tables in which rows of large tables are looked up are computed first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from dctv.run import lookups
from dctv.session import Session
from tests.sqltest import ROOT

DATA = ROOT / "tests" / "data" / "stdlib"
GROUPS = "(SELECT DISTINCT pid, tid FROM t.events)"
LOOKED_UP = (
    "SELECT name, COUNT(*) FROM t.slices GROUP BY name",
    f"SELECT e.name, g.tid FROM t.events AS e JOIN {GROUPS} AS g ON e.pid = g.pid",
    f"SELECT e.name, g.tid FROM {GROUPS} AS g RIGHT JOIN t.events AS e USING (tid)",
    "SELECT e.name, g.n FROM t.slices AS e, (SELECT tid, COUNT(*) AS n FROM t.slices GROUP BY 1) AS g "
    "WHERE e.tid = g.tid",
    "SELECT e.name FROM t.events AS e LEFT JOIN (SELECT MAX(tid) AS tid FROM t.events) AS g ON e.tid = g.tid",
)
RECURSIVE = (
    "WITH RECURSIVE r AS (SELECT 0 AS n, 0 AS tid UNION ALL SELECT n + 1, x.tid FROM r JOIN "
    f"(SELECT e.tid, g.pid FROM t.events AS e JOIN {GROUPS} AS g ON e.pid = g.pid WHERE e.name = 'open') AS x "
    "ON x.tid > r.tid WHERE n < 2) SELECT * FROM r"
)
LEFT = (
    "SELECT a.name FROM t.events AS a JOIN t.events AS b ON a.pid = b.tid",
    f"SELECT a.tid FROM {GROUPS} AS a JOIN {GROUPS} AS b ON a.pid = b.pid",
    "SELECT a.name FROM t.events AS a JOIN RANGE(3) AS b(i) ON a.pid = b.i",
    # Rows of these types cannot be kept as they are.
    "SELECT a.name, g.s::STRING FROM t.events AS a JOIN "
    "(SELECT tid, INTERVAL 1 DAY AS i, SUM(pid)::INT128 + 1 AS s FROM t.events GROUP BY tid) AS g "
    "ON a.tid = g.tid AND g.i > INTERVAL 1 HOUR",
)


@pytest.fixture(params=["in memory", "store"])
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Session]:
    with Session(index=request.param == "store", index_dir=tmp_path) as made:
        made.mount(DATA / "calls.pfw", "t")
        yield made


@pytest.fixture(autouse=True)
def no_table_is_small() -> Iterator[None]:
    with patch.object(lookups, "FEW", 0):
        yield


def shared(session: Session, query: str) -> int:
    return sum("shared" in line for (line,) in session.sql(f"EXPLAIN {query}").fetchall())


@pytest.mark.parametrize("query", [*LOOKED_UP, *LEFT])
def test_groups_are_computed_first(session: Session, query: str) -> None:
    is_first = query in LOOKED_UP
    query = f"SELECT * FROM ({query}) AS every ORDER BY ALL"
    found = session.sql(query).fetchall()
    few = shared(session, query)
    with patch.object(lookups, "MANY", 1):
        assert (shared(session, query) > few) == is_first
        assert session.sql(query).fetchall() == found


def test_joins_of_small_tables_are_computed_first(session: Session) -> None:
    session.add_table("few", {"pid": [1], "n": [2]})
    names = f"(SELECT f.n, f.pid, g.tid FROM few AS f LEFT JOIN {GROUPS} AS g USING (pid))"
    query = f"SELECT e.name, g.n FROM t.events AS e LEFT JOIN {names} AS g USING (pid) ORDER BY ALL"
    found, before = session.sql(query).fetchall(), shared(session, query)
    with patch.object(lookups, "MANY", 2), patch.object(lookups, "FEW", 1):
        assert shared(session, query) > before
        assert session.sql(query).fetchall() == found


def test_products_of_small_tables_are_not_computed_first(session: Session) -> None:
    session.add_table("few", {"pid": [1], "n": [2]})
    pairs = "(SELECT f.pid, f.n FROM few AS f CROSS JOIN few AS g)"
    query = f"SELECT e.name, g.n FROM t.events AS e LEFT JOIN {pairs} AS g USING (pid) ORDER BY ALL"
    found, before = session.sql(query).fetchall(), shared(session, query)
    with patch.object(lookups, "MANY", 2), patch.object(lookups, "FEW", 1):
        assert shared(session, query) == before
        assert session.sql(query).fetchall() == found


def test_groups_in_a_recursive_step(session: Session) -> None:
    found = session.sql(RECURSIVE).fetchall()
    assert len(found) > 1
    with patch.object(lookups, "MANY", 1):
        assert session.sql(RECURSIVE).fetchall() == found


def test_what_differs_each_time_is_computed_once(session: Session) -> None:
    query = "WITH r AS (SELECT RANDOM() AS x FROM t.events) SELECT COUNT(*) FROM r AS a JOIN r AS b USING (x)"
    assert session.sql(query).fetchall() == session.sql("SELECT COUNT(*) FROM t.events").fetchall()
