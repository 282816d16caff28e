"""`dctv` and its small subcommands, and what importing them costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import dctv.cli
from dctv.cli import main
from dctv.cli.arguments import parameters
from dctv.cli.mounts import parse_mounts
from dctv.console.verdict import ExitVerdict
from tests.command_line import Ran, environment, run, run_process

HEAVY = {"pyarrow", "duckdb", "numpy", "pint", "rich", "prompt_toolkit", "sqlglot", "lark", "pygments"}


def test_help_lists_the_commands() -> None:
    ran = run("--help")
    assert (ran.code, ran.err) == (0, "")
    assert all(f"  {name} " in ran.out for name in ("query", "repl", "explain", "tables"))
    assert "  dctv tables t=trace.json " in ran.out
    assert 'examples:\n  dctv query t=trace.json "SELECT ' in run("query", "--help").out


def test_version() -> None:
    ran = run("--version")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("dctv 0.")


@pytest.mark.parametrize("words", [["query", "SELECT 1 AS x"], ["query", "SELEC"], ["tables"], []])
def test_a_process_ends_as_its_arguments_do(words: list[str]) -> None:
    assert run_process(*words) == run(*words)


def test_no_command() -> None:
    assert run().code == 2


def test_unknown_command() -> None:
    ran = run("quarry")
    assert (ran.code, ran.out) == (2, "")
    assert "quarry" in ran.err


@pytest.mark.parametrize("words", [["--help"], ["query", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(words: list[str]) -> None:
    code = f"import sys; from dctv.cli import main; main({words!r}); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment(), check=True)
    assert not HEAVY & set(done.stderr.decode().split())


def test_tables_wants_a_trace() -> None:
    hint = "hint: give its path, or NAME=PATH: dctv tables t=trace.json\n"
    assert run("tables") == Ran(2, "", f"error: found no trace to mount\n{hint}")
    assert "error: no such file or folder: `SELECT 1`" in run("tables", "SELECT 1").err.splitlines()


def test_explain() -> None:
    ran = run("explain", "SELECT 1 AS x")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out


@pytest.mark.parametrize(
    ("word", "mount"),
    [
        ("t=a.pfw", ("t", "a.pfw")),
        ("a.b=/x y/z=1", ("a.b", "/x y/z=1")),
        ("SELECT 1=1", None),
        ("x==y", None),
        ("1x=y", None),
    ],
)
def test_arguments_that_are_mounts(word: str, mount: tuple[str, str] | None) -> None:
    mounts = parse_mounts([word], only=False)
    assert (mounts.others, mounts.traces) == (([], [mount]) if mount else ([word], []))
    assert mounts.unnamed == []


def test_parameter_types() -> None:
    words = ["a=12", "b=-1.5e3", "c=TRUE", "d=null", "e=1_0", "f=", "0=x", "g=nan", "h=.5", "i=1__0"]
    assert parameters(words) == {
        "a": 12, "b": -1500.0, "c": True, "d": None, "e": 10, "f": "", 0: "x", "g": "nan", "h": 0.5, "i": "1__0",
    }  # fmt: skip


def test_a_bug_of_ours_is_confessed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DCTV_DEBUG", raising=False)
    with ExitVerdict() as verdict:
        raise ZeroDivisionError("some\nlines")
    assert verdict.code == 4
    assert capsys.readouterr().err == (
        "error: internal error: ZeroDivisionError: some\n"
        "hint: this is a bug in dctv; please report it with the query and the traceback that DCTV_DEBUG=1 prints\n"
    )


def test_traceback_on_demand(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DCTV_DEBUG", "1")
    with ExitVerdict():
        raise ZeroDivisionError
    assert "Traceback" in capsys.readouterr().err


def test_main_returns_the_code() -> None:
    assert main(["query"]) == 2
    assert Path(dctv.cli.__file__).is_file()
