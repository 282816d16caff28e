"""Folders for data that does not fit into memory; what a killed process leaves is removed by a later one."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from glob import escape
from itertools import count
from pathlib import Path
from shutil import rmtree

from dctv.errors import UsageError
from dctv.locking import FileLock, is_at, locked

_LOCK = ".lock"
_EXCLUSIVE = fcntl.LOCK_EX | fcntl.LOCK_NB
_numbers = count()

MORE_ROOM = "free space there, or name another folder: --temp-directory, or Session(temp_directory=...)"
"""A hint for a disk that is full."""


def ensured_folder(folder: Path) -> Path:
    """Return a folder, created if it is missing.

    Raises:
        UsageError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise UsageError(f"cannot make the folder `{folder}` for rows that do not fit into memory") from None
    return folder


class SpillFolder:
    """A session's folder for spilled rows, in the wanted folder or in the user's cache; only the user may read it.

    A lock beside it says that its process lives. Folders of this machine's processes that are gone are removed: on some
    networked file systems, machines do not see the locks of others.

    Raises:
        UsageError: the wanted folder cannot be made.
    """

    def __init__(self, wanted: Path | None) -> None:
        root = _root(wanted)
        _remove_abandoned(root)
        self.path, self._lock = _made(root)

    def close(self) -> None:
        """Remove the folder and its lock, and those of worker processes that were ended."""
        rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            _lock_of(self.path).unlink(missing_ok=True)
            self._lock.close()
            self._lock = None
            _remove_abandoned(self.path.parent)


def remove_abandoned(wanted: Path | None) -> None:
    """Remove the folders of ended processes from the wanted folder, or from the user's cache."""
    with suppress(UsageError):
        _remove_abandoned(_root(wanted))


def _root(wanted: Path | None) -> Path:
    try:
        return ensured_folder(wanted or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dctv")
    except UsageError:
        if wanted is not None:
            raise
        # The home is not writable.
        return Path.cwd()


def _made(root: Path) -> tuple[Path, FileLock | None]:
    """Make a new folder, and return it with its lock; if that fails, whatever first writes to it reports why.

    The lock is there first: a folder without one might be taken for that of a process that is gone.
    """
    while True:
        path = root / _name()
        try:
            lock = _lock(_lock_of(path))
        except FileExistsError:
            continue
        try:
            path.mkdir(mode=0o700)
        except FileExistsError:
            # Others may write to the root: one that is there already may be theirs.
            if lock is not None:
                _lock_of(path).unlink(missing_ok=True)
                lock.close()
            continue
        except OSError:
            pass
        return path, lock


def _name() -> str:
    return f"{_prefix()}{os.getpid()}-{next(_numbers)}"


def _prefix() -> str:
    return f"spill-{os.uname().nodename.replace('/', '_')}-"


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}{_LOCK}")


def _lock(path: Path) -> FileLock | None:
    """Lock a new file; None if that is impossible: then the folder stays if this process is killed.

    Raises:
        FileExistsError: it is there, or another process has removed it already, since it was not locked yet.
    """
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        raise
    except OSError:
        return None
    taken = not locked(file, _EXCLUSIVE) or not is_at(file, path)
    if not taken and locked(file, _EXCLUSIVE, unknown=False):
        return FileLock(file)
    os.close(file)
    if taken:
        raise FileExistsError(path)
    # The file system has no locks.
    path.unlink(missing_ok=True)
    return None


def _remove_abandoned(root: Path) -> None:
    """Remove the folders of processes of this machine that no longer live."""
    with suppress(OSError):
        for path in root.glob(f"{escape(_prefix())}*{_LOCK}"):
            _remove_if_abandoned(path)


def _remove_if_abandoned(lock: Path) -> None:
    try:
        file = os.open(lock, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return
    with FileLock(file):
        if os.fstat(file).st_uid == os.getuid() and locked(file, _EXCLUSIVE, unknown=False) and is_at(file, lock):
            rmtree(lock.with_suffix(""), ignore_errors=True)
            lock.unlink(missing_ok=True)
