"""Makes timelines of traces that are indexed, so that they need not be made when they are drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dctv.progress import Progress, Told
from dctv.session import Session

_NAME = "trace"
"""What a trace is mounted as whose timeline is made."""


class Timelines:
    """Makes timelines, each in a session of its own."""

    def __init__(self, told: Told, **limits: Any) -> None:
        """Begin; `limits` are those of each session: `threads`, `memory_limit` and `temp_directory`."""
        self._limits = limits
        self._progress = Progress(told)
        self._session: Session | None = None

    def make(self, path: str, index_dir: Path | None) -> tuple[int, int, list[str]]:
        """Make the timeline of a trace unless it is there; return the numbers of tracks and of rows, and warnings.

        Raises:
            TraceError: the trace cannot be read.
            Interrupted: the user had enough.
        """
        with Session(progress=self._progress.report, index_dir=index_dir, **self._limits) as session:
            self._session = session
            session.mount(path, _NAME)
            tracks = session.timeline(_NAME).tracks
            full = [track for track in tracks if track.rows]
            return len(full), sum(track.rows for track in full), session.warnings()

    def interrupt(self) -> None:
        """End what runs, from another thread."""
        self._progress.interrupt()
        if self._session is not None:
            self._session.interrupt()
