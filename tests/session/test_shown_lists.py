"""SHOW FUNCTIONS, SHOW UNITS and SHOW MOUNTS."""

from __future__ import annotations

from pathlib import Path

from dctv.session import Session

TRACE = Path("tests/data/stdlib/calls.pfw")


def test_functions_with_how_they_are_called() -> None:
    with Session() as session:
        session.mount(TRACE, "c")
        session.sql("CREATE MACRO near(a, b, apart => 5ms) AS abs(a - b) < apart")
        found = {row[0]: row[1:] for row in session.sql("SHOW FUNCTIONS").fetchall()}
        assert list(found) == session.functions()
        assert found["near"] == ("macro", "near(a, b, apart => 5ms)", "")
        assert found["abs"] == ("scalar", "abs(x)", "distance from 0")
        assert found["row_number"][0] == "window"
        assert found["c.wall_clock"] == ("scalar", "c.wall_clock(time) -> TIMESTAMP", "")


def test_units_those_of_traces_first() -> None:
    with Session() as session:
        rows = session.sql("SHOW UNITS").fetchall()
        assert rows[:2] == [("ms", "0.001 s"), ("us", "1e-06 s")]
        assert ("KiB", "8192 b") in rows


def test_mounts() -> None:
    with Session() as session:
        assert session.sql("SHOW MOUNTS").fetchall() == []
        session.mount(TRACE, "some.calls")
        assert session.sql("SHOW MOUNTS").fetchall() == [("some.calls", "dftracer", str(TRACE))]


def test_the_words_are_names_elsewhere() -> None:
    with Session() as session:
        text = "SELECT units, functions AS mounts FROM (SELECT 1 AS units, 2 AS functions) WHERE units = 1"
        assert session.sql(text).fetchall() == [(1, 2)]
