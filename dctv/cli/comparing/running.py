"""Run `dctv compare`: run the queries for all traces, compare the results, and write and judge the comparisons."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Sequence
from math import inf
from pathlib import Path

from dctv.cli.comparing.request import Request
from dctv.cli.fleet.jobs import TraceJob
from dctv.cli.fleet.work import fleet_work, jobs_for, outcome_of, report_errors, run_jobs
from dctv.cli.formats import FOR_PEOPLE
from dctv.cli.narrator import RunNarrator
from dctv.cli.tally import RunTally
from dctv.cli.task import TaskResources, carry_out, narrator_of
from dctv.comparison.bundled import TRACE
from dctv.comparison.comparison import NO_TESTS, Comparison
from dctv.comparison.differences import Difference
from dctv.comparison.judging import Limit, Verdict, judge
from dctv.comparison.sides import Side, TraceRun
from dctv.comparison.table import ResultTable
from dctv.console.verdict import FAILED, OK
from dctv.contracts.writer import Writer
from dctv.errors import DctvError, TraceError, UsageError
from dctv.record import record
from dctv.types.amounts import amount
from dctv.types.schema import ColumnType
from dctv.types.unit import NO_UNIT
from dctv.types.units import parse_unit

_EMPTY_VIEW = re.compile(r"`[^`]*` is empty: ")
"""Warnings about empty views, which do not matter unless the user named the query."""
_LISTED = 5
"""The maximum number of changes in an error."""


@record
class _Results:
    """The results of one trace's job."""

    trace: str
    folder: Path
    columns: list[list[tuple[str, str, str]]]
    """Names, types and units, by result."""

    def run(self, number: int) -> TraceRun:
        """Read one of the results."""
        import pyarrow as pa

        with pa.OSFile(str(self.folder / f"{number}.arrows")) as file, pa.ipc.open_stream(file) as stream:
            table = stream.read_all()
        columns = [
            ColumnType(name, kind, parse_unit(unit) if unit else NO_UNIT) for name, kind, unit in self.columns[number]
        ]
        return TraceRun(self.trace, tuple(columns), table)


def run_compare(args: Namespace, request: Request) -> int:
    """Run the texts for each trace, compare, write, judge; return the exit code."""
    narrator, tally = narrator_of(args), RunTally()
    verdicts: list[Verdict] = []

    def work(desk: TaskResources) -> int:
        fleet = fleet_work(args, TRACE, request.traces)
        with jobs_for(args, fleet, request.texts, desk, narrator) as jobs:
            # Two paths may refer to the same trace.
            run_jobs(list({job.folder: job for job in jobs}.values()), fleet, desk, narrator)
            report_errors(
                jobs, args, narrator, tally, lambda text: not request.chosen and bool(_EMPTY_VIEW.match(text))
            )
            results = [_Results(job.trace, Path(job.folder), outcome_of(job)["results"]) for job in _whole(jobs)]
            if len(results) == len(jobs) or tally.code == OK:
                verdicts.extend(_compare(args, request, results, desk, narrator))
        return tally.code

    # Regressions are written too: the file may be the report on a pull request.
    code = carry_out(args, [], work, args.output)
    if code != OK or args.fail_above is None:
        return code
    return _judge(verdicts, args.fail_above, narrator)


def _whole(jobs: Sequence[TraceJob]) -> list[TraceJob]:
    return [job for job in jobs if outcome_of(job)["error"] is None]


def _compare(
    args: Namespace, request: Request, results: Sequence[_Results], desk: TaskResources, narrator: RunNarrator
) -> list[Verdict]:
    """Compare each result of the texts, and write the comparison."""
    for label, traces in request.sides:
        if not any(one.trace in traces for one in results):
            raise TraceError(f"no trace of `{label}` could be read")
    found = [_comparison(request, results, number) for number in range(len(results[0].columns))]
    if not found:
        raise UsageError("found no result to compare, expected a query")
    request.better.check([name for one in found for name in one.metrics])
    if any(one.repeated and not one.tested for one in found):
        narrator.warnings([(NO_TESTS, 1)])
    _write_all(found, args, request, desk, narrator)
    if args.fail_above is None:
        return []
    limit = Limit(args.fail_above / 100, args.alpha, tuple(args.at_least))
    return [judge(one.rows, limit, request.better_in(number)) for number, one in enumerate(found)]


def _write_all(
    found: Sequence[Comparison], args: Namespace, request: Request, desk: TaskResources, narrator: RunNarrator
) -> None:
    """Write comparisons one after another; bundled queries that the user did not name only if they have rows."""
    shown = [number for number, one in enumerate(found) if one.rows or request.chosen]
    if not shown:
        listed = ", ".join(one.name for one in request.metrics)
        raise UsageError(f"found no rows on either side: {listed}", hint="give a query of your own")
    _check_room(request, len(shown))
    left = 0
    for place, number in enumerate(shown):
        if place:
            desk.sink.separate(request.writer.between)
        table = found[number].table(args.limit, for_people=request.writer.name in FOR_PEOPLE)
        left += len(found[number].rows) - table.arrow.num_rows
        _write(table, _heading(request, number) if len(shown) > 1 else "", request.writer, desk)
    empty = [request.metrics[number].name for number in range(len(found)) if number not in shown]
    if empty:
        narrator.remark(f"no rows on either side: {', '.join(empty)}")
    if left:
        more = "is 1 more difference" if left == 1 else f"are {left} more differences"
        narrator.remark(f"only the first {args.limit} of each metric, there {more} (--limit)")


def _comparison(request: Request, results: Sequence[_Results], number: int) -> Comparison:
    a, b = (
        Side(label, tuple(one.run(number) for one in results if one.trace in traces)) for label, traces in request.sides
    )
    return Comparison((a, b), request.by)


def _check_room(request: Request, count: int) -> None:
    if count > 1 and not request.writer.many:
        hint = "--metric NAME chooses one" if request.metrics else "give one query, or another --format"
        raise UsageError(f"a file of format `{request.writer.name}` holds one result, found {count}", hint=hint)


def _heading(request: Request, number: int) -> str:
    """Return the heading of a table of a bundled query."""
    if not request.metrics or request.writer.name not in FOR_PEOPLE:
        return ""
    name = request.metrics[number].name
    return f"### {name}\n\n" if request.writer.name == "markdown" else f"{name}\n\n"


def _write(table: ResultTable, heading: str, writer: Writer, desk: TaskResources) -> None:
    desk.bar.clear()
    desk.sink.stream.write(heading.encode())
    writer.write(table, desk.sink.stream)
    desk.sink.stream.flush()


def _judge(verdicts: Sequence[Verdict], limit: float, narrator: RunNarrator) -> int:
    """Report regressions, and comparisons that could not be judged."""
    unjudged = sum(verdict.unjudged for verdict in verdicts)
    if not any(verdict.judged for verdict in verdicts):
        narrator.error(DctvError("found no number on both sides to judge (--fail-above)"))
        return FAILED
    if unjudged:
        what = "1 number is" if unjudged == 1 else f"{unjudged} numbers are"
        narrator.warnings([(f"{what} missing on one side, and not judged (--fail-above)", 1)])
    worse = [one for verdict in verdicts for one in verdict.worse]
    worse.sort(key=lambda one: inf if one.change is None else abs(one.change), reverse=True)
    if not worse:
        return OK
    what = "1 change" if len(worse) == 1 else f"{len(worse)} changes"
    error = DctvError(f"found {what} for the worse by more than {limit:g}%, expected none (--fail-above)")
    lines = [f"  {_text_of(one)}" for one in worse[:_LISTED]]
    more = [f"  and {len(worse) - _LISTED} more"] if len(worse) > _LISTED else []
    error.found = "\n".join([*lines, *more])
    narrator.error(error)
    return FAILED


def _text_of(one: Difference) -> str:
    where = ", ".join(str(value) for value in one.key.values())
    values = " -> ".join(_amount(value, one.metric) for value in one.values)
    change = "" if one.change is None else f", {100 * one.change:+.2f}%"
    sure = "" if one.p is None else f", p = {one.p:.3g}"
    return f"{one.metric.name}{f' of {where}' if where else ''}: {values}{change}{sure}"


def _amount(value: float | None, metric: ColumnType) -> str:
    assert value is not None
    return amount(value if value.is_integer() else float(f"{value:.6g}"), metric.unit)
