"""Chunks of text: all together they are the file, and each one can be read again by itself."""

from __future__ import annotations

import gzip
import io
import random
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv import _kernels
from dctv.contracts.chunks import Checkpoint
from tests.bounds import bounded

FLUSHES = [zlib.Z_NO_FLUSH, zlib.Z_SYNC_FLUSH, zlib.Z_FULL_FLUSH, zlib.Z_PARTIAL_FLUSH, zlib.Z_BLOCK]


def lines_of(rng: random.Random, size: int, longest: int) -> bytes:
    """Make about `size` bytes of lines; the last one lacks its end at times."""
    text = bytearray()
    while len(text) < size:
        length = rng.choice([0, rng.randrange(40), rng.randrange(longest + 1)])
        words = b" ".join(b"%x" % rng.getrandbits(rng.choice([4, 64])) for _ in range(length // 8))
        text += words[:length] + (b"\r\n" if rng.random() < 0.1 else b"\n")
    return bytes(text if rng.random() < 0.5 else text.rstrip(b"\n"))


def member(rng: random.Random, text: bytes) -> bytes:
    """Pack a gzip member, with blocks of many kinds."""
    strategy = rng.choice([zlib.Z_DEFAULT_STRATEGY, zlib.Z_FIXED, zlib.Z_HUFFMAN_ONLY])
    pack = zlib.compressobj(rng.choice([0, 1, 6, 9]), zlib.DEFLATED, 31, rng.choice([1, 8, 9]), strategy)
    packed, at = b"", 0
    while at < len(text):
        piece = rng.choice([100, 3000, 50000])
        packed += pack.compress(text[at : at + piece]) + pack.flush(rng.choice(FLUSHES))
        at += piece
    return packed + pack.flush()


def packed_text(rng: random.Random, size: int, longest: int) -> tuple[bytes, bytes]:
    """Make a text and a gzip file of it, of members of any sizes."""
    text, packed, at = lines_of(rng, size, longest), b"", 0
    while at < len(text) or rng.random() < 0.2:
        piece = rng.choice([0, rng.randrange(1, 300), rng.randrange(1, size + 2)])
        packed += member(rng, text[at : at + piece])
        at += piece
    return text, packed or member(rng, text)


def checkpoints(path: Path, **limits: int) -> tuple[list[Checkpoint], list[tuple[int, str]]]:
    chunks = _kernels.TextChunks([str(path)], **limits)
    return list(chunks), chunks.damage


def again(path: Path, place: Checkpoint) -> bytes:
    text: bytes = _kernels.read_chunk(str(path), place)
    return text


def check(path: Path, text: bytes, limits: dict[str, int]) -> list[Checkpoint]:
    """Check the chunks of a file against its text."""
    found, _ = checkpoints(path, **limits)
    offset = line = 0
    for number, place in enumerate(found):
        assert (place.file, place.number, place.uc_offset, place.first_line) == (0, number, offset, line)
        expected = text[offset : offset + place.uc_size]
        assert again(path, place) == expected
        assert place.lines == expected.count(b"\n") + (not expected.endswith(b"\n"))
        assert number == len(found) - 1 or expected.endswith(b"\n")
        assert (place.window is None) <= (place.bits == 0)
        assert len(place.window or b"") <= 32768
        assert place.c_offset + place.c_size <= path.stat().st_size
        offset, line = offset + place.uc_size, line + place.lines
    assert offset == len(text)
    return found


def check_blocks(path: Path, text: bytes, found: list[Checkpoint], limits: dict[str, int]) -> None:
    """Check that blocks are whole lines, and all of them once, but for those that are too long."""
    chunks = _kernels.TextChunks([str(path)], **limits)
    limit = max(limits["line_limit"], limits["block_bytes"] + (1 << 20))
    lines, number = io.BytesIO(text).readlines(), 0
    ends: list[Checkpoint] = []
    while (block := chunks.block()) is not None:
        assert (block.first_line, block.chunk) == (number, len(ends))
        expected = lines[number : number + block.lines]
        if block.skipped is None:
            assert block.text == b"".join(expected)
        else:
            assert (block.text, block.lines, block.skipped) == (b"", 1, expected[0].rstrip(b"\n")[:200])
        assert (block.skipped is not None) == any(len(line.rstrip(b"\n")) > limit for line in expected)
        number += block.lines
        ends += [block.end] if block.end else []
    assert number == len(lines)
    assert ends == found


LIMITS = st.fixed_dictionaries(
    {
        "chunk_bytes": st.sampled_from([1, 100, 5_000, 40_000, 10**6]),
        "block_bytes": st.sampled_from([1, 1_000, 30_000, 10**6]),
        "line_limit": st.sampled_from([1, 10**6]),
    }
)
SHAPE = st.tuples(
    st.integers(0, 2**32), st.sampled_from([0, 1, 500, 20_000, 200_000]), st.sampled_from([10, 300, 30_000])
)
Shape = tuple[int, int, int]


def text_and_gzip(shape: Shape) -> tuple[bytes, bytes]:
    seed, size, longest = shape
    return packed_text(random.Random(seed), size, longest)


@bounded(60)
@given(SHAPE, LIMITS)
def test_chunks_of_gzip(tmp_path_factory: pytest.TempPathFactory, shape: Shape, limits: dict[str, int]) -> None:
    text, packed = text_and_gzip(shape)
    path = tmp_path_factory.mktemp("chunks") / "t.gz"
    path.write_bytes(packed)
    assert gzip.decompress(packed) == text
    found = check(path, text, limits)
    check_blocks(path, text, found, limits)


@bounded(20)
@given(SHAPE, LIMITS)
def test_chunks_of_plain_text(tmp_path_factory: pytest.TempPathFactory, shape: Shape, limits: dict[str, int]) -> None:
    text, _ = text_and_gzip(shape)
    path = tmp_path_factory.mktemp("chunks") / "t"
    path.write_bytes(text)
    found = check(path, text, limits)
    check_blocks(path, text, found, limits)
    assert all((place.skip, place.window, place.c_size) == (0, None, place.uc_size) for place in found)


@bounded(40)
@given(SHAPE, LIMITS, st.floats(0, 1), st.sampled_from(["cut", "flip", "append", "pad"]))
def test_chunks_of_damaged_gzip(
    tmp_path_factory: pytest.TempPathFactory, shape: Shape, limits: dict[str, int], where: float, how: str
) -> None:
    text, packed = text_and_gzip(shape)
    at = int(where * len(packed))
    damaged = {
        "cut": packed[: max(at, 1)],
        "flip": packed[:at] + bytes(255 - byte for byte in packed[at : at + 3]) + packed[at + 3 :],
        "append": packed + b"rest",
        "pad": packed + bytes(at),
    }[how]
    path = tmp_path_factory.mktemp("chunks") / "t.gz"
    path.write_bytes(damaged)
    chunks = _kernels.TextChunks([str(path)], **limits)
    blocks = list(iter(chunks.block, None))
    if how in ("append", "pad"):
        check(path, text, limits)
        assert chunks.damage == ([(0, "trailing")] if how == "append" else [])
    elif all(block.skipped is None for block in blocks):
        found = b"".join(block.text for block in blocks)
        check(path, found, limits)
        if how == "cut":
            assert found == zlib_prefix(damaged)
            assert chunks.damage == ([(0, "truncated")] if found != text or at < len(packed) else []) or ends(damaged)


def zlib_prefix(packed: bytes) -> bytes:
    """Return the text of all members, of the last one what there is."""
    text = b""
    while packed:
        inflate = zlib.decompressobj(31)
        text += inflate.decompress(packed)
        packed = inflate.unused_data
    return text


def ends(packed: bytes) -> bool:
    """Whether the last member is whole."""
    eof = True
    while packed:
        inflate = zlib.decompressobj(31)
        inflate.decompress(packed)
        packed, eof = inflate.unused_data, inflate.eof
    return eof


def test_members_are_grouped_or_chunks_of_their_own(tmp_path: Path) -> None:
    line = b"x" * 99 + b"\n"
    sizes = [2, 3, 6, 12, 19, 25, 1]  # in units of 1,000 bytes; a chunk has at least 10
    path = tmp_path / "t.gz"
    path.write_bytes(b"".join(gzip.compress(line * size * 10) for size in sizes))
    found, damage = checkpoints(path, chunk_bytes=10_000)
    assert [place.uc_size // 1000 for place in found] == [11, 12, 19, 25, 1]
    assert {(place.window, place.skip) for place in found} == {(None, 0)}
    assert damage == []


def test_large_member_is_cut_at_seek_points(tmp_path: Path) -> None:
    text = lines_of(random.Random(4), 4_000_000, 200)
    path = tmp_path / "t.gz"
    path.write_bytes(gzip.compress(text))
    found = check(path, text, {"chunk_bytes": 300_000})
    assert len(found) >= 8
    assert {place.window is None for place in found[1:]} == {False}
    assert len({place.bits for place in found}) > 2
    assert max(place.c_size for place in found[1:]) < 2 * path.stat().st_size // len(found)


def test_only_long_lines_are_skipped(tmp_path: Path) -> None:
    limits = {"chunk_bytes": 500_000, "block_bytes": 50_000, "line_limit": 1_500_000}
    rng = random.Random(5)
    sizes = [5, 1_500_000, 1_500_001, 7, 3_000_000, 9, 1_499_999, 1_500_001]
    text = b"\n".join(rng.randbytes(size // 2).hex().encode() + b"x" * (size % 2) for size in sizes)
    text += b"\n" + lines_of(rng, 900_000, 100)
    path = tmp_path / "t.gz"
    path.write_bytes(gzip.compress(text))
    found = check(path, text, limits)
    check_blocks(path, text, found, limits)
    assert len(found) > 2


def test_changed_files_are_errors(tmp_path: Path) -> None:
    text = lines_of(random.Random(6), 600_000, 200)
    path = tmp_path / "t.gz"
    path.write_bytes(gzip.compress(text))
    found, _ = checkpoints(path, chunk_bytes=100_000)
    last = found[-1]
    for wrong in (
        replace(last, uc_size=last.uc_size + 1),
        replace(last, c_size=last.c_size // 2),
        replace(last, skip=10**12),
        replace(last, c_offset=10**9),
        replace(last, c_offset=0, bits=3),
        replace(last, bits=9),
        replace(last, uc_size=2**63),
    ):
        with pytest.raises(OSError, match="the file has changed"):
            again(path, wrong)
    path.write_bytes(path.read_bytes()[: last.c_offset + 100])
    with pytest.raises(OSError, match="the file has changed"):
        again(path, last)
    path.unlink()
    with pytest.raises(OSError, match="No such file"):
        again(path, last)
