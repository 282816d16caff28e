"""Turns paths of traces into indexes without a session, whose engine and language take longer to load than to use."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from dctv import readers
from dctv.catalog.files import find_traces
from dctv.contracts.reader import LoadContext, Reader
from dctv.contracts.shelf import scan
from dctv.errors import Interrupted
from dctv.index.order import Order, Outcome, differences, fulfil
from dctv.index.trace import Trace

Progress = Callable[[str, int, int], None]

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Parameters of the C library's `mallopt`."""
_KEPT = 256 << 20
_MAPPED = 64 << 20


def keep_memory() -> None:
    """Let the C library keep what is freed, for the whole process; where it is another one than glibc, do nothing.

    Chunks come and go; giving their pages back each time costs a tenth of an index.
    """
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_TRIM_THRESHOLD, _KEPT)
        mallopt(_MMAP_THRESHOLD, _MAPPED)


class Indexer:
    """Builds and compares indexes, as `Session.index` and `Session.check_index` do."""

    def __init__(self, threads: int | None, progress: Progress) -> None:
        self._threads = threads or len(os.sched_getaffinity(0))
        self._progress = progress
        self._readers = scan(readers, Reader)
        self._interrupted = False

    def index(self, path: str, order: Order) -> Outcome:
        """Build the index and the column store of a trace, or what they lack.

        Raises:
            IndexFailed: they cannot be written, or the trace cannot be indexed.
            TraceError: it cannot be read.
        """
        return fulfil(*self._ordered(path, order), path, self._report)

    def check(self, path: str, order: Order) -> list[str]:
        """Compare the index of a trace with the trace; return in words what differs.

        Raises:
            IndexUnusable: there is no index that could be compared.
        """
        return differences(*self._ordered(path, order), path, self._report)

    def interrupt(self) -> None:
        """End what runs, from another thread; it raises Interrupted."""
        self._interrupted = True

    def _ordered(self, path: str, order: Order) -> tuple[Trace, Order]:
        files = find_traces([path], self._readers, None)
        context = LoadContext({}, self._threads, lambda _done, _total: None)
        told = os.environ.get("DCTV_INDEX_DIR")
        folder = order.index_dir or (Path(told) if told else None)
        return Trace(files.paths, files.reader, context), replace(order, index_dir=folder)

    def _report(self, label: str, done: int, total: int) -> None:
        if self._interrupted:
            raise Interrupted("interrupted")
        self._progress(label, done, total)
