"""Traces on the command line: with a name and without one, in every command; and lists of what they offer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dctv.cli.mounts import parse_mounts
from tests.command_line import ROOT, Ran, run

TRACE = ROOT / "tests/data/ftrace/live_marks.trace.txt.gz"
CALLS = ROOT / "tests/data/stdlib/calls.pfw"
TOLD = "`mydata.csv` is mounted as `mydata` (NAME=PATH gives it another name)\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mydata.csv").write_text("a,b\n1,x\n2,y\n")
    return tmp_path


def test_a_path_without_a_name_is_mounted_after_its_file(folder: Path) -> None:
    words = ("query", "mydata.csv", "SELECT a FROM mydata.mydata", "--format", "csv")
    assert run(*words, cwd=folder) == Ran(0, "a\n1\n2\n", TOLD)
    assert run(*words, "--quiet", cwd=folder) == Ran(0, "a\n1\n2\n", "")
    assert run("explain", "SELECT a FROM mydata.mydata", "mydata.csv", cwd=folder).code == 0
    assert run("repl", "mydata.csv", stdin="SELECT COUNT(*) AS n FROM mydata.mydata;", cwd=folder) == Ran(
        0, "n\n-\n2\n", TOLD
    )


def test_names_are_distinguished() -> None:
    mounts = parse_mounts(["a/x.csv", "b/x.csv", "x=c", "select.json", "2.csv"])
    assert [name for name, _ in mounts.traces] == ["x_2", "x_3", "x", "t_select", "t_2"]


def test_a_missing_path_is_not_taken_for_sql(folder: Path) -> None:
    ran = run("query", "absent.csv", "SELECT 1", cwd=folder)
    expected = ["error: no such file or folder: `absent.csv`", "hint: files there: `mydata.csv`"]
    assert (ran.code, ran.err.splitlines()[-2:]) == (3, expected)
    ran = run("query", "mydate.csv", "SELECT 1", cwd=folder)
    expected = ["error: no such file or folder: `mydate.csv`", "hint: did you mean `mydata.csv`?"]
    assert (ran.code, ran.err.splitlines()[-2:]) == (3, expected)


def test_a_file_may_have_an_equals_sign_in_its_name(folder: Path) -> None:
    (folder / "mydata.csv").rename(folder / "a=b.csv")
    assert run("query", "a=b.csv", "SELECT a FROM a_b.`a=b`", "--format", "csv", cwd=folder).out == "a\n1\n2\n"


@pytest.mark.parametrize("command", ["replay", "report", "graph", "dump", "info", "stats", "view"])
def test_commands_for_one_trace_take_a_name_too(command: str) -> None:
    options = ["--no-index"] if command != "stats" else []
    named, bare = (run(command, word, *options) for word in (f"t={CALLS}", CALLS))
    assert named == bare
    assert named.code == 0


def test_tables_lists_what_the_trace_has() -> None:
    ran = run("tables", f"t={TRACE}", "--format", "json", "--no-index")
    names = [name for name, _, _ in json.loads(ran.out)["rows"]]
    assert {"t.scheduler.timeslices", "t.raw_events.sched_switch", "dctv.as_spans"} <= set(names)
    assert not {"t.binder.transactions", "t.block.requests", "t.block.bandwidth_by"} & set(names)
    assert names.index("t.tracks") < names.index("dctv.ancestors")
    assert ran.err.endswith("more have no rows, as there are none of their events; --all lists them\n")
    every = run("tables", f"t={TRACE}", "--format", "json", "--no-index", "--all")
    assert every.err == ""
    assert {"t.binder.transactions", "t.block.bandwidth_by"} < {name for name, *_ in json.loads(every.out)["rows"]}


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("t.raw_events.sched_wak", ["sched_wakeup", "sched_wakeup_new", "sched_waking"]),
        ("SCHED_WAK", ["sched_wakeup", "sched_wakeup_new", "sched_waking"]),
        ("*.sched_proc*_e*", ["sched_process_exec", "sched_process_exit"]),
    ],
)
def test_patterns(pattern: str, names: list[str]) -> None:
    ran = run("tables", f"t={TRACE}", "--like", pattern, "--format", "csv", "--no-index")
    assert ran == Ran(0, "name,kind,about\n" + "".join(f't.raw_events.{name},event,""\n' for name in names), "")


def test_a_pattern_without_matches(folder: Path) -> None:
    ran = run("tables", "t=mydata.csv", "--like", "t.mydats", cwd=folder)
    assert ran == Ran(2, "", "error: no table or function fits `t.mydats`\nhint: did you mean `t.mydata`?\n")


def test_tables_at_the_prompt(folder: Path) -> None:
    script = "CREATE VIEW zz AS SELECT 1 AS x;\nCREATE VIEW z2 AS SELECT 1 AS x;\n.mode csv\n.tables z?\n.tables my\n"
    ran = run("repl", "t=mydata.csv", stdin=script, cwd=folder)
    assert ran.out == 'name,kind,about\nz2,view,""\nzz,view,""\n\nname,kind,about\nt.mydata,regular,""\n'
    whole = run("repl", "t=mydata.csv", stdin=script + ".tables\n", cwd=folder).out.split("\n\n")[-1]
    assert [line.split(",")[0] for line in whole.splitlines()[1:4]] == ["z2", "zz", "t.diagnostics"]
    assert "nothing is mounted: .mount NAME=PATH mounts a trace\n" in run("repl", stdin=".tables\n").err


def test_formats_and_the_cache_are_listed_for_programs(folder: Path) -> None:
    assert run("formats", "--format", "csv").out.startswith("name,title\n")
    assert run("cache", "list", "--index-dir", folder, "--format", "csv").out == (
        "path,folder,bytes,last_used,state,histories\n"
    )
    assert run("cache", "size", "--format", "csv").code == 2
    assert run("formats", "csv", "--format", "csv").code == 2


def test_messages_without_mounts() -> None:
    hint = "hint: nothing is mounted: MOUNT TRACE 'file' AS name, or give NAME=PATH on the command line\n"
    assert run("query", "SELECT * FROM t.events").err.endswith(hint)
    ran = run("query", f"t={TRACE}", "SELECT * FROM trace.events", "--no-index")
    assert ran.err.endswith("hint: there is no `trace`; mounted are t\n")
