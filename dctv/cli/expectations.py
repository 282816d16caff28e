"""Run SQL files as tests that compare the output with files of expected results."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

from dctv.cli.batch import Batch, junit_report, run_text
from dctv.cli.tally import CaseReport, RunTally
from dctv.cli.task import TaskResources, carry_out, narrator_of
from dctv.cli.texts import SqlText, read_text
from dctv.console.verdict import BROKEN_PIPE, FAILED, INTERRUPTED, OK, ExitVerdict
from dctv.errors import AssertionFailed, Place, SourceText, Terminated, UsageError, render
from dctv.record import record, replace
from dctv.visible import visible
from dctv.whole_file import Sink, cannot_write
from dctv.writers.table import TABLE

if TYPE_CHECKING:
    from argparse import Namespace

SUFFIX = ".expected"
_ENDINGS = (INTERRUPTED, Terminated.exit_code, BROKEN_PIPE)
"""Codes after which no further test is run."""


@record
class ExpectationOutcome:
    """The outcome of one test."""

    word: str
    code: int


class _Printed(io.BytesIO):
    """Captured output, with separators that are only written before further output."""

    _next = b""

    def separate(self, separator: bytes) -> None:
        """Write these bytes before the next output."""
        self._next = separator

    def write(self, data: object, /) -> int:
        """Append bytes."""
        assert isinstance(data, bytes | bytearray | memoryview)
        before, self._next = self._next, b""
        super().write(before)
        return super().write(data)


def find_tests(words: Sequence[str]) -> list[Path]:
    """Return the distinct SQL files among the arguments, and below the folders among them."""
    found: dict[Path, None] = {}
    for word in words:
        path = Path(word)
        if path.is_dir():
            found |= dict.fromkeys(sorted(path.rglob("*.sql")))
        elif path.exists():
            found[path] = None
        else:
            raise UsageError(f"found neither a file nor a folder `{word}`")
    if not found:
        raise UsageError(f"found no .sql file in {', '.join(f'`{w}`' for w in words) or 'no folder'}")
    return list(found)


def run_tests(
    args: Namespace, paths: Sequence[Path], mounts: list[tuple[str, str]], params: dict[str | int, object] | None
) -> int:
    """Run all tests, each in a new session; report their outcomes and return the worst exit code."""
    narrator = narrator_of(args)
    tally = RunTally()
    outcomes: list[ExpectationOutcome] = []
    with junit_report(args.junit, tally):
        for path in paths:
            batch = Batch([read_text(str(path))], params, TABLE, narrator=narrator)
            outcomes.append(_run(args, mounts, batch, path.with_suffix(SUFFIX), tally))
            sys.stdout.write(f"{outcomes[-1].word:<8}{visible(str(path))}\n")
            sys.stdout.flush()
            if outcomes[-1].code in _ENDINGS:
                return outcomes[-1].code
    failed = sum(outcome.code != OK for outcome in outcomes)
    narrator.remark(f"{len(outcomes) - failed} passed, {failed} failed")
    return max(outcome.code for outcome in outcomes)


def _run(
    args: Namespace, mounts: list[tuple[str, str]], batch: Batch, expected: Path, tally: RunTally
) -> ExpectationOutcome:
    printed, own = _Printed(), RunTally()

    def work(desk: TaskResources) -> int:
        sink = Sink(printed, lambda: None, printed.separate)
        run_text(batch.texts[0], batch, replace(desk, sink=sink), own)
        return own.code

    with ExitVerdict(batch.narrator.error) as verdict:
        verdict.code = carry_out(args, mounts, work)
    own.account(batch.texts[0].name, verdict.code)
    tally.cases.extend(own.cases)
    if verdict.code != OK:
        return ExpectationOutcome("FAILED", verdict.code)
    text = printed.getvalue().decode()
    if args.update and text != _read(expected) and (text or expected.exists()):
        _write(expected, text)
        return ExpectationOutcome("updated", OK)
    return _compared(batch, expected, text, checked=bool(own.cases), tally=tally)


def _compared(batch: Batch, expected: Path, text: str, *, checked: bool, tally: RunTally) -> ExpectationOutcome:
    """Compare the output with the expected one."""
    if not expected.exists() and checked:
        return ExpectationOutcome("ok", OK)
    failure = _difference(batch.texts[0], expected, text)
    tally.cases.append(CaseReport(batch.texts[0].name, "output", None if failure is None else render(failure)))
    if failure is None:
        return ExpectationOutcome("ok", OK)
    batch.narrator.error(failure)
    return ExpectationOutcome("FAILED", FAILED)


def _difference(test: SqlText, expected: Path, text: str) -> AssertionFailed | None:
    place = Place(SourceText(test.name, test.sql), 0, 0)
    if not expected.exists():
        failure = AssertionFailed(f"nothing is checked: there is no `{expected.name}` and no ASSERT or EXPECT", place)
        failure.hint = "--update writes what is printed now"
        return failure
    expected_text = _read(expected)
    if expected_text == text:
        return None
    lines = unified_diff(expected_text.splitlines(), text.splitlines(), "expected", "found", lineterm="", n=2)
    failure = AssertionFailed(f"the output is not that of `{expected.name}`", place, found="\n".join(lines))
    failure.hint = "--update accepts it"
    return failure


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode() if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read `{path}`: {error}") from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise cannot_write(f"`{path}`", error) from error
