"""Queries whose answers hang on the order of equal rows, or on who adds up first, give the same in every run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dctv.session import Session

ROWS = 400_000
"""Enough for the engine to share them out among its threads."""
EVENTS = f"""
CREATE TABLE many AS SELECT EVENT * FROM dctv.as_events((
  SELECT range // 64 * 1000 AS _ts, range AS line, range % 8 AS cpu, range * 7 % 1001 AS pid,
    range * 0.1::FLOAT64 AS real
  FROM range({ROWS})))
"""
VALUES = {
    "row_number": "ROW_NUMBER() OVER (PARTITION BY cpu ORDER BY _ts)",
    "row_number of ties": "ROW_NUMBER() OVER (ORDER BY cpu)",
    "lag": "LAG(line) OVER (PARTITION BY pid ORDER BY cpu)",
    "lead": "LEAD(NULLIF(line % 3, 0)) IGNORE NULLS OVER (PARTITION BY pid ORDER BY cpu)",
    "first_value": "FIRST_VALUE(line) OVER (PARTITION BY pid ORDER BY cpu)",
    "sum of rows": "SUM(line) OVER (PARTITION BY pid ORDER BY cpu ROWS UNBOUNDED PRECEDING)",
    "ntile": "NTILE(10) OVER (ORDER BY cpu)",
}
GROUPS = {
    "arg_max": "ARG_MAX(line, cpu)",
    "several of arg_max": "ARG_MAX(line, cpu, 3)",
    "min_by": "MIN_BY(line, cpu)",
    "last": "LAST(line ORDER BY cpu)",
    "first": "FIRST(line)",
    "any_value": "ANY_VALUE(line)",
    "list": "LIST(line)",
    "list of ties": "LIST(line ORDER BY cpu)",
    "string_agg": "STRING_AGG(line::STRING, ',')",
    "mode": "MODE(line)",
    "sum": "SUM(real)",
    "avg": "AVG(real)",
    "stddev": "STDDEV(real)",
    "approx_quantile": "APPROX_QUANTILE(line, 0.5)",
    "median": "MEDIAN(real)",
}
QUERIES = {
    **{name: f"SELECT line, {value} AS found FROM many" for name, value in VALUES.items()},
    **{name: f"SELECT pid AS line, {value} AS found FROM many GROUP BY pid" for name, value in GROUPS.items()},
    "sum of all": "SELECT 0 AS line, SUM(real) AS found FROM many",
    "corr": "SELECT 0 AS line, CORR(real, pid) AS found FROM many",
    "distinct on": "SELECT DISTINCT ON (pid) pid AS line, line AS found FROM many",
    "distinct on of ties": "SELECT DISTINCT ON (pid) pid AS line, line AS found FROM many ORDER BY pid, cpu",
    "limit": "SELECT 0 AS line, line AS found FROM many LIMIT 1000",
    "limit of ties": "SELECT 0 AS line, line AS found FROM many ORDER BY cpu LIMIT 1000",
    "limit of groups": "SELECT 0 AS line, pid AS found FROM many GROUP BY pid LIMIT 5",
    "qualify": "SELECT 0 AS line, line AS found FROM many "
    "QUALIFY ROW_NUMBER() OVER (PARTITION BY pid ORDER BY cpu) = 1",
    "sample": "SELECT 0 AS line, line AS found FROM many USING SAMPLE 100 ROWS",
    "as-of join": "SELECT a.line, b.line AS found FROM many AS a "
    "ASOF JOIN many AS b ON a.cpu = b.cpu AND a._ts >= b._ts",
    "as-of join of groups": "SELECT a.line, b.line AS found FROM many AS a "
    "ASOF JOIN (SELECT line, MIN(cpu) AS cpu FROM many GROUP BY line) AS b ON a.cpu <= b.cpu",
    "numbers of a join": "SELECT line, ROW_NUMBER() OVER () AS found FROM (SELECT a.line FROM many AS a "
    "JOIN (SELECT pid FROM many GROUP BY pid) AS b ON a.pid = b.pid)",
}


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """A session of several threads with a table."""
    with Session(threads=2) as opened:
        opened.sql(EVENTS)
        yield opened


@pytest.mark.parametrize("name", QUERIES)
def test_they_give_the_same(session: Session, name: str) -> None:
    hashed = f"SELECT COUNT(*), SUM(hash(line, found)::INT128) FROM ({QUERIES[name]}) AS q"
    first, *others = [session.sql(hashed).fetchall() for _ in range(3)]
    assert others == [first, first]
    assert first[0][0] > 0
