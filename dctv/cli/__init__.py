"""Arguments of the command line to calls of the session, and what came of them to an exit code."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

    from dctv.cli.errand import Lent

_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None, warm: Lent | None = None) -> int:
    """Run `dctv` with the arguments (those of the process by default) and return its exit code.

    `warm` is what the command is to use that was sent to this process by another one.
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
    """Be the process `dctv`: run, then end without taking apart what the end of the process frees anyway.

    That and rarer collections of garbage save a third of the time of a short question.
    """
    signal.signal(signal.SIGINT, _leave)
    _fill_descriptors()
    import gc
    from contextlib import suppress

    gc.set_threshold(_ALLOCATIONS, 20, 20)
    code = main()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for stream in (sys.stdout, sys.stderr):
        # Whoever reads may have gone; results were written before, and told as missing if they could not be.
        with suppress(OSError, ValueError):
            if stream is not None:
                stream.flush()
    os._exit(code)


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    """End a process that has not begun to work: a traceback would tell of nothing but imports."""
    os.write(2, b"error: interrupted\n")
    os._exit(_INTERRUPTED)


def _fill_descriptors() -> None:
    """Put something that cannot be written where stdin, stdout or stderr are closed: a trace would be opened there."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)


_ALLOCATIONS = 100_000
"""How many more objects there must be before the next search for garbage: more than a short question makes."""

__all__ = ["main", "process"]
