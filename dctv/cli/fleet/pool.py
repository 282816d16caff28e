"""Jobs to worker processes, some at a time; a worker that is killed costs no job but its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool

from dctv.cli.fleet.jobs import TraceJob, run_job
from dctv.console.attended import PULSE, Check
from dctv.console.verdict import OUR_BUG
from dctv.run.processes import end, started

_KILLED = "the process that read this trace was killed: it may have needed more memory than there is"


def run_all(
    jobs: Sequence[TraceJob],
    workers: int,
    check: Check,
    finished: Callable[[TraceJob], None],
    run: Callable[[TraceJob], None] = run_job,
) -> None:
    """Run jobs, by `run` in a worker, and say which are over, as they are.

    Raises:
        Interrupted: the user has had enough; workers are ended, and what they had not finished is not there.
    """
    left = list(jobs)
    while left:
        left = _round(left, workers, check, finished, run)
        # One of those that had begun has ended its process: each of them gets one of its own.
        for job in [job for job in left if job.begun]:
            left.remove(job)
            if _round([job], 1, check, finished, run):
                job.fail(_KILLED, OUR_BUG)
                finished(job)


def _round(
    jobs: list[TraceJob],
    workers: int,
    check: Check,
    finished: Callable[[TraceJob], None],
    run: Callable[[TraceJob], None],
) -> list[TraceJob]:
    """Run jobs in one pool; return those that are not over since it broke."""
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
