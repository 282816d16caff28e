"""Locks on files, which end with the process that holds them."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

_NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}


class FileLock:
    """A lock on a file that is held until it is closed."""

    def __init__(self, file: int, *, sure: bool = True) -> None:
        self._file: int | None = file
        self.sure = sure
        """Whether the file system supports locks."""

    def close(self) -> None:
        """Release the lock."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)

    def __enter__(self) -> FileLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def locked(file: int, operation: int, *, unknown: bool = True) -> bool:
    """Lock an open file; return whether that worked, or `unknown` where the file system has no locks."""
    try:
        fcntl.flock(file, operation)
    except OSError as error:
        return unknown and error.errno in _NO_LOCKS
    return True


def is_at(file: int, path: Path) -> bool:
    """Whether a path still is the file that was opened: its folder may have been removed since."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except OSError:
        return False
