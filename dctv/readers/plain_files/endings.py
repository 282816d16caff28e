"""A text, plain or gzip -> its last line, if that has no end."""

from __future__ import annotations

import gzip
from pathlib import Path

_TAIL = 1 << 20
"""Bytes of a last line at most that are looked at."""


def open_line(path: Path) -> bytes | None:
    """Return the last line of a text that does not end with one; None if it does, or if what is left is blank."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
        if not packed:
            size = file.seek(0, 2)
            file.seek(max(0, size - _TAIL))
            tail = file.read()
    if packed:
        tail = _unpacked_tail(path)
    line = tail.rpartition(b"\n")[2]
    return line if line.strip() else None


def _unpacked_tail(path: Path) -> bytes:
    tail = b""
    with gzip.open(path) as file:
        while piece := file.read(_TAIL):
            tail = piece if len(piece) == _TAIL else tail + piece
    return tail
