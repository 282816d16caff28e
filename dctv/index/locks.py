"""Lock an index's folder: for readers, for the one builder, and for removal.

Readers and builders hold `lock` shared; a process that removes holds it exclusively. Its modification time is when the
index was last used. The builder holds `building.lock`. On a file system without locks, every process may read and
build, since an index is only ever replaced as a whole, and none may remove.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path

from dctv.locking import FileLock, is_at, locked

USE = "lock"
BUILDING = "building.lock"

_PULSE = 0.1
_TRIES = 100
"""How often the folder may be removed while opening its lock, before giving up."""
_FRESH = 60
"""Seconds after a use in which another one is not recorded."""


def use(folder: Path) -> FileLock | None:
    """Lock a folder shared, against removal; None if it does not exist, or its lock cannot be opened."""
    for _ in range(_TRIES):
        file = _open(folder / USE, make=folder.is_dir())
        if file is None:
            return None
        if locked(file, fcntl.LOCK_SH) and is_at(file, folder / USE):
            _touch(file)
            return FileLock(file)
        os.close(file)
    return None


def remove(folder: Path) -> FileLock | None:
    """Lock a folder exclusively, to remove all or parts of it; None if it is in use, or cannot be changed."""
    file = _open(folder / USE, make=folder.is_dir())
    if file is None:
        return None
    if locked(file, fcntl.LOCK_EX | fcntl.LOCK_NB, unknown=False) and is_at(file, folder / USE):
        return FileLock(file)
    os.close(file)
    return None


def build(folder: Path, waiting: Callable[[], None] | None, name: str = BUILDING) -> FileLock | None:
    """Become the builder in a folder that `use` holds; each lock name has one builder.

    `waiting` is called repeatedly while another process builds, and ends the wait by raising; without it the result is
    None in that case.

    Raises:
        OSError: the folder cannot be written.
    """
    file = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        while not locked(file, fcntl.LOCK_EX | fcntl.LOCK_NB):
            if waiting is None:
                os.close(file)
                return None
            waiting()
            time.sleep(_PULSE)
    except BaseException:
        os.close(file)
        raise
    return FileLock(file, sure=locked(file, fcntl.LOCK_EX | fcntl.LOCK_NB, unknown=False))


def last_use(folder: Path) -> float:
    """Return when an index was last used, in seconds since the epoch; 0 if unknown."""
    try:
        return (folder / USE).stat().st_mtime
    except OSError:
        return 0.0


def _open(path: Path, *, make: bool) -> int | None:
    try:
        return os.open(path, os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if make else 0), 0o666)
    except OSError:
        pass
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None


def _touch(file: int) -> None:
    if time.time() - os.fstat(file).st_mtime > _FRESH:
        try:
            os.utime(file)
        except OSError:
            return
