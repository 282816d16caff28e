"""Inputs that a query reads twice are computed once, in memory or on disk; EXPLAIN shows this."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

import dctv

SPANS = """SELECT SPAN v FROM dctv.as_spans((
    SELECT range * 10 AS _ts, 7 AS _duration, range % 5 AS v FROM range(300000)))"""
PARTS = """SELECT SPAN v FROM dctv.as_spans((
    SELECT range // 3 * 10 AS _ts, 7 + range % 3 AS _duration, range % 3 AS cpu, range % 5 AS v FROM range(3000)),
    partition=>'cpu')"""


@pytest.fixture
def session() -> Iterator[dctv.Session]:
    with dctv.Session() as one:
        one.sql(f"CREATE VIEW spans AS {SPANS}")
        one.sql(f"CREATE VIEW parts AS {PARTS}")
        yield one


def explained(session: dctv.Session, query: str) -> str:
    """Return EXPLAIN without the engine's queries; numbers that vary are masked."""
    lines = [line for (line,) in session.sql(query).fetchall() if not re.match(r" *(\||columns:)", line)]
    text = re.sub(r"\d+\.\d\d s", "# s", "\n".join(lines))
    return re.sub(r"[\d.]+ ([kMG]?B)\b", "# B", text)


QUERIES = {
    "a common table": f"WITH x AS ({SPANS}) SELECT SPAN a.v AS v, b.v AS w FROM x AS a SPAN JOIN x AS b",
    "a view": "SELECT SPAN a.v AS v, b.v AS w FROM spans AS a SPAN JOIN spans AS b",
    "the same written twice": f"SELECT SPAN a.v AS v, b.v AS w FROM ({SPANS}) AS a SPAN JOIN ({SPANS}) AS b",
}
JOINED = """\
engine: unpartitioned span table, sorted by time
  span join (how: inner): unpartitioned span table, sorted by time
    shared 1: check (disjoint: True): unpartitioned span table, sorted by time
      engine: unpartitioned span table, sorted by time
    shared 1: see above"""


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())
def test_equal_inputs_are_one(session: dctv.Session, query: str) -> None:
    assert explained(session, f"EXPLAIN {query}") == JOINED
    assert session.sql(f"SELECT COUNT(*), SUM(v - w) FROM ({query})").fetchall() == [(300000, 0)]


def test_inputs_that_differ_are_not(session: dctv.Session) -> None:
    drawn = "SELECT SPAN * FROM dctv.as_spans((SELECT range AS _ts, 1 AS _duration, random() AS r FROM range(1000)))"
    query = f"SELECT SPAN a.r AS a, b.r AS b FROM ({drawn}) AS a SPAN JOIN ({drawn}) AS b"
    assert "shared" not in explained(session, f"EXPLAIN {query}")
    equal = session.sql(f"SELECT COUNT(*) FROM ({query}) WHERE a = b").fetchall()[0][0]
    assert equal < 1000


def test_stored_rows_are_read_again(session: dctv.Session) -> None:
    plain = "dctv.generate_sequential_spans(0, 1000ns, 10ns)"
    assert "shared" not in explained(session, f"EXPLAIN SELECT SPAN * FROM {plain} AS a SPAN JOIN {plain} AS b")


def test_an_intersection_reads_its_input_twice(session: dctv.Session) -> None:
    query = "SELECT SPAN SUM(v) AS s FROM parts GROUP AND INTERSECT USING PARTITION"
    assert explained(session, f"EXPLAIN {query}").count("shared 1: ") == 2
    assert session.sql(f"SELECT COUNT(*), SUM(s), SUM(_duration) FROM ({query})").fetchall() == [(1000, 6000, 7000)]


def test_a_kernel_under_two_readers_of_one_region(session: dctv.Session) -> None:
    joined = "SELECT SPAN a.v AS v, b.v AS w FROM spans AS a SPAN JOIN spans AS b WHERE b.v > 2"
    query = f"WITH k AS ({joined}) SELECT COUNT(*) AS n FROM k AS one JOIN k AS two ON one._ts = two._ts"
    text = "\n".join(line for (line,) in session.sql(f"EXPLAIN {query}").fetchall())
    assert text.count("span join") == 1
    assert ", computed once:" in text
    assert session.sql(query).fetchall() == [(120000,)]


def test_little_memory_spills_and_changes_nothing(session: dctv.Session) -> None:
    query = "SELECT SPAN a.v AS v, b.v AS w FROM spans AS a SPAN JOIN (SELECT SPAN v FROM spans WHERE v > 2) AS b"
    query = f"SELECT COUNT(*), SUM(v - w), MIN(_ts), MAX(_ts) FROM ({query})"
    expected = session.sql(query).fetchall()
    session.sql("SET memory_limit = '50MB'")
    assert session.sql(query).fetchall() == expected


def test_explain_analyze_shows_each_step(session: dctv.Session) -> None:
    joined = QUERIES["a view"]
    assert (
        explained(session, f"EXPLAIN ANALYZE SELECT COUNT(*) AS n FROM ({joined})")
        == """\
engine: regular table
  ran: 1 rows in 1 batches, # s CPU, peak # B
  span join (how: inner): unpartitioned span table, sorted by time
    ran: 300,000 rows in 5 batches, # s CPU, peak # B
    shared 1: check (disjoint: True): unpartitioned span table, sorted by time
      ran: 300,000 rows in 3 batches, # s CPU, peak # B
      kept: 300,000 rows, peak # B in memory, # B on disk
      engine: unpartitioned span table, sorted by time
        ran: 300,000 rows in 3 batches, # s CPU, peak # B
    shared 1: see above
total: # s, # s CPU; the process had # B of memory at most"""
    )


def test_explain_analyze_of_a_query_that_stops_early(session: dctv.Session) -> None:
    text = explained(session, f"EXPLAIN ANALYZE SELECT * FROM ({QUERIES['a view']}) LIMIT 3")
    assert text.startswith("engine: regular table\n  ran: 3 rows in 1 batches, # s CPU")


def test_an_order_is_shown(session: dctv.Session) -> None:
    grouped = "SELECT SPAN AVG(v) AS m FROM parts GROUP USING PARTITION"
    assert "regular table" in explained(session, f"EXPLAIN {grouped}")
    text = explained(session, f"EXPLAIN SELECT SPAN m FROM ({grouped}) AS g SPAN JOIN spans")
    assert "unpartitioned span table, sorted by time" in text
