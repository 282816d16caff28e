"""Parse the file `metadata` of a CTF trace: plain text, text in packets, or JSON."""

from __future__ import annotations

import struct
from pathlib import Path

from dctv.readers.ctf_metadata.classes import MetadataError, TraceClass
from dctv.readers.ctf_metadata.files import PACKET, byte_order
from dctv.readers.ctf_metadata.tsdl import MOST_BYTES

_HEADER = "I16sIIIBBBBB"
_HEADER_BYTES = 37
_MOST_RAW = 2 * MOST_BYTES
"""The maximum size of the file: packets may be half empty."""
_VERSIONS = {(1, 8), (2, 0)}


def read_metadata(path: Path) -> TraceClass:
    """Read the metadata of a trace.

    Raises:
        MetadataError: it is invalid or not supported.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        raw = file.read(_MOST_RAW + 1)
    if len(raw) > _MOST_RAW:
        raise MetadataError(f"it has more than {_MOST_RAW >> 20} MiB")
    notes: dict[str, list[str]] = {}
    order = byte_order(raw, PACKET)
    uuid = b""
    if order is not None:
        uuid = raw[4:20]
        raw = _unpacked(raw, order, notes)
    if len(raw) > MOST_BYTES:
        raise MetadataError(f"the metadata have more than {MOST_BYTES >> 20} MiB")
    text = raw.decode("utf-8", "replace")
    if text.lstrip(" \t\r\n").startswith("\x1e"):  # white space in Python
        from dctv.readers.ctf_metadata.json import read_json

        trace = read_json(text)
    else:
        from dctv.readers.ctf_metadata.tsdl_trace import read_tsdl

        trace = read_tsdl(text)
    trace.uuid = trace.uuid or uuid
    trace.notes.update(notes)
    return trace


def _unpacked(raw: bytes, order: str, notes: dict[str, list[str]]) -> bytes:
    """Return the text of packetized metadata."""
    found = []
    at = 0
    while at < len(raw):
        if at + _HEADER_BYTES > len(raw):
            notes.setdefault("a packet of the metadata is cut off", []).append(f"byte {at}")
            break
        magic, _, _, content, size, *coded = struct.unpack_from(order + _HEADER, raw, at)
        if magic != PACKET:
            raise MetadataError(f"there is no packet at byte {at}")
        if tuple(coded[3:]) not in _VERSIONS:
            shown = ".".join(str(part) for part in coded[3:])
            raise MetadataError(f"the packet at byte {at} has version {shown}, but only 1.8 and 2.0 are supported")
        if any(coded[:3]):
            raise MetadataError("the packets are compressed, encrypted or have checksums, which is not supported")
        if content % 8 or size % 8 or not _HEADER_BYTES * 8 <= content <= size:
            raise MetadataError(f"the packet at byte {at} has {content} of {size} bits, which is not possible")
        if at + content // 8 > len(raw):
            notes.setdefault("a packet of the metadata is cut off", []).append(f"byte {at}")
        found.append(raw[at + _HEADER_BYTES : at + content // 8])
        if sum(map(len, found)) > MOST_BYTES:
            raise MetadataError(f"the metadata have more than {MOST_BYTES >> 20} MiB")
        at += size // 8
    return b"".join(found)
