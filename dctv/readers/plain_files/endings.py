"""Find the last line of a text, plain or gzip, if it has no newline."""

from __future__ import annotations

import gzip
from pathlib import Path

_TAIL = 1 << 20
"""The maximum number of bytes of a last line that are read."""


def open_line(path: Path) -> bytes | None:
    """Return the last line of a text if it lacks a newline; None if it has one, or if the line is blank."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
        if not packed:
            size = file.seek(0, 2)
            file.seek(max(0, size - _TAIL))
            tail = file.read()
    if packed:
        tail = _unpacked_tail(path)
    # Old texts end lines with CR alone.
    line = tail.replace(b"\r", b"\n").rpartition(b"\n")[2]
    return line if line.strip() else None


def _unpacked_tail(path: Path) -> bytes:
    tail = b""
    with gzip.open(path) as file:
        while piece := file.read(_TAIL):
            tail = piece if len(piece) == _TAIL else tail + piece
    return tail
