"""Raise Python's recursion limit for statements that nest deeply."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_FRAMES = 20_000
"""Enough for the deepest statement that the parser lets through: binding takes about ten frames a level."""


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Raise the recursion limit, so that long chains of operators can be walked."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
