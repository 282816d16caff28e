"""Span operators over a million spans of eight partitions: rows and sums that other engines give as well."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dctv.session import Session
from tests.bounds import chosen

ROWS = 1_000_000
LONG_A, LONG_B = "400 + (range * 7919) % 600 AS _duration", "300 + (range * 104729) % 700 AS _duration"
FREQ = "(range * 13) % 7 * 300000 AS freq"
TABLES = {
    "a": f"(range // 8) * 1000 + (range % 8) * 13 AS _ts, {LONG_A}, range % 8 AS cpu, (range * 31) % 1000 AS utid",
    "b": f"(range // 8) * 1000 + (range % 8) * 17 + 250 AS _ts, {LONG_B}, range % 8 AS cpu, {FREQ}",
    "a1": f"range * 1000 AS _ts, {LONG_A}",
    "b1": f"range * 1000 + 250 AS _ts, {LONG_B}",
}
JOINED = "SELECT COUNT(*), unitless(SUM(_duration)) FROM (SELECT SPAN FROM {})"


@pytest.fixture(scope="module")
def session(span_engine: str) -> Iterator[Session]:
    with Session() as made:
        for name, columns in TABLES.items():
            by = ", partition=>'cpu'" if " AS cpu" in columns else ""
            spans = f"SELECT SPAN * FROM dctv.as_spans((SELECT {columns} FROM range(0, {ROWS})){by})"
            made.add_table(name, made.sql(spans).arrow(), kind="span", partitions=["cpu"] if by else [])
        yield chosen(made, span_engine)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a SPAN JOIN b", (1_375_712, 452_225_362)),
        ("a SPAN LEFT JOIN b", (2_600_948, 699_501_400)),
        ("b SPAN RIGHT JOIN a", (2_600_948, 699_501_400)),
        ("a SPAN OUTER JOIN b", (3_373_092, 896_777_638)),
        ("a1 SPAN JOIN b1", (1_355_714, 457_823_853)),
        ("a SPAN BROADCAST FROM z", (1_288_571, 475_754_736)),
        ("z SPAN BROADCAST INTO a", (1_288_571, 475_754_736)),
    ],
)
def test_joins(session: Session, source: str, expected: tuple[int, int]) -> None:
    zero = "(SELECT SPAN * FROM dctv.as_spans((SELECT _ts, _duration FROM b WHERE cpu = 0)))"
    assert session.sql(JOINED.format(source.replace("z", f"{zero} AS z"))).fetchall() == [expected]


def test_a_payload_of_a_join_in_groups(session: Session) -> None:
    sql = """SELECT COUNT(*), SUM(d) FROM (SELECT freq, SUM(unitless(_duration)) AS d
        FROM (SELECT SPAN freq FROM a SPAN JOIN b) GROUP BY freq)"""
    assert session.sql(sql).fetchall() == [(7, 452_225_362)]


def test_windows(session: Session) -> None:
    sql = """SELECT COUNT(*), COUNT(DISTINCT cpu), SUM(unitless(d)) FROM (SELECT SPAN SUM(_duration) AS d FROM a
        GROUP USING SPANS FROM dctv.generate_sequential_spans(0, 125ms, 1ms))"""
    assert session.sql(sql).fetchall() == [(1_000, 8, 699_501_360)]


def test_how_many_are_open(session: Session) -> None:
    """The peer also counts steps at which nothing is open, and the last boundary."""
    open_now = """SELECT COUNT(*), MAX(c), SUM(c * unitless(_duration)),
            COUNT(*) FILTER (WHERE after IS DISTINCT FROM _ts + _duration)
        FROM (SELECT _ts, _duration, c, LEAD(_ts) OVER (ORDER BY _ts) AS after
        FROM (SELECT SPAN COUNT(*) AS c FROM a GROUP USING PARTITION))"""
    ((steps, most, total, ends),) = session.sql(open_now).fetchall()
    assert (steps + ends, most, total) == (1_991_667, 8, 699_501_400)


def test_departition(session: Session) -> None:
    weighed = "SUM(s * unitless(_duration))"
    sql = f"SELECT COUNT(*), {weighed} FROM (SELECT SPAN SUM(utid) AS s FROM a GROUP USING PARTITION)"
    plain = "SELECT SUM(utid * unitless(_duration)) FROM a"
    ((steps, found),) = session.sql(sql).fetchall()
    assert (steps, [(found,)]) == (1_935_002, session.sql(plain).fetchall())


@pytest.mark.parametrize(("keys", "groups"), [("cpu", 8), ("cpu, utid", 1_000)])
def test_plain_groups(session: Session, keys: str, groups: int) -> None:
    grouped = f"SELECT COUNT(*) AS n, SUM(unitless(_duration)) AS d FROM a GROUP BY {keys}"
    sql = f"SELECT COUNT(*), SUM(n), SUM(d) FROM ({grouped})"
    assert session.sql(sql).fetchall() == [(groups, ROWS, 699_501_400)]
