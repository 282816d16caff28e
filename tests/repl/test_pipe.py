"""`dctv repl` without a terminal: statements from stdin, results without prompts."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.command_line import COMMAND, Ran, environment, run


def test_one_statement() -> None:
    assert run("repl", stdin="SELECT 1;") == Ran(0, "1\n-\n1\n", "")


def test_last_semicolon_may_be_left_out() -> None:
    assert run("repl", stdin="SELECT 1 AS a; SELECT\n2 AS b").out == "a\n-\n1\n\nb\n-\n2\n"


def test_execution_continues_after_errors() -> None:
    ran = run("repl", stdin="SELECT 1 AS a;\nSELEC 2;\n .nonsense\n\n  SELECT 3 AS b; SELECT\n4 AS c FORM;\n")
    assert (ran.code, ran.out) == (2, "a\n-\n1\n\nb\n-\n3\n")
    assert "<stdin>:2:1: " in ran.err
    assert "error: unknown command `.nonsense`\nhint: see `.help`\n" in ran.err
    assert "<stdin>:6:" in ran.err


def test_failed_assertion() -> None:
    ran = run("repl", stdin="ASSERT 1 = 2, 'no';\nSELECT 1 AS a;")
    assert (ran.code, ran.out) == (1, "a\n-\n1\n")
    assert ran.err.startswith("<stdin>:1:1: assertion failed: no\n  ASSERT 1 = 2, 'no'")


def test_modes_and_files(tmp_path: Path) -> None:
    (tmp_path / "x.sql").write_text("SELECT 1 AS a; SELEC;\nSELECT 2 AS b")
    ran = run("repl", stdin=".mode csv\n.read x.sql\n.mode nope\n.mode\n.quit\nSELECT 3;", cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "a\n1\n\nb\n2\n")
    assert "x.sql:1:16: " in ran.err
    known = "box, csv, json, jsonl, line, markdown, table, tsv, arrow, arrows, parquet"
    assert f"error: unknown mode `nope`, expected one of {known}\n" in ran.err
    assert "mode is csv\n" in ran.err


def test_help_names_every_command() -> None:
    ran = run("repl", stdin=".help\n.hepl\n")
    assert all(f".{name}" in ran.out for name in ("tables", "schema", "mount", "timing", "mode", "read", "quit"))
    assert ran.err == "error: unknown command `.hepl`\nhint: did you mean `.help`?\n"


def test_arguments_of_commands() -> None:
    ran = run("repl", stdin=".schema\n.quit now\n.timing maybe\n.mount x=\n.schema nowhere\n")
    assert ran.err == (
        "error: found `.schema`, expected `.schema TABLE`\n"
        "error: found `.quit now`, expected `.quit` alone\n"
        "error: found `maybe`, expected on or off\n"
        "error: found `x=`, expected NAME=PATH\n"
        "error: unknown table `nowhere`\nhint: `.tables` lists them\n"
    )
    assert ran.code == 2


def test_results_are_printed_per_statement() -> None:
    with subprocess.Popen([*COMMAND, "repl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()) as repl:
        assert repl.stdin is not None
        assert repl.stdout is not None
        repl.stdin.write(b"SELECT 1 AS a;\n")
        repl.stdin.flush()
        assert [repl.stdout.readline() for _ in range(3)] == [b"a\n", b"-\n", b"1\n"]


def test_a_closed_pipe_ends_the_command() -> None:
    with subprocess.Popen(
        [*COMMAND, "repl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as repl:
        assert repl.stdout is not None
        repl.stdout.close()
        assert repl.stdin is not None
        repl.stdin.write(b"SELECT 1 AS a;\nSELECT 2 AS b;\n")
        repl.stdin.close()
        assert repl.stderr is not None
        assert repl.stderr.read() == b""
    assert repl.returncode == 141


def test_words_of_other_prompts() -> None:
    ran = run("repl", stdin="help\n\\q\nSELECT 1;")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(".help ")
    assert "1" not in ran.out.splitlines()[-1]
    assert run("repl", stdin="SELECT 1 AS a;\nexit;\nSELECT 2;") == Ran(0, "a\n-\n1\n", "")
    assert run("repl", stdin="SELECT\nquit\n;").code == 2
