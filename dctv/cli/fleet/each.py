"""A report and a pattern of traces to one result for each of its statements, with the rows of all traces."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dctv.cli.arguments import MOUNT
from dctv.cli.batch import Batch, missing, run_batch, written
from dctv.cli.ci import ALL, LAST
from dctv.cli.errand import Desk
from dctv.cli.fleet.jobs import SETTINGS, Job, key_of, size_of, unfinished
from dctv.cli.fleet.options import NAME
from dctv.cli.fleet.pool import run_all
from dctv.cli.fleet.stacked import Part, Stacked
from dctv.cli.narrator import Narrator
from dctv.cli.sizes import byte_count
from dctv.cli.tally import Case, Tally
from dctv.console.files import is_there
from dctv.console.verdict import FAILED, PARTIAL
from dctv.errors import DctvError, UsageError
from dctv.processors import usable_processors
from dctv.record import record, replace
from dctv.run.fleet.members import matching

_LISTED = 3
"""Traces that an error names, if it is that of many."""


@record
class Fleet:
    """Traces to run a report for."""

    name: str
    traces: tuple[str, ...]
    others: tuple[tuple[str, str], ...]
    """What is mounted beside each of them."""
    workers: int


def run_each(args: Namespace, mounts: Sequence[tuple[str, str]], batch: Batch) -> int:
    """Run a report for each trace, write the results and return the exit code."""
    fleet = _fleet(args, mounts)

    def run(batch: Batch, desk: Desk, tally: Tally) -> None:
        with _folder(args) as folder:
            jobs = _jobs(args, fleet, batch, folder)
            _run(jobs, fleet, desk, batch.narrator)
            _tell(jobs, args, batch.narrator, tally)
            _write(jobs, batch, desk, tally)

    return run_batch(args, [], batch, run)


def _fleet(args: Namespace, mounts: Sequence[tuple[str, str]]) -> Fleet:
    match = None if is_there(args.each) else MOUNT.fullmatch(args.each)
    name, pattern = (NAME, args.each) if match is None else match.groups()
    traces = matching(pattern)
    if not traces:
        raise UsageError(f"found no trace that matches `{pattern}`", hint="quote the pattern: --each 'runs/*.pfw.gz'")
    if name in dict(mounts):
        raise UsageError(f"`{name}` is mounted twice, from `{dict(mounts)[name]}` and by --each")
    workers = min(args.jobs or usable_processors(), len(traces))
    return Fleet(name, tuple(traces), tuple(mounts), workers)


@contextmanager
def _folder(args: Namespace) -> Iterator[Path]:
    """Give a folder for results: one that stays, or one that is gone afterwards."""
    try:
        if args.checkpoint is not None:
            args.checkpoint.mkdir(parents=True, exist_ok=True)
            yield args.checkpoint
            return
        with TemporaryDirectory(prefix="dctv-each-", dir=args.temp_directory) as folder:
            yield Path(folder)
    except OSError as error:
        where = args.checkpoint or args.temp_directory or "the temporary folder"
        raise UsageError(f"cannot keep results in `{where}`: {error.strerror or error}") from error


def _jobs(args: Namespace, fleet: Fleet, batch: Batch, folder: Path) -> list[Job]:
    settings = {name: _plain(getattr(args, name)) for name in SETTINGS}
    settings["threads"] = args.threads or max(usable_processors() // fleet.workers, 1)
    settings["memory_limit"] = _share(args.memory_limit, fleet.workers)
    texts = tuple((text.name, text.sql, None if text.base is None else str(text.base)) for text in batch.texts)
    made = [
        Job(trace, fleet.name, fleet.others, texts, tuple(args.param), settings, str(folder)) for trace in fleet.traces
    ]
    return [replace(job, folder=str(folder / key_of(job))) for job in made]


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


def _share(limit: str | None, workers: int) -> str:
    """Return how much memory each worker may use: its part of what is allowed, or of most of the machine's."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 4 // 5 if limit is None else byte_count(limit)
    return f"{max(whole // workers // 1_000_000, 1)}MB"


def _run(jobs: Sequence[Job], fleet: Fleet, desk: Desk, narrator: Narrator) -> None:
    left = unfinished(jobs)
    if len(left) < len(jobs):
        narrator.remark(f"{len(jobs) - len(left)} of {len(jobs)} traces were done before")
    sizes = {job.trace: size_of(job.trace) for job in left}
    done: list[Job] = []

    def told(job: Job) -> None:
        done.append(job)
        read = sum(sizes[one.trace] for one in done)
        desk.bar.update(f"{len(done)} of {len(left)} traces", read, sum(sizes.values()))

    run_all(left, fleet.workers, desk.check, told)
    desk.bar.clear()


def _tell(jobs: Sequence[Job], args: Namespace, narrator: Narrator, tally: Tally) -> None:
    """Say what went wrong, and in which traces."""
    warnings: dict[str, list[str]] = {}
    errors: dict[tuple[str, int], list[str]] = {}
    for job in jobs:
        told = _outcome(job)
        for message in told["warnings"]:
            warnings.setdefault(message, []).append(job.trace)
        for source, name, failure in told["cases"]:
            tally.cases.append(Case(f"{job.trace}: {source}", name, failure))
            if failure is not None:
                errors.setdefault((failure, FAILED), []).append(job.trace)
        for reason in told["incomplete"]:
            errors.setdefault((reason.removeprefix(f"{job.name}: {job.trace}: "), PARTIAL), []).append(job.trace)
        if told["error"] is not None:
            text, code = told["error"]
            errors.setdefault((text, code), []).append(job.trace)
            tally.cases.append(Case(job.trace, "runs to its end", error=text))
    narrator.warnings((f"{_listed(traces)}: {text}", 1) for text, traces in warnings.items())
    for (text, code), traces in errors.items():
        message = f"{_listed(traces)}: {text.removeprefix('error: ')}"
        if code == PARTIAL and args.allow_partial:
            narrator.warnings([(message, 1)])
        else:
            narrator.error(DctvError(message))
            tally.code = max(tally.code, code)


def _listed(traces: Sequence[str]) -> str:
    more = f" and {len(traces) - _LISTED} more" if len(traces) > _LISTED else ""
    return ", ".join(traces[:_LISTED]) + more


def _outcome(job: Job) -> dict[str, Any]:
    told = job.outcome()
    assert told is not None
    return told


def _write(jobs: Sequence[Job], batch: Batch, desk: Desk, tally: Tally) -> None:
    outcomes = [(job, _outcome(job)["results"]) for job in jobs]
    tally.statements += max((len(results) for _, results in outcomes), default=0)
    for number in _wanted(batch, max((len(results) for _, results in outcomes), default=0)):
        parts = [
            Part(job.trace, Path(job.folder) / f"{number}.arrows", results[number])
            for job, results in outcomes
            if number < len(results)
        ]
        remark = written(Stacked(parts), batch, desk, tally)
        if remark:
            batch.narrator.remark(remark)


def _wanted(batch: Batch, count: int) -> Sequence[int]:
    """Return which of so many results are written."""
    if batch.wanted == ALL:
        return range(count)
    number = count if batch.wanted == LAST else int(batch.wanted)
    if not 1 <= number <= count:
        raise missing(batch, count)
    return [number - 1]
