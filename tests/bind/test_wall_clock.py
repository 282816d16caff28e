"""Times of the wall clock: comparisons that become comparisons of times say what the engine says of timestamps."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.session import Session
from tests.bounds import bounded
from tests.command_line import ROOT

TRACE = ROOT / "tests/data/stdlib/requests.jaeger.json"
START = 1_700_000_000_000_000_000
BEGIN = datetime(2023, 11, 14, 22, 13, 20)
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session(index=False) as session:
        session.mount(TRACE, "j")
        session.sql(
            "CREATE TABLE times AS SELECT * FROM (VALUES (0), (1), (999), (1000), (1000000), (86400000000000)) AS t(x)"
        )
        yield session


def literals() -> st.SearchStrategy[str]:
    """Return timestamps near the begin of the trace, written as people write them."""
    offsets = st.sampled_from([0, 1, 1000, -1, 86_400_000_000, 6_400_000_000]) | st.integers(-(10**12), 10**12)
    moments = offsets.map(lambda micros: BEGIN + timedelta(microseconds=micros))
    return st.one_of(
        moments.map(lambda one: f"TIMESTAMP '{one}'"),
        moments.map(lambda one: f"TIMESTAMP '{one.isoformat()}'"),
        st.tuples(moments, st.integers(0, 999)).map(
            lambda one: f"TIMESTAMP_NS '{one[0]:%Y-%m-%d %H:%M:%S.%f}{one[1]:03}'"
        ),
        moments.map(lambda one: f"DATE '{one:%Y-%m-%d}'"),
        moments.map(lambda one: f"'{one}'::TIMESTAMP"),
    )


@given(literals(), literals(), st.sampled_from(COMPARISONS))
@bounded(500)
def test_comparisons_match_timestamps(session: Session, literal: str, other: str, how: str) -> None:
    plain = f"make_timestamp_ns(x + {START})"
    for form in ("{0} " + how + " " + literal, literal + " " + how + " {0}", f"{{0}} BETWEEN {literal} AND {other}"):
        found = session.sql(f"SELECT x FROM times WHERE {form.format('j.wall_clock(x * 1ns)')} ORDER BY x")
        assert found.fetchall() == session.sql(f"SELECT x FROM times WHERE {form.format(plain)} ORDER BY x").fetchall()


def test_a_condition_is_pushed_down_as_one_on_times(session: Session) -> None:
    at = BEGIN + timedelta(microseconds=5)
    shown = session.sql(f"EXPLAIN SELECT name FROM j.events WHERE j.wall_clock(_ts) >= TIMESTAMP '{at}'").fetchall()
    assert shown == session.sql("EXPLAIN SELECT name FROM j.events WHERE _ts >= 5000ns").fetchall()


def test_parameters_are_literals_too(session: Session) -> None:
    text = "SELECT COUNT(*) FROM times WHERE j.wall_clock(x * 1ns) < :at"
    assert session.sql(text, {"at": BEGIN + timedelta(microseconds=1)}).fetchall() == [(3,)]


def test_a_shifted_trace_has_the_same_wall_clock(session: Session) -> None:
    session.mount(TRACE, "later", align=5_000)
    first = "SELECT later.wall_clock(MIN(_ts)), MIN(_ts) FROM later.events"
    assert session.sql(first).fetchall() == [("2023-11-14 22:13:20", 5000)]


def test_it_is_listed_and_completed_as_a_function(session: Session) -> None:
    assert "j.wall_clock" in session.functions()
    assert "j.wall_clock" not in [one.name for one in session.tables()]
