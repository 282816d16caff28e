import gzip
import io
import subprocess
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.provenance.container import Container, container_of, pack
from tests.bounds import bounded

TEXT = b"".join(b'{"id":%d,"name":"read","dur":%d}\n' % (i, i * 7919 % 1000) for i in range(5000))


def member(text: bytes, level: int, name: bytes = b"") -> bytes:
    flags = 8 if name else 0
    header = b"\x1f\x8b\x08" + bytes([flags]) + b"\0\0\0\0\0\x03" + (name + b"\0" if name else b"")
    deflate = zlib.compressobj(level, zlib.DEFLATED, -15)
    trailer = zlib.crc32(text).to_bytes(4, "little") + (len(text) & 0xFFFFFFFF).to_bytes(4, "little")
    return header + deflate.compress(text) + deflate.flush() + trailer


def packed_again(path: Path, text: bytes, piece: int = 1 << 16) -> tuple[Container, bytes]:
    container = container_of(path, lambda _: None)
    out = io.BytesIO()
    pack(container, (text[i : i + piece] for i in range(0, len(text), piece)), out)
    return container, out.getvalue()


@bounded(40)
@given(
    texts=st.lists(st.integers(0, 4000).map(lambda n: TEXT[:n]), min_size=1, max_size=4),
    level=st.integers(1, 9),
    name=st.sampled_from([b"", b"trace.pfw"]),
)
def test_members_of_zlib_are_repeated(
    tmp_path_factory: pytest.TempPathFactory, texts: list[bytes], level: int, name: bytes
) -> None:
    raw = b"".join(member(text, level, name) for text in texts)
    path = tmp_path_factory.mktemp("c") / "t.gz"
    path.write_bytes(raw)
    container, again = packed_again(path, b"".join(texts))
    assert container.repeatable
    assert len(container.members) == len(texts)
    assert again == raw


def test_a_long_member_is_repeated(tmp_path: Path) -> None:
    text = TEXT * 40
    path = tmp_path / "long.gz"
    path.write_bytes(gzip.compress(text, 6))
    container, again = packed_again(path, text)
    assert container.members[0].text == len(text)
    assert again == path.read_bytes()


def test_plain_files_are_recognized(tmp_path: Path) -> None:
    path = tmp_path / "plain"
    path.write_bytes(TEXT)
    container, again = packed_again(path, TEXT)
    assert container == Container(packed=False)
    assert again == TEXT


def test_an_empty_file_is_repeated(tmp_path: Path) -> None:
    path = tmp_path / "empty.gz"
    path.write_bytes(b"")
    assert packed_again(path, b"")[1] == b""


@pytest.mark.parametrize(
    "raw",
    [
        member(TEXT, 6)[:-9],
        member(TEXT, 6) + b"garbage",
        member(TEXT, 6) + b"\0" * 512,
        member(TEXT[:100], 6) + member(TEXT[:100], 6)[:-1] + b"\1",
    ],
    ids=["truncated", "garbage", "zeros", "damaged"],
)
def test_an_unreproducible_compression_level_is_reported(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "odd.gz"
    path.write_bytes(raw)
    assert not container_of(path, lambda _: None).repeatable


def test_flushes_inside_a_member_are_detected(tmp_path: Path) -> None:
    deflate = zlib.compressobj(6, zlib.DEFLATED, 31)
    raw = deflate.compress(TEXT) + deflate.flush(zlib.Z_FULL_FLUSH) + deflate.compress(TEXT) + deflate.flush()
    path = tmp_path / "flushed.gz"
    path.write_bytes(raw)
    assert not container_of(path, lambda _: None).repeatable


def test_another_compressor_is_detected(tmp_path: Path) -> None:
    path = tmp_path / "gnu"
    path.write_bytes(TEXT * 3)
    subprocess.run(["gzip", "-9", str(path)], check=True)
    container = container_of(tmp_path / "gnu.gz", lambda _: None)
    assert container.packed
    if container.repeatable:
        assert packed_again(tmp_path / "gnu.gz", TEXT * 3)[1] == (tmp_path / "gnu.gz").read_bytes()


@pytest.mark.parametrize("text", [TEXT[:-1], TEXT + b"x"])
def test_more_or_less_text_is_refused(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "t.gz"
    path.write_bytes(member(TEXT, 6))
    with pytest.raises(ValueError, match="text"):
        packed_again(path, text)
