"""What builds indexes without a session, whose engine and language take longer to load than to use."""

from __future__ import annotations

from pathlib import Path

from dctv import readers
from dctv.contracts.faults import guarded
from dctv.contracts.reader import Reader
from dctv.contracts.shelf import Shelf
from dctv.index.indexer import Indexer
from dctv.index.location import told_folder
from dctv.processors import usable_processors
from dctv.progress import Progress, Told

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


def indexer(threads: int | None, temp_directory: Path | None, told: Told) -> Indexer:
    """Return what builds and compares indexes, as sessions do."""
    shelf = Shelf(readers, record=Reader, taken=guarded)
    return Indexer(shelf, threads or usable_processors(), told_folder(None), temp_directory, Progress(told))
