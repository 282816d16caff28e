"""Find the data of the members of a zip archive, so that they can be read in place."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from dctv.record import record

_MOST = 4096
_HEAD = 1 << 16
_STORED, _DEFLATED = 0, 8
_LOCAL = struct.Struct("<4s5H3I2H")
_ENCRYPTED = 1


@record
class ArchiveMember:
    """A file in an archive."""

    name: str
    head: bytes
    """Its first bytes, at most 64 KiB."""
    part: tuple[int, int, bool]
    """Offset of its data in the archive, their size, and whether they are compressed."""


def members(path: Path) -> Sequence[ArchiveMember]:
    """Find the members of an archive.

    Raises:
        ValueError: It is damaged, or a member has an unknown compression.
    """
    from zipfile import BadZipFile, ZipFile

    try:
        with ZipFile(path) as archive, path.open("rb") as file:
            # `is_dir` fails on an empty name, which one that begins with a zero byte becomes.
            infos = [info for info in archive.infolist() if not info.filename.endswith("/")]
            if len(infos) > _MOST:
                raise ValueError(f"the archive holds {len(infos)} files, more than the {_MOST} that are read")
            found = []
            for info in infos:
                if info.flag_bits & _ENCRYPTED:
                    raise ValueError(f"`{info.filename}` in the archive is encrypted")
                if info.compress_type not in {_STORED, _DEFLATED}:
                    method = f"method {info.compress_type}"
                    raise ValueError(f"`{info.filename}` in the archive is compressed by {method}, not by deflate")
                part = (_data(file, info.header_offset), info.compress_size, info.compress_type == _DEFLATED)
                found.append(ArchiveMember(info.filename, _head(file, part), part))
            return found
    except (BadZipFile, NotImplementedError, struct.error, zlib.error, OverflowError) as error:
        raise ValueError(f"the archive is damaged: {str(error).lower()}") from None


def _data(file: BinaryIO, header: int) -> int:
    """Return the offset of a member's data from that of its header: names there may be longer than in the directory."""
    if header < 0:
        raise ValueError("the archive is damaged: a file begins before the archive does")
    file.seek(header)
    local = _LOCAL.unpack(file.read(_LOCAL.size))
    if local[0] != b"PK\x03\x04":
        raise ValueError("the archive is damaged: a file is not at the offset in its directory")
    return header + _LOCAL.size + int(local[-2]) + int(local[-1])


def _head(file: BinaryIO, part: tuple[int, int, bool]) -> bytes:
    offset, size, packed = part
    file.seek(offset)
    raw = file.read(min(size, _HEAD))
    return zlib.decompressobj(wbits=-15).decompress(raw, _HEAD) if packed else raw
