"""Turns reports of progress into a bar on stderr, if that is a terminal and the work lasts."""

from __future__ import annotations

import sys
from time import monotonic

from dctv.hints import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 0.5
"""Seconds of work before a bar appears."""


class ProgressBar:
    """At most one bar at a time; it vanishes when output begins or the work ends."""

    def __init__(self, *, wanted: bool = True) -> None:
        self._wanted = wanted and sys.stderr is not None and sys.stderr.isatty()
        self._began: float | None = None
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def update(self, label: str, done: int, total: int) -> None:
        """Note that `done` of `total` bytes (0 if unknown) are reached; cheap until a bar is due."""
        if not self._wanted:
            return
        if self._began is None:
            self._began = monotonic()
        if self._bar is None:
            if monotonic() - self._began < PATIENCE:
                return
            self._bar, self._task = _start(label)
        assert self._task is not None
        self._bar.update(self._task, description=label, completed=done, total=total or None)

    def clear(self) -> None:
        """Remove the bar, as before output to the same terminal; the next report counts as new work."""
        bar, self._bar, self._began = self._bar, None, None
        if bar is not None:
            bar.stop()


def _start(label: str) -> tuple[Progress, TaskID]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    bar = Progress(*columns, console=Console(stderr=True), transient=True, refresh_per_second=8)
    bar.start()
    return bar, bar.add_task(label, total=None)
