"""Arguments of the command line to calls of the session, and what came of them to an exit code."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from dctv.cli.imports import prepare
from dctv.console.verdict import Verdict
from dctv.hints import NoReturn


def main(argv: Sequence[str] | None = None) -> int:
    """Run `dctv` with the arguments (those of the process by default) and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if argv is None:
        prepare(words)
    from dctv.cli.dispatch import dispatch

    with Verdict() as verdict:
        verdict.code = dispatch(words)
    return verdict.code


def process() -> NoReturn:
    """Be the process `dctv`: run, then end without taking apart what the end of the process frees anyway.

    That and rarer collections of garbage save a third of the time of a short question.
    """
    gc.set_threshold(_ALLOCATIONS, 20, 20)
    code = main()
    for stream in (sys.stdout, sys.stderr):
        # Whoever reads may have gone; results were written before, and told as missing if they could not be.
        with suppress(OSError, ValueError):
            if stream is not None:
                stream.flush()
    os._exit(code)


_ALLOCATIONS = 100_000
"""How many more objects there must be before the next search for garbage: more than a short question makes."""

__all__ = ["main", "process"]
