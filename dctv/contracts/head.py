"""Read the beginning of a file, by which its format is recognized."""

from __future__ import annotations

import zlib
from pathlib import Path

from dctv.contracts.reader import Head
from dctv.errors import TraceError, reason_of

_HEAD_BYTES = 65536
_MAGIC_GZIP = b"\x1f\x8b"


def head_of(path: Path) -> Head:
    """Read the beginning of a file, unpacked where it is gzip."""
    try:
        with path.open("rb") as file:
            raw = file.read(_HEAD_BYTES)
    except OSError as error:
        raise TraceError(f"cannot read `{path}`: {reason_of(error)}") from None
    return Head(path, raw, _unpacked(raw) if raw.startswith(_MAGIC_GZIP) else raw)


def is_cut(head: Head) -> bool:
    """Whether a file that is gzip ends, or is damaged, before its first member does."""
    inflater = zlib.decompressobj(wbits=31)
    try:
        inflater.decompress(head.raw)
    except zlib.error:
        return True
    return not inflater.eof


def compression_of(head: Head) -> str:
    """Return the engine's name for how a file is packed, whatever its ending says."""
    return "gzip" if head.raw.startswith(_MAGIC_GZIP) else "none"


def _unpacked(raw: bytes) -> bytes:
    """Gunzip the beginning of a file, over as many members as it takes: the first may hold only a bracket."""
    text = b""
    while raw.startswith(_MAGIC_GZIP) and len(text) < _HEAD_BYTES:
        inflater = zlib.decompressobj(wbits=31)
        try:
            text += inflater.decompress(raw, _HEAD_BYTES - len(text))
        except zlib.error:
            break
        raw = inflater.unused_data
    return text
