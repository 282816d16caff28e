"""How many processors this process may use, on every system."""

from __future__ import annotations

import os


def usable_processors() -> int:
    """Return how many processors the process may run on; all of them where the system does not limit processes so."""
    affinity = getattr(os, "sched_getaffinity", None)
    return os.cpu_count() or 1 if affinity is None else len(affinity(0))
