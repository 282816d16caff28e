"""Words of filters without matches give a warning, on the command line and in SQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from dctv.session import Session
from tests.calls.programs import ABC5
from tests.calls.recordings import printed, replayed

MISSING = {
    "-F mian": "no call is of a function `mian`, did you mean `main`?",
    "-F a -N ^q": "no call is of a function `^q`",
    "-F main@other": "no call is of a function `main` of `other`",
    "-L x.c": "no call is of a source file `x.c`",
    "-T getpit@depth=1 -H a": "no call is of a function `getpit`, did you mean `getpid`?",
}


@pytest.mark.parametrize("words", MISSING)
@pytest.mark.parametrize("command", ["replay", "report"])
def test_a_command_warns(command: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed(ABC5.write(tmp_path / "prog"), command, *words.split())
    assert capsys.readouterr().err == f"warning: {MISSING[words]}\n"


def test_matching_names_give_no_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Though nothing is shown."""
    assert replayed(ABC5.write(tmp_path / "prog"), "-F", "getpid@sample=9", "--no-libcall") == ""
    assert capsys.readouterr().err == ""


def test_sql_warns(tmp_path: Path) -> None:
    with Session() as session:
        session.mount(str(ABC5.write(tmp_path / "prog")), "t")
        result = session.sql("SELECT * FROM dctv.filter_calls(t.calls, filters=>['mian', 'b'], hide=>['z'])")
        result.fetchall()
        warning = "no call is of a function `mian`, did you mean `main`?; no call is of a function `z`"
        assert result.warnings == [(warning, 1)]
