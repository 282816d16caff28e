"""Files that a query names in FROM are read as mounts read them, and leave no mount behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dctv import Session
from dctv.errors import BindError, TraceError
from tests.command_line import ROOT, run

TRACE = ROOT / "tests/data/ftrace/live_marks_tgid.trace.txt"


@pytest.fixture
def session() -> Iterator[Session]:
    with Session(allow_files=True, index=False) as session:
        yield session


def test_a_plain_table_is_what_a_mount_makes_of_it(session: Session, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("code;n\n007;1\n042;2\n")
    session.sql(f"MOUNT TRACE '{tmp_path}/x.csv' AS mounted")
    named, mounted = session.sql(f"FROM '{tmp_path}/x.csv'"), session.sql("FROM mounted.x")
    assert named.schema == mounted.schema
    assert named.fetchall() == mounted.fetchall() == [("007", 1), ("042", 2)]


def test_units_are_kept(session: Session, tmp_path: Path) -> None:
    session.sql(f"COPY (SELECT 5ms AS took) TO '{tmp_path}/x.parquet'")
    assert session.sql(f"SELECT took IN us AS us FROM '{tmp_path}/x.parquet' AS f WHERE f.took > 1ms").fetchall() == [
        (5000,)
    ]


def test_a_trace_has_tables_and_views(session: Session) -> None:
    session.mount(TRACE, "t")
    for table in ("events", "raw_events.sched_switch", "scheduler.timeslices_p_cpu"):
        (named,) = session.sql(f"SELECT COUNT(*) FROM '{TRACE}'.{table}").fetchall()
        assert session.sql(f"SELECT COUNT(*) FROM t.{table}").fetchall() == [named]
    spans = f"SELECT SPAN comm FROM '{TRACE}'.scheduler.timeslices_p_cpu AS s WHERE s.pid != 0"
    assert session.sql(spans).schema.describe() == "span table partitioned by cpu"


def test_two_files_and_one_twice(session: Session, tmp_path: Path) -> None:
    for name, value in (("a", 1), ("b", 2)):
        (tmp_path / f"{name}.csv").write_text(f"x,y\n{value},0\n")
    a, b = f"'{tmp_path}/a.csv'", f"'{tmp_path}/b.csv'"
    assert session.sql(
        f"SELECT a.x, b.x AS b, c.x AS c FROM {a} a JOIN {b} b USING (y) JOIN {a} c USING (y)"
    ).fetchall() == [(1, 2, 1)]


def test_nothing_stays_mounted(session: Session, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    before = [one.name for one in session.tables()]
    session.sql(f"CREATE VIEW v AS FROM '{tmp_path}/x.csv'")
    assert session.sql("FROM v").fetchall() == [(1, 2)]
    (tmp_path / "x.csv").write_text("a,b\n3,4\n")
    assert session.sql("FROM v").fetchall() == [(3, 4)]
    assert (session.mounts(), [one.name for one in session.tables()]) == ([], [*["v"], *before])
    with pytest.raises(BindError) as caught:
        session.sql(f"FROM '{TRACE}'.evnts")
    assert caught.value.message == f"`{TRACE}` has no table `evnts`"
    assert caught.value.hint == "did you mean `events`?"
    assert session.mounts() == []


def test_errors_have_their_places(session: Session, tmp_path: Path) -> None:
    with pytest.raises(BindError, match=r"has \d+ tables: raw_events\.\w+, .*, \.\.\.\n") as several:
        session.sql(f"FROM '{TRACE}'")
    assert several.value.place is not None
    assert several.value.place.text == f"'{TRACE}'"
    assert several.value.hint == f"name one of them, or a view, after the file: '{TRACE}'.events"
    with pytest.raises(TraceError, match="no such file or folder") as missing:
        session.sql(f"FROM '{tmp_path}/none.csv'")
    assert missing.value.place is not None


def test_incomplete_files_are_reported_once_and_in_the_exit_code(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3")
    text = f"FROM '{tmp_path}/x.csv'; FROM '{tmp_path}/x.csv'"
    ran = run("query", "--allow-files", "--no-index", text)
    assert ran.code == 3
    assert ran.err.count("file ends in the middle of a line") == 1
    assert run("query", "--allow-files", "--no-index", "--allow-partial", text).code == 0
