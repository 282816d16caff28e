"""List the indexes in the cache folder, and prune it: the least recently used go first."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from dctv.errors import IndexUnusable
from dctv.index import locks
from dctv.index.keeper import sweep
from dctv.index.location import FLEETS, INDEX
from dctv.index.opening import change, open_verified
from dctv.record import record

_PRUNED = "pruned"
"""A file in the cache folder whose time is that of the last pruning after a build."""
_PAUSE = 60
"""Seconds between two of these."""
MOST_BYTES = 20 << 30
"""Maximum size of all indexes in the cache, if the disk is at least ten times as large."""


@record
class CachedIndex:
    """An index in the cache."""

    folder: Path
    paths: tuple[Path, ...]
    """Of its trace; empty if the index has none."""
    bytes: int
    """Of index and column store."""
    last_use: float
    """Seconds since the epoch."""
    problem: str | None
    """Why it is unusable, None if it is good."""
    histories: tuple[str, ...] = ()
    """State systems whose histories are kept with it."""


@record
class CacheLimit:
    """The bounds of the cache."""

    most_bytes: int | None = None
    oldest: float | None = None
    """Seconds since the last use."""
    nothing: bool = False


def entries(root: Path, *, look: bool = True) -> list[CachedIndex]:
    """Return the indexes below a folder, the most recently used first; `look` checks whether they are good."""
    found = [_entry(folder, look=look) for folder in _folders(root)]
    return sorted(found, key=lambda entry: (-entry.last_use, entry.folder))


def prune(root: Path, bound: CacheLimit) -> list[CachedIndex]:
    """Remove indexes beyond a bound, the least recently used first; return those removed.

    Indexes stay if they are in use or cannot be removed.
    """
    for folder in _folders(root):
        sweep(folder)
    kept = entries(root, look=False)
    total = sum(entry.bytes for entry in kept)
    removed = []
    now = time.time()
    for entry in reversed(kept):
        old = bound.oldest is not None and now - entry.last_use > bound.oldest
        large = bound.most_bytes is not None and total > bound.most_bytes
        if (bound.nothing or old or large) and _removed(entry.folder):
            removed.append(entry)
            total -= entry.bytes
    _forget_fleets(root, bound, now)
    return removed


def keep_small(root: Path) -> None:
    """Prune the cache to its maximum size after something was added, unless that was done in the last minute.

    It looks at every index, so pruning after each of a thousand that are built would take longer than building them.
    """
    mark = root / _PRUNED
    with suppress(OSError):
        if 0 <= time.time() - mark.stat().st_mtime < _PAUSE:
            return
    with suppress(OSError):
        mark.touch()
    prune(root, CacheLimit(most_bytes(root)))


def _forget_fleets(root: Path, bound: CacheLimit, now: float) -> None:
    """Remove cached facts about fleets; they are small, and are recomputed on demand."""
    for file in (root / FLEETS).glob("*.json"):
        with suppress(OSError):
            if bound.nothing or (bound.oldest is not None and now - file.stat().st_mtime > bound.oldest):
                file.unlink()


def most_bytes(root: Path) -> int:
    """Return the maximum size of the cache: 20 GiB, or a tenth of its disk if that is less."""
    try:
        return min(MOST_BYTES, shutil.disk_usage(root).total // 10)
    except OSError:
        return MOST_BYTES


def _folders(root: Path) -> Iterator[Path]:
    try:
        found = sorted(root.iterdir())
    except OSError:
        return
    for folder in found:
        if folder.is_dir() and not folder.is_symlink() and ((folder / INDEX).exists() or (folder / locks.USE).exists()):
            yield folder


def _entry(folder: Path, *, look: bool) -> CachedIndex:
    paths, problem, histories = _looked_at(folder) if look else ((), None, ())
    return CachedIndex(folder, paths, _size(folder), locks.last_use(folder), problem, histories)


def _looked_at(folder: Path) -> tuple[tuple[Path, ...], str | None, tuple[str, ...]]:
    """Return the files of the trace, why the index is unusable, and the names of its histories."""
    from dctv.index.history_notes import stored_histories

    paths: tuple[Path, ...] = ()
    problem: str | None = None
    kept = stored_histories(folder)
    try:
        index = open_verified(folder)
    except IndexUnusable as error:
        index, problem = None, error.message
    if index is not None:
        paths = tuple(file.path for file in index.files)
        problem = change(index)
        index.close()
    elif problem is None and kept:
        paths = kept[0][1]
    elif problem is None:
        problem = "the index is not finished"
    return paths, problem, tuple(name for name, _ in kept)


def _size(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(place) / name).lstat().st_size
            except OSError:
                continue
    return total


def _removed(folder: Path) -> bool:
    hold = locks.remove(folder)
    if hold is None:
        return False
    with hold:
        try:
            # The index first: without it the rest is ignored. The lock last: it excludes other processes.
            (folder / INDEX).unlink(missing_ok=True)
            for path in folder.iterdir():
                if path.is_dir():
                    shutil.rmtree(path)
                elif path.name != locks.USE:
                    path.unlink()
            (folder / locks.USE).unlink(missing_ok=True)
            folder.rmdir()
        except OSError:
            return not (folder / INDEX).exists()
    return True
