"""Makes timelines of traces that are indexed, so that they need not be made when they are drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from dctv.errors import Interrupted
from dctv.session import Session

Progress = Callable[[str, int, int], None]

_NAME = "trace"
"""What a trace is mounted as whose timeline is made."""


class Timelines:
    """Makes timelines, each in a session of its own."""

    def __init__(self, progress: Progress, **limits: Any) -> None:
        """Begin; `limits` are those of each session: `threads`, `memory_limit` and `temp_directory`."""
        self._limits = limits
        self._progress = progress
        self._session: Session | None = None
        self._interrupted = False

    def make(self, path: str, index_dir: Path | None) -> tuple[int, int, list[str]]:
        """Make the timeline of a trace unless it is there; return the numbers of tracks and of rows, and warnings.

        Raises:
            TraceError: the trace cannot be read.
            Interrupted: the user had enough.
        """
        with Session(progress=self._report, index_dir=index_dir, **self._limits) as session:
            self._session = session
            session.mount(path, _NAME)
            tracks = session.timeline(_NAME).tracks
            full = [track for track in tracks if track.rows]
            return len(full), sum(track.rows for track in full), session.warnings()

    def interrupt(self) -> None:
        """End what runs, from another thread."""
        self._interrupted = True
        if self._session is not None:
            self._session.interrupt()

    def _report(self, label: str, done: int, total: int) -> None:
        if self._interrupted:
            raise Interrupted("interrupted")
        self._progress(label, done, total)
