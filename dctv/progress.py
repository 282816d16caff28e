"""Report the progress of work to a listener, until the work is interrupted."""

from __future__ import annotations

from collections.abc import Callable

from dctv.errors import Interrupted

ProgressListener = Callable[[str, int, int], None]
"""Called with the name of the work, the amount done, and the total; 0 and 0 where these are unknown."""


class Progress:
    """Reports for the listener, if any; after an interrupt, the next report ends the work."""

    def __init__(self, listener: ProgressListener | None) -> None:
        self.listener = listener
        self.interrupted: bool = False

    def begin(self) -> None:
        """Clear an interrupt, so that new work can run."""
        self.interrupted = False

    def interrupt(self) -> None:
        """End the running work, from another thread."""
        self.interrupted = True

    def report(self, label: str, done: int, total: int) -> None:
        """Report progress.

        Raises:
            Interrupted: the work was interrupted.
        """
        self.check()
        if self.listener is not None:
            self.listener(label, done, total)

    def check(self) -> None:
        """Raise an error if the work was interrupted.

        Raises:
            Interrupted: the work was interrupted.
        """
        if self.interrupted:
            raise Interrupted("interrupted")
