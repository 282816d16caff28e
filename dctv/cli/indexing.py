"""Turns paths of traces into indexes without a session, whose engine and language take longer to load than to use."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from dctv import readers
from dctv.catalog.files import find_traces
from dctv.contracts.reader import LoadContext, Reader
from dctv.contracts.shelf import Shelf
from dctv.errors import Interrupted
from dctv.index.order import Order, Outcome, differences, fulfil
from dctv.index.trace import Trace
from dctv.processors import usable_processors
from dctv.record import replace

Progress = Callable[[str, int, int], None]

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -2, -3, -8
"""Parameters of the C library's `mallopt`."""
_HUGE_PAGES = 14
"""What `madvise` calls MADV_HUGEPAGE."""
_HUGE = 2 << 20
_HEAP = 256 << 20
_MAPPED = 64 << 20


def keep_memory() -> None:
    """Let the C library keep what is freed, for all threads, in huge pages; another library than glibc is left alone.

    Chunks come and go in several threads. Memory that each thread keeps for itself, or that the system has to give and
    clear again page by page, costs a quarter of an index. Addresses are taken in advance, pages when they are used.
    """
    import ctypes

    library = ctypes.CDLL(None)
    if not hasattr(library, "mallopt"):
        return
    for parameter, value in ((_ARENA_MAX, 1), (_TRIM_THRESHOLD, _HEAP), (_MMAP_THRESHOLD, _MAPPED), (_TOP_PAD, _HEAP)):
        library.mallopt(parameter, value)
    library.sbrk.restype = library.malloc.restype = ctypes.c_void_p
    first = library.sbrk(0)
    library.free(ctypes.c_void_p(library.malloc(_HUGE)))
    begin = -(-first // _HUGE) * _HUGE
    size = library.sbrk(0) - begin
    if 0 < size <= 2 * _HEAP:
        library.madvise(ctypes.c_void_p(begin), ctypes.c_size_t(size), _HUGE_PAGES)


class Indexer:
    """Builds and compares indexes, as `Session.index` and `Session.check_index` do."""

    def __init__(self, threads: int | None, progress: Progress) -> None:
        self._threads = threads or usable_processors()
        self._progress = progress
        self._readers = Shelf(readers, record=Reader)
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
