"""Collect `.test` files: queries with their exact output, run in one session per file in every way that there is.

A file holds remarks and blocks, apart by blank lines:

    # a remark
    mount NAME PATH              the path starts from the root of the repository

    query                        or `error`, if the last statement is to fail; `query asks` where binding may ask
                                 the engine for types, which it does not for what people write every day
    SQL, on one or more lines
    ----
    the exact output: tables, then `warning:` lines, or the error with its place

`pytest --accept` writes what came out into the files; a query that fails, or an error that does not, stays a failure.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from difflib import unified_diff
from pathlib import Path

import pytest
from _pytest._code.code import TerminalRepr, TracebackStyle

from dctv.console.narration import warning_line
from dctv.errors import DctvError, SourceText, render
from dctv.run.result import Asserted, Done, Result
from dctv.session import Session
from dctv.syntax import commands
from dctv.syntax.parse import parse
from dctv.syntax.print import to_sql
from dctv.visible import harmless
from dctv.writers.table import write
from tests import ways as tests_ways
from tests.bounds import LEFT_TO_CI
from tests.engine_types import compared, counted

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(
    r"""^mount[ ](?P<name>\S+)[ ](?P<path>[^\n]+)$
      | ^(?P<head>(?P<kind>query|error)(?P<asks>[ ]asks)?\n(?P<sql>.*?)\n----)$
        .*?(?=\n[ \t]*\n(?:query(?:[ ]asks)?\n|error\n|mount[ ]|\#)|\s*\Z)""",
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)

ASKED = ("reservoir_quantile",)
"""What stands in the queries whose types only the engine knows."""


class WrongOutputError(Exception):
    """A file does not say what came out, or cannot be understood; its text is the report."""


def rewritten(text: str, *, ways: bool = False) -> str:
    """Run the blocks of a file and return the file as it should be; `ways` runs them in all ways."""
    for line in BLOCK.sub("", text).splitlines():
        if line.strip() and not line.startswith("#"):
            raise WrongOutputError(f"found {line!r}, expected a query, error or mount block or a remark")
    # What an earlier run kept, perhaps of other code, must answer nothing.
    session = Session(index=False)

    def run(block: re.Match[str]) -> str:
        if block["name"] is not None:
            session.mount(str(ROOT / block["path"]), block["name"])
            return block.group()
        with counted() as asked:
            found = _output(session, block["kind"], block["sql"], ways=ways)
        has_rows = block["kind"] == "query" and block["asks"] is None
        if asked and has_rows and not any(form in block["sql"] for form in ASKED):
            raise WrongOutputError(f"binding this asked the engine:\n{block['sql']}\n\n{asked[0]}")
        return f"{block['head']}\n{found}".rstrip("\n")

    try:
        return BLOCK.sub(run, text)
    finally:
        session.close()


def _output(session: Session, kind: str, sql: str, *, ways: bool) -> str:
    out = io.BytesIO()
    statements: Iterator[commands.Statement] = iter(())
    with suppress(DctvError):
        statements = iter(parse(SourceText("<query>", sql)))
    outcomes = session.execute(sql)
    statement: commands.Statement | None = None
    try:
        while True:
            statement = next(statements, None)
            outcome = next(outcomes, None)
            if outcome is None:
                break
            found = tests_ways.of(outcome) if ways else []
            _show(outcome, out)
            if ways:
                _agree(session, statement, found)
    except DctvError as error:
        text = harmless(render(error))
        if kind == "query":
            raise WrongOutputError(f"this query failed:\n{sql}\n\n{text}") from error
        if ways:
            _agree(session, statement, error.message)
        return out.getvalue().decode() + text
    if kind == "error":
        raise WrongOutputError(f"this did not fail:\n{sql}\n\n{out.getvalue().decode()}")
    return out.getvalue().decode()


def _agree(session: Session, statement: commands.Statement | None, expected: tests_ways.Outcome) -> None:
    if statement is None:
        return
    for difference in tests_ways.differing(session, statement, expected):
        raise WrongOutputError(f"{to_sql(statement)}\n\n{difference}")


def _show(outcome: Result | Done | Asserted, out: io.BytesIO) -> None:
    match outcome:
        case Result():
            write(outcome, out)
            out.writelines(f"{harmless(warning_line(*warning))}\n".encode() for warning in outcome.warnings)
        case Asserted(passed=False):
            out.write(f"{harmless(render(outcome.failure()))}\n".encode())


class SqlItem(pytest.Item):
    def runtest(self) -> None:
        text = self.path.read_text(encoding="utf-8")
        try:
            # Asking the engine for the types of every query, to compare them, is left to CI.
            with nullcontext() if LEFT_TO_CI else compared():
                found = rewritten(text, ways=True)
        except DctvError as error:
            raise WrongOutputError(render(error)) from error
        if found == text:
            return
        if self.config.getoption("--accept"):
            self.path.write_text(found, encoding="utf-8")
            return
        lines = unified_diff(text.splitlines(), found.splitlines(), f"{self.path.name}: expected", "found", lineterm="")
        raise WrongOutputError("\n".join(lines))

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: TracebackStyle | None = None
    ) -> str | TerminalRepr:
        if isinstance(excinfo.value, WrongOutputError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.path.stem


class SqlFile(pytest.File):
    def collect(self) -> Iterator[SqlItem]:
        yield SqlItem.from_parent(self, name=self.path.stem)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="write what came out into the .test files")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SqlFile | None:
    return SqlFile.from_parent(parent, path=file_path) if file_path.suffix == ".test" else None
