"""Run work on single traces in this process, in worker processes, or on an executor of the program."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import BrokenExecutor, Executor
from functools import partial
from typing import Any

from dctv.errors import DctvError, Interrupted, TraceError
from dctv.processors import usable_processors
from dctv.progress import Progress
from dctv.record import record
from dctv.run.dispatching import Dispatcher, done_together
from dctv.run.limits import Limits

FEW = 4
"""Up to this many traces are always read in this process."""
MANY, LARGE = 256, 256 << 20
"""From this many traces or bytes on, processes are started: starting them takes as long as reading these."""
SMALL = 256 << 20
"""Where no trace has more bytes, this process reads some of them, in place of one worker: none will exhaust its memory,
or keep it from handing out work for long."""
_WHATEVER: tuple[type[BaseException], ...] = (Exception,)
"""Exceptions that a program's executor may raise: its own, and those of a worker."""
_ELSEWHERE = "workers need the same version of dctv, the traces under the same paths, and enough memory"

Work = Callable[..., Any]
"""A function of a module, called with a context and arguments."""


@record
class TraceWork:
    """Work to be done for each of many traces."""

    work: Work
    here: Callable[..., Any] | None = None
    """Does the same in this process, given the arguments alone; None leaves everything to workers."""
    size: Callable[[Any], int] = lambda _: 0
    """Returns the bytes of a result."""


@record(frozen=False)
class TraceWorkers:
    """The workers of a session's fleets; processes are started when there is enough work."""

    call: Callable[..., Any]
    """Called in a worker with the limits of its context, a function, and its arguments but for the context."""
    workers: int
    """Maximum number of worker processes."""
    executor: Executor | None = None
    """The executor of the program."""
    lend: Callable[[], Executor | None] | None = None
    """Returns an executor of the session's engine, when one is needed."""
    lent: Executor | None = None
    pool: Executor | None = None
    """The worker processes, once they are needed."""
    pooled: int = 0
    """Their number."""
    reading: int = 0
    """How many callers read results at the moment: of two fleets in one query, or of several queries."""

    def is_wanted(self, parts: int, count: int, size: int) -> bool:
        """Whether this many traces and bytes, in so many parts, are read outside this process."""
        if self.outside() is not None:
            return True
        worth = self.pool is not None or count >= MANY or size >= LARGE
        return worth and parts > 1 and count > FEW and self.workers > 1

    def outside(self) -> Executor | None:
        """Return the executor whose workers read traces, the program's or the engine's; None for local workers."""
        if self.executor is None and self.lend is not None:
            lend, self.lend = self.lend, None
            self.lent = lend()
        return self.executor or self.lent

    def borrow(self, lend: Callable[[], Executor | None] | None) -> None:
        """Let an engine's workers read traces, or no longer."""
        lent, self.lent, self.lend = self.lent, None, lend
        if lent is not None:
            lent.shutdown(wait=False, cancel_futures=True)

    def start(self, share: Callable[[int], Limits], weights: Sequence[int]) -> None:
        """Start processes that are needed soon for traces of these sizes: each opens an engine, which takes long."""
        if self.outside() is None and self.pool is None:
            pool, processes = self._executor(self._processes(weights))
            for _ in range(processes):
                pool.submit(self.call, share(self.workers), _nothing)

    def _processes(self, weights: Sequence[int]) -> int:
        """Return how many processes are wanted beside this one."""
        return self.workers - 1 if max(weights, default=0) <= SMALL else self.workers

    def results(
        self,
        work: TraceWork,
        each: Sequence[tuple[Any, ...]],
        share: Callable[[int], Limits],
        progress: Progress,
        weights: Sequence[int] = (),
    ) -> Generator[Any, None, None]:
        """Yield the results of work for a sequence of arguments, in order; workers process later ones meanwhile.

        `share` returns the limits of a worker, given their number. With `weights`, such as the sizes of traces, workers
        begin with the heaviest, so that none is left for the end, as long as all results fit into memory, and get
        several light ones at a time; if all are light, this process does some of the work, too.

        Raises:
            DctvError: a call failed, or its worker was killed.
            Interrupted: the user interrupted it.
        """
        self.reading += 1
        try:
            yield from self._results(work, each, share, progress, weights)
        finally:
            self.reading -= 1

    def _results(
        self,
        work: TraceWork,
        each: Sequence[tuple[Any, ...]],
        share: Callable[[int], Limits],
        progress: Progress,
        weights: Sequence[int],
    ) -> Generator[Any, None, None]:
        processes = self.workers if work.here is None else self._processes(weights)
        executor, workers = self._executor(processes)
        takes_part = executor is self.pool and max(processes, workers) < self.workers
        limits = share(workers + takes_part if workers else usable_processors())
        call = partial(executor.submit, self.call, limits, done_together, work.work)
        pieces = Dispatcher(call, each, weights, workers, work.size, work.here if takes_part else None)
        try:
            while pieces.more():
                yield pieces.taken(progress)
        except BrokenExecutor:
            raise self._killed() from None
        except Interrupted:
            self.close()
            raise
        except DctvError:
            raise
        except _WHATEVER as error:
            if self.executor is None:
                raise
            reason = " ".join(str(error).split()).rstrip(".!") or "it gave no reason"
            message = f"the executor failed with {type(error).__name__}: {reason}"
            raise TraceError(message, hint=_ELSEWHERE) from error
        finally:
            pieces.cancel()

    def _executor(self, processes: int) -> tuple[Executor, int]:
        """Return an executor and the number of its workers; 0 if it does not say, like that of a cluster.

        One of our own has at least this many, unless another caller reads the results of fewer.
        """
        outside = self.outside()
        if outside is not None:
            return outside, getattr(outside, "_max_workers", None) or 0
        if self.pooled < processes and self.reading <= 1:
            self.close()
        if self.pool is None:
            from dctv.run.processes import started  # loads what few sessions need

            self.pool, self.pooled = started(processes), processes
        return self.pool, self.pooled

    def _killed(self) -> TraceError:
        """Return the error of a pool whose workers are gone; the next work begins with a new one."""
        from dctv.run.processes import GUARD  # loaded already

        if self.close():
            return TraceError(
                "a process that reads traces of a fleet failed as it started",
                hint=f"each runs the script once more; {GUARD}",
            )
        return TraceError(
            "a process that read a trace of a fleet was killed: it may have needed more memory than there is"
        )

    def close(self) -> bool:
        """End processes of our own, whatever they do; return whether one had failed before it got any work."""
        pool, self.pool, self.pooled = self.pool, None, 0
        if pool is None:
            return False
        from dctv.run.processes import end

        return end(pool)


def _nothing(_: Any) -> None:
    """Do nothing, in a process that is now ready for work."""
