"""How far work is -> whoever wants to know, until they have had enough of it."""

from __future__ import annotations

from collections.abc import Callable

from dctv.errors import Interrupted

ProgressListener = Callable[[str, int, int], None]
"""Told what is done, how much of it, and how much there is in all; 0 and 0 where nobody knows."""


class Progress:
    """Hands reports on, if somebody is told; once it is interrupted, the next report ends the work."""

    def __init__(self, listener: ProgressListener | None) -> None:
        self.listener = listener
        self.interrupted: bool = False

    def begin(self) -> None:
        """Let new work be done: what was interrupted is over."""
        self.interrupted = False

    def interrupt(self) -> None:
        """End what runs, from another thread."""
        self.interrupted = True

    def report(self, label: str, done: int, total: int) -> None:
        """Tell how far work is.

        Raises:
            Interrupted: the user had enough.
        """
        self.check()
        if self.listener is not None:
            self.listener(label, done, total)

    def check(self) -> None:
        """Go on, or end the work.

        Raises:
            Interrupted: the user had enough.
        """
        if self.interrupted:
            raise Interrupted("interrupted")
