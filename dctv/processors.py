"""Count the processors that this process may use, on every system."""

from __future__ import annotations

import os


def usable_processors() -> int:
    """Return the number of processors that the process may run on; all of them where the system has no such limit."""
    affinity = getattr(os, "sched_getaffinity", None)
    return os.cpu_count() or 1 if affinity is None else len(affinity(0))
