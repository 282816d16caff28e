"""Run jobs in a pool of worker processes; a worker that is killed fails only its own job."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool

from dctv.cli.fleet.jobs import TraceJob, run_job
from dctv.console.attended import PULSE, Check
from dctv.console.verdict import OUR_BUG
from dctv.home import expanded
from dctv.run.processes import end, started
from dctv.temporary import remove_abandoned

_KILLED = "the process that read this trace was killed: it may have needed more memory than there is"


def run_all(
    jobs: Sequence[TraceJob],
    workers: int,
    check: Check,
    finished: Callable[[TraceJob], None],
    run: Callable[[TraceJob], None] = run_job,
) -> None:
    """Run jobs, with `run` in a worker, and report finished ones as they finish.

    Raises:
        Interrupted: the user interrupted; workers are stopped, and their unfinished jobs have no results.
    """
    left = list(jobs)
    try:
        while left:
            left = _round(left, workers, check, finished, run)
            # One of the jobs that had started killed its worker: run each of them in a process of its own.
            for job in [job for job in left if job.begun]:
                left.remove(job)
                if _round([job], 1, check, finished, run):
                    job.fail(_KILLED, OUR_BUG)
                    finished(job)
    finally:
        # A worker is ended while the session is open that its jobs ran in.
        for folder in {job.settings["temp_directory"] for job in jobs}:
            remove_abandoned(None if folder is None else expanded(folder))


def _round(
    jobs: list[TraceJob],
    workers: int,
    check: Check,
    finished: Callable[[TraceJob], None],
    run: Callable[[TraceJob], None],
) -> list[TraceJob]:
    """Run jobs in one pool; return those that are unfinished because it broke."""
    pool = started(min(workers, len(jobs)))
    try:
        waiting: dict[Future[None], TraceJob] = {pool.submit(run, job): job for job in jobs}
        left = []
        while waiting:
            check()
            done, _ = wait(waiting, PULSE, FIRST_COMPLETED)
            for future in done:
                job = waiting.pop(future)
                try:
                    future.result()
                except BrokenProcessPool:
                    left.append(job)
                else:
                    finished(job)
        return left
    finally:
        end(pool)
