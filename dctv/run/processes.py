"""Worker processes for traces: starting them, and ending them in any state."""

from __future__ import annotations

import gc
import signal
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context

_ALLOCATIONS = 20_000
"""Between two looks for garbage among new objects; of 700, which is Python's own choice, each trace makes dozens."""


def started(workers: int) -> ProcessPoolExecutor:
    """Return an executor with this many processes, each of which starts on demand."""
    # A fork would copy the threads' locks.
    return ProcessPoolExecutor(workers, get_context("spawn"), _begin)


def end(pool: Executor) -> None:
    """End the processes of an executor."""
    # Nothing public ends workers that are busy before Python 3.14.
    for one in list((getattr(pool, "_processes", None) or {}).values()):
        one.kill()
    pool.shutdown(cancel_futures=True)


def _begin() -> None:
    """Leave Ctrl-C to the process that hands out work; look for garbage rarely, since each piece leaves little."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(_ALLOCATIONS, 20, 20)
