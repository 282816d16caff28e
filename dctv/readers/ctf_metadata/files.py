"""Find the metadata and stream files of a CTF trace in a folder."""

from __future__ import annotations

import struct
from pathlib import Path

from dctv.errors import TraceError, reason_of

METADATA = "metadata"
PACKET = 0x75D11D57
"""The magic number of metadata packets."""
_STREAM = 0xC1FC1FC1


def is_metadata(head: bytes) -> bool:
    """Whether a file begins like metadata."""
    start = head.lstrip()
    return (
        start.startswith(b"/* CTF 1.")
        or (start.startswith(b"\x1e") and start[1:].lstrip().startswith(b"{"))
        or byte_order(head, PACKET) is not None
    )


def is_stream(head: bytes) -> bool:
    """Whether a file begins with the magic number of event packets, which streams may lack."""
    return byte_order(head, _STREAM) is not None


def byte_order(head: bytes, magic: int) -> str | None:
    """Return the byte order of the magic number that a file begins with, in `struct` notation."""
    return next((order for order in "<>" if head[:4] == struct.pack(f"{order}I", magic)), None)


def streams(folder: Path) -> list[Path]:
    """Return the stream files of a trace's folder: all files except metadata and hidden ones."""
    try:
        files = sorted(one for one in folder.iterdir() if one.is_file())
    except OSError as error:
        raise TraceError(f"cannot read `{folder}`: {reason_of(error)}") from None
    return [one for one in files if one.name != METADATA and not one.name.startswith(".")]
