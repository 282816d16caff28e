"""Create jobs from traces and texts, run them in parallel, and report their errors."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dctv.cli.fleet.jobs import (
    SETTINGS,
    TraceJob,
    beside,
    close_session,
    key_of,
    key_of_report,
    run_job,
    size_of,
    unfinished,
)
from dctv.cli.fleet.named_files import files_named
from dctv.cli.fleet.pool import run_all
from dctv.cli.mounts import parse_manifests
from dctv.cli.narrator import RunNarrator
from dctv.cli.sizes import byte_count
from dctv.cli.tally import CaseReport, RunTally
from dctv.cli.task import TaskResources
from dctv.cli.texts import SqlText
from dctv.console.verdict import FAILED, PARTIAL
from dctv.errors import DctvError, UsageError
from dctv.index.locks import build
from dctv.processors import usable_processors
from dctv.record import record, replace
from dctv.run.fleet.grouped_messages import listed, together


@record
class FleetWork:
    """The traces to run texts for."""

    name: str
    """The name of each one's mount."""
    traces: tuple[str, ...]
    others: tuple[tuple[str, str], ...]
    """Other mounts of each job."""
    workers: int
    """How many traces are read at a time."""
    here: bool
    """Whether this process reads them, one after another."""


_FEW, _SMALL = 8, 16 << 20
"""Jobs that this process runs: at most so many, which read so many bytes in all. Starting workers would take longer."""


def fleet_work(args: Namespace, name: str, traces: Sequence[str], others: Sequence[tuple[str, str]] = ()) -> FleetWork:
    """Choose how many traces to read at a time, and in which processes: those that `--jobs` asks for, if it is given.

    A worker takes as long to start as a few small traces take to read.
    """
    workers: int = min(args.jobs or usable_processors(), len(traces))
    few = workers == 1 or (args.jobs is None and len(traces) <= _FEW)
    # Each job reads the other traces, too.
    here = few and sum(map(size_of, traces)) + len(traces) * sum(map(size_of, beside(others))) <= _SMALL
    return FleetWork(name, tuple(traces), tuple(others), 1 if here else workers, here)


@contextmanager
def jobs_for(
    args: Namespace, fleet: FleetWork, texts: Sequence[SqlText], desk: TaskResources, narrator: RunNarrator
) -> Iterator[list[TraceJob]]:
    """Yield a job for each trace; no other process writes their results meanwhile.

    Raises:
        Interrupted: the user interrupted it while another process ran the same report.
    """
    with _folder_for(args) as folder:
        jobs = _jobs_of(args, fleet, texts, folder)
        with undisturbed(args, jobs, desk, narrator) if args.checkpoint is not None and jobs else nullcontext():
            yield jobs


@contextmanager
def _folder_for(args: Namespace) -> Iterator[Path]:
    """Yield a folder for results: a permanent or a temporary one."""
    try:
        if args.checkpoint is not None:
            args.checkpoint.mkdir(parents=True, exist_ok=True)
            kept: AbstractContextManager[Path | str] = nullcontext(args.checkpoint)
        else:
            kept = TemporaryDirectory(prefix="dctv-each-", dir=args.temp_directory)
    except OSError as error:
        where = args.checkpoint or args.temp_directory or "the temporary folder"
        raise UsageError(f"cannot keep results in `{where}`: {error.strerror or error}") from error
    with kept as folder:
        yield Path(folder)


@contextmanager
def undisturbed(
    args: Namespace, jobs: Sequence[TraceJob], desk: TaskResources, narrator: RunNarrator
) -> Iterator[None]:
    """Keep other processes from running the same report with the same folder, and wait for one that does.

    It would remove results that this one reads.
    """
    told = False

    def waiting() -> None:
        nonlocal told
        if not told:
            narrator.remark(f"waiting for another process that runs this report with `{args.checkpoint}`")
        told = True
        desk.check()

    lock = build(args.checkpoint, waiting, f"{key_of_report(jobs[0])}.lock")
    assert lock is not None
    with lock:
        yield


def _jobs_of(args: Namespace, fleet: FleetWork, texts: Sequence[SqlText], folder: Path) -> list[TraceJob]:
    """Return a job for each trace, with a subfolder of this one for its results."""
    settings = {name: _plain(getattr(args, name, None)) for name in SETTINGS}
    settings["threads"] = args.threads or max(usable_processors() // fleet.workers, 1)
    settings["manifest"] = getattr(args, "manifest", [])
    manifests = parse_manifests(settings["manifest"], fleet.others).values()
    settings["memory_limit"] = _share(args.memory_limit, fleet.workers)
    texts_of = tuple((text.name, text.sql, None if text.base is None else str(text.base)) for text in texts)
    made = [
        TraceJob(trace, fleet.name, fleet.others, texts_of, tuple(args.param), settings, str(folder))
        for trace in fleet.traces
    ]
    files = [] if args.checkpoint is None else [*files_named(texts, args.param), *map(Path, manifests)]
    return [replace(job, folder=str(folder / key_of(job, files))) for job in made]


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


def _share(limit: str | None, workers: int) -> str:
    """Return the memory limit of each worker: its share of the limit, or of most of the machine's memory."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 4 // 5 if limit is None else byte_count(limit)
    return f"{max(whole // workers // 1_000_000, 1)}MB"


def run_jobs(jobs: Sequence[TraceJob], fleet: FleetWork, desk: TaskResources, narrator: RunNarrator) -> None:
    """Run the jobs that are not done yet."""
    left = unfinished(jobs)
    if len(left) < len(jobs):
        narrator.remark(f"{len(jobs) - len(left)} of {len(jobs)} traces were done before")
    sizes = {job.trace: size_of(job.trace) for job in left}
    done: list[TraceJob] = []

    def finished(job: TraceJob) -> None:
        done.append(job)
        read = sum(sizes[one.trace] for one in done)
        desk.bar.update(f"{len(done)} of {len(left)} traces", read, sum(sizes.values()))

    if fleet.here:
        try:
            for job in left:
                _run_here(job, desk)
                finished(job)
        finally:
            close_session()
    else:
        run_all(left, fleet.workers, desk.check, finished)
    desk.bar.clear()


def _run_here(job: TraceJob, desk: TaskResources) -> None:
    """Run a job in this process, where Ctrl-C interrupts it."""
    desk.check()
    try:
        run_job(job, desk.beside.append)
    finally:
        desk.beside.clear()


def report_errors(
    jobs: Sequence[TraceJob],
    args: Namespace,
    narrator: RunNarrator,
    tally: RunTally,
    skipped: Callable[[str], bool] = lambda _: False,
) -> None:
    """Report errors and their traces; some warnings may be omitted."""
    warnings: list[tuple[str, str, int]] = []
    errors: dict[tuple[str, int], list[str]] = {}
    for job in jobs:
        outcome = outcome_of(job)
        warnings += [(job.trace, message, 1) for message in outcome["warnings"] if not skipped(message)]
        for source, name, failure in outcome["cases"]:
            tally.cases.append(CaseReport(f"{job.trace}: {source}", name, failure))
            if failure is not None:
                errors.setdefault((failure, FAILED), []).append(job.trace)
        for reason in outcome["incomplete"]:
            errors.setdefault((reason.removeprefix(f"{job.name}: {job.trace}: "), PARTIAL), []).append(job.trace)
        if outcome["error"] is not None:
            text, code = outcome["error"]
            errors.setdefault((text, code), []).append(job.trace)
            tally.cases.append(CaseReport(job.trace, "runs to its end", error=text))
    narrator.warnings((text, 1) for text, _ in together(warnings))
    for (text, code), traces in errors.items():
        message = f"{listed(traces)}: {text.removeprefix('error: ')}"
        if code == PARTIAL and args.allow_partial:
            narrator.warnings([(message, 1)])
        else:
            narrator.error(DctvError(message))
            tally.code = max(tally.code, code)


def outcome_of(job: TraceJob) -> dict[str, Any]:
    """Return the outcome of a finished job."""
    outcome = job.outcome()
    if outcome is None:
        raise UsageError(f"the result of `{job.trace}` is no longer in `{job.folder}`", hint="run it again")
    return outcome
