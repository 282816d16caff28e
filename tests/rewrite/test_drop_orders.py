"""Sorts go where no reader depends on the order of rows, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dctv.session import Session
from tests.sqltest import ROOT

TRACE = ROOT / "tests" / "data" / "stdlib" / "calls.pfw"
UNSORTED = (
    "SELECT COUNT(*), SUM(LENGTH(args)) FROM t.events",
    "SELECT name, MAX(args) FROM t.events WHERE pid > 0 GROUP BY name ORDER BY 2 LIMIT 3",
    "SELECT DISTINCT args FROM t.events",
    "SELECT AVG(_duration) FROM (SELECT *, _ts + 1ns AS later FROM t.events) WHERE args IS NOT NULL",
    "SELECT COUNT(DISTINCT a.args) FROM t.events AS a JOIN t.events AS b ON a.tid = b.pid",
    "SELECT MIN(n) FROM (SELECT args, COUNT(*) AS n FROM t.events GROUP BY 1)",
    "SELECT DISTINCT args FROM t.events LIMIT 3",
    "SELECT COUNT(DISTINCT args) FROM (SELECT args FROM t.events UNION ALL SELECT args FROM t.events LIMIT 3)",
    "SELECT args, name FROM t.events ORDER BY name, args DESC",
    "SELECT args, name FROM t.events ORDER BY LOWER(name)",
    "SELECT args FROM t.events ORDER BY _duration DESC LIMIT 3 OFFSET 1",
    "SELECT args FROM (SELECT args, pid, name FROM t.events ORDER BY pid, args, name) WHERE pid > 0 ORDER BY args",
)
SORTED = (
    "SELECT args FROM t.events",
    "SELECT args::STRING COLLATE NOCASE AS a FROM t.events ORDER BY a",
    "SELECT DISTINCT args::STRING COLLATE NOCASE FROM t.events",
    "SELECT (args->'rate')::STRING::FLOAT64 AS a, args FROM t.events ORDER BY args, a",
    "SELECT upper(args::STRING) FROM t.events",
    "SELECT FIRST(args) FROM t.events",
    "SELECT STRING_AGG(args) FROM t.events",
    "SELECT SUM(_duration * 0.1) FROM t.events WHERE args IS NOT NULL",
    "SELECT COUNT(args) FROM (SELECT args FROM t.events LIMIT 3)",
    "SELECT COUNT(DISTINCT args) FROM (SELECT * FROM t.events USING SAMPLE 3 ROWS)",
    "SELECT COUNT(args) FROM (SELECT DISTINCT ON (pid) pid, args FROM t.events)",
    "SELECT MAX(n) FROM (SELECT args, ROW_NUMBER() OVER () AS n FROM t.events)",
    "SELECT COUNT(*), MAX(LENGTH(args)) FROM t.events UNION ALL SELECT 1, LENGTH(args) FROM t.events",
)


@pytest.fixture(params=["in memory", "store"])
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Session]:
    with Session(index=request.param == "store", index_dir=tmp_path) as made:
        made.mount(TRACE, "t")
        yield made


def is_sorted(session: Session, query: str) -> bool:
    written = session.sql(f"EXPLAIN (SQL) {query}").fetchall()
    return any("dctv:table" in line.partition("ORDER BY")[2] for (line,) in written)


@pytest.mark.parametrize("query", UNSORTED)
def test_rows_that_are_put_together_are_not_sorted(session: Session, query: str) -> None:
    assert not is_sorted(session, query)
    found = session.sql(query).fetchall()
    session.sql("SET rewrite = 'off'")
    assert is_sorted(session, query)
    assert session.sql(query).fetchall() == found


@pytest.mark.parametrize("query", SORTED)
def test_rows_whose_order_means_something_are_sorted(session: Session, query: str) -> None:
    assert is_sorted(session, query)


@pytest.mark.parametrize("name", ["VAR_POP", "STDDEV", "MODE", "AVG", "CORR"])
def test_digits_that_depend_on_order_are_the_same(session: Session, name: str) -> None:
    arguments = "LENGTH(args), _duration" if name == "CORR" else "_duration * 0.1"
    query = f"SELECT {name}({arguments}) FROM t.events WHERE args IS NOT NULL"
    found = session.sql(query).fetchall()
    session.sql("SET rewrite = 'off'")
    assert session.sql(query).fetchall() == found
