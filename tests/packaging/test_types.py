"""Type checkers accept correct programs that use dctv, and find the mistakes in others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import ROOT
from tests.packaging.typed_report import main

REPORT = Path(__file__).parent / "typed_report.py"
CHECKER = (sys.executable, "-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent", "--no-error-summary")
WRONG = """\
import dctv

with dctv.Session() as session:
    session.mount(5, "t")
    session.sqll("SELECT 1")
    result = session.sql("SELECT 1", {"x": 5})
    reveal_type(result)
    reveal_type(result.units)
    reveal_type(result.fetchall())
    reveal_type(session.timeline("t").tracks)
    reveal_type(result.plot().svg())
    for outcome in session.execute("SELECT 1"):
        if isinstance(outcome, dctv.Result):
            reveal_type(outcome.schema.names)
    try:
        pass
    except dctv.DctvError as error:
        reveal_type(error.hint)
"""
TOLD = [
    'error: Argument 1 to "mount" of "Session" has incompatible type "int";'
    ' expected "str | Path | Sequence[str | Path]"  [arg-type]',
    'error: "Session" has no attribute "sqll"; maybe "sql"?  [attr-defined]',
    'note: Revealed type is "dctv.run.result.Result"',
    'note: Revealed type is "dict[str, str]"',
    'note: Revealed type is "list[tuple[Any, ...]]"',
    'note: Revealed type is "tuple[dctv.timeline.track.Track, ...]"',
    'note: Revealed type is "str"',
    'note: Revealed type is "tuple[str, ...]"',
    'note: Revealed type is "str | None"',
]


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    folder = tmp_path_factory.mktemp("programs")
    (folder / "report.py").write_text(REPORT.read_text())
    (folder / "wrong.py").write_text(WRONG)
    ran = subprocess.run(
        [*CHECKER, "--cache-dir", folder / "cache", "report.py", "wrong.py"],
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stderr == ""
    lines = ran.stdout.splitlines()
    return {name: [line for line in lines if line.startswith(name)] for name in ("report.py", "wrong.py")}


def test_a_program_has_no_fault(checked: dict[str, list[str]]) -> None:
    assert checked["report.py"] == []


def test_type_checkers_find_mistakes_and_know_types(checked: dict[str, list[str]]) -> None:
    assert [line.partition(": ")[2] for line in checked["wrong.py"]] == TOLD


def test_the_program_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([str(ROOT / "tests/data/ftrace/live_marks.trace.txt.gz")]) == 0
    assert "VM Periodic Tas 148.13" in capsys.readouterr().out
    assert (tmp_path / "timeslices.svg").read_text().startswith("<svg")
