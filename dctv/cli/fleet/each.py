"""Run a report for each trace of a pattern, and write one result per statement with the rows of all traces."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from dctv.catalog.files import matching
from dctv.cli.arguments import MOUNT
from dctv.cli.batch import Batch, missing, run_batch, written
from dctv.cli.ci import ALL, LAST
from dctv.cli.fleet.jobs import TraceJob
from dctv.cli.fleet.options import NAME
from dctv.cli.fleet.stacked import Stacked, TraceResult
from dctv.cli.fleet.work import FleetWork, fleet_work, jobs_for, outcome_of, report_errors, run_jobs
from dctv.cli.tally import RunTally
from dctv.cli.task import TaskResources
from dctv.console.files import exists
from dctv.console.wall_times import TRACE, WallTimes
from dctv.errors import UsageError


def run_each(args: Namespace, mounts: Sequence[tuple[str, str]], batch: Batch) -> int:
    """Run a report for each trace, write the results and return the exit code."""
    fleet = _fleet(args, mounts)

    def run(batch: Batch, desk: TaskResources, tally: RunTally) -> None:
        with jobs_for(args, fleet, batch.texts, desk, batch.narrator) as jobs:
            run_jobs(jobs, fleet, desk, batch.narrator)
            report_errors(jobs, args, batch.narrator, tally)
            _write(jobs, batch, desk, tally)

    # The workers mount everything.
    return run_batch(Namespace(**{**vars(args), "manifest": []}), [], batch, run)


def _fleet(args: Namespace, mounts: Sequence[tuple[str, str]]) -> FleetWork:
    match = None if exists(args.each) else MOUNT.fullmatch(args.each)
    name, pattern = (NAME, args.each) if match is None else match.groups()
    traces = matching(pattern)
    if not traces:
        raise UsageError(f"found no trace that matches `{pattern}`", hint="quote the pattern: --each 'runs/*.pfw.gz'")
    if name in dict(mounts):
        raise UsageError(f"`{name}` is mounted twice, from `{dict(mounts)[name]}` and by --each")
    return fleet_work(args, name, traces, mounts)


def _write(jobs: Sequence[TraceJob], batch: Batch, desk: TaskResources, tally: RunTally) -> None:
    outcomes = [(job, outcome_of(job)["results"]) for job in jobs]
    tally.statements += max((len(results) for _, results in outcomes), default=0)
    for number in _wanted(batch, max((len(results) for _, results in outcomes), default=0)):
        parts = [
            TraceResult(job.trace, Path(job.folder) / f"{number}.arrows", results[number])
            for job, results in outcomes
            if number < len(results)
        ]
        rows = Stacked(parts)
        remark = written(rows if batch.time == TRACE else WallTimes(rows, batch.time, None), batch, desk, tally)
        if remark:
            batch.narrator.remark(remark)


def _wanted(batch: Batch, count: int) -> Sequence[int]:
    """Return the numbers of the results to write."""
    if batch.wanted == ALL:
        return range(count)
    number = count if batch.wanted == LAST else int(batch.wanted)
    if not 1 <= number <= count:
        raise missing(batch, count)
    return [number - 1]
