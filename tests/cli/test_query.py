"""`dctv query`: data on stdout, narration on stderr, exit codes."""

from __future__ import annotations

import json
import stat
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.command_line import COMMAND, Ran, environment, run


def test_several_results() -> None:
    assert run("query", "SELECT 1 AS x; SELECT 'a' AS y, 2 AS z") == Ran(
        0, "x\n-\n1\n\ny  z\n-  -\na  2\n", ""
    )  # fmt: skip


def test_two_runs_give_the_same_bytes() -> None:
    words = ("query", "SELECT 1 AS x, NULL AS y", "--format", "json")
    assert run(*words) == run(*words)


def test_wrong_sql() -> None:
    ran = run("query", "SELECT 1 AS x; SELEC 2")
    assert (ran.code, ran.out.splitlines()[:3]) in [(2, []), (2, ["x", "-", "1"])]
    assert ran.err.startswith("<query>:1:16: ")
    assert "  SELECT 1 AS x; SELEC 2\n" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "error: found nothing to run, expected SQL, -c SQL or -f FILE"),
        (("SELECT 1", "SELECT 2"), "error: found a second text `SELECT 2`, expected one SQL text"),
        (("SELECT 1", "-f", "x.sql"), "error: found both SQL (`SELECT 1`) and -f x.sql, expected one of them"),
        (("-f", "absent.sql"), "error: cannot read `absent.sql`: no such file or directory"),
        (("SELECT 1", "t="), "error: `t=` gives no path to mount as `t`"),
        (("SELECT 1", "t=a", "t=b"), "error: `t` is mounted twice, from `a` and `b`"),
        (("SELECT 1", "--param", "x"), "error: found `--param x`, expected K=V, such as --param limit=5ms"),
        (
            ("SELECT 1", "-o", "x.doc"),
            "error: the name `x.doc` does not determine a format, expected --format or one of",
        ),
        (("SELECT 1", "--threads", "0"), "error: found `--threads 0`, expected a number from 1"),
        (("SELECT 1", "-o", "no/such/x.csv"), "error: cannot write `no/such/x.csv`: no such file or directory"),
    ],
)
def test_wrong_arguments(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    ran = run("query", *words, cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert list(tmp_path.iterdir()) == []


def test_assertions(tmp_path: Path) -> None:
    report = tmp_path / "report.sql"
    report.write_text("ASSERT 1 = 1;\nASSERT 1 = 2, 'one is two';\nSELECT 3 AS x;\n")
    ran = run("query", "-f", report, "--junit", tmp_path / "out.xml")
    assert (ran.code, ran.out) == (1, "x\n-\n3\n")
    assert "one is two" in ran.err
    suite = ET.parse(tmp_path / "out.xml").getroot()
    assert [case.tag for case in suite.iter() if case.tag in {"testcase", "failure"}] == [
        "testcase", "testcase", "failure",
    ]  # fmt: skip
    assert suite.attrib == {"tests": "2", "failures": "1", "errors": "0"}


@pytest.mark.parametrize("holds", ["1", "2", "NULL"])
def test_an_assertion_is_called_the_same_in_junit_whether_it_holds_or_not(tmp_path: Path, holds: str) -> None:
    text = "ASSERT :n = 1; EXPECT :n = 1; ASSERT (SELECT 1 AS x WHERE :n != 1); EXPECT :n = 1, 'one'"
    run("query", text, "--param", f"n={holds}", "--junit", tmp_path / "out.xml")
    names = [case.get("name") for case in ET.parse(tmp_path / "out.xml").getroot().iter("testcase")]
    assert names == [":n = 1", ":n = 1", "(SELECT 1 AS x WHERE :n != 1)", "one"]


@pytest.mark.parametrize(("took", "found"), [("11000000ns", "11ms"), ("11000000000ns", "11s")])
def test_the_value_of_an_assertion_is_on_the_terminal_and_in_junit(tmp_path: Path, took: str, found: str) -> None:
    ran = run("query", f"ASSERT (SELECT {took}) < 10ms, 'quick'", "--junit", tmp_path / "out.xml")
    assert ran.code == 1
    assert ran.err.splitlines()[-1] == f"found {found}, expected < 10ms"
    (failure,) = ET.parse(tmp_path / "out.xml").getroot().iter("failure")
    assert (failure.text or "").splitlines()[-1] == f"found {found}, expected < 10ms"


def test_the_result_of_an_expectation_is_on_the_terminal_in_junit_and_in_github(tmp_path: Path) -> None:
    ran = run("query", "EXPECT (SELECT 2s) < 10ms, 'quick'", "--junit", tmp_path / "out.xml", "--github")
    assert (ran.code, ran.out) == (1, "")
    assert "expectation failed: quick\n" in ran.err
    assert "\nfound 2s, expected < 10ms\n" in ran.err
    assert "::error title=dctv::expectation failed: quick" in ran.err
    assert "found 2s, expected &lt; 10ms</failure>" in (tmp_path / "out.xml").read_text()


def test_unexpected_rows_are_on_the_terminal_and_in_junit(tmp_path: Path) -> None:
    sql = "ASSERT (SELECT n * 1ms AS took, '<' || chr(27) AS who FROM (VALUES (11), (7000)) AS t(n)), 'none'"
    ran = run("query", sql, "--junit", tmp_path / "out.xml")
    rows = ["took [ms]  who", "---------  -----", "       11  <\\x1b", "     7000  <\\x1b", "(2 rows)"]
    assert ran.err.splitlines()[-5:] == rows
    (failure,) = ET.parse(tmp_path / "out.xml").getroot().iter("failure")
    assert (failure.text or "").splitlines()[-5:] == rows


def test_junit_reports_wrong_sql(tmp_path: Path) -> None:
    assert run("query", "SELEC '\x1b'", "--junit", tmp_path / "out.xml").code == 2
    assert ET.parse(tmp_path / "out.xml").getroot().attrib["errors"] == "1"


def test_fail_on_rows() -> None:
    assert run("query", "SELECT 1 AS x WHERE 1 = 2", "--fail-on-rows") == Ran(0, "x\n-\n", "")
    ran = run("query", "SELECT 1 AS x", "--fail-on-rows")
    assert ran == Ran(1, "x\n-\n1\n", "error: found 1 row, expected none (--fail-on-rows)\n")


def test_stdin() -> None:
    assert run("query", "-f", "-", stdin="\ufeffSELECT 5 AS x") == Ran(0, "x\n-\n5\n", "")
    assert run("query", "-f", "-", stdin="\nSELEC 5").err.startswith("<stdin>:2:1: ")


def test_options_may_stand_anywhere() -> None:
    assert run("query", "--format", "csv", "SELECT 1 AS x", "--threads", "1") == Ran(0, "x\n1\n", "")


def test_parameters() -> None:
    words = ("SELECT :a AS a, :b AS b, :c AS c, :d AS d, :e AS e", "--format", "json")
    given = ("--param", "a=1", "--param", "b=1.5", "--param", "c=x=y", "--param", "d=true", "--param", "e=null")
    ran = run("query", *words, *given)
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out)["rows"] == [[1, 1.5, "x=y", True, None]]
    assert run("query", "SELECT ? AS a, ? AS b", "--param", "1=2", "--param", "0=1").out == "a  b\n-  -\n1  2\n"
    assert run("query", "SELECT $1 AS a, ?1 AS b", "--param", "1=5").out == "a  b\n-  -\n5  5\n"
    assert "hint: given: 1\n" in run("query", "SELECT $2", "--param", "1=5").err


def test_output_files_are_written_atomically(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    target.write_text("old\n")
    target.chmod(0o640)
    assert run("query", "SELECT 1 AS x; SELEC", "-o", target).code == 2
    assert target.read_text() == "old\n"
    assert run("query", "SELECT 1 AS x", "-o", target) == Ran(0, "", "")
    assert target.read_text() == "x\n1\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_output_to_stdout_replaces_nothing(name: str, tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    with target.open("wb") as out:
        out.write(b"before\n")
        out.flush()
        words = [*COMMAND, "query", "SELECT 1 AS x", "-o", name, "--format", "csv"]
        subprocess.run(words, stdout=out, env=environment(), check=True)
        out.write(b"after\n")
    assert target.read_text().splitlines()[:3] == ["before", "x", "1"]


def test_output_parquet(tmp_path: Path) -> None:
    assert run("query", "SELECT 5ms AS t", "-o", tmp_path / "out.parquet").code == 0
    field = pq.read_table(tmp_path / "out.parquet").schema.field("t")
    assert field.metadata[b"unit"] == b"ms"
    ran = run("query", "SELECT 1 AS x; SELECT 2 AS x", "-o", tmp_path / "two.parquet")
    assert ran.code == 2
    assert ran.err.startswith("error: a file of format `parquet` holds one result, found a second one\n")
    assert [path.name for path in tmp_path.iterdir()] == ["out.parquet"]


def test_parquet_refuses_intervals(tmp_path: Path) -> None:
    ran = run("query", "SELECT [INTERVAL 1 DAY] AS i", "-o", tmp_path / "out.parquet")
    assert ran.code == 2
    assert ran.err.startswith("error: the column `i` has the type INTERVAL[], which Parquet cannot hold\n")
    assert list(tmp_path.iterdir()) == []
    way_out = run(
        "query", "SELECT x IN ns AS n, x::STRING AS s FROM (SELECT INTERVAL 1 DAY AS x)", "-o", tmp_path / "o.parquet"
    )
    assert way_out.code == 0


@pytest.mark.parametrize("form", ["table", "parquet", "arrow"])
def test_full_disk(form: str) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "query", "SELECT 1 AS x", "--format", form],
            stdout=full, stderr=subprocess.PIPE, env=environment(), check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, b"error: cannot write the output: no space left on device\n")


def test_a_closed_pipe_ends_the_command() -> None:
    process = subprocess.Popen(
        [*COMMAND, "query", "SELECT 1 AS x"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 141


def test_missing_trace() -> None:
    ran = run("query", "SELECT 1 AS x", "t=/no/such/trace")
    assert ran.code in {2, 3}
    assert ran.out == ""
    assert "/no/such/trace" in ran.err


def test_hostile_text_does_not_reach_the_terminal() -> None:
    ran = run("query", "SELECT '\x1b]0;x\x07' AS a FROM \"\x1b[2J\"")
    assert ran.code == 2
    assert "\x1b" not in ran.err
