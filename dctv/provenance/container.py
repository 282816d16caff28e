"""Find out how a file is compressed, so that the same text can be compressed to the same bytes again.

Most writers use zlib, which is deterministic: its level suffices to reproduce the output. If no level reproduces the
bytes (another compressor, flushes within a member, damage), the compressed bytes themselves are kept.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from dctv.record import record

_PIECE = 1 << 20
_TRIAL = 1 << 20
"""The number of compressed bytes that determine the level."""
_MARGIN = 1 << 17
"""Compressed bytes after the trial's text that may still be pending in the compressor."""
_LONGEST_HEADER = 1 << 17
_LEVELS = (6, 9, 1, 5, 4, 3, 2, 8, 7)
_MAGIC = b"\x1f\x8b\x08"
_EXTRA, _NAME, _COMMENT, _CHECK = 4, 8, 16, 2


@record
class GzipMember:
    """One gzip member: the bytes of its header, its compression, and the length of its text."""

    header: bytes
    level: int
    text: int


@record
class Container:
    """A whole file: plain, a sequence of members that zlib can reproduce, or neither."""

    packed: bool
    members: tuple[GzipMember, ...] = ()
    repeatable: bool = True


def container_of(path: Path, progress: Callable[[int], None]) -> Container:
    """Find out how a file is compressed; `progress` is called with bytes read.

    Every level is tried on the beginning of the first member, and the match is verified on all bytes of the file.
    """
    with path.open("rb") as file:
        head = file.read(_TRIAL)
    if not head.startswith(_MAGIC[:2]):
        return Container(packed=False)
    for level in _likely_levels(head):
        members = _proven(path, level, progress)
        if members is not None:
            return Container(packed=True, members=tuple(members))
    return Container(packed=True, repeatable=False)


def pack(container: Container, text: Iterator[bytes], file: BinaryIO) -> None:
    """Compress text as the original was.

    Raises:
        ValueError: the length of the text is not that of the original.
    """
    if not container.packed:
        for piece in text:
            file.write(piece)
        return
    source = _Text(text)
    for member in container.members:
        deflater = _Deflater(member.level)
        file.write(member.header)
        left = member.text
        while left:
            piece = source.take(min(left, _PIECE))
            left -= len(piece)
            file.write(deflater.add(piece))
        file.write(deflater.end())
    if source.rest():
        raise ValueError("more text than the members hold")


class _Text:
    """Pieces of text, read in pieces of other sizes."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._held = b""

    def take(self, count: int) -> bytes:
        if not self._held:
            self._held = next(self._pieces, b"")
            if not self._held:
                raise ValueError("less text than the members hold")
        piece, self._held = self._held[:count], self._held[count:]
        return piece

    def rest(self) -> bool:
        return bool(self._held) or any(self._pieces)


class _Deflater:
    """A compressor of the body and trailer of a member."""

    def __init__(self, level: int) -> None:
        self._deflate = zlib.compressobj(level, zlib.DEFLATED, -15)
        self._check = 0
        self._size = 0

    def add(self, text: bytes) -> bytes:
        self._check = zlib.crc32(text, self._check)
        self._size += len(text)
        return self._deflate.compress(text)

    def end(self) -> bytes:
        trailer = self._check.to_bytes(4, "little") + (self._size & 0xFFFFFFFF).to_bytes(4, "little")
        return self._deflate.flush() + trailer


def _header(raw: bytes) -> int | None:
    """Return the length of the gzip header at the start of some bytes, or None."""
    if len(raw) < 10 or not raw.startswith(_MAGIC):
        return None
    flags, at = raw[3], 10
    if flags & _EXTRA:
        at += 2 + int.from_bytes(raw[at : at + 2], "little")
    for flag in (_NAME, _COMMENT):
        if flags & flag:
            end = raw.find(b"\0", at)
            if end < 0:
                return None
            at = end + 1
    if flags & _CHECK:
        at += 2
    return at if at <= len(raw) else None


def _likely_levels(raw: bytes) -> Iterator[int]:
    """Yield the levels that reproduce the beginning of the first member; short members match several."""
    start = _header(raw)
    if start is None:
        return
    body = raw[start:]
    inflater = zlib.decompressobj(-15)
    try:
        text = inflater.decompress(body)
    except zlib.error:
        return
    for level in _LEVELS:
        deflate = zlib.compressobj(level, zlib.DEFLATED, -15)
        made = deflate.compress(text)
        if inflater.eof:
            made += deflate.flush()
            same = body.startswith(made)
        else:
            # Bytes that the compressor holds back are not compared.
            same = len(made) + _MARGIN >= len(body) and body.startswith(made[: len(body)])
        if same:
            yield level


def _proven(path: Path, level: int, progress: Callable[[int], None]) -> list[GzipMember] | None:
    """Return the members of a file if this level reproduces all of its bytes."""
    size = path.stat().st_size
    members = []
    with path.open("rb") as packed, path.open("rb") as proof:
        while proof.tell() < size:
            member = _member(packed, proof, level)
            if member is None:
                return None
            members.append(member)
            progress(proof.tell())
    return members


def _member(packed: BinaryIO, proof: BinaryIO, level: int) -> GzipMember | None:
    """Decompress the member at the position of `proof`, and compare it with the level's output for its text."""
    start = packed.seek(proof.tell())
    raw = packed.read(_LONGEST_HEADER)
    length = _header(raw)
    if length is None:
        return None
    header = raw[:length]
    packed.seek(start + length)
    proof.seek(start + length)
    inflater, deflater, size = zlib.decompressobj(-15), _Deflater(level), 0
    while not inflater.eof:
        raw = inflater.unconsumed_tail or packed.read(_PIECE)
        try:
            text = inflater.decompress(raw, _PIECE)
        except zlib.error:
            return None
        size += len(text)
        made = deflater.add(text)
        if not raw or proof.read(len(made)) != made:
            return None
    made = deflater.end()
    return GzipMember(header, level, size) if proof.read(len(made)) == made else None
