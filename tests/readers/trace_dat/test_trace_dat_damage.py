"""Damaged files of trace-cmd: a trace with diagnostics of its losses, or an error; no crash, and little memory."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.generate_trace_dat import generate
from dctv.contracts.reader import LoadedTrace
from dctv.readers.trace_dat import READER
from tests.bounds import bounded
from tests.damage import flipped, peak_of, survives, truncated
from tests.readers.trace_dat.trace_dat_writing import small, told

FORMS = [(6, "none"), (7, "none"), (7, "zlib"), (7, "zstd")]
LEAN_MIB = 400


def events(trace: LoadedTrace) -> int:
    return sum(len(table.data) for name, table in trace.tables.items() if name.startswith("raw_events."))


@pytest.mark.parametrize("form", FORMS)
def test_a_file_cut_off_anywhere_is_reported(form: tuple[int, str], tmp_path: Path) -> None:
    whole = small(*form).written()
    path = tmp_path / "trace.dat"
    step = 1 if form[1] != "none" else 29
    for data in truncated(whole, step):
        found = survives(READER, path, data)
        if isinstance(found, LoadedTrace):
            assert any(one.incomplete for one in found.diagnostics), len(data)


@given(st.data(), st.sampled_from(FORMS))
@bounded(150)
def test_a_file_with_flipped_bytes_is_survived(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, form: tuple[int, str]
) -> None:
    whole = small(*form).written()
    places = st.lists(st.tuples(st.integers(0, len(whole)), st.integers(0, 255)), min_size=1, max_size=6)
    path = tmp_path_factory.mktemp("flipped") / "trace.dat"
    survives(READER, path, flipped(whole, *data.draw(places)))


def patched(whole: bytes, at: int, kind: str, *values: int) -> bytes:
    data = bytearray(whole)
    struct.pack_into(kind, data, at, *values)
    return bytes(data)


@pytest.mark.parametrize("form", FORMS)
def test_unbounded_lengths_are_refused_or_reported(form: tuple[int, str], tmp_path: Path) -> None:
    whole = small(*form).written()
    path = tmp_path / "trace.dat"
    for at in range(0, len(whole) - 8, 7 if form[1] != "none" else 97):
        for kind, value in (("<I", 0xFFFF_FFFF), ("<Q", 1 << 62)):
            found = survives(READER, path, patched(whole, at, kind, value))
            assert not isinstance(found, LoadedTrace) or events(found) < 100


def test_options_in_a_circle_end(tmp_path: Path) -> None:
    whole = small().written()
    (place,) = struct.unpack_from("<Q", whole, len(b"\x17\x08\x44tracing7\0\0\x08\0\x10\0\0none\0\0"))
    done = whole.rindex(struct.pack("<HIQ", 0, 8, 0))
    found = survives(READER, tmp_path / "trace.dat", patched(whole, done + 6, "<Q", place))
    assert isinstance(found, LoadedTrace)
    assert events(found) == 5
    assert told(found) == {"part of the header cannot be read": 1}


def zeros(packing: str, mebibytes: int) -> bytes:
    """So many MiB of zeros, packed."""
    mebibyte = bytes(1 << 20)
    if packing == "zlib":
        packer = zlib.compressobj(6, strategy=zlib.Z_RLE)
        return b"".join(packer.compress(mebibyte) for _ in range(mebibytes)) + packer.flush()
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        for _ in range(mebibytes):
            stream.write(mebibyte)
    return bytes(sink.getvalue())


@pytest.mark.parametrize("told_size", [600 << 20, 1 << 20])
@pytest.mark.parametrize("packing", ["zlib", "zstd"])
def test_bombs_are_not_unpacked(packing: str, told_size: int, tmp_path: Path) -> None:
    trace = small(7, packing)
    bomb = zeros(packing, 600)
    marker = trace.packed(trace.sized(trace.symbols, "I"))
    before = struct.pack("<QII", len(marker) + 8, len(marker), len(trace.symbols) + 4)
    after = struct.pack("<QII", len(bomb) + 8, len(bomb), told_size)
    whole = trace.written()
    place = whole.index(before + marker)
    data = bytearray(whole[:place] + after + bomb + whole[place + len(before) + len(marker) :])
    first = whole.index(b"1.5\0") + 4
    (options,) = struct.unpack_from("<Q", whole, first)
    struct.pack_into("<Q", data, first, options + len(bomb) - len(marker))
    path = tmp_path / "bomb.dat"
    path.write_bytes(data)
    words, peak = peak_of(path)
    assert words == "mounted"
    assert peak < LEAN_MIB


def test_a_chunk_that_does_not_unpack_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "trace.dat"
    counts = generate(path, 3000, packing="zstd", cpus=1)
    whole = path.read_bytes()
    chunk = whole.rindex(b"\x28\xb5\x2f\xfd")
    found = survives(READER, path, patched(whole, chunk, "<I", 0))
    assert isinstance(found, LoadedTrace)
    assert 0 < events(found) <= sum(counts.values())
    bad = [one for one in found.diagnostics if one.incomplete]
    assert bad


def test_pages_that_make_no_sense_are_reported(tmp_path: Path) -> None:
    trace = small()
    whole = trace.written()
    first, second = (whole.index(b"".join(ring.pages)) for ring in trace.buffers[""])
    data = patched(patched(whole, first + 8, "<Q", 5000), second + 16, "<I", 28 | 5 << 5)
    found = survives(READER, tmp_path / "trace.dat", data)
    assert isinstance(found, LoadedTrace)
    assert told(found) == {"page makes no sense": 1, "rest of a page makes no sense": 1}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x17\x08\x44tracing9\0\0\x08\0\x10\0\0", "its version is unknown, expected 6 or 7"),
        (b"\x17\x08\x44tracing6\0\0\x05\0\x10\0\0", "a long has 5 bytes, expected 4 or 8"),
        (b"\x17\x08\x44tracing6\0\0\x08\0\0\0\0", "a page has 0 bytes"),
        (b"\x17\x08\x44tracing6\0\0\x08\0\x10\0\0", "its header ends early"),
        (b"\x17\x08\x44tracing6\0\0\x08\0\x10\0\0xxxxxxxxxxxx", "the description of pages is missing"),
        (b"nothing like it", "it does not begin as trace.dat does"),
        (b"", "its header ends early"),
    ],
)
def test_damage_is_reported(data: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.dat"
    assert survives(READER, path, data) == f"cannot read `{path}`: {words}"
