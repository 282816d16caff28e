"""Processors that this process may use, on every system."""

from __future__ import annotations

import os


def usable_processors() -> int:
    """Return the number of processors that the process may run on; all of them where the system has no such limit."""
    affinity = getattr(os, "sched_getaffinity", None)
    return os.cpu_count() or 1 if affinity is None else len(affinity(0))


def limit_numpy_to_one_thread() -> None:
    """Let numpy compute with one thread, if it is not loaded yet and the user has not said how many.

    Its OpenBLAS starts a thread for each further processor when it is loaded, and each spins for 50 to 100 ms before it
    sleeps. Nothing here multiplies matrices, so that is only taken from processes that work.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
