"""Turns texts of SQL into results written one after the other, and what became of every assertion."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dctv.cli.errand import Desk, carry_out, note_warnings
from dctv.cli.junit import Case, junit_xml
from dctv.cli.texts import Text
from dctv.console.narration import say, warn
from dctv.console.sink import file_sink
from dctv.console.verdict import FAILED, OK
from dctv.contracts.writer import Writer
from dctv.errors import DctvError, UsageError, render
from dctv.record import field, record
from dctv.run.result import Asserted, Done, Result

if TYPE_CHECKING:
    from argparse import Namespace


@record
class Batch:
    """What to run and how to write it."""

    texts: list[Text]
    params: dict[str | int, object] | None
    writer: Writer


@record(frozen=False)
class Tally:
    """What running the texts came to."""

    results: int = 0
    rows: int = 0
    cases: list[Case] = field(default_factory=list)

    @property
    def failures(self) -> int:
        """How many assertions failed."""
        return sum(case.failure is not None for case in self.cases)


def run_batch(args: Namespace, mounts: list[tuple[str, str]], batch: Batch) -> int:
    """Run the texts and return the exit code."""
    tally = Tally()

    def work(desk: Desk) -> int:
        for text in batch.texts:
            _execute(text, batch, desk, tally)
        if args.fail_on_rows and tally.rows:
            say(f"error: found {tally.rows} {'row' if tally.rows == 1 else 'rows'}, expected none (--fail-on-rows)")
            return FAILED
        return FAILED if tally.failures else OK

    with _junit(args.junit, tally):
        return carry_out(args, mounts, work, args.output)


def _execute(text: Text, batch: Batch, desk: Desk, tally: Tally) -> None:
    try:
        for outcome in desk.session.execute(text.sql, batch.params, source_name=text.name, base=text.base):
            if isinstance(outcome, Result):
                _write(outcome, batch.writer, desk, tally)
            elif isinstance(outcome, Asserted):
                desk.bar.clear()
                _note(outcome, text.name, tally)
            elif isinstance(outcome, Done):
                note_warnings(desk.session, desk.bar)
            desk.check()
    except DctvError as error:
        tally.cases.append(Case(text.name, "runs to its end", error=render(error)))
        raise


def _write(result: Result, writer: Writer, desk: Desk, tally: Tally) -> None:
    if tally.results and not writer.many:
        raise UsageError(
            f"a file of format `{writer.name}` holds one result, found a second one",
            hint="write one SELECT, or choose another --format",
        )
    if tally.results:
        desk.sink.separate(writer.between)
    tally.rows += writer.write(result, desk.sink.stream)
    tally.results += 1
    desk.sink.stream.flush()
    desk.bar.clear()
    warn(result.warnings)


def _note(asserted: Asserted, source: str, tally: Tally) -> None:
    failure = None
    if not asserted.passed:
        failure = render(asserted.failure())
        say(failure)
    tally.cases.append(Case(source, asserted.message or asserted.text, failure))


@contextmanager
def _junit(path: Path | None, tally: Tally) -> Iterator[None]:
    """Write the report whether the texts ran to their end or not."""
    try:
        yield
    finally:
        if path is not None:
            with file_sink(path) as sink:
                sink.stream.write(junit_xml(tally.cases))
