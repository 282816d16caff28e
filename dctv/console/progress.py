"""Show progress as a bar on stderr, if that is a terminal and the work takes a while."""

from __future__ import annotations

import sys
from threading import RLock
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 0.5
"""Seconds of work before a bar appears."""


class ProgressBar:
    """At most one bar at a time; it vanishes when output begins or the work ends."""

    def __init__(self, *, wanted: bool = True) -> None:
        self._wanted = wanted and sys.stderr is not None and sys.stderr.isatty()
        self._began: float | None = None
        self._label: str | None = None
        """Work without reports of progress."""
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._lock = RLock()

    def begin(self, label: str) -> None:
        """Start work without reports of progress: `tick` shows how long it takes."""
        with self._lock:
            self._label, self._began = label, monotonic()

    def tick(self) -> None:
        """Show a bar for such work once it is due; called now and then, from any thread."""
        with self._lock:
            if not self._wanted or self._label is None or self._bar is not None or not self._due():
                return
            self._bar, self._task = _start(self._label, reports=False)

    def update(self, label: str, done: int, total: int) -> None:
        """Report `done` of `total` bytes (0 if unknown); cheap until a bar is due."""
        if not self._wanted:
            return
        with self._lock:
            if self._label is not None:
                self.clear()
            if self._began is None:
                self._began = monotonic()
            if self._bar is None:
                if not self._due():
                    return
                self._bar, self._task = _start(label, reports=True)
            assert self._task is not None
            self._bar.update(self._task, description=label, completed=done, total=total or None)

    def clear(self) -> None:
        """Remove the bar, before output to the same terminal; the next report starts new work."""
        with self._lock:
            bar, self._bar, self._began, self._label = self._bar, None, None, None
            if bar is not None:
                bar.stop()

    def _due(self) -> bool:
        return self._began is not None and monotonic() - self._began >= PATIENCE


def _start(label: str, *, reports: bool) -> tuple[Progress, TaskID]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (TextColumn("{task.description}", markup=False), BarColumn())
    amounts = (DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()) if reports else (TimeElapsedColumn(),)
    bar = Progress(*columns, *amounts, console=Console(stderr=True), transient=True, refresh_per_second=8)
    bar.start()
    return bar, bar.add_task(label, total=None)
