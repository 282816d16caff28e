"""Turns the file `metadata` of a CTF trace into classes of streams and events: plain text, text in packets, JSON."""

from __future__ import annotations

import struct
from pathlib import Path

from dctv.readers.ctf_classes import MetadataError, TraceClass
from dctv.readers.ctf_tsdl import MOST_BYTES

METADATA = "metadata"
_PACKET = 0x75D11D57
_STREAM = 0xC1FC1FC1
_HEADER = "I16sIIIBBBBB"
_HEADER_BYTES = 37
_VERSIONS = {(1, 8), (2, 0)}


def is_metadata(head: bytes) -> bool:
    """Whether a file begins like metadata."""
    start = head.lstrip()
    return (
        start.startswith(b"/* CTF 1.")
        or (start.startswith(b"\x1e") and start[1:].lstrip().startswith(b"{"))
        or _order(head, _PACKET) is not None
    )


def is_stream(head: bytes) -> bool:
    """Whether a file begins with the magic number of packets of events, which streams need not have."""
    return _order(head, _STREAM) is not None


def _order(head: bytes, magic: int) -> str | None:
    """Return the byte order in which a file begins with a magic number, as `struct` has it."""
    return next((order for order in "<>" if head[:4] == struct.pack(f"{order}I", magic)), None)


def read_metadata(path: Path) -> TraceClass:
    """Return what the metadata of a trace say.

    Raises:
        MetadataError: they cannot be used.
        OSError: they cannot be read.
    """
    raw = path.read_bytes()
    notes: dict[str, list[str]] = {}
    order = _order(raw, _PACKET)
    uuid = b""
    if order is not None:
        uuid = raw[4:20]
        raw = _unpacked(raw, order, notes)
    text = raw.decode("utf-8", "replace")
    if text.lstrip(" \t\r\n").startswith("\x1e"):  # which is white space to Python
        from dctv.readers.ctf_json import read_json

        trace = read_json(text)
    else:
        from dctv.readers.ctf_tsdl_trace import read_tsdl

        trace = read_tsdl(text)
    trace.uuid = trace.uuid or uuid
    trace.notes.update(notes)
    return trace


def _unpacked(raw: bytes, order: str, notes: dict[str, list[str]]) -> bytes:
    """Return the text of metadata that are in packets."""
    found = []
    at = 0
    while at < len(raw):
        if at + _HEADER_BYTES > len(raw):
            notes.setdefault("a packet of the metadata is cut off", []).append(f"byte {at}")
            break
        magic, _, _, content, size, *coded = struct.unpack_from(order + _HEADER, raw, at)
        if magic != _PACKET:
            raise MetadataError(f"there is no packet at byte {at}")
        if tuple(coded[3:]) not in _VERSIONS:
            shown = ".".join(str(part) for part in coded[3:])
            raise MetadataError(f"the packet at byte {at} is of version {shown}, but only 1.8 and 2.0 are known")
        if any(coded[:3]):
            raise MetadataError("the packets are compressed, encrypted or have checksums, which is not supported")
        if content % 8 or size % 8 or not _HEADER_BYTES * 8 <= content <= size:
            raise MetadataError(f"the packet at byte {at} has {content} of {size} bits, which cannot be")
        if at + content // 8 > len(raw):
            notes.setdefault("a packet of the metadata is cut off", []).append(f"byte {at}")
        found.append(raw[at + _HEADER_BYTES : at + content // 8])
        if sum(map(len, found)) > MOST_BYTES:
            raise MetadataError(f"the metadata have more than {MOST_BYTES >> 20} MiB")
        at += size // 8
    return b"".join(found)
