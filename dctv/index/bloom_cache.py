"""A cache of Bloom filters read from indexes: bounded in bytes, with LRU eviction."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from dctv.index.records import Bloom

Key = tuple[Path, str, str, int]
"""An index's path, its generation, a dimension and a chunk's position; files are -1, -2 and so on."""


class Filter(Protocol):
    """A set of texts with false positives."""

    def may_contain(self, text: str) -> bool:
        """Whether a text may be in the set."""
        ...


class BloomCache:
    """Filters by origin; thread-safe."""

    def __init__(self, limit: int = 64 << 20) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._filters: OrderedDict[Key, tuple[Filter | None, int]] = OrderedDict()
        self._bytes = 0

    @property
    def bytes(self) -> int:
        """Bytes of the filters."""
        return self._bytes

    def __len__(self) -> int:
        return len(self._filters)

    def is_cached(self, key: Key) -> bool:
        """Whether a filter is cached; does not count as a use."""
        return key in self._filters

    def get(self, key: Key, read: Callable[[], Bloom | None]) -> Filter | None:
        """Return a filter, and read it on a miss; None if there is none, or it is damaged."""
        with self._lock:
            if key in self._filters:
                self._filters.move_to_end(key)
                return self._filters[key][0]
        # Two threads may read the same filter at once; the second replaces the first.
        blob = read()
        made = None if blob is None else _filter(blob)
        size = 100 + (0 if blob is None else len(blob.data))
        with self._lock:
            self._drop(key)
            if size <= self._limit:
                self._filters[key] = (made, size)
                self._bytes += size
            while self._bytes > self._limit:
                self._drop(next(iter(self._filters)))
        return made

    def _drop(self, key: Key) -> None:
        if key in self._filters:
            self._bytes -= self._filters.pop(key)[1]


def _filter(blob: Bloom) -> Filter | None:
    from dctv import _kernels  # compiled; only needed when a filter is read

    try:
        found: Filter = _kernels.Bloom.from_bytes(blob.data)
    except ValueError:
        return None
    return found


CACHE = BloomCache()
"""The filters of this process."""
