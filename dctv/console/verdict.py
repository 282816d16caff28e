"""Turns whatever was raised into words on stderr and an exit code; no traceback reaches a user."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import TracebackType

from dctv.console.narration import complain, say
from dctv.errors import DctvError, Interrupted

OK = 0
FAILED = 1
WRONG = 2
PARTIAL = 3
OUR_BUG = 4
INTERRUPTED = 130
BROKEN_PIPE = 141
"""As the shell reports any program whose reader went away."""


class ExitVerdict:
    """A context that swallows every exception and keeps the exit code for it."""

    def __init__(self, tell: Callable[[DctvError], None] = complain) -> None:
        self.code: int = OK
        self._tell = tell

    def __enter__(self) -> ExitVerdict:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        """Say what happened and keep the code for it."""
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
            let_go(error)
        return True


def let_go(error: BaseException) -> None:
    """Free what the frames of an error hold: half-read results would outlive the session otherwise."""
    from traceback import clear_frames

    chain: BaseException | None = error
    while chain is not None:
        clear_frames(chain.__traceback__)
        chain = chain.__context__


def _confess(error: BaseException) -> None:
    if os.environ.get("DCTV_DEBUG") == "1":
        sys.excepthook(type(error), error, error.__traceback__)
    what = str(error).split("\n", 1)[0][:200]
    say(f"error: internal error: {type(error).__name__}: {what}" if what else f"error: {type(error).__name__}")
    say("hint: this is a bug in dctv; please report it with the query and the traceback that DCTV_DEBUG=1 prints")
