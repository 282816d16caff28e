"""Replay and report of a recording: the same with a column store as without, and stores that are made unasked."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from pathlib import Path

import pytest

from dctv.cli.call_trees.light import report_lightly
from dctv.cli.call_trees.options import LARGE
from dctv.cli.commands.report import REPORT
from dctv.cli.terminal import look
from dctv.session import Session
from tests.command_line import run
from tests.readers.uftrace.uftrace_directory import ENTRY, EXIT, LOST, Directory, calls, record

STEPS = [(10, "main"), (12, "a"), (12, "b"), (13, "a"), (14, None), (20, None), (20, "c"), (20, None), (27, None)]
ENDS = [(30, "b"), (31, "malloc"), (33, None), (34, None), (40, "a"), (41, "c")]
OPTIONS = [
    ("replay", "-f", "time,duration,tid,delta,elapsed,task,module,addr"),
    ("replay", "-F", "a@sample=2", "-N", "malloc@prog"),
    ("replay", "-C", "c"),
    ("replay", "-T", "b@trace_off", "--tid", "2"),
    ("report", "-Z", "10", "-f", "total,self,call,size", "-s", "call,func"),
    ("report", "-t", "2", "--avg-total"),
    ("report", "-F", "a@depth=2", "--avg-self", "-s", "stdv"),
    ("report", "--task"),
    ("report", "--no-libcall", "-r", "~35ns"),
]


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a recording of two threads that do the same at the same times; some calls are not left."""
    tasks = (*Directory().tasks, "TASK timestamp=0.000000001 tid=2 pid=1")
    data = calls(*STEPS, *ENDS)
    return Directory({1: data, 2: data}, tasks=tasks).write(tmp_path_factory.mktemp("recording") / "d")


@pytest.fixture(scope="module")
def middle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a recording that starts, and continues after a loss, inside calls with at most their exits recorded."""
    tasks = (*Directory().tasks, "TASK timestamp=0.000000001 tid=2 pid=1")
    begun = record(10, ENTRY, "c", 3) + record(14, EXIT, "c", 3) + record(20, EXIT, "b", 2)
    again = record(0, LOST, 5) + record(30, EXIT, "malloc", 3) + record(31, ENTRY, "b", 3) + record(34, ENTRY, "c", 4)
    left = record(35, EXIT, "c", 4) + record(36, EXIT, "b", 3) + record(37, EXIT, "a", 2)
    data = {1: begun + again + left, 2: begun + record(21, ENTRY, "malloc", 5) + record(29, EXIT, "malloc", 5) + left}
    return Directory(data, tasks=tasks).write(tmp_path_factory.mktemp("middle") / "d")


@pytest.mark.parametrize("words", [*OPTIONS, ("replay",), ("report",)], ids=" ".join)
def test_a_store_of_a_recording_of_the_middle_changes_nothing(
    middle: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    test_a_store_changes_nothing(middle, tmp_path, (*words, "--allow-partial"))


def test_losses_have_lines(middle: Path) -> None:
    first = ("replay", middle, "--no-index", "--allow-partial", "--tid", "1")
    loss = "/* LOST 5 records!! */\n"
    for options in ((), ("--no-event",)):
        assert f"            [      1] |       {loss}" in run(*first, *options).out
    assert loss in run(*first, "-F", "c").out
    assert "XXX 1: lost 5 records\n" in run("replay", middle, "--no-index", "--allow-partial", "--flat").out
    assert "LOST" not in run("replay", middle, "--no-index", "--allow-partial", "--tid", "2").out


def test_commands_agree_on_a_recording_of_the_middle(middle: Path) -> None:
    """Begins are the same in lines, rows, records and counts; calls that only ended have none."""
    lines = re.findall(r"(?m)^ *(\w+)\(\)", run("replay", middle, "--no-index", "-f", "none").out)
    with Session(index=False) as session:
        session.mount(str(middle), "t")
        begun = "SELECT name FROM dctv.filter_calls(t.calls) WHERE state IS NULL ORDER BY _ts, id"
        assert [name for (name,) in session.sql(begun).fetchall()] == lines
        orphans = "SELECT COUNT(*) FROM t.calls WHERE parent_id NOT IN (SELECT id FROM t.calls)"
        assert session.sql(orphans).fetchall() == [(0,)]
    graph = run("graph", middle, "--no-index", "-f", "none").out
    counted = re.findall(r"\((\d+)\) (\w+)$", graph, re.MULTILINE)
    assert sum(int(count) for count, name in counted if name != "prog") == len(lines)
    raw = run("dump", middle, "--no-index").out
    assert re.findall(r"\[entry\] (\w+)\(", raw) == [*["c", "b", "c"], *["c", "malloc"]]


@pytest.mark.parametrize("words", OPTIONS, ids=" ".join)
def test_a_store_changes_nothing(recording: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    command, *options = words
    whole = run(command, recording, *options, "--no-index")
    stored = run(command, recording, *options, "--index", "--index-dir", tmp_path)
    assert list(tmp_path.glob("*/store-*/*.parquet"))
    assert (whole.code, whole.err, whole.out) == (stored.code, stored.err, stored.out)
    assert whole.code == 0
    assert len(whole.out.splitlines()) > 2


@pytest.mark.parametrize(
    ("words", "light"),
    [
        ([], True),
        (["-F", "a@sample=2", "-N", "malloc@prog", "-s", "func"], True),
        (["-C", "c", "--tid", "2", "--avg-self"], True),
        (["-T", "b@trace_off"], False),
        (["-Z", "10"], False),
        (["-f", "size"], False),
        (["-F", "a@sample=x"], False),
        (["--task"], False),
    ],
    ids=str,
)
def test_a_plain_report_takes_no_session(
    recording: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], words: list[str], *, light: bool
) -> None:
    assert run("index", recording, "--index-dir", tmp_path).code == 0
    parser = ArgumentParser()
    REPORT.configure(parser)
    args = look(parser.parse_args([str(recording), "--index-dir", str(tmp_path), *words]))
    args.sort = args.sort or ["total"]
    fields = ("total", "self", "call")
    assert report_lightly(args, (*fields, *(args.fields or ()))) == light
    printed = capfdbinary.readouterr().out.decode()
    if light:
        assert printed == run("report", recording, "--no-index", "-f", ",".join(fields), "-s", args.sort[0], *words).out
    else:
        assert printed == ""


def test_a_damaged_store_is_reported(recording: Path, tmp_path: Path) -> None:
    assert run("index", recording, "--index-dir", tmp_path).code == 0
    for file in tmp_path.glob("*/store-*/*.parquet"):
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
    ran = run("report", recording, "--index-dir", tmp_path)
    assert ran.code != 0
    assert "is damaged" in ran.err
    assert ran.out == ""


@pytest.mark.parametrize(("large", "made"), [(1, True), (LARGE, False)])
def test_large_recordings_are_indexed_automatically(recording: Path, tmp_path: Path, large: int, *, made: bool) -> None:
    with Session(index_dir=tmp_path, large=large) as session:
        session.mount(str(recording), "t")
    assert bool(list(tmp_path.glob("*/store-*"))) == made
