"""Processors that this process may use, on every system."""

from __future__ import annotations

import os


def usable_processors() -> int:
    """Return the number of processors that the process may run on; all of them where the system has no such limit."""
    affinity = getattr(os, "sched_getaffinity", None)
    return os.cpu_count() or 1 if affinity is None else len(affinity(0))


def limit_numpy_to_one_thread() -> None:
    """Let numpy compute with one thread, unless it is loaded already or the user has chosen a number.

    OpenBLAS, which it loads, starts a thread for each further processor, and each spins for up to 100 ms before it
    sleeps. Nothing here multiplies matrices, so these threads only take time from others.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
