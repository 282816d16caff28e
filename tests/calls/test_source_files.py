"""`-L` names source files and their folders, as in uftrace."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line import run
from tests.readers.uftrace.uftrace_directory import EXE, SYMBOLS, Directory, calls

FILES = {"main": "/src/app/main.c", "a": "/src/lib/near.c", "b": "/src/lib/Makefile", "c": "/src/library/far.c"}
CALLS = calls((100, "main"), (110, "a"), (120, None), (130, "b"), (140, None), (150, "c"), (160, None), (170, None))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lines = [f"F: {SYMBOLS[name]:x} {name}\nL: 1 {file}\n" for name, file in FILES.items()]
    debug = f"# path name: {EXE}\n" + "".join(lines)
    directory = Directory({1: CALLS}, files={"prog.dbg": debug}, features=["debug-info"])
    return directory.write(tmp_path_factory.mktemp("files") / "d")


def shown(folder: Path, *options: str) -> list[str]:
    done = run("replay", folder, "--no-index", "-f", "none", "--no-comment", *options)
    assert done.code == 0
    return [line.strip(" (){;") for line in done.out.splitlines() if line.strip() != "}"]


@pytest.mark.parametrize("match", ["regex", "glob", "simple"])
@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("lib", ["a", "b"]),
        ("/lib", ["a", "b"]),
        ("lib/", ["a", "b"]),
        ("src/lib", ["a", "b"]),
        ("/src", ["main", "a", "b", "c"]),
        ("Makefile", ["b"]),
        ("lib/Makefile", ["b"]),
        ("/src/lib/near.c", ["a"]),
        ("!lib", ["main", "c"]),
        ("lib@hide", ["main", "c"]),
        ("src;!library", ["main", "a", "b"]),
    ],
)
def test_whole_names_in_a_path(folder: Path, file: str, names: list[str], match: str) -> None:
    assert shown(folder, "-L", file, "--match", match) == names


@pytest.mark.parametrize(
    ("file", "match", "names"),
    [("ar.c", "regex", ["a", "c"]), ("*.c", "glob", ["main", "a", "c"]), ("*/lib/*", "glob", ["a", "b"])],
)
def test_patterns(folder: Path, file: str, match: str, names: list[str]) -> None:
    assert shown(folder, "-L", file, "--match", match) == names


@pytest.mark.parametrize("file", ["li", "brary", "rc", "Make"])
def test_parts_of_names_match_nothing(folder: Path, file: str) -> None:
    done = run("replay", folder, "--no-index", "-f", "none", "-L", file)
    assert done.out == ""
    assert f"no call is of a source file `{file}`" in done.err
