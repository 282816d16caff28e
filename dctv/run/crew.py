"""Work on single traces -> this process, processes of our own, or an executor that the program gives."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any

from dctv.errors import Interrupted, TraceError
from dctv.processors import usable_processors
from dctv.progress import Progress
from dctv.record import record
from dctv.run.limits import Limits

FEW = 4
"""So many traces are read in this process in any case."""
MANY, LARGE = 256, 256 << 20
"""From so many traces or bytes of them on processes are started, which takes as long as reading these."""
_PULSE = 0.05
"""Seconds between two looks for an interrupt."""
_AHEAD = 2
"""Pieces of work that wait for each worker."""

Work = Callable[..., Any]
"""A function of a module, called with a context and arguments."""


@record(frozen=False)
class Crew:
    """Who works on the traces of a session's fleets; processes are started when there is enough to do."""

    call: Callable[..., Any]
    """Called in a worker with the limits of its context, a function, and its arguments but for the context."""
    workers: int
    """How many processes of our own there may be."""
    executor: Executor | None = None
    """What the program gave."""
    lend: Callable[[], Executor | None] | None = None
    """Asked for an executor of the engine that the session has chosen, once that is wanted."""
    lent: Executor | None = None
    pool: Executor | None = None
    """Our own, once it is wanted."""

    def is_wanted(self, count: int, size: int) -> bool:
        """Whether so many traces, of so many bytes, are read elsewhere than in this process."""
        if self.outside() is not None:
            return True
        worth = self.pool is not None or count >= MANY or size >= LARGE
        return worth and count > FEW and self.workers > 1

    def outside(self) -> Executor | None:
        """Return whose workers read traces, if not this machine's: the program's executor, or the engine's."""
        if self.executor is None and self.lend is not None:
            lend, self.lend = self.lend, None
            self.lent = lend()
        return self.executor or self.lent

    def borrow(self, lend: Callable[[], Executor | None] | None) -> None:
        """Let an engine's workers read traces, or no longer."""
        lent, self.lent, self.lend = self.lent, None, lend
        if lent is not None:
            lent.shutdown(wait=False, cancel_futures=True)

    def results(
        self, work: Work, each: Iterable[tuple[Any, ...]], share: Callable[[int], Limits], progress: Progress
    ) -> Generator[Any, None, None]:
        """Yield what a function gives for each of some arguments, in their order; a few are worked on ahead.

        `share` returns the limits of one of so many workers.

        Raises:
            DctvError: one of them failed, or the process that worked on it was killed.
            Interrupted: the user had enough.
        """
        executor, workers = self._executor()
        limits = share(workers)
        waiting: deque[Future[Any]] = deque()
        try:
            for arguments in each:
                try:
                    waiting.append(executor.submit(self.call, limits, work, *arguments))
                except BrokenExecutor:
                    raise self._killed() from None
                if len(waiting) >= workers * _AHEAD:
                    yield self._finished(waiting.popleft(), progress)
            while waiting:
                yield self._finished(waiting.popleft(), progress)
        except Interrupted:
            self.close()
            raise
        finally:
            for one in waiting:
                one.cancel()

    def _executor(self) -> tuple[Executor, int]:
        outside = self.outside()
        if outside is not None:
            return outside, getattr(outside, "_max_workers", None) or usable_processors()
        if self.pool is None:
            from concurrent.futures import ProcessPoolExecutor
            from multiprocessing import get_context

            # A fork would copy the threads' locks.
            self.pool = ProcessPoolExecutor(self.workers, get_context("spawn"), _begin)
        return self.pool, self.workers

    def _finished(self, future: Future[Any], progress: Progress) -> Any:
        while True:
            progress.check()
            try:
                return future.result(_PULSE)
            except TimeoutError:
                if future.done():
                    raise
            except BrokenExecutor:
                raise self._killed() from None

    def _killed(self) -> TraceError:
        """Return the error of a pool whose workers are gone; the next work begins with a new one."""
        self.close()
        return TraceError(
            "a process that read a trace of a fleet was killed: it may have needed more memory than there is"
        )

    def close(self) -> None:
        """End processes of our own, whatever they do."""
        pool, self.pool = self.pool, None
        if pool is not None:
            # Nothing public ends workers that are busy before Python 3.14.
            processes = list((getattr(pool, "_processes", None) or {}).values())
            for one in processes:
                one.kill()
            pool.shutdown(cancel_futures=True)


def _begin() -> None:
    """Leave Ctrl-C to the process that hands out work."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
