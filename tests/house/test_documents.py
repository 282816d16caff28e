"""Documents hold true: transcripts print what they say, SQL runs, links lead somewhere, examples pass."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from unittest.mock import patch
from zlib import crc32

import pytest

from dctv.errors import SourceText
from dctv.run.result import Asserted, Result
from dctv.session import Session
from dctv.syntax import ast
from dctv.syntax.parse import parse
from dctv.syntax.print import to_sql
from tests.command_line import run, shown
from tests.house.tree import ROOT, files, short
from tests.ways import Outcome, differing, of

KERNEL = "tests/data/ftrace/live_marks.trace.txt.gz"
LOADER = "tests/data/dftracer/loader"
GOLDENS = ROOT / "tests" / "house" / "documents"
PAGES = [p for p in files(".md") if not p.is_relative_to(ROOT / "changes")]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHELL = re.compile(r"[|&;<>$*?`~{}()\\]")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def blocks(language: str) -> list[tuple[Path, list[str]]]:
    """Return the pages with blocks of a language, and their blocks."""
    found = [(p, [b for kind, b in BLOCK.findall(p.read_text(encoding="utf-8")) if kind == language]) for p in PAGES]
    return [(page, texts) for page, texts in found if texts]


def name_of(value: object) -> str:
    return short(value) if isinstance(value, Path) else ""


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which `dctv` is this one."""
    command = tmp_path / "bin" / "dctv"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m dctv "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "OUT": str(tmp_path), "HOME": str(tmp_path)}


@pytest.mark.parametrize(("page", "texts"), blocks("console"), ids=name_of)
def test_transcripts_are_true(page: Path, texts: list[str], home: dict[str, str], pytestconfig: pytest.Config) -> None:
    """`pytest --accept` writes what came out into the page."""
    found = [replayed(text, home) for text in texts]
    if pytestconfig.getoption("--accept"):
        whole = page.read_text(encoding="utf-8")
        for text, now in zip(texts, found, strict=True):
            whole = whole.replace(f"```console\n{text}```", f"```console\n{now}```")
        page.write_text(whole, encoding="utf-8")
    else:
        assert found == texts


def replayed(text: str, environment: dict[str, str]) -> str:
    """Run the lines that start with `$` (`>` continues one), and return the transcript as it should be."""
    code = 0
    lines: list[str] = []
    for command in re.findall(r"^\$ .*\n(?:> .*\n)*", text, re.MULTILINE):
        lines.append(command)
        words = re.sub(r"^[$>] ", "", command, flags=re.MULTILINE)
        if words == "echo $?\n":
            lines.append(f"{code}\n")
            continue
        code, printed = executed(words, environment)
        lines.append(re.sub(r" +$", "", printed, flags=re.MULTILINE))
    return "".join(lines)


def executed(command: str, environment: dict[str, str]) -> tuple[int, str]:
    """Run a command; what only calls `dctv` needs no shell, and no process."""
    for name in ("OUT", "HOME"):
        command = command.replace(f"${name}", environment[name])
    if command.startswith("dctv ") and not SHELL.search(re.sub(r"'[^']*'|\"[^\"$`\\]*\"", "", command)):
        ran = shown(*shlex.split(command)[1:], cwd=ROOT, HOME=environment["HOME"], OUT=environment["OUT"])
        return ran.code, ran.out
    done = subprocess.run(
        ["bash", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        cwd=ROOT,
        env=environment,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize(("page", "texts"), blocks("sql"), ids=name_of)
def test_sql_results_match_the_documents(page: Path, texts: list[str], pytestconfig: pytest.Config) -> None:
    """The blocks of a page run in one session, in order, with a kernel trace as `t` and an I/O trace as `io`.

    In whatever way they are carried out, the same comes out. `pytest --accept` writes what comes out of selects.
    """
    golden = GOLDENS / f"{page.stem}.txt"
    found = []
    with Session() as session:
        session.mount(str(ROOT / KERNEL), "t")
        session.mount(str(ROOT / LOADER), "io")
        for text in texts:
            statements = parse(SourceText(short(page), text))
            outcomes = session.execute(text, source_name=short(page), base=ROOT)
            for statement, outcome in zip(statements, outcomes, strict=True):
                came = of(outcome)
                assert not list(differing(session, statement, came))
                if isinstance(statement, ast.SelectStatement) and isinstance(outcome, Result):
                    found.append(f"{to_sql(statement)}\n{summary(outcome.schema.names, came)}")
                elif isinstance(outcome, Asserted):
                    assert outcome.passed, outcome.text
                else:
                    assert came or not isinstance(outcome, Result)
    text = "\n".join(found)
    if pytestconfig.getoption("--accept"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_each_golden_is_of_one_page() -> None:
    assert sorted(golden.stem for golden in GOLDENS.iterdir()) == sorted(page.stem for page, _ in blocks("sql"))


def summary(names: Sequence[str], came: Outcome) -> str:
    """Return the names of columns, the first rows, and what tells all rows from others: their number and checksum."""
    rows = list(came)
    checksum = crc32("\n".join(rows).encode())
    shown = [", ".join(names), *rows[:5], *(["..."] if len(rows) > 5 else [])]
    return "".join(f"  {line}\n" for line in [*shown, f"{len(rows)} in all, {checksum:08x}"])


@pytest.mark.parametrize(("page", "texts"), blocks("python"), ids=name_of)
def test_python_runs(page: Path, texts: list[str], home: dict[str, str]) -> None:
    """The blocks of a page run from the top folder, each by itself; those of the first page in processes."""
    for number, text in enumerate(texts):
        if page == ROOT / "README.md":
            done = subprocess.run([sys.executable, "-W", "error", "-c", text], cwd=ROOT, env=home, check=False)
            assert done.returncode == 0
        else:
            with chdir(ROOT), patch.dict(os.environ, HOME=home["HOME"], OUT=home["OUT"]):
                exec(compile(text, f"{short(page)}, block {number}", "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("example", [*files(".sql", under="examples")], ids=short)
def test_examples_run(example: Path, home: dict[str, str]) -> None:
    ran = run("query", "-f", example, cwd=ROOT, HOME=home["HOME"])
    assert (ran.code, ran.err) == (0, "")
    assert ran.out or "SELECT" not in re.sub(r"\(SELECT", "", example.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=short)
def test_links_lead_somewhere(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_page_is_reached_from_the_readme() -> None:
    start = ROOT / "README.md"
    reached, waiting = {start}, [start]
    while waiting:
        page = waiting.pop()
        for link in LINK.findall(page.read_text(encoding="utf-8")):
            target = (page.parent / link).resolve()
            if target in PAGES and target not in reached:
                reached.add(target)
                waiting.append(target)
    assert [short(page) for page in PAGES if page.is_relative_to(ROOT / "docs") and page not in reached] == []


def test_every_dependency_is_explained() -> None:
    explained = (ROOT / "docs" / "explanation" / "dependencies.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    crate = tomllib.loads((ROOT / "kernels" / "Cargo.toml").read_text(encoding="utf-8"))
    optional = [line for lines in project["project"]["optional-dependencies"].values() for line in lines]
    lines = [
        *project["project"]["dependencies"],
        *optional,
        *(line for lines in project["dependency-groups"].values() for line in lines),
        *project["build-system"]["requires"],
        *crate["dependencies"],
    ]
    names = [re.split(r"[<>=]", line)[0] for line in lines]
    assert [name for name in names if f"`{name}`" not in explained] == []
