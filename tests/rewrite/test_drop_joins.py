"""Left joins that change nothing are dropped: random queries with and without the rule, and what makes a key."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import pytest
from hypothesis import given

from dctv.rewrite import rewrite
from dctv.rewrite.drop_joins import drop_joins
from dctv.session import Session
from tests.bounds import bounded
from tests.rewrite.test_drop_empty import selects, with_tables
from tests.rewrite.test_same_rows import outcome

KEYED = "(SELECT a, MAX(b) AS b FROM full GROUP BY a)"
DROPPED = (
    KEYED,
    "(SELECT a, b, MAX(c) AS c FROM full GROUP BY a, b)",
    "(SELECT DISTINCT a FROM full)",
    "(SELECT a FROM full UNION SELECT a FROM wide)",
    f"(SELECT * FROM {KEYED} AS x WHERE a > 1 ORDER BY b LIMIT 2)",
    f"(SELECT x.a, y.b FROM {KEYED} AS x LEFT JOIN {KEYED} AS y ON y.a = x.a)",
)
KEPT = (
    "full",
    "(SELECT a + 1 AS a FROM full GROUP BY a)",
    "(SELECT a FROM full GROUP BY a, b)",
    "(SELECT a FROM full GROUP BY ROLLUP (a))",
    "(SELECT DISTINCT a, b FROM full)",
    "(SELECT a FROM full UNION ALL SELECT a FROM wide)",
    "(SELECT a FROM (SELECT DISTINCT a, b FROM full))",
    f"(SELECT x.a, y.b FROM {KEYED} AS x LEFT JOIN full AS y ON y.a = x.a)",
    "(SELECT a, UNNEST([1, 2]) AS b FROM full GROUP BY a)",
    "(SELECT a::DOUBLE AS a FROM full GROUP BY a)",
)


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with with_tables() as made:
        yield made


def joins(session: Session, query: str) -> int:
    """Count the joins that the engine does."""
    return sum("join" in row[0] for row in session.sql(f"EXPLAIN {query}").fetchall())


@given(query=selects())
@bounded(300)
def test_rows_are_the_same_without_the_rule(session: Session, query: str) -> None:
    found = outcome(session, query)
    with patch.object(rewrite, "RULES", tuple(rule for rule in rewrite.RULES if rule is not drop_joins)):
        assert found == outcome(session, query), query


@pytest.mark.parametrize("table", DROPPED)
def test_a_join_that_finds_one_row_is_dropped(session: Session, table: str) -> None:
    on = "j.a = s.a AND j.b <=> s.b" if "a, b," in table else "j.a = s.a"
    query = f"SELECT s.b, s.c FROM full AS s LEFT JOIN {table} AS j ON {on}"
    assert joins(session, query) == 0
    assert joins(session, f"{query} WHERE j.a > 0") > 0
    assert joins(session, query.replace("LEFT", "INNER")) > 0


@pytest.mark.parametrize("table", KEPT)
def test_a_join_that_may_find_more_stays(session: Session, table: str) -> None:
    assert joins(session, f"SELECT s.b, s.c FROM full AS s LEFT JOIN {table} AS j ON j.a = s.a") > 0


def test_a_join_by_less_than_the_key_stays(session: Session) -> None:
    keyed = "(SELECT a, b, MAX(c) AS c FROM full GROUP BY a, b)"
    for on in ("j.a = s.a", "j.a = s.a AND j.b > s.b", "j.a = s.a OR j.b = s.b", "TRUE"):
        assert joins(session, f"SELECT s.b FROM full AS s LEFT JOIN {keyed} AS j ON {on}") > 0


def test_slices_without_names_read_no_events_of_threads() -> None:
    with Session(index=False) as session:
        session.mount("tests/data/ftrace/live_marks.trace.txt.gz", "t")
        plan = [
            row[0] for row in session.sql("EXPLAIN SELECT name, SUM(_duration) FROM t.slices GROUP BY name").fetchall()
        ]
        assert not any("sched_switch" in line for line in plan)
