"""Identify a file by its size, its time and a hash of its head and tail, to see whether it has changed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from dctv.record import record

EDGE_BYTES = 64 << 10
"""The number of bytes of a file's head and of its tail that are hashed."""


@record
class Identity:
    """The identity of a file at the time when it was read."""

    size: int
    mtime_ns: int
    hash: int
    """Of size, head and tail, signed: upper 32 bits are the CRC-32 of size and head, lower ones that of the tail."""


def identity(path: Path) -> Identity:
    """Return the identity of a file.

    Raises:
        OSError: it cannot be read.
    """
    from dctv._kernels import crc32

    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        found = os.fstat(file)
        size = found.st_size
        head = os.pread(file, EDGE_BYTES, 0)
        tail = os.pread(file, EDGE_BYTES, size - EDGE_BYTES) if size > EDGE_BYTES else b""
    finally:
        os.close(file)
    both = crc32(head, crc32(size.to_bytes(8, "little"))) << 32 | crc32(tail)
    return Identity(size, found.st_mtime_ns, both - (1 << 63))


def identities(paths: Sequence[Path]) -> list[Identity]:
    """Return the identities of several files.

    Raises:
        OSError: one of them cannot be read.
    """
    return [identity(path) for path in paths]
