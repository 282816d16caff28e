"""Convert any exception to a message on stderr and an exit code, so that users see no traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import TracebackType

from dctv.console.narration import complain, print_stderr
from dctv.errors import DctvError, Interrupted

OK = 0
FAILED = 1
WRONG = 2
PARTIAL = 3
OUR_BUG = 4
INTERRUPTED = 130
BROKEN_PIPE = 141
"""The shell's exit code for a program whose output pipe was closed."""


class ExitVerdict:
    """A context that swallows every exception and keeps the exit code for it."""

    def __init__(self, tell: Callable[[DctvError], None] = complain) -> None:
        self.code: int = OK
        self._tell = tell

    def __enter__(self) -> ExitVerdict:
        """Enter the context."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        """Report an exception and keep its exit code."""
        match error:
            case None:
                pass
            case SystemExit():
                self.code = error.code if isinstance(error.code, int) else WRONG
            case DctvError():
                self._tell(error)
                self.code = error.exit_code
            case KeyboardInterrupt():
                self._tell(Interrupted("interrupted"))
                self.code = INTERRUPTED
            case BrokenPipeError():
                self.code = BROKEN_PIPE
            case _:
                _confess(error)
                self.code = OUR_BUG
        if error is not None:
            discard(error)
        return True


def discard(error: BaseException) -> None:
    """Clear the frames of an error: half-read results would outlive the session otherwise."""
    from traceback import clear_frames

    chain: BaseException | None = error
    while chain is not None:
        clear_frames(chain.__traceback__)
        chain = chain.__context__


def _confess(error: BaseException) -> None:
    if os.environ.get("DCTV_DEBUG") == "1":
        sys.excepthook(type(error), error, error.__traceback__)
    what = str(error).split("\n", 1)[0][:200]
    print_stderr(f"error: internal error: {type(error).__name__}: {what}" if what else f"error: {type(error).__name__}")
    print_stderr(
        "hint: this is a bug in dctv; please report it with the query and the traceback that DCTV_DEBUG=1 prints"
    )
