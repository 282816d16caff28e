"""`dctv query` in CI: failures, their reports, and time limits."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

import dctv
from dctv.index.schema import FORMAT_VERSION
from tests.command_line import ROOT, Ran, run

TRACE = ROOT / "tests/data/ftrace/live_marks.trace.txt.gz"
SLOW = "SELECT COUNT(*) AS n FROM range(100000000000) AS t(a) WHERE a % 7 = 3"


def test_fail_if_empty() -> None:
    assert run("query", "SELECT 1 AS x", "--fail-if-empty") == Ran(0, "x\n-\n1\n", "")
    ran = run("query", "SELECT 1 AS x; SELECT 1 AS x WHERE 1 = 2", "--fail-if-empty")
    assert (ran.code, ran.err) == (1, "error: found a result without rows, expected rows (--fail-if-empty)\n")
    ran = run("query", "ASSERT 1 = 1", "--fail-if-empty")
    assert (ran.code, ran.err) == (1, "error: found no result, expected rows (--fail-if-empty)\n")


def test_execution_continues_after_errors_on_request() -> None:
    text = "SELECT 1 AS a; SELEC 2; SELECT nowhere; ASSERT 1 = 2; SELECT ';' AS b"
    stopped = run("query", text)
    assert (stopped.code, stopped.out) == (2, "")
    went_on = run("query", text, "--on-error", "continue")
    assert (went_on.code, went_on.out) == (2, "a\n-\n1\n\nb\n-\n;\n")
    places = [line.split(" ")[0] for line in went_on.err.splitlines() if line.startswith("<query>")]
    assert places == ["<query>:1:16:", "<query>:1:32:", "<query>:1:41:"]


def test_the_worst_error_is_the_exit_code(tmp_path: Path) -> None:
    ran = run("query", "MOUNT TRACE 'nowhere' AS t; SELEC 1; SELECT 1 AS x", "--on-error", "continue", cwd=tmp_path)
    assert (ran.code, ran.out) == (3, "x\n-\n1\n")


def test_files_after_a_wrong_one_are_run(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("SELEC 1;")
    (tmp_path / "b.sql").write_text("SELECT 1 AS x")
    words = ("query", "-f", "a.sql", "-f", "b.sql", "--on-error", "continue")
    assert run(*words, cwd=tmp_path).out == "x\n-\n1\n"


@pytest.mark.parametrize(
    ("text", "words", "code"),
    [
        ("SELECT 1 AS x; ASSERT 1 = 2", (), 1),
        ("SELECT 1 AS x", ("--fail-on-rows",), 1),
        ("SELECT 1 AS x; SELEC 1", ("--on-error", "continue"), 2),
        ("SELECT 1 AS x; ASSERT 1 = 1", (), 0),
    ],
)
def test_an_output_file_is_written_only_if_all_goes_well(
    tmp_path: Path, text: str, words: tuple[str, ...], code: int
) -> None:
    ran = run("query", text, "-o", "out.csv", *words, cwd=tmp_path)
    assert (ran.code, ran.out) == (code, "")
    assert [path.name for path in tmp_path.iterdir()] == ([] if code else ["out.csv"])


def test_the_timeout_ends_a_query() -> None:
    ran = run("query", SLOW, "--timeout", "300ms")
    assert ran == Ran(124, "", "error: not done after 0.3 s (--timeout)\n")
    assert run("query", "SELECT 1 AS x", "--timeout", "10min") == Ran(0, "x\n-\n1\n", "")
    assert "expected a time such as 90s" in run("query", "SELECT 1", "--timeout", "5").err


def test_stats() -> None:
    ran = run("query", "SELECT 1 AS x; ASSERT 1 = 2; ASSERT 1 = 1; SELECT 1 AS x WHERE 1 = 2", "--stats", "json")
    stats = json.loads(ran.err.splitlines()[-1])
    assert stats.pop("seconds") > 0
    assert stats.pop("cpu_seconds") > 0
    assert stats == {
        "exit_code": 1, "statements": 4, "results": 2, "rows": 1, "assertions": {"passed": 1, "failed": 1}, "errors": 0,
        "versions": {"dctv": dctv.__version__, "duckdb": duckdb.__version__, "index": FORMAT_VERSION},
    }  # fmt: skip


def test_stats_come_last_when_a_query_is_wrong() -> None:
    stats = json.loads(run("query", "SELEC 1", "--stats", "json").err.splitlines()[-1])
    assert (stats["exit_code"], stats["errors"]) == (2, 1)


def test_github_shows_errors_beside_their_lines(tmp_path: Path) -> None:
    (tmp_path / "a,b.sql").write_text("SELECT 1 AS x;\n  ASSERT 1 = 2, '100%: no';\nSELECT 1 / 0 AS y")
    ran = run("query", "-f", tmp_path / "a,b.sql", "--github", GITHUB_WORKSPACE=str(tmp_path))
    commands = [line for line in ran.err.splitlines() if line.startswith("::")]
    assert commands == [
        "::error file=a%2Cb.sql,line=2,col=3,title=dctv::assertion failed: 100%25: no%0Afound 1, expected 2",
        "::warning title=dctv::division by zero gave NULL",
    ]
    assert "\n::error title=dctv::found `SELEC`" in run("query", "SELEC", "--github").err


def test_limit() -> None:
    text = "SELECT a FROM range(5) AS t(a); SELECT 1 AS b"
    ran = run("query", text, "--limit", "2", "--format", "csv")
    assert ran == Ran(0, "a\n0\n1\n\nb\n1\n", "only the first 2 rows, there are more (--limit)\n")
    assert run("query", "SELECT a FROM range(2) AS t(a)", "--limit", "2", "--format", "csv").err == ""


def test_limit_of_arrow(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    ran = run("query", "SELECT a FROM range(5000) AS t(a)", "--limit", "3", "-o", tmp_path / "x.parquet")
    assert (ran.code, pq.read_table(tmp_path / "x.parquet").column("a").to_pylist()) == (0, [0, 1, 2])


def test_quiet() -> None:
    words = ("query", "SELECT 1 / 0 AS x FROM range(3) AS t(a)", "--limit", "1")
    assert (
        run(*words).err
        == "warning: division by zero gave NULL (3 times)\nonly the first 1 row, there are more (--limit)\n"
    )
    assert run(*words, "--quiet") == Ran(0, "x\n----\nNULL\n", "")
    assert run("query", "SELEC", "--quiet").err != ""


@pytest.mark.parametrize(("words", "code"), [(("t=nowhere",), 3), (("--fail-if-empty",), 1)])
def test_junit_reports_a_failed_run(tmp_path: Path, words: tuple[str, ...], code: int) -> None:
    ran = run("query", "ASSERT 1 = 1", *words, "--junit", tmp_path / "out.xml", cwd=tmp_path)
    assert ran.code == code
    assert 'errors="1"' in (tmp_path / "out.xml").read_text()


@pytest.mark.parametrize(
    ("wanted", "written"),
    [("all", "a\n1\n\nb\n2\n\nc\n3\n"), ("last", "c\n3\n"), ("2", "b\n2\n")],
)
def test_which_results_are_written(wanted: str, written: str) -> None:
    texts = ("-c", "SELECT 1 AS a; SELECT 2 AS b", "-c", "SELECT 3 AS c; CREATE VIEW v AS SELECT 4 AS d")
    ran = run("query", *texts, "--format", "csv", "--result", wanted)
    assert (ran.code, ran.out, ran.err) == (0, written, "")


def test_a_result_that_is_not_wanted_is_not_computed(tmp_path: Path) -> None:
    slow = "SELECT COUNT(*) FROM range(100000000000) AS t(a) WHERE hash(a) % 7 = 3"
    ran = run("query", f"{slow}; SELECT 2 AS b", "--result", "last", "-o", str(tmp_path / "b.parquet"))
    assert (ran.code, ran.err) == (0, "")


def test_a_missing_result() -> None:
    ran = run("query", "SELECT 1", "--result", "2")
    assert (ran.code, ran.err) == (2, "error: found 1 result, expected one to write (--result 2)\n")
    ran = run("query", "CREATE VIEW v AS SELECT 1", "--result", "last")
    assert (ran.code, ran.err) == (2, "error: found no results, expected one to write (--result last)\n")


def test_sql_of_options_runs_after_the_word_and_before_files(tmp_path: Path) -> None:
    (tmp_path / "x.sql").write_text("SELECT * FROM v")
    ran = run("query", "-f", str(tmp_path / "x.sql"), "-c", "CREATE VIEW v AS SELECT 5 AS n", "--max-memory", "1GB")
    assert (ran.code, ran.out) == (0, "n\n-\n5\n")
