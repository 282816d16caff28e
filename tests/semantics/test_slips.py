"""Queries that are right as SQL and yet not meant so get a warning, or a hint that leads on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dctv.errors import BindError
from dctv.session import Session

TRACE = Path(__file__).parents[1] / "data/ftrace/live_marks.trace.txt.gz"
SIDES = """
CREATE VIEW a AS SELECT SPAN * FROM dctv.as_spans(
  (SELECT 0ns AS _ts, 10ns AS _duration, 1 AS cpu, 5 AS x), partition=>'cpu');
CREATE VIEW b AS SELECT SPAN * FROM dctv.as_spans(
  (SELECT 0ns AS _ts, 9ns AS _duration, {} AS tid, 6 AS y), partition=>'tid');
"""


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session() as one:
        one.mount(str(TRACE), "t")
        yield one


def warned(session: Session, text: str) -> list[str]:
    session.sql(text).fetchall()
    return session.warnings()


@pytest.mark.parametrize(
    ("column", "warning"),
    [
        ("d / 1e6 AS ms", "`ms` is in ns: dividing by 1e6 keeps the unit, `d IN ms` converts"),
        ("d / 1000 AS took_us", "`took_us` is in ns: dividing by 1000 keeps the unit, `d IN us` converts"),
        ("ROUND(SUM(d) / 1e9, 2) AS s", "`s` is in ns: dividing by 1e9 keeps the unit, `SUM(d) IN s` converts"),
        ("d / 1e6 AS x", None),
        ("d / 2 AS ms", None),
        ("d / 10 AS ns", None),
        ("d IN ms AS ms", None),
        ("unitless(d) / 1e6 AS ms", None),
    ],
)
def test_a_division_that_should_have_been_a_conversion(session: Session, column: str, warning: str | None) -> None:
    found = warned(session, f"SELECT {column} FROM (SELECT 5000000ns AS d)")
    assert [one.lower() for one in found] == ([] if warning is None else [warning.lower()])


def test_the_hint_of_a_join_of_different_partitions() -> None:
    with Session() as session:
        list(session.execute(SIDES.format(7)))
        with pytest.raises(BindError) as caught:
            session.sql("SELECT SPAN * FROM a SPAN JOIN b")
    for way in ("PARTITION AS", "GROUP USING PARTITION", "SPAN BROADCAST", "`cpu`", "`tid`"):
        assert way in (caught.value.hint or "")


@pytest.mark.parametrize("kind", ["SPAN", "EVENT"])
def test_partitions_of_different_names_that_never_match(kind: str) -> None:
    with Session() as session:
        list(session.execute(SIDES.format(7)))
        text = "SELECT SPAN * FROM a SPAN JOIN b PARTITION AS c"
        if kind == "EVENT":
            session.sql(
                "CREATE VIEW e AS SELECT EVENT * FROM dctv.as_events((SELECT _ts, cpu FROM a), partition=>'cpu')"
            )
            text = "SELECT EVENT * FROM e SPAN JOIN b PARTITION AS c"
        message = "nothing matched: PARTITION AS compares the values of `cpu` with those of `tid`"
        assert warned(session, text) == [message]


def test_partitions_of_different_names_that_match() -> None:
    with Session() as session:
        list(session.execute(SIDES.format(1)))
        assert session.sql("SELECT SPAN * FROM a SPAN JOIN b PARTITION AS c").fetchall() == [(0, 9, 1, 5, 6)]
        assert session.warnings() == []


def test_the_load_of_the_tutorial_is_that_of_the_library(session: Session) -> None:
    own = session.sql(
        "SELECT _ts, cpu, load, known FROM (SELECT SPAN SUM(_duration) AS known, "
        "COALESCE(SUM(_duration) FILTER (WHERE pid != 0), 0) / SUM(_duration) AS load "
        "FROM t.scheduler.timeslices_p_cpu GROUP USING SPANS FROM t.quantize(200ms)) WHERE known > 0ns ORDER BY 1, 2"
    ).fetchall()
    library = session.sql(
        "SELECT _ts, cpu, utilisation, known FROM t.scheduler.cpu_utilisation_by(200ms) WHERE known > 0ns ORDER BY 1, 2"
    ).fetchall()
    assert own == library
    assert len(own) == 5


@pytest.mark.parametrize(
    "call",
    [
        "t.quantize(100)",
        "dctv.generate_sequential_spans(0, 100, 1ns)",
        "dctv.generate_sequential_spans(0, 1s, 100)",
        "dctv.clip(t.scheduler.timeslices_p_cpu, 100)",
        "dctv.fill_gaps(t.scheduler.timeslices_p_cpu, stop=>100)",
        "t.scheduler.cpu_utilisation_by(100)",
        "t.scheduler.thread_utilisation_by(100)",
        "t.scheduler.process_utilisation_by(100)",
        "t.block.bandwidth_by(100)",
        "t.io.bandwidth_by(100)",
        "t.frames.janky(100)",
        "t.frames.by_process(100)",
        "t.critical_path(1, 100)",
        "t.critical_path(1, 0ns, 100)",
        "t.state_at(t.state, 100)",
    ],
)
def test_a_bare_number_is_no_time_of_a_table_function(session: Session, call: str) -> None:
    name = "dctv." + call[2:] if call.startswith("t.state_at") else call
    with pytest.raises(BindError, match="is a time, found the number 100") as caught:
        session.sql(f"SELECT * FROM {name}")
    assert caught.value.hint == "give it a unit: `100ns`"
    assert caught.value.place is not None
    assert caught.value.place.text == "100"


def test_literals_need_no_unit(session: Session) -> None:
    assert session.sql("SELECT COUNT(*) FROM dctv.generate_sequential_spans(0, 10ns, 5ns)").fetchall() == [(2,)]


def test_a_mount_takes_no_bare_time() -> None:
    with Session() as session, pytest.raises(BindError, match="`align` is a time, found the number 5"):
        session.sql(f"MOUNT TRACE '{TRACE}' AS t WITH (align => 5)")
