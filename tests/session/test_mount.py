"""Mounting: files, folders, patterns, names, and every way in which it can go wrong."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dctv
from dctv.errors import BindError, TraceError, UsageError, render
from dctv.run.result import Result

FTRACE = (
    "          <idle>-0     [000] d..2   1.000000: sched_switch: prev_comm=swapper prev_pid=0 prev_prio=120 "
    "prev_state=R ==> next_comm=a b next_pid=7 next_prio=120\n"
)
PFW = '{"id":1,"name":"read","cat":"POSIX","pid":1,"tid":2,"ts":100,"dur":5,"ph":"X","args":{"ret":4096}}\n'


@pytest.fixture
def session() -> Iterator[dctv.Session]:
    with dctv.Session() as one:
        yield one


@pytest.fixture
def ftrace(tmp_path: Path) -> Path:
    path = tmp_path / "one.txt"
    path.write_text("# tracer: nop\n#\n" + FTRACE + FTRACE.replace("1.000000", "1.000500"))
    return path


def test_two_formats_in_one_session_joined(session: dctv.Session, ftrace: Path, tmp_path: Path) -> None:
    (tmp_path / "two.pfw").write_text(PFW + PFW.replace("100", "400"))
    session.mount(str(ftrace), "kernel")
    session.mount(str(tmp_path / "two.pfw"), "io.run1")
    rows = session.sql(
        "SELECT k.next_comm, r._ts FROM kernel.raw_events.sched_switch AS k JOIN io.run1.raw_events.read AS r "
        "ON k._ts <= r._ts WHERE k._ts > -1ns ORDER BY r._ts"
    ).fetchall()
    assert rows == [("a b", 0), ("a b", 300000)]


def test_the_format_does_not_depend_on_the_file_name(session: dctv.Session, ftrace: Path, tmp_path: Path) -> None:
    plain = tmp_path / "noname"
    plain.write_bytes(gzip.compress(ftrace.read_bytes()))
    session.mount(str(plain), "t")
    assert session.sql("SELECT COUNT(*) FROM t.raw_events.sched_switch").fetchall() == [(2,)]


def test_a_folder_and_a_pattern_are_one_trace(session: dctv.Session, tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"part{number}.pfw").write_text(PFW.replace("100", str(100 + number)))
    (tmp_path / "part3.pfw.gz").write_bytes(b"")
    session.mount(str(tmp_path), "folder")
    session.mount(str(tmp_path / "part[01].pfw"), "pattern")
    assert session.sql("SELECT COUNT(*), MAX(_ts) FROM folder.raw_events.read").fetchall() == [(3, 2000)]
    assert session.sql("SELECT COUNT(*) FROM pattern.raw_events.read").fetchall() == [(2,)]


def test_mount_statement_paths_start_at_the_base(session: dctv.Session, ftrace: Path) -> None:
    text = "MOUNT TRACE 'one.txt' AS a.b; SELECT COUNT(*) FROM a.b.raw_events.sched_switch"
    outcomes = list(session.execute(text, base=ftrace.parent))
    last = outcomes[-1]
    assert isinstance(last, Result)
    assert last.fetchall() == [(2,)]


def test_drop_all_unmounts(session: dctv.Session, ftrace: Path) -> None:
    session.mount(str(ftrace), "t")
    session.sql("DROP ALL t")
    with pytest.raises(BindError, match="unknown table"):
        session.sql("SELECT * FROM t.last_ts")
    session.mount(str(ftrace), "t")


def test_a_name_is_mounted_once(session: dctv.Session, ftrace: Path) -> None:
    session.mount(str(ftrace), "t")
    with pytest.raises(BindError, match="the name `t` is taken"):
        session.mount(str(ftrace), "t")
    with pytest.raises(BindError, match="belongs to dctv"):
        session.mount(str(ftrace), "dctv")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda d: d / "nope.txt", r"no such file or folder: `.*nope.txt`"),
        (lambda d: d / "*.nope", r"no file matches `.*\*.nope`"),
        (lambda d: _folder(d / "empty"), r"the folder `.*empty` is empty"),
        (lambda d: _folder(d / "docs", "a.md", b"# hello"), "has no known format; it begins with `# hello`"),
        (lambda d: _folder(d / "docs", "a.md", b"x", "b.md", b"y"), "none of its 2 files has a known format"),
        (lambda d: _file(d / "empty.txt", b""), "is empty"),
        (lambda d: _file(d / "empty.pfw.gz", gzip.compress(b"")), r"`.*empty\.pfw\.gz` is compressed, and empty"),
        (
            lambda d: _file(d / "cut.pfw.gz", gzip.compress(PFW.encode())[:10]),
            r"`.*cut\.pfw\.gz` is gzip that is damaged or ends before any text",
        ),
        (
            lambda d: _file(d / "bad.pfw.gz", gzip.compress(b"")[:8] + b"\xff" * 40),
            r"`.*bad\.pfw\.gz` is gzip that is damaged or ends before any text",
        ),
        (lambda d: _pipe(d / "pipe"), r"pipe` is a pipe, and traces are files"),
        (lambda _: Path("/dev/null"), "`/dev/null` is a device, and traces are files"),
        (
            lambda d: _file(d / os.fsdecode(b"bad\xff.pfw"), PFW.encode()),
            r"the file name `.*/bad\\xff\.pfw` is not UTF-8",
        ),
        (
            lambda d: _folder(d / os.fsdecode(b"bad\xff"), "a.pfw", PFW.encode()),
            r"the file name `.*/bad\\xff/a\.pfw` is not UTF-8",
        ),
        (
            lambda d: _file(d / "x.bin", b"\x7fELF\x02\x01"),
            r"has no known format; it begins with `\\x7fELF\\x02\\x01`",
        ),
        (
            lambda d: _folder(d / "mix", "a.pfw", PFW.encode(), "b.txt", b"# tracer: nop\n#\n" + FTRACE.encode()),
            "of several formats|known",
        ),
    ],
)
def test_files_that_cannot_be_mounted(
    session: dctv.Session, tmp_path: Path, make: Callable[[Path], Path], message: str
) -> None:
    with pytest.raises(TraceError, match=message):
        session.mount(str(make(tmp_path)), "t")
    assert session.tables("t") == []


def _file(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def _pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


def _folder(path: Path, *files: str | bytes) -> Path:
    path.mkdir()
    for name, data in zip(files[::2], files[1::2], strict=True):
        assert isinstance(name, str)
        assert isinstance(data, bytes)
        (path / name).write_bytes(data)
    return path


def test_an_unknown_format_lists_the_known_ones(session: dctv.Session, tmp_path: Path) -> None:
    with pytest.raises(TraceError) as caught:
        session.mount(str(_file(tmp_path / "a", b"nothing known")), "t")
    text = render(caught.value)
    assert "known formats: arrow, chrome-json, " in text
    assert ", ftrace-text, " in text


def test_an_unknown_option_is_named(session: dctv.Session, ftrace: Path) -> None:
    with pytest.raises(UsageError, match="`ftrace-text` has no option `clok`"):
        session.mount(str(ftrace), "t", clok="boot")


def test_a_cut_gzip_is_incomplete_and_counted(session: dctv.Session, tmp_path: Path) -> None:
    data = gzip.compress((PFW * 5000).encode())
    path = _file(tmp_path / "cut.pfw.gz", data[: len(data) // 2])
    session.mount(str(path), "t")
    assert len(session.incomplete()) == 1
    (read,) = session.sql("SELECT COUNT(*) FROM t.raw_events.read").fetchall()[0]
    assert 0 < read < 5000
    assert session.sql("SELECT COUNT(*) FROM t.diagnostics WHERE incomplete").fetchall() == [(1,)]


def test_events_hold_every_raw_event(session: dctv.Session, ftrace: Path) -> None:
    session.mount(str(ftrace), "t")
    rows = session.sql("SELECT _ts, name, tid, args FROM t.events").fetchall()
    assert [r[:3] for r in rows] == [(0, "sched_switch", 0), (500000, "sched_switch", 0)]
    assert '"next_comm":"a b"' in rows[0][3]


def test_quantize_covers_the_last_event(session: dctv.Session, ftrace: Path) -> None:
    session.mount(str(ftrace), "t")
    assert session.sql("SELECT _ts, _duration FROM t.quantize()").fetchall() == [(0, 500001)]
    assert session.sql("SELECT _ts, _duration FROM t.quantize(300us)").fetchall() == [(0, 300000), (300000, 200001)]
    counted = session.sql(
        "SELECT SPAN COUNT(*) AS n FROM t.raw_events.sched_switch GROUP USING SPANS FROM t.quantize(300us)"
    ).fetchall()
    assert [row[2] for row in counted] == [1, 1]


def test_paths_of_pathlib(tmp_path: Path) -> None:
    (tmp_path / "a[1].csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").write_text("x,y\n3,4\n")
    with dctv.Session() as session:
        session.mount(tmp_path / "a[1].csv", "one")
        session.mount([tmp_path / "a[1].csv", str(tmp_path / "b.csv")], "two")
        assert session.sql("SELECT x FROM one.`a[1]`").fetchall() == [(1,)]
        assert session.sql("SELECT x FROM two.b").fetchall() == [(3,)]


def test_a_mount_of_something_else_is_an_error() -> None:
    paths: Any = [5]
    with dctv.Session() as session, pytest.raises(UsageError, match="expected a path, found int"):
        session.mount(paths, "x")


def test_a_path_in_place_of_a_name_is_an_error() -> None:
    name: Any = Path("trace.pfw")
    with dctv.Session() as session, pytest.raises(UsageError, match="expected a name, found PosixPath") as caught:
        session.mount("x", name)
    assert caught.value.hint == "the path comes first, then the name"


def test_options_of_a_mount_may_be_values_of_the_program() -> None:
    trace = Path(__file__).parents[1] / "data/ftrace/live_marks.trace.txt.gz"
    with dctv.Session() as session:
        session.mount(trace, "plain")
        session.mount(trace, "late", align=timedelta(milliseconds=5))
        session.mount(trace, "later", align=np.int64(7))
        ask = "SELECT MIN(_ts) FROM {}.events"
        (first,), (late,), (later,) = (session.sql(ask.format(n)).fetchall()[0] for n in ("plain", "late", "later"))
        assert (late - first, later - first) == (5_000_000, 7)


@pytest.mark.parametrize(
    ("text", "reader", "incomplete"),
    [
        ("How to read a trace\n\n# tracer: nop\n\nlines follow\n", "ftrace-text", ["most lines could not be read"]),
        ("# tracer: function_graph\n", "ftrace-graph", []),
    ],
)
def test_a_folder_without_a_trace_says_so(
    text: str, reader: str, incomplete: list[str], session: dctv.Session, tmp_path: Path
) -> None:
    """G7: an archive beside a text that looks a little like a trace mounted without a word."""
    (tmp_path / "a.zip").write_bytes(b"PK\3\4 nothing of use")
    (tmp_path / "README.txt").write_text(text)
    session.mount(str(tmp_path), "t")
    assert session.warnings() == [f"found no event in `{tmp_path}`, which was read as {reader}"]
    assert [reason.rpartition(": ")[2] for reason in session.incomplete()] == incomplete


def test_views_of_a_trace_are_not_replaced_by_ones_that_read_them(session: dctv.Session, ftrace: Path) -> None:
    session.mount(str(ftrace), "t")
    before = session.sql("FROM t.scheduler.thread_summary").fetchall()
    with pytest.raises(BindError, match=r"the view `scheduler\.states` would read itself"):
        session.sql("CREATE OR REPLACE VIEW t.scheduler.states AS FROM t.scheduler.thread_summary")
    assert session.sql("FROM t.scheduler.thread_summary").fetchall() == before


def test_an_empty_list_of_files_is_an_error(session: dctv.Session) -> None:
    with pytest.raises(TraceError, match="found an empty list of files, expected one or more"):
        session.mount([], "t")
    with pytest.raises(TraceError, match="found an empty list of files, expected one or more"):
        dctv.TraceReader([])


def test_facts_of_something_that_is_not_mounted(session: dctv.Session, ftrace: Path) -> None:
    session.mount(ftrace, "t")
    assert session.properties("t")["start_ns"]
    with pytest.raises(UsageError, match=r"no trace is mounted as `t\.slices`"):
        session.properties("t.slices")
    with pytest.raises(UsageError, match="no trace is mounted as `other`"):
        session.stored_file("other", "events")
