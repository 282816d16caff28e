"""Append a trailer with length and checksum to an index file, and check it when the file is opened.

The trailer follows the pages of the database, where SQLite ignores it.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

from dctv.errors import IndexUnusable

_TRAILER = struct.Struct("<8sQII")
_MAGIC = b"dctv-idx"
_BLOCK = 256 << 10


def checksum(file: int, size: int, start: int = 0) -> int:
    """Return the CRC-32 of the first bytes of an open file, continuing from the checksum `start`."""
    from dctv._kernels import crc32

    done, found = 0, start
    while done < size:
        block = os.pread(file, min(_BLOCK, size - done), done)
        if not block:
            break
        found = crc32(block, found)
        done += len(block)
    return found


def seal(path: Path) -> None:
    """Append the trailer to a finished database and sync it to disk.

    Raises:
        OSError: there is no room.
    """
    from dctv._kernels import crc32

    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
    try:
        size = os.fstat(file).st_size
        found = checksum(file, size)
        written = os.write(file, _TRAILER.pack(_MAGIC, size, found, crc32(size.to_bytes(8, "little"), found)))
        if written != _TRAILER.size:
            raise OSError(28, os.strerror(28))
        os.fsync(file)
    finally:
        os.close(file)


def check_seal(file: int, path: Path) -> int:
    """Check every byte of an open file, and return the size of its database.

    Raises:
        IndexUnusable: it is damaged.
    """
    from dctv._kernels import crc32

    whole = os.fstat(file).st_size
    size = whole - _TRAILER.size
    trailer = os.pread(file, _TRAILER.size, size) if size > 0 else b""
    if len(trailer) < _TRAILER.size:
        raise IndexUnusable(f"the index `{path}` is damaged: its end is missing")
    magic, stated, found, again = _TRAILER.unpack(trailer)
    if magic != _MAGIC or stated != size or again != crc32(size.to_bytes(8, "little"), found):
        raise IndexUnusable(f"the index `{path}` is damaged: its end is missing")
    if checksum(file, size) != found:
        raise IndexUnusable(f"the index `{path}` is damaged: its checksum is wrong")
    return size


def unsealed_copy(source: Path, target: Path) -> None:
    """Copy an index without its trailer, so that SQLite can modify the copy.

    Raises:
        OSError: it cannot be written.
        IndexUnusable: it is damaged.
    """
    import shutil

    shutil.copyfile(source, target)
    file = os.open(target, os.O_RDWR | os.O_CLOEXEC)
    try:
        os.ftruncate(file, check_seal(file, source))
    finally:
        os.close(file)
