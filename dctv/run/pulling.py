"""Pull the batches of a run in a thread of its own, so that the waiting thread can handle Ctrl-C."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from dctv.errors import EngineError, Interrupted
from dctv.record import record
from dctv.run.context import ExecutionContext
from dctv.run.reading import Reading

_LOOK = 0.1
"""Seconds between two looks at whether work in another thread has been interrupted."""
_ATTEMPTS = 100


@record
class Pulling:
    """The parts needed to read a run."""

    reading: Reading
    context: ExecutionContext
    apart: bool = True
    """Whether there is a thread to pull in: not where another one waits already, since threads take turns slowly when
    all processors are busy."""

    def guarded(self, work: Callable[[], Any]) -> Any:
        """Return the result of work, with errors of the engine translated to ours."""
        failures: tuple[type[BaseException], ...] = (*self.context.engine.failures, EngineError)
        try:
            return work()
        except failures as error:
            raise self.context.running.failure(error) from None

    def items(self, open_: Callable[[], Any]) -> Iterator[Any]:
        """Yield the opened stream, then its items; end the run after the last, or when the generator is closed."""
        worker = _Worker() if self.apart else None
        try:
            opened = self.guarded(lambda: self._wait(worker, open_))
            yield opened
            iterator = iter(opened)
            while (item := self.guarded(lambda: self._wait(worker, lambda: next(iterator, None)))) is not None:
                yield item
        finally:
            if worker is not None:
                worker.stop()
            self.reading.finish()

    def _wait(self, worker: _Worker | None, work: Callable[[], Any]) -> Any:
        self.context.progress.check()
        if worker is None:
            return work()
        worker.start(work)
        try:
            while not worker.finished.wait(_LOOK):
                # A query that was about to begin did not hear it.
                if self.context.progress.interrupted:
                    self.context.running.interrupt()
        except KeyboardInterrupt:
            _end(worker, self.context.running.interrupt)
            raise Interrupted("interrupted") from None
        except BaseException:
            # Handlers of signals raise others, such as those of time limits. An engine closes no query that runs.
            _end(worker, self.reading.interrupt)
            raise
        return worker.outcome()


def _end(worker: _Worker, interrupt: Callable[[], None]) -> None:
    for _ in range(_ATTEMPTS):
        interrupt()
        if worker.finished.wait(_LOOK):
            return


class _Worker:
    """One daemon thread that does one piece of work at a time."""

    _failures = (Exception, KeyboardInterrupt)
    """Exceptions of the work, raised again in the thread that waits for it."""

    def __init__(self) -> None:
        self._work: Callable[[], Any] | None = None
        self._value: Any = None
        self._error: BaseException | None = None
        self._wanted = threading.Event()
        self.finished = threading.Event()
        threading.Thread(target=self._loop, daemon=True).start()

    def _loop(self) -> None:
        while self._wanted.wait():
            self._wanted.clear()
            if self._work is None:
                return
            try:
                self._value = self._work()
            except self._failures as error:
                self._error = error
            self.finished.set()

    def start(self, work: Callable[[], Any]) -> None:
        """Do a piece of work in the thread."""
        self._work, self._value, self._error = work, None, None
        self.finished.clear()
        self._wanted.set()

    def outcome(self) -> Any:
        """Return the result of the finished work, or raise its exception."""
        if self._error is not None:
            raise self._error
        return self._value

    def stop(self) -> None:
        """Stop the thread."""
        self._work = None
        self._wanted.set()
