"""Run SQL texts, write their results one after another, and record the outcome of every assertion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dctv.cli.ci import ALL, LAST
from dctv.cli.junit import junit_xml
from dctv.cli.narrator import EVERYTHING, RunNarrator
from dctv.cli.run_stats import RunClock, stats_line
from dctv.cli.tally import CaseReport, RunTally
from dctv.cli.task import TaskResources, carry_out, narrator_of, note_warnings
from dctv.cli.texts import SqlText
from dctv.console.limited import Limited
from dctv.console.narration import print_stderr
from dctv.console.verdict import FAILED, OK, ExitVerdict, discard
from dctv.console.wall_times import TRACE, in_zone
from dctv.contracts.writer import ResultRows, Writer
from dctv.errors import DctvError, QueryError, TraceError, UsageError, render
from dctv.record import record
from dctv.run.result import Asserted, Done, Result
from dctv.syntax.statements import cut, in_place, is_empty
from dctv.whole_file import file_sink

if TYPE_CHECKING:
    from argparse import Namespace


@record
class Batch:
    """The statements to run, and how to write their results."""

    texts: list[SqlText]
    params: dict[str | int, object] | None
    writer: Writer
    limit: int | None = None
    """Maximum number of rows that are written per result."""
    wanted: int | str = ALL
    """The results to write: all, the last, or the one with a number, from 1."""
    goes_on: bool = False
    """Whether to continue after a failed statement."""
    narrator: RunNarrator = EVERYTHING
    time: str = TRACE
    """The form of times."""


def run_batch(
    args: Namespace,
    mounts: list[tuple[str, str]],
    batch: Batch,
    run: Callable[[Batch, TaskResources, RunTally], None] | None = None,
) -> int:
    """Run the texts, with `run` if given, and return the exit code."""
    tally, clock = RunTally(), RunClock()

    def work(desk: TaskResources) -> int:
        (run or _run_texts)(batch, desk, tally)
        return max(tally.code, _judged(args, tally, batch.narrator))

    with junit_report(args.junit, tally):
        with ExitVerdict(batch.narrator.error) as verdict:
            verdict.code = carry_out(args, mounts, work, args.output)
        tally.account("<run>", verdict.code)
        if args.stats is not None:
            print_stderr(stats_line(tally, clock, verdict.code))
    return verdict.code


def _run_texts(batch: Batch, desk: TaskResources, tally: RunTally) -> None:
    for text in batch.texts:
        run_text(text, batch, desk, tally)
    _conclude(batch, desk, tally)


def batch_of(args: Namespace, texts: list[SqlText], params: dict[str | int, object] | None, writer: Writer) -> Batch:
    """Return the batch for the arguments of `dctv query`."""
    goes_on = args.on_error == "continue"
    return Batch(texts, params, writer, args.limit, args.result, goes_on, narrator_of(args), args.time)


def run_text(text: SqlText, batch: Batch, desk: TaskResources, tally: RunTally) -> None:
    """Run the statements of a text; raise the first error unless the batch continues after errors."""
    if not batch.goes_on:
        _execute(text, text.sql, batch, desk, tally)
        return
    where = cut(text.sql)
    for start, stop in [*where.statements, (where.rest, len(text.sql))]:
        if is_empty(text.sql[start:stop].removesuffix(";")):
            continue
        try:
            _execute(text, in_place(text.sql, start, stop), batch, desk, tally)
        except (QueryError, TraceError) as error:
            desk.bar.clear()
            batch.narrator.error(error)
            tally.code = max(tally.code, error.exit_code)
            discard(error)


def _execute(text: SqlText, sql: str, batch: Batch, desk: TaskResources, tally: RunTally) -> None:
    try:
        for outcome in desk.session.execute(sql, batch.params, source_name=text.name, base=text.base):
            tally.statements += 1
            if isinstance(outcome, Result):
                _choose(outcome, batch, desk, tally)
            elif isinstance(outcome, Asserted):
                desk.bar.clear()
                _note(outcome, text.name, batch.narrator, tally)
            elif isinstance(outcome, Done):
                note_warnings(desk.session, desk.bar, batch.narrator)
            desk.check()
    except DctvError as error:
        tally.cases.append(CaseReport(text.name, "runs to its end", error=render(error)))
        raise


def _choose(result: Result, batch: Batch, desk: TaskResources, tally: RunTally) -> None:
    """Write a result if it is wanted; others are never computed."""
    tally.met += 1
    if batch.wanted == LAST:
        tally.held = result
    elif batch.wanted in (ALL, tally.met):
        _write(result, batch, desk, tally)


def _conclude(batch: Batch, desk: TaskResources, tally: RunTally) -> None:
    """Write the last result, if it is wanted; check that a result with the wanted number exists."""
    if tally.held is not None:
        _write(tally.held, batch, desk, tally)
    elif batch.wanted != ALL and not tally.results:
        raise missing(batch, tally.met)


def missing(batch: Batch, count: int) -> UsageError:
    """Return the error for a wanted result with a number above the count."""
    return UsageError(f"found {_results(count)}, expected one to write (--result {batch.wanted})")


def _results(count: int) -> str:
    return "1 result" if count == 1 else f"{count or 'no'} results"


def _write(result: Result, batch: Batch, desk: TaskResources, tally: RunTally) -> None:
    remark = written(in_zone(result, batch.time), batch, desk, tally)
    batch.narrator.warnings(result.warnings)
    if remark:
        batch.narrator.remark(remark)


def written(result: ResultRows, batch: Batch, desk: TaskResources, tally: RunTally) -> str | None:
    """Write and count a result; return the remark about it."""
    if tally.results and not batch.writer.many:
        raise UsageError(
            f"a file of format `{batch.writer.name}` holds one result, found a second one",
            hint="--result last writes the last one, another --format has room for all",
        )
    if tally.results:
        desk.sink.separate(batch.writer.between)
    limited = None if batch.limit is None else Limited(result, batch.limit)
    desk.bar.begin("running")
    count = batch.writer.write(limited or result, desk.sink.stream)
    tally.rows += count
    tally.empty += count == 0
    tally.results += 1
    desk.sink.stream.flush()
    desk.bar.clear()
    cut = limited is not None and limited.cut
    return f"only the first {_rows(count)}, there are more (--limit)" if cut else None


def _note(asserted: Asserted, source: str, narrator: RunNarrator, tally: RunTally) -> None:
    failure = None
    if not asserted.passed:
        error = asserted.failure()
        failure = render(error)
        narrator.error(error)
        tally.code = max(tally.code, FAILED)
    tally.cases.append(CaseReport(source, asserted.name, failure))


def _judged(args: Namespace, tally: RunTally, narrator: RunNarrator) -> int:
    """Return the exit code for the number of rows."""
    if args.fail_on_rows and tally.rows:
        narrator.error(DctvError(f"found {_rows(tally.rows)}, expected none (--fail-on-rows)"))
        return FAILED
    if args.fail_if_empty and (tally.empty or not tally.results):
        what = "a result without rows" if tally.results else "no result"
        narrator.error(DctvError(f"found {what}, expected rows (--fail-if-empty)"))
        return FAILED
    return OK


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


@contextmanager
def junit_report(path: Path | None, tally: RunTally) -> Iterator[None]:
    """Write the report at the end, even after an error."""
    try:
        yield
    finally:
        if path is not None:
            with file_sink(path) as sink:
                sink.stream.write(junit_xml(tally.cases))
