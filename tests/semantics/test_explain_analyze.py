"""EXPLAIN ANALYZE runs what the query alone would run."""

from __future__ import annotations

from pathlib import Path

import pytest

from dctv.session import Session
from tests.fleet.traces import write_fleet

ODD = "SELECT 1::INT128 AS x, INTERVAL 3 DAY AS y, '1'::JSON AS z, BITSTRING '101' AS b"


@pytest.mark.parametrize("query", [ODD, f"SELECT * FROM ({ODD}) AS t ORDER BY x"])
def test_types_that_are_carried_as_others(query: str) -> None:
    with Session() as session:
        lines = [line.strip() for (line,) in session.sql(f"EXPLAIN ANALYZE {query}").fetchall()]
    assert any(line.startswith("ran: 1 row") for line in lines)


def test_a_query_that_each_trace_answers(tmp_path: Path) -> None:
    write_fleet(tmp_path, 3)
    with Session(index=False, warn=False) as session:
        session.mount_traces(tmp_path / "*.json", "runs")
        query = "SELECT _trace, MAX(_duration) AS n FROM runs.slices GROUP BY 1"
        lines = [line.strip() for (line,) in session.sql(f"EXPLAIN ANALYZE {query}").fetchall()]
        assert len(session.sql(query).fetchall()) == 3
    (each,) = (n for n, line in enumerate(lines) if line.startswith("scan each trace"))
    assert any(line.startswith("ran: 3 rows") for line in lines[each:])
