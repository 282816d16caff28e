"""Files and folders that cannot be read or named: every command says which, and why."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.command_line import ROOT, run

DATA = ROOT / "tests" / "data"
COUNT = "SELECT COUNT(*) FROM t.events"
LONG = "a" * 300
COMMANDS = [
    ("query", "t={}", COUNT),
    ("query", "t=@{}", COUNT),
    ("compare", "A={}", f"B={DATA / 'stdlib' / 'calls.pfw'}"),
    *((command, "{}") for command in ("dump", "graph", "index", "info", "replay", "report", "stats", "view")),
]


def words_of(command: tuple[str, ...], path: Path | str) -> list[str]:
    return [word.replace("{}", str(path)) for word in command]


@pytest.fixture
def guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody look at files named `secret`, nor list folders of that name; root may do so in spite of modes."""
    stat, listed = Path.stat, os.scandir

    def looked_at(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        if path.name.startswith("secret."):
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, follow_symlinks=follow_symlinks)

    def scanned(path: str | Path | int = ".") -> object:
        if not isinstance(path, int) and Path(path).name == "secret":
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(Path, "stat", looked_at)
    monkeypatch.setattr(os, "scandir", scanned)


@pytest.mark.usefixtures("guarded")
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_file_that_cannot_be_looked_at(command: tuple[str, ...], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(DATA / "uftrace" / "switches", folder)
    (folder / "secret.dat").write_bytes(b"")
    ran = run(*words_of(command, folder), cwd=tmp_path)
    assert ran.code == 3
    assert f"`{folder / 'secret.dat'}`: permission denied\n" in ran.err


@pytest.mark.usefixtures("guarded")
def test_a_folder_within_a_folder_that_cannot_be_listed(tmp_path: Path) -> None:
    """Its traces would be missing without a word."""
    folder = tmp_path / "runs"
    (folder / "secret").mkdir(parents=True)
    shutil.copy(DATA / "stdlib" / "calls.pfw", folder)
    ran = run("query", f"t={folder}", COUNT)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == (
        f"error: cannot read `{folder / 'secret'}`: permission denied\n"
        f"hint: a pattern, such as `{folder}/*.*`, leaves out what it does not match\n"
    )
    assert run("query", f"t={folder}/*.*", COUNT).code == 0
    ran = run("query", f"t={folder}/secret/*.pfw", COUNT)
    assert (ran.code, ran.err) == (3, f"error: cannot read `{folder / 'secret'}`: permission denied\n")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_names_that_are_too_long(command: tuple[str, ...], tmp_path: Path) -> None:
    ran = run(*words_of(command, LONG), cwd=tmp_path)
    assert (ran.code, ran.err) == (3, f"error: cannot read `{LONG[:100]}`: file name too long\n")


def test_indexes_below_a_file() -> None:
    """What is known of a fleet's traces is then not kept."""
    trace = DATA / "stdlib" / "calls.pfw"
    ran = run("query", f"t=@{trace}", COUNT, "--index-dir", trace)
    assert ran.code == 0
    assert ran.out == "COUNT()\n-------\n9\n"


@pytest.mark.parametrize(
    "words",
    [
        ("query", "COPY (SELECT 1 AS x) TO '~nobody.here/x.csv'", "--allow-files"),
        ("query", "SELECT * FROM '~nobody.here/x.csv'", "--allow-files"),
        ("query", "MOUNT TRACES '*' AS r WITH (manifest => '~nobody.here/x.csv')"),
        ("query", "SELECT 1", "--temp-directory=~nobody.here/x.csv"),
        ("index", "x.pfw", "--index-dir=~nobody.here/x.csv"),
        ("cache", "list", "--index-dir=~nobody.here/x.csv"),
    ],
    ids=" ".join,
)
def test_homes_of_nobody(words: tuple[str, ...], tmp_path: Path) -> None:
    shutil.copy(DATA / "stdlib" / "calls.pfw", tmp_path / "x.pfw")
    ran = run(*words, cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "error: found `~nobody.here/x.csv`, and there is no such user\nhint: `./~` names a file\n"


def test_folders_in_a_home(tmp_path: Path) -> None:
    """Shells leave `~` alone after `=`."""
    shutil.copy(DATA / "stdlib" / "calls.pfw", tmp_path / "x.pfw")
    home = {"HOME": str(tmp_path / "home")}
    assert run("index", "x.pfw", "--index-dir=~/indexes", cwd=tmp_path, **home).code == 0
    assert run("cache", "size", "--index-dir=~/indexes", cwd=tmp_path, **home).out.startswith("1 index, ")
    ran = run("query", "SELECT 1 AS x", "--temp-directory=~/spilled", cwd=tmp_path, **home)
    assert (ran.code, ran.out) == (0, "x\n-\n1\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "x.pfw"]
    assert sorted(path.name for path in (tmp_path / "home").iterdir()) == ["indexes", "spilled"]
