"""COPY: the same bytes as the writers of results give, whole files or none, and errors at their places."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

import dctv.writers
from dctv import Session
from dctv.contracts.registry import scan
from dctv.contracts.writer import Writer
from dctv.errors import BindError, Interrupted, QueryError, render
from tests.command_line import run

ROWS = "SELECT range * 1ms AS t, 'a,' || range AS s, [range] AS l, NULL AS n FROM range(3)"
WRITERS = scan(dctv.writers, Writer)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with Session(allow_files=[tmp_path]) as session:
        yield session


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_a_copy_is_what_the_writer_writes(session: Session, tmp_path: Path, name: str) -> None:
    expected = BytesIO()
    WRITERS[name].write(session.sql(ROWS), expected)
    done = session.sql(f"COPY ({ROWS}) TO '{tmp_path}/out' (FORMAT {name})")
    assert done.fetchall() == [(f"copied 3 rows to {tmp_path}/out",)]
    assert (tmp_path / "out").read_bytes() == expected.getvalue()


@pytest.mark.parametrize(("name", "suffix"), [(one.name, end) for one in WRITERS.values() for end in one.suffixes])
def test_the_suffix_of_a_file_determines_the_format(session: Session, tmp_path: Path, name: str, suffix: str) -> None:
    session.sql(f"COPY ({ROWS}) TO '{tmp_path}/a{suffix}'; COPY ({ROWS}) TO '{tmp_path}/b' (FORMAT '{name}')")
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / "b").read_bytes()


def test_tables_and_views_are_copied_by_name(session: Session, tmp_path: Path) -> None:
    session.sql("CREATE TABLE t AS SELECT SPAN * FROM dctv.generate_sequential_spans(0ns, 2ns, 1ns)")
    session.sql(f"CREATE VIEW v AS FROM t; COPY t TO '{tmp_path}/t.csv'; COPY v TO '{tmp_path}/v.csv'")
    assert (tmp_path / "t.csv").read_text() == "_ts [ns],_duration [ns]\n0,1\n1,1\n"
    assert (tmp_path / "v.csv").read_text() == (tmp_path / "t.csv").read_text()


def test_a_relative_path_starts_from_the_folder_of_the_text(session: Session, tmp_path: Path) -> None:
    list(session.execute("COPY (SELECT 1 AS a) TO 'x.csv'", base=tmp_path))
    assert (tmp_path / "x.csv").read_text() == "a\n1\n"


@pytest.mark.parametrize("wrong", ["SELECT 'x'::INT64 + range AS a FROM range(3)", "SELECT nowhere"])
def test_a_failed_copy_leaves_the_old_file(session: Session, tmp_path: Path, wrong: str) -> None:
    (tmp_path / "x.csv").write_text("mine\n")
    with pytest.raises(QueryError):
        session.sql(f"COPY ({wrong}) TO '{tmp_path}/x.csv'")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("x.csv", "mine\n")]


def test_an_interrupted_copy_leaves_nothing(session: Session, tmp_path: Path) -> None:
    threading.Timer(0.5, session.interrupt).start()
    with pytest.raises(Interrupted):
        session.sql(f"COPY (SELECT a.range AS x FROM range(1000000) a, range(1000000) b) TO '{tmp_path}/x.csv'")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "message", "at", "hint"),
    [
        ("COPY t TO 'DIR/x.csv'", "unknown table `t`", "t", ""),
        (
            "COPY (SELECT 1) TO 'DIR/x'",
            "the name `DIR/x` does not determine a format",
            "'DIR/x'",
            "write (FORMAT csv); formats: ",
        ),
        ("COPY (SELECT 1) TO 'DIR/x' (FORMAT cvs)", "unknown format `cvs`", "cvs", "did you mean `csv`?"),
        ("COPY (SELECT 1) TO 'DIR/x' (FORMAT)", "FORMAT needs a name", "FORMAT", "formats: "),
        ("COPY (SELECT 1) TO 'DIR/x' (HEADER)", "COPY has no option `HEADER`", "HEADER", "its option is FORMAT"),
        ("COPY (SELECT 1) TO 'DIR/x' (FORMAT csv, FORMAT tsv)", "FORMAT is given twice", "FORMAT", ""),
        (
            "COPY (SELECT 1) TO 'DIR/a/x.csv'",
            "cannot write `DIR/a/x.csv`: no such file or directory",
            "'DIR/a/x.csv'",
            "",
        ),
        (
            "COPY (SELECT 1 AS a, INTERVAL 1 DAY AS i) TO 'DIR/x.parquet'",
            "the column `i` has the type INTERVAL, which Parquet cannot hold",
            "'DIR/x.parquet'",
            "x IN ns is its length, x::STRING its text",
        ),
        (
            "COPY (SELECT {'a': INTERVAL 1 DAY} AS s) TO 'DIR/x' (FORMAT parquet)",
            "the column `s` has the type STRUCT(a INTERVAL), which Parquet cannot hold",
            "'DIR/x'",
            "cast it: x::STRING",
        ),
        (
            "COPY (SELECT MAP {} AS m) TO 'DIR/x.parquet'",
            "the column `m` has the type MAP(NULL, NULL), which Parquet cannot hold",
            "'DIR/x.parquet'",
            "cast it: x::STRING",
        ),
    ],
)
def test_errors_have_their_places(
    session: Session, tmp_path: Path, text: str, message: str, at: str, hint: str
) -> None:
    with pytest.raises(BindError) as caught:
        session.sql(text.replace("DIR", str(tmp_path)))
    error = caught.value
    assert error.message == message.replace("DIR", str(tmp_path))
    assert error.place is not None
    assert error.place.text == at.replace("DIR", str(tmp_path)), render(error)
    assert (error.hint or "").startswith(hint)
    assert list(tmp_path.iterdir()) == []


def test_the_command_line_copies_where_it_is_allowed(tmp_path: Path) -> None:
    text = "COPY (SELECT 1 AS a) TO 'x.csv'; SELECT 2 AS b"
    assert run("query", text, cwd=tmp_path).code == 2
    assert list(tmp_path.iterdir()) == []
    # The shell's folder is where a text of the command line starts from.
    ran = run("query", "--allow-files", f"COPY (SELECT 1 AS a) TO '{tmp_path}/x.csv'; SELECT 2 AS b", cwd=tmp_path)
    assert (ran.code, ran.out, (tmp_path / "x.csv").read_text()) == (0, "b\n-\n2\n", "a\n1\n")
