"""Running work of a session, in any of its threads, and interrupting all of it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dctv.contracts.engine import Engine
from dctv.errors import DctvError, Interrupted
from dctv.progress import Progress
from dctv.run.chosen_engine import ChosenEngine


class Running:
    """The queries, kernels and results of a session that have begun."""

    def __init__(self, engine: Engine, progress: Progress, chosen_engine: ChosenEngine) -> None:
        self._engine = engine
        self._chosen_engine = chosen_engine
        self._progress = progress
        self._cancels: list[Any] = []
        self._alone: list[Any] = []
        """Cancel tokens of kernels that run without a query."""
        self._reading = 0
        """The number of results being read."""
        self._counting = threading.Lock()
        self._noted: list[DctvError] = []
        """Errors of ours that went through an engine."""

    def interrupt(self) -> None:
        """End running work, from another thread; it raises Interrupted."""
        self._progress.interrupt()
        for cancel in [*self._cancels, *self._alone]:
            cancel.set()
        self._engine.interrupt()
        self._chosen_engine.interrupt()

    def failure(self, error: BaseException) -> DctvError:
        """Return our error for one that came out of something that ran."""
        if self._progress.interrupted:
            return Interrupted("interrupted")
        return self._engine.failure(error, self._noted)

    def note(self, error: DctvError) -> None:
        """Remember an error raised while the engine reads: the engine passes on only its text."""
        self._noted.append(error)

    def cancel(self) -> Any:
        """Return a cancel token for the kernels of a new query."""
        from dctv import _kernels  # compiled; only wanted when a query runs

        cancel = _kernels.Cancel()
        self._cancels.append(cancel)
        return cancel

    def drop(self, cancel: Any) -> None:
        """Forget the cancel token of a query that has ended."""
        if cancel in self._cancels:
            self._cancels.remove(cancel)

    def begin(self) -> None:
        """Count a result that is about to be read."""
        with self._counting:
            self._reading += 1

    def finish(self) -> None:
        """Count a result as finished; after the last one, release the resources of queries."""
        with self._counting:
            self._reading -= 1
            if self._reading == 0:
                self._cancels.clear()
                self._noted.clear()
                self._engine.finish()

    @contextmanager
    def kernel(self) -> Iterator[Any]:
        """Give a kernel without a query a cancel token, and translate its failures."""
        from dctv import _kernels

        cancel = _kernels.Cancel()
        self._alone.append(cancel)
        try:
            yield cancel
        except ValueError as error:
            raise self.failure(error) from None
        finally:
            self._alone.remove(cancel)
