"""CREATE TABLE: storage of rows, failures while they are written, and visibility."""

from __future__ import annotations

import gc
import re
import resource
import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from dctv import Session
from dctv.errors import BindError, EngineError, Interrupted

LARGE = "SELECT range AS a, range * 2 AS b, hash(range)::STRING AS c FROM range(1000000)"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with Session(memory_limit="24MB", threads=1, temp_directory=tmp_path) as session:
        yield session


def test_rows_that_do_not_fit_into_memory_are_kept(session: Session, tmp_path: Path) -> None:
    session.sql(f"CREATE TABLE large AS {LARGE}")
    assert list(tmp_path.rglob("rows")) == []  # The file has no name.
    totals = "SELECT COUNT(*), SUM(a), SUM(b), MIN(c) FROM"
    assert session.sql(f"{totals} large").fetchall() == session.sql(f"{totals} ({LARGE})").fetchall()
    before = pa.total_allocated_bytes()
    session.sql(f"CREATE OR REPLACE TABLE large AS {LARGE}")
    gc.collect()
    assert pa.total_allocated_bytes() - before < 24_000_000


def test_rows_come_in_the_order_in_which_the_select_gives_them(session: Session) -> None:
    select = "SELECT range AS x FROM range(300000) ORDER BY x % 7, x DESC"
    session.sql(f"CREATE TABLE t AS {select}")
    assert session.sql("FROM t").fetchall() == session.sql(select).fetchall()


def test_a_result_of_a_table_outlives_the_table(session: Session) -> None:
    session.sql("CREATE TABLE t AS SELECT range AS x FROM range(3)")
    result = session.sql("FROM t")
    session.sql("DROP TABLE t")
    assert result.fetchall() == [(0,), (1,), (2,)]


def test_a_file_size_limit_is_an_error_and_leaves_nothing(session: Session, tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, limits[1]))
    try:
        with pytest.raises(EngineError) as caught:
            session.sql(f"CREATE TABLE t AS {LARGE.replace('1000000', '3000')}")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert re.fullmatch(r"cannot keep the rows of `t` in `.*`: file too large", caught.value.message)
    assert caught.value.place is not None
    assert "--temp-directory" in (caught.value.hint or "")
    assert list(tmp_path.rglob("rows")) == []
    with pytest.raises(BindError, match="unknown table `t`"):
        session.sql("FROM t")


def test_an_interrupt_leaves_only_the_old_table(session: Session, tmp_path: Path) -> None:
    session.sql("CREATE TABLE t AS SELECT 1 AS x")
    threading.Timer(0.5, session.interrupt).start()
    with pytest.raises(Interrupted):
        session.sql("CREATE OR REPLACE TABLE t AS SELECT a.range AS x FROM range(1000000) a, range(1000000) b")
    assert list(tmp_path.rglob("rows")) == []
    assert session.sql("FROM t").fetchall() == [(1,)]


def test_tables_are_listed_with_their_kinds(session: Session) -> None:
    spans = "SELECT SPAN * FROM dctv.generate_sequential_spans(0ns, 3ns, 1ns)"
    session.sql(f"CREATE TABLE b AS SELECT 1 AS x; CREATE TABLE a AS {spans}")
    session.add_table("c", {"_ts": [1, 2]}, kind="event")
    listed = [(one.name, one.kind, one.doc) for one in session.tables() if "." not in one.name]
    assert listed == [
        ("a", "span", "a table of the session"),
        ("b", "regular", "a table of the session"),
        ("c", "event", "a table of the program"),
    ]
    session.sql("DROP TABLE c")
    assert session.columns("c") is None


def test_create_table_reports_the_number_of_rows(session: Session) -> None:
    assert session.sql("CREATE TABLE t AS SELECT 1 AS x").fetchall() == [("created table t: 1 row",)]
    assert session.sql("CREATE TABLE IF NOT EXISTS t AS SELECT 2").fetchall() == [("there is a table t already",)]
    assert session.sql("DROP TABLE t").fetchall() == [("dropped table t",)]
    assert session.sql("DROP TABLE IF EXISTS t").fetchall() == [("there is no table t",)]
    (wrong,) = session.check("CREATE TABLE t AS SELECT nowhere")
    assert wrong.message == "unknown column `nowhere`"
