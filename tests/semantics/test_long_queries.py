"""Conditions of thousands of tests, and unions of thousands of selects, as tools generate them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dctv.session import Session

DATA = Path(__file__).parents[1] / "data"
TERMS = range(2000)


@pytest.mark.parametrize(
    ("condition", "same"),
    [
        (" OR ".join(f"next_pid = {pid}" for pid in TERMS), f"next_pid BETWEEN 0 AND {TERMS[-1]}"),
        (" AND ".join(f"next_pid <> {pid}" for pid in TERMS), f"next_pid NOT BETWEEN 0 AND {TERMS[-1]}"),
        (" OR ".join(f"(next_pid = {pid} AND cpu = 1)" for pid in TERMS), "next_pid < 2000 AND cpu = 1"),
        (" AND ".join(f"(next_pid <> {pid} OR cpu = 1)" for pid in TERMS), "next_pid >= 2000 OR cpu = 1"),
    ],
)
def test_they_select_the_rows_of_short_ones(condition: str, same: str) -> None:
    with Session(index=False) as session:
        session.mount(DATA / "stdlib/states.trace.txt", "t")
        session.mount(DATA / "stdlib/waits.trace.txt", "k")
        for trace in ("t", "k"):
            switches = f"SELECT * FROM {trace}.raw_events.sched_switch WHERE"
            found = session.sql(f"{switches} {condition}").fetchall()
            assert found == session.sql(f"{switches} {same}").fetchall()
            groups = f"SELECT cpu, COUNT(*) FILTER ({{}}) FROM {trace}.raw_events.sched_switch GROUP BY cpu"
            counted = [session.sql(groups.format(one)).fetchall() for one in (condition, same)]
            assert counted[0] == counted[1]


@pytest.mark.parametrize("operator", ["UNION ALL", "UNION", "UNION ALL BY NAME"])
def test_thousands_of_selects_are_combined(operator: str) -> None:
    count = 1200 if "ALL" in operator else 7
    selects = f" {operator} ".join(f"SELECT {number} % 7 AS x" for number in range(1200))
    with Session(index=False) as session:
        assert session.sql(f"SELECT COUNT(*) FROM ({selects}) AS t").fetchall() == [(count,)]
