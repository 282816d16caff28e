"""Turn Ctrl-C into an interrupt of the session while work runs in a separate thread."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from threading import Thread
from time import monotonic
from types import FrameType, TracebackType
from typing import Generic, TypeVar

from dctv.errors import Interrupted, Terminated, TimedOut

T = TypeVar("T")

PULSE = 0.1
"""Seconds between repeated interrupts, since the session loses one that comes between two statements."""

Check = Callable[[], None]
"""Raises Interrupted after the user interrupts; called between statements."""


class _Worker(Thread, Generic[T]):
    """A thread that keeps its outcome; importing `concurrent.futures`, which loads logging, takes 5 ms."""

    def __init__(self, work: Callable[[], T]) -> None:
        super().__init__(name="dctv-work")
        self._work = work
        self._results: list[T] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        """Do the work."""
        with self:
            self._results.append(self._work())

    def __enter__(self) -> None:
        """Start."""

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None) -> bool:
        """Keep an exception for `result`."""
        self._error = error
        return True

    def result(self) -> T:
        """Return what the work returned, or raise what it raised."""
        if self._error is not None:
            raise self._error
        return self._results[0]


class _Deadline:
    """A time limit for work."""

    def __init__(self, timeout: float | None) -> None:
        self._timeout = timeout
        self._end = None if timeout is None else monotonic() + timeout

    def passed(self) -> bool:
        """Whether it has passed."""
        return self._end is not None and monotonic() >= self._end

    def pulse(self) -> float:
        """Return how long to wait until the next check."""
        left = PULSE if self._end is None else self._end - monotonic()
        return left if 0 < left < PULSE else PULSE

    def blamed(self, error: Interrupted) -> Interrupted:
        """Return the error for work that the time limit interrupted."""
        return TimedOut(f"not done after {self._timeout:g} s (--timeout)") if self.passed() else error


def attended(
    work: Callable[[Check], T],
    interrupt: Callable[[], None],
    abandon: Callable[[int], None],
    timeout: float | None = None,
    tick: Callable[[], None] = lambda: None,
) -> T:
    """Run work in a thread while the main thread waits for it and for signals.

    The first Ctrl-C (or SIGTERM) calls `interrupt`, after which the work should raise Interrupted; the next ones call
    `abandon`, which cleans up and ends the process with the given exit code. `tick` is called now and then while the
    work lasts.

    Raises:
        Terminated: SIGTERM ended the work.
        TimedOut: the work took more than `timeout` seconds, and was interrupted.
    """
    signals: list[int] = []
    deadline = _Deadline(timeout)

    def on_signal(number: int, _frame: FrameType | None) -> None:
        signals.append(number)
        if len(signals) > 1:
            abandon(_ending(number).exit_code)
        interrupt()

    def check() -> None:
        if signals or deadline.passed():
            raise Interrupted("interrupted")

    previous = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        worker = _Worker(lambda: work(check))
        worker.start()
        while worker.is_alive():
            worker.join(deadline.pulse())
            tick()
            if signals or deadline.passed():
                interrupt()
        return worker.result()
    except Interrupted as error:
        terminated = Terminated("terminated") if signal.SIGTERM in signals[:1] else error
        raise (terminated if signals else deadline.blamed(error)) from None
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _ending(number: int) -> type[Interrupted]:
    return Terminated if number == signal.SIGTERM else Interrupted


def end_process(code: int) -> None:
    """Exit at once, whatever threads are doing, as a user who pressed Ctrl-C twice expects."""
    os._exit(code)
