"""Hand out pieces of work to an executor, several small ones at a time, and take their results in order.

The reader of the results may do some of the pieces itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from math import inf
from typing import Any

from dctv.errors import DctvError, Interrupted
from dctv.progress import Progress
from dctv.record import record

_PULSE = 0.05
"""Seconds between two looks for an interrupt."""
_AHEAD = 2
"""Tasks that each worker has or waits for."""
_FIRST, _MANY = 16, 4096
"""Unfinished tasks of an executor that does not report how many workers it has: at first, and once results have shown
to be small."""
_HELD = 256 << 20
"""Bytes of finished results that may wait for the reader, so that workers need not wait while it does."""
_MOST, _LIGHT = 16, 32 << 20
"""The maximum number of pieces of a task, and the maximum weight of several."""
_TASKS = 4
"""Tasks that each worker still gets when one is made of several pieces, so that none is idle at the end."""
_CLUSTER = 64
"""Workers of an executor that does not report how many it has, when pieces are put together."""


@record
class Outcome:
    """The result of a piece of work, or its error."""

    result: Any = None
    error: DctvError | None = None
    """Why there is no result."""

    def value(self) -> Any:
        """Return the result, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.result


def done_together(context: Any, work: Callable[..., Any], pieces: Sequence[tuple[Any, ...]]) -> list[Outcome]:
    """Do several pieces of work in a worker; one that fails does not stop the others."""
    return [_done(partial(work, context), piece) for piece in pieces]


def _done(work: Callable[..., Any], piece: tuple[Any, ...]) -> Outcome:
    try:
        return Outcome(work(*piece))
    except DctvError as error:
        return Outcome(error=error)


Submit = Callable[[Sequence[tuple[Any, ...]]], "Future[list[Outcome]]"]


class Dispatcher:
    """Pieces of work that are handed out in order, or the heaviest first while results take little memory.

    The future of a task has the outcomes of its pieces. A task has several pieces once results have shown to be small,
    if the pieces are light.
    """

    def __init__(
        self,
        submit: Submit,
        pieces: Sequence[tuple[Any, ...]],
        weights: Sequence[int],
        workers: int,
        size: Callable[[Any], int],
        own: Callable[..., Any] | None = None,
    ) -> None:
        """Prepare to hand out pieces; `own` does one in this thread, whenever the next result is not there yet."""
        self._submit = submit
        self._own = own
        self._pieces = pieces
        self._weights = weights
        self._by_weight = sorted(range(len(weights)), key=lambda number: (weights[number].bit_length(), -number))
        """Numbers of pieces, the heaviest last; those already handed out are dropped on the way.

        Pieces of about the same weight stay in order: their results are taken while others are worked on.
        """
        self._workers = workers
        self._least, self._most = (workers * _AHEAD, workers * _AHEAD) if workers else (_FIRST, _MANY)
        """Maximum numbers of unfinished tasks: in any case, and if their results will be small."""
        self._tasks = ((workers or _CLUSTER) + (own is not None)) * _TASKS
        self._size = size
        self._futures: dict[int, tuple[Future[list[Outcome]], int]] = {}
        """Tasks, and places in them, of the pieces that were handed out and not taken yet, by number."""
        self._wanted = 0
        """The number of the piece to take next."""
        self._out: set[int] = set()
        """Numbers of the pieces that have been handed out."""
        self._first_left = 0
        """The number of the first other one."""
        self._lock = threading.Lock()
        """Threads of the executor count what is finished."""
        self._handing = threading.Lock()
        """Held while pieces are chosen and handed out, by the reader or by a thread of the executor."""
        self._cancelled = False
        self._open = 0
        """Unfinished tasks."""
        self._ended = 0
        """Finished pieces."""
        self._gave = 0
        """Bytes of all results."""
        self._held = 0
        """Bytes of the results that wait to be taken."""
        self._changed = threading.Event()

    def more(self) -> bool:
        """Hand out pieces while there is room; return whether any is left to take."""
        with self._handing:
            self._hand_out()
        return self._wanted < len(self._pieces)

    def _hand_out(self) -> None:
        while not self._cancelled and (numbers := self._next()):
            try:
                future = self._submit([self._pieces[number] for number in numbers])
            except RuntimeError as error:
                # The executor is broken or shut down, which the reader learns in place of the result.
                future = Future()
                future.set_exception(error)
            self._note(numbers, future)

    def _note(self, numbers: Sequence[int], future: Future[list[Outcome]]) -> None:
        """Keep the future of some pieces."""
        with self._lock:
            self._open += 1
        self._futures.update((number, (future, place)) for place, number in enumerate(numbers))
        future.add_done_callback(partial(self._finished, len(numbers)))

    def taken(self, progress: Progress) -> Any:
        """Wait for the result of the next piece, and return it."""
        while True:
            self._changed.clear()
            progress.check()
            found = self._futures.get(self._wanted)
            if found is not None and found[0].done():
                break
            self.more()
            if not self._did_one():
                self._changed.wait(_PULSE)
        future, place = self._futures.pop(self._wanted)
        self._wanted += 1
        result = future.result()[place].value()
        with self._lock:
            self._held -= self._size(result)
        return result

    def _did_one(self) -> bool:
        """Do a piece in this thread, if there is one to do and room for its result."""
        with self._lock:
            full = self._held >= _HELD
        if self._own is None or full:
            return False
        with self._handing:
            if len(self._out) == len(self._pieces):
                return False
            (number,) = self._some(1, heaviest=False)
        outcome = _done(self._own, self._pieces[number])
        if isinstance(outcome.error, Interrupted):
            raise outcome.error
        future: Future[list[Outcome]] = Future()
        future.set_result([outcome])
        self._note([number], future)
        return True

    def cancel(self) -> None:
        """Cancel the tasks that no worker has begun, and hand out no more."""
        with self._handing:
            self._cancelled = True
        for future, _ in self._futures.values():
            future.cancel()

    def _next(self) -> list[int]:
        """Return the numbers of the pieces to hand out now, none if there is no room or no piece."""
        left = len(self._pieces) - len(self._out)
        if left == 0:
            return []
        with self._lock:
            if self._held >= _HELD:
                # The reader needs this one before it can take the results that are held.
                first = self._first(heaviest=False)
                return self._some(1, heaviest=False) if first == self._wanted else []
            room = self._room()
            if self._own is not None and left == 1 and self._open >= self._workers:
                # It would wait for a worker; this thread has nothing else to do.
                return []
            if not (self._open < self._least or (self._open < self._most and room > 0)):
                return []
        most = min(_MOST, room, left // self._tasks)
        return self._some(most, heaviest=bool(self._by_weight) and room > left)

    def _room(self) -> float:
        """Return how many more results fit into memory, if they are as large as earlier ones on average."""
        if self._ended == 0:
            return 0
        unfinished = len(self._out) - self._ended
        return inf if self._gave == 0 else (_HELD - self._held) / (self._gave / self._ended) - unfinished

    def _some(self, most: float, *, heaviest: bool) -> list[int]:
        """Return the numbers of the next pieces: of one, or of at most so many that are light together."""
        numbers: list[int] = []
        weight = 0
        while len(self._out) < len(self._pieces):
            number = self._first(heaviest=heaviest)
            weight += self._weights[number] if self._weights else _LIGHT
            if numbers and (len(numbers) + 1 > most or weight > _LIGHT):
                break
            self._out.add(number)
            numbers.append(number)
        return numbers

    def _first(self, *, heaviest: bool) -> int:
        """Return the number of the next piece to hand out."""
        if heaviest:
            while self._by_weight[-1] in self._out:
                self._by_weight.pop()
            return self._by_weight[-1]
        while self._first_left in self._out:
            self._first_left += 1
        return self._first_left

    def _finished(self, pieces: int, future: Future[list[Outcome]]) -> None:
        good = not future.cancelled() and future.exception() is None
        size = sum(self._size(one.result) for one in future.result() if one.error is None) if good else 0
        with self._lock:
            self._open -= 1
            self._ended += pieces
            self._gave += size
            self._held += size
        self._changed.set()
        # The reader may be busy with a piece of its own. Do not wait for the lock: its holder may wait for this thread.
        if good and self._own is not None and self._handing.acquire(blocking=False):
            try:
                self._hand_out()
            finally:
                self._handing.release()
