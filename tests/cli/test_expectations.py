"""`dctv test`: SQL files against what they are to print."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from tests.command_line import ROOT, Ran, run

TRACE = ROOT / "tests/data/ftrace/live_marks.trace.txt.gz"


def test_update_writes_expectations_that_pass(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.sql").write_text("SELECT 1 AS x;\nSELECT 'é' AS y")
    assert run("test", ".", "--update", cwd=tmp_path) == Ran(0, "updated sub/a.sql\n", "1 passed, 0 failed\n")
    assert (tmp_path / "sub" / "a.expected").read_text() == "x\n-\n1\n\ny\n-\né\n"
    assert run("test", "sub/a.sql", "--quiet", cwd=tmp_path) == Ran(0, "ok      sub/a.sql\n", "")
    assert run("test", ".", "--update", cwd=tmp_path).out == "ok      sub/a.sql\n"


def test_another_output_fails_and_is_shown(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("-- a report\nSELECT 2 AS x")
    (tmp_path / "a.expected").write_text("x\n-\n1\n")
    ran = run("test", "a.sql", "--junit", "out.xml", "--github", cwd=tmp_path, GITHUB_WORKSPACE=str(tmp_path))
    assert (ran.code, ran.out) == (1, "FAILED  a.sql\n")
    assert ran.err == (
        "a.sql:1:1: the output is not that of `a.expected`\n  -- a report\n  ^\n"
        "--- expected\n+++ found\n@@ -1,3 +1,3 @@\n x\n -\n-1\n+2\nhint: --update accepts it\n"
        "::error file=a.sql,line=1,col=1,title=dctv::the output is not that of `a.expected`%0A"
        "--- expected%0A+++ found%0A@@ -1,3 +1,3 @@%0A x%0A -%0A-1%0A+2%0Ahint: --update accepts it\n"
        "0 passed, 1 failed\n"
    )
    assert ET.parse(tmp_path / "out.xml").getroot().attrib == {"tests": "1", "failures": "1", "errors": "0"}


def test_assertions_need_no_expected_file(tmp_path: Path) -> None:
    (tmp_path / "good.sql").write_text("SELECT 1 AS x; ASSERT 1 = 1")
    (tmp_path / "bad.sql").write_text("ASSERT 1 = 2")
    (tmp_path / "none.sql").write_text("SELECT 1 AS x")
    ran = run("test", tmp_path.name, cwd=tmp_path.parent)
    assert ran.code == 1
    assert [line.split()[0] for line in ran.out.splitlines()] == ["FAILED", "ok", "FAILED"]
    assert "nothing is checked: there is no `none.expected` and no ASSERT" in ran.err


def test_wrong_sql_is_the_worst_and_is_never_accepted(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("SELECT 1 AS x; SELEC")
    (tmp_path / "b.sql").write_text("SELECT 1 AS x")
    ran = run("test", ".", "--update", cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "FAILED  a.sql\nupdated b.sql\n")
    assert not (tmp_path / "a.expected").exists()


def test_each_file_has_a_session_with_the_mounts_and_parameters(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.sql").write_text("CREATE VIEW v AS SELECT 1 AS x; ASSERT (SELECT :n FROM t.last_ts) = 5")
    assert run("test", tmp_path, f"t={TRACE}", "--param", "n=5", "--no-index").code == 0


def test_nothing_to_test(tmp_path: Path) -> None:
    assert run("test", "x.sql", cwd=tmp_path) == Ran(2, "", "error: found neither a file nor a folder `x.sql`\n")
    assert run("test", ".", cwd=tmp_path) == Ran(2, "", "error: found no .sql file in `.`\n")
