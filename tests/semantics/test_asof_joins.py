"""As-of joins take one of the rows that are equally near, the same in every run."""

from __future__ import annotations

from collections.abc import Callable
from operator import ge, gt, le, lt
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.session import Session
from tests.bounds import bounded

OPERATORS: dict[str, Callable[[int, int], bool]] = {">=": ge, ">": gt, "<=": le, "<": lt}
Key = tuple[int, int | None]
KEYS = st.tuples(st.integers(0, 1), st.none() | st.integers(0, 4))


def nearest(left: Key, rights: list[Key], operator: str) -> int | None:
    """Return the place of the row that is the nearest by the definition in the documents."""
    key, own = left
    fitting = [
        (time, place)
        for place, (other, time) in enumerate(rights)
        if key == other and time is not None and own is not None and OPERATORS[operator](own, time)
    ]
    return (max(fitting) if operator[0] == ">" else min(fitting))[1] if fitting else None


@bounded(60)
@given(
    lefts=st.lists(KEYS, min_size=1, max_size=12),
    rights=st.lists(KEYS, max_size=12),
    operator=st.sampled_from([*OPERATORS]),
    mirrored=st.booleans(),
)
def test_it_is_the_next_in_the_order_of_the_right_side(
    *, lefts: list[Key], rights: list[Key], operator: str, mirrored: bool
) -> None:
    condition = f"a.t {operator} b.t" if not mirrored else f"b.t {operator.translate(str.maketrans('<>', '><'))} a.t"
    with Session(index=False) as session:
        for name, rows in (("a", lefts), ("b", rights)):
            columns = {
                "k": pa.array([key for key, _ in rows], pa.int64()),
                "t": pa.array([time for _, time in rows], pa.int64()),
                "place": pa.array(range(len(rows)), pa.int64()),
            }
            session.add_table(name, pa.table(columns))
        query = f"SELECT a.place, b.place FROM a ASOF LEFT JOIN b ON a.k = b.k AND {condition} ORDER BY a.place"
        found = session.sql(query).fetchall()
    assert found == [(place, nearest(one, rights, operator)) for place, one in enumerate(lefts)]


@pytest.mark.parametrize("operator", OPERATORS)
def test_rows_without_an_order_are_chosen_by_their_values(operator: str) -> None:
    rows = "SELECT t, x FROM (VALUES (1, 'b'), (1, 'c'), (1, 'a'), (2, 'd')) AS v (t, x)"
    with Session(index=False) as session:
        session.sql(f"CREATE VIEW b AS SELECT t, MIN(x) AS x, COUNT(*) AS n FROM ({rows}) AS r GROUP BY t, x")
        time = {">=": 1, ">": 2, "<=": 1, "<": 0}[operator]
        query = f"SELECT b.x FROM (SELECT {time} AS t) AS a ASOF JOIN b ON a.t {operator} b.t"
        assert session.sql(query).fetchall() == [("c" if operator[0] == ">" else "a",)]


def test_events_of_one_time_are_in_the_order_of_the_trace(tmp_path: Path) -> None:
    switch = "x-1 [000] d..1 1.{:06}: sched_switch: prev_comm=p prev_pid={} prev_prio=1 prev_state=S ==> {}\n"
    following = "next_comm=n next_pid={} next_prio=1"
    times = sorted([*range(500)] * 3)
    lines = [switch.format(time, number, following.format(number + 1)) for number, time in enumerate(times)]
    (tmp_path / "t.txt").write_text("# tracer: nop\n#\n" + "".join(lines))
    query = (
        "SELECT a.prev_pid, b.prev_pid FROM t.raw_events.sched_switch AS a ASOF JOIN t.raw_events.sched_switch AS b "
        "ON a._ts {} b._ts AND a.cpu = b.cpu ORDER BY a.prev_pid"
    )
    with Session(index=False) as session:
        session.mount(tmp_path / "t.txt", "t")
        assert session.sql(query.format(">=")).fetchall() == [(n, n // 3 * 3 + 2) for n in range(1500)]
        assert session.sql(query.format("<=")).fetchall() == [(n, n // 3 * 3) for n in range(1500)]
        assert session.sql(query.format(">")).fetchall() == [(n, n // 3 * 3 - 1) for n in range(3, 1500)]
        assert session.sql(query.format("<")).fetchall() == [(n, n // 3 * 3 + 3) for n in range(1497)]
