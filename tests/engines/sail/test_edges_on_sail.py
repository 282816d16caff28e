"""Operators on workers give the rows that they give here for partitions and times at the edges of their types."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dctv.session import Session
from tests.engines.sail.served import served

LAST = 2**63 - 1
ROWS = {
    "zeros": "SELECT * FROM (VALUES (0, 10, 0.0::FLOAT64, 1), (5, 10, 'nan'::FLOAT64, 2), (7, 3, NULL, 3), "
    "(3, 4, 2.5, 4)) AS t(_ts, _duration, k, v)",
    "others": "SELECT * FROM (VALUES (2, 10, -0.0::FLOAT64, 5), (6, 10, 'nan'::FLOAT64, 6), (7, 1, NULL, 7), "
    "(4, 4, 2.5, 8)) AS t(_ts, _duration, k, w)",
    "late": f"SELECT * FROM (VALUES (0, 1), (5, 2), ({LAST - 1}, 3), ({LAST}, 4)) AS t(_ts, v)",
    "long": f"SELECT * FROM (VALUES (0, 3, 1), (4, {LAST - 5}, 2)) AS t(_ts, _duration, w)",
}
QUERIES = [
    "SELECT SPAN v, w FROM zeros SPAN JOIN others",
    "SELECT SPAN v, w FROM zeros SPAN OUTER JOIN others",
    "SELECT EVENT v, w FROM late SPAN LEFT JOIN long",
    "SELECT SPAN v, w FROM zeros SPAN BROADCAST FROM long",
]


def opened(address: str | None) -> Session:
    session = Session(engine=address, warn=False)
    for name in ("zeros", "others"):
        session.sql(f"CREATE VIEW {name} AS SELECT SPAN * FROM dctv.as_spans(({ROWS[name]}), partition=>'k')")
    session.sql(f"CREATE VIEW late AS SELECT EVENT * FROM dctv.as_events(({ROWS['late']}))")
    session.sql(f"CREATE VIEW long AS SELECT SPAN * FROM dctv.as_spans(({ROWS['long']}))")
    return session


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[Session, Session]]:
    with served() as (address, _), opened(None) as here, opened(address) as there:
        yield here, there


@pytest.mark.parametrize("sql", QUERIES)
def test_rows_are_the_same(pair: tuple[Session, Session], sql: str) -> None:
    here, there = pair
    assert "on sc://" in str(there.sql(f"EXPLAIN {sql}").fetchall())
    expected = sorted(map(repr, here.sql(sql).fetchall()))
    assert sorted(map(repr, there.sql(sql).fetchall())) == expected
    assert expected
