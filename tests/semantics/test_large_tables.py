"""Tables of many batches behave like small ones, with any number of threads."""

from __future__ import annotations

import pytest

from dctv.session import Session

END = 1_000_003
SPANS = "dctv.generate_sequential_spans(0, {end}ns, {step}ns)"


def _spans(step: int, end: int = END) -> str:
    return SPANS.format(end=end, step=step)


def _cuts(*steps: int) -> int:
    return len({t for step in steps for t in range(0, END, step)})


@pytest.fixture(params=["one", "two"])
def session(request: pytest.FixtureRequest, one: Session, two: Session) -> Session:
    """Either session."""
    return one if request.param == "one" else two


def test_join(session: Session) -> None:
    sql = f"""SELECT COUNT(*), SUM(_duration), MIN(_duration), MAX(_ts + _duration)
        FROM (SELECT SPAN FROM {_spans(3)} SPAN JOIN {_spans(5)} SPAN OUTER JOIN {_spans(7)})"""
    assert session.sql(sql).fetchall() == [(_cuts(3, 5, 7), END, 1, END)]


def test_group(session: Session) -> None:
    sql = f"""SELECT COUNT(*), SUM(c), SUM(d), MAX(c), MIN(c) FROM
        (SELECT SPAN COUNT(*) AS c, SUM(_duration) AS d FROM {_spans(2)} GROUP USING SPANS FROM {_spans(10)})"""
    groups = -(-END // 10)
    assert session.sql(sql).fetchall() == [(groups, -(-END // 2), END, 5, 2)]


def test_departition(session: Session) -> None:
    parts = f"""dctv.as_spans((SELECT _ts, _duration, 0 AS p FROM {_spans(4)}
        UNION ALL SELECT _ts, _duration, 1 AS p FROM {_spans(6)}), partition=>"p")"""
    sql = f"""SELECT COUNT(*), SUM(d), MIN(c), MAX(c)
        FROM (SELECT SPAN SUM(_duration) AS d, COUNT(*) AS c FROM {parts} GROUP USING PARTITION)"""
    assert session.sql(sql).fetchall() == [(_cuts(4, 6), 2 * END, 2, 2)]


def test_series(session: Session) -> None:
    events = "dctv.as_events((SELECT range * 3 AS _ts, range AS n FROM range(0, 300_000)))"
    sql = f"""SELECT COUNT(*), SUM(n), MIN(_duration), MAX(_duration) FROM
        dctv.time_series_to_spans(sources=>[(SELECT EVENT * FROM {events})], columns=>["n"])"""
    assert session.sql(sql).fetchall() == [(299_999, 299_999 * 299_998 // 2, 3, 3)]


def test_order_of_time_and_limit(session: Session) -> None:
    sql = f"SELECT SPAN FROM {_spans(3)} SPAN JOIN {_spans(5)} LIMIT 3 OFFSET 100_000"
    cuts = sorted({*range(0, END, 3), *range(0, END, 5)})
    expected = [(cuts[i], cuts[i + 1] - cuts[i]) for i in range(100_000, 100_003)]
    assert session.sql(sql).fetchall() == expected


def test_division_by_zero_is_counted_once_a_row(session: Session) -> None:
    result = session.sql(f"SELECT COUNT(1 // (_ts % 2ns)) AS c FROM {_spans(1, 100_000)}")
    assert result.fetchall() == [(50_000,)]
    assert result.warnings == [("division by zero gave NULL", 50_000)]
