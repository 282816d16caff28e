"""Write into a folder: errors of the disk are errors for users, and folders do not stay after a failure."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from dctv.whole_file import cannot_write


@contextmanager
def writing(target: Path) -> Iterator[None]:
    """Convert disk errors to errors for users, which name the target and not a temporary file in it."""
    try:
        yield
    except OSError as error:
        raise cannot_write(f"`{target}`", error) from error


@contextmanager
def writing_database(target: Path) -> Iterator[None]:
    """Convert SQLite's errors to errors for users."""
    try:
        yield
    except sqlite3.Error as error:
        # Errors of Python's module itself have no code.
        full = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
        cause = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) if full else OSError(str(error))
        raise cannot_write(f"`{target}`", cause) from error


@contextmanager
def folders_of(paths: Sequence[Path]) -> Iterator[None]:
    """Create the folders of files; after a failure, remove those of them that are empty."""
    missing = {folder for path in paths for folder in path.parents if not folder.exists()}
    try:
        for path in paths:
            path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for folder in sorted(missing, key=lambda one: len(one.parts), reverse=True):
            with suppress(OSError):
                folder.rmdir()
        raise
