"""Open an index file after checking every byte, or report why it is unusable."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

from dctv.errors import IndexUnusable, reason_of
from dctv.index.database import Closing, Index
from dctv.index.identity import identities
from dctv.index.location import INDEX, Subject
from dctv.index.schema import APPLICATION, FORMAT_VERSION
from dctv.index.seal import check_seal


def open_index(folder: Path, wanted: Subject, lock: Closing | None = None) -> Index | None:
    """Open the index in a folder if there is one, and check that it is complete and matches these files.

    `lock` is closed with the index; if there is none, the caller closes it.

    Raises:
        IndexUnusable: there is one, but it is unusable.
    """
    for _ in range(3):
        index = open_verified(folder)
        if index is not None:
            break
        if not (folder / INDEX).exists():
            return None
    else:
        raise IndexUnusable(f"the index `{folder / INDEX}` is replaced again and again")
    try:
        _check(index, wanted)
    except BaseException:
        index.close()
        raise
    index.keep_lock(lock)
    return index


def open_verified(folder: Path) -> Index | None:
    """Open an index after checking every byte, whatever its trace is now; None if there is none.

    Also None if it is being replaced.

    Raises:
        IndexUnusable: it is damaged, or has another version.
    """
    path = folder / INDEX
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(path, error) from None
    try:
        try:
            check_seal(file, path)
        except OSError as error:
            raise _unreadable(path, error) from None
        connection = _connect(path)
        try:
            if not os.path.samestat(os.fstat(file), path.stat()):
                connection.close()
                return None
            return _versioned(folder, connection)
        except BaseException as error:
            connection.close()
            if isinstance(error, FileNotFoundError):
                return None
            raise
    finally:
        os.close(file)


def _unreadable(path: Path, error: OSError) -> IndexUnusable:
    return IndexUnusable(f"the index `{path}` cannot be read: {reason_of(error)}")


def _connect(path: Path) -> sqlite3.Connection:
    # Immutable: an index is only ever replaced, so SQLite needs neither locks nor files beside it, which would fail in
    # read-only folders.
    uri = f"file:{quote(os.fsencode(path))}?mode=ro&immutable=1"
    connection = sqlite3.connect(uri, uri=True, check_same_thread=False, isolation_level=None)
    # Open the file now, while it can still be compared with the one that was checked.
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except sqlite3.Error as error:
        connection.close()
        raise IndexUnusable(f"the index `{path}` is damaged: {error}") from None
    return connection


def _versioned(folder: Path, connection: sqlite3.Connection) -> Index:
    path = folder / INDEX
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise IndexUnusable(f"`{path}` is no index of dctv")
    if version != FORMAT_VERSION:
        age = "a newer" if version > FORMAT_VERSION else "an older"
        raise IndexUnusable(
            f"the index `{path}` was written by {age} dctv: found version {version}, expected {FORMAT_VERSION}"
        )
    index = Index(folder, connection)
    if index.about.get("complete") != "1":
        raise IndexUnusable(f"the index `{path}` is not finished")
    return index


def _check(index: Index, wanted: Subject) -> None:
    """Check that an index belongs to these files."""
    if index.about.get("reader") != wanted.reader or index.about.get("options") != wanted.options:
        raise IndexUnusable(f"the index `{index.path}` is of another trace: its format or options differ")
    if tuple(file.path for file in index.files) != wanted.paths:
        raise IndexUnusable(f"the index `{index.path}` is of another trace: its files differ")
    reason = change(index)
    if reason is not None:
        raise IndexUnusable(reason)


def change(index: Index) -> str | None:
    """Describe the change in the files of an index, None if there is none."""
    try:
        found = identities([file.path for file in index.files])
    except OSError as error:
        return f"cannot read `{error.filename}`: {reason_of(error)}"
    changed = [file.path for file, now in zip(index.files, found, strict=True) if file.identity != now]
    if not changed:
        return None
    more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
    return f"`{changed[0]}`{more} changed after it was indexed"
