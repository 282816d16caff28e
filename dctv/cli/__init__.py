"""Run commands: arguments of the command line become calls of the session, and the outcome an exit code."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

    from dctv.cli.task import SharedSession

_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None, warm: SharedSession | None = None) -> int:
    """Run `dctv` with the arguments (those of the process by default) and return its exit code.

    `warm` is the session for a command that another process sent to this one.
    """
    from dctv.console.verdict import ExitVerdict

    words = list(sys.argv[1:] if argv is None else argv)
    with ExitVerdict() as verdict:
        if argv is None:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        from dctv.cli.dispatch import dispatch

        verdict.code = dispatch(words, warm)
    return verdict.code


def process() -> NoReturn:
    """Run as the process `dctv`: run, then exit without cleanup that the end of the process makes unnecessary.

    That and less frequent garbage collection save a third of the time of a short query.
    """
    signal.signal(signal.SIGINT, _leave)
    _fill_descriptors()
    import gc
    from contextlib import suppress

    from dctv.processors import limit_numpy_to_one_thread

    gc.set_threshold(_ALLOCATIONS, 20, 20)
    limit_numpy_to_one_thread()
    code = main()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for stream in (sys.stdout, sys.stderr):
        # The reader may have closed the pipe; results were flushed before, and failures to do so were reported.
        with suppress(OSError, ValueError):
            if stream is not None:
                stream.flush()
    os._exit(code)


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    """Exit before any work has started: a traceback would show only imports."""
    os.write(2, b"error: interrupted\n")
    os._exit(_INTERRUPTED)


def _fill_descriptors() -> None:
    """Open closed stdin, stdout or stderr as read-only: otherwise a trace would get their number."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)


_ALLOCATIONS = 250_000
"""How many more objects must be allocated before the next garbage collection: more than a short query allocates."""

__all__ = ["main", "process"]
