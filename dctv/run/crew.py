"""Run work on single traces in this process, in worker processes, or on an executor of the program."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any

from dctv.errors import DctvError, Interrupted, TraceError
from dctv.processors import usable_processors
from dctv.progress import Progress
from dctv.record import record
from dctv.run.limits import Limits

FEW = 4
"""Up to this many traces are always read in this process."""
MANY, LARGE = 256, 256 << 20
"""From this many traces or bytes on, processes are started: starting them takes as long as reading these."""
_PULSE = 0.05
"""Seconds between two looks for an interrupt."""
_AHEAD = 2
"""Pieces of work that each worker has or waits for."""
_FIRST, _MANY = 16, 4096
"""Unfinished pieces of an executor that does not report how many workers it has: at first, and once results have shown
to be small."""
_HELD = 256 << 20
"""Bytes of finished results that may wait for the reader, so that workers need not wait while it does."""

_WHATEVER: tuple[type[BaseException], ...] = (Exception,)
"""Exceptions that a program's executor may raise: its own, and those of a worker."""
_ELSEWHERE = "workers need the same version of dctv, the traces under the same paths, and enough memory"

Work = Callable[..., Any]
"""A function of a module, called with a context and arguments."""


@record(frozen=False)
class Crew:
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

    def is_wanted(self, count: int, size: int) -> bool:
        """Whether this many traces and bytes are read outside this process."""
        if self.outside() is not None:
            return True
        worth = self.pool is not None or count >= MANY or size >= LARGE
        return worth and count > FEW and self.workers > 1

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

    def results(
        self,
        work: Work,
        each: Sequence[tuple[Any, ...]],
        share: Callable[[int], Limits],
        progress: Progress,
        size: Callable[[Any], int] = lambda _: 0,
        weights: Sequence[int] = (),
    ) -> Generator[Any, None, None]:
        """Yield a function's results for a sequence of arguments, in order; workers process later ones meanwhile.

        `share` returns the limits of a worker, given their number, and `size` the bytes of a result. With `weights`,
        such as the sizes of traces, workers begin with the heaviest, so that none is left for the end, as long as all
        results fit into memory.

        Raises:
            DctvError: a call failed, or its worker was killed.
            Interrupted: the user interrupted it.
        """
        executor, workers = self._executor()
        limits = share(workers or usable_processors())
        bounds = (workers * _AHEAD, workers * _AHEAD) if workers else (_FIRST, _MANY)
        pieces = _Pieces(lambda some: executor.submit(self.call, limits, work, *some), each, weights, bounds, size)
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

    def _executor(self) -> tuple[Executor, int]:
        """Return the executor and the number of its workers; 0 if it does not say, like that of a cluster."""
        outside = self.outside()
        if outside is not None:
            return outside, getattr(outside, "_max_workers", None) or 0
        if self.pool is None:
            from dctv.run.processes import started  # loads what few sessions need

            self.pool = started(self.workers)
        return self.pool, self.workers

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
            from dctv.run.processes import end

            end(pool)


class _Pieces:
    """Pieces of work that are handed out in order, or the heaviest first while results take little memory."""

    def __init__(
        self,
        submit: Callable[[tuple[Any, ...]], Future[Any]],
        pieces: Sequence[tuple[Any, ...]],
        weights: Sequence[int],
        bounds: tuple[int, int],
        size: Callable[[Any], int],
    ) -> None:
        self._submit = submit
        self._pieces = pieces
        self._by_weight = sorted(range(len(weights)), key=lambda number: (weights[number], -number))
        """Numbers of pieces, the heaviest last; those already handed out are dropped on the way."""
        self._least, self._most = bounds
        """Maximum numbers of unfinished pieces: in any case, and if their results will be small."""
        self._size = size
        self._futures: dict[int, Future[Any]] = {}
        """Pieces that were handed out and not taken yet, by number."""
        self._wanted = 0
        """The number of the piece to take next."""
        self._first_left = 0
        """The number of the first piece that has not been handed out."""
        self._lock = threading.Lock()
        """Threads of the executor count what is finished."""
        self._unfinished = 0
        self._ended = 0
        self._gave = 0
        """Bytes of all results."""
        self._held = 0
        """Bytes of the results that wait to be taken."""
        self._changed = threading.Event()

    def more(self) -> bool:
        """Hand out pieces while there is room; return whether any is left to take."""
        while (number := self._next()) is not None:
            future = self._submit(self._pieces[number])
            with self._lock:
                self._unfinished += 1
            self._futures[number] = future
            future.add_done_callback(self._finished)
        return self._wanted < len(self._pieces)

    def taken(self, progress: Progress) -> Any:
        """Wait for the result of the next piece, and return it."""
        while True:
            self._changed.clear()
            progress.check()
            future = self._futures.get(self._wanted)
            if future is not None and future.done():
                break
            self.more()
            self._changed.wait(_PULSE)
        del self._futures[self._wanted]
        self._wanted += 1
        result = future.result()
        with self._lock:
            self._held -= self._size(result)
        return result

    def cancel(self) -> None:
        """Cancel the pieces that no worker has begun."""
        for one in self._futures.values():
            one.cancel()

    def _next(self) -> int | None:
        """Return the number of the piece to hand out now, None if there is no room or no piece."""
        while self._is_out(self._first_left):
            self._first_left += 1
        if self._first_left == len(self._pieces):
            return None
        with self._lock:
            if self._held >= _HELD:
                # The reader needs this one before it can take the results that are held.
                return self._first_left if self._first_left == self._wanted else None
            more = self._unfinished < self._most and self._fits(self._unfinished)
            if not (self._unfinished < self._least or more):
                return None
            all_fit = self._fits(len(self._pieces) - self._ended)
        return self._heaviest() if all_fit and self._by_weight else self._first_left

    def _is_out(self, number: int) -> bool:
        return number < self._wanted or number in self._futures

    def _heaviest(self) -> int:
        while self._is_out(self._by_weight[-1]):
            self._by_weight.pop()
        return self._by_weight[-1]

    def _fits(self, count: int) -> bool:
        """Whether this many more results fit into memory, if they are as large as earlier ones on average."""
        return self._ended > 0 and self._held + count * self._gave / self._ended < _HELD

    def _finished(self, future: Future[Any]) -> None:
        good = not future.cancelled() and future.exception() is None
        size = self._size(future.result()) if good else 0
        with self._lock:
            self._unfinished -= 1
            self._ended += 1
            self._gave += size
            self._held += size
        self._changed.set()
