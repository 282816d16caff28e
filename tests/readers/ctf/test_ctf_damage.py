"""Damaged CTF traces: no crash, no hang, no silent loss, and no memory for claimed sizes."""

from __future__ import annotations

import shutil
import struct as packing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.generate_ctf import generate
from dctv.contracts.reader import LoadContext
from dctv.errors import TraceError
from dctv.readers.ctf import READER
from tests.bounds import bounded
from tests.damage import flipped, truncated
from tests.readers.ctf.ctf_writing import TSDL, load, notes, payload, rows, tsdl, uint, write

HEADERS = (
    TSDL % "le"
    + """
stream { packet.context := struct { u32 packet_size; u32 content_size; }; event.header := struct { u8 id; }; };
event { name = a; id = 1; fields := struct { u8 x; }; };
event { name = b; id = 2; fields := struct { string s; }; };
"""
)


def try_to_load(folder: Path) -> None:
    """Load a trace whatever its metadata are."""
    try:
        READER.load(sorted(folder.iterdir()), LoadContext({}, 2, lambda _done, _total: None))
    except TraceError as error:
        words = error.message
    else:
        return
    assert words.startswith("cannot read `"), words
    assert "panick" not in words, words


def packet(body: bytes, size: int | None = None, content: int | None = None) -> bytes:
    bits = (8 + len(body)) * 8
    return packing.pack("<II", bits if size is None else size, bits if content is None else content) + body


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"\x09", "the metadata have no such event"),
        (b"\x01", "a field goes beyond the content of its packet"),
        (b"\x02endless", "a text has no end"),
    ],
)
def test_a_damaged_event_ends_its_packet_and_no_other(tmp_path: Path, body: bytes, reason: str) -> None:
    trace = load(write(tmp_path / "t", HEADERS, packet(b"\1\7" + body) + packet(b"\1\x08")))
    assert [row["x"] for row in rows(trace, "a")] == [7, 8]
    assert notes(trace) == {reason: 1}
    (diagnostic,) = trace.diagnostics
    assert diagnostic.incomplete
    assert diagnostic.example == f"{tmp_path / 't' / 'stream_0'} at byte 10"


@pytest.mark.parametrize(
    ("size", "content", "reason"),
    [
        (8, 8, "the sizes of a packet are impossible"),
        (80, 200, "the sizes of a packet are impossible"),
        (8000, 80, "a packet is cut off"),
        (2**32 - 1, 2**32 - 1, "a packet is cut off"),
    ],
)
def test_impossible_sizes(tmp_path: Path, size: int, content: int, reason: str) -> None:
    trace = load(write(tmp_path / "t", HEADERS, packet(b"\1\7", size, content)))
    assert reason in notes(trace)


def test_streams_without_the_magic_number_are_reported(tmp_path: Path) -> None:
    metadata = tsdl("u8 x;").replace("byte_order = le;", "byte_order = le; packet.header := struct { u32 magic; };")
    metadata = metadata.replace("trace {", "typealias integer { size = 32; align = 8; } := u32; trace {", 1).replace(
        "typealias integer { size = 32; align = 8; } := u32;\n", "", 1
    )
    trace = load(write(tmp_path / "t", metadata, b"hello, world", packing.pack("<IB", 0xC1FC1FC1, 5)))
    assert rows(trace) == [{"x": 5}]
    assert notes(trace) == {"there is no magic number": 1}


@pytest.mark.parametrize("length", [2**63, 2**64 - 1, 2**40])
def test_hostile_lengths(tmp_path: Path, length: int) -> None:
    array = {"type": "dynamic-length-array", "length-field-location": {"path": ["n"]}, "element-field-class": uint(8)}
    for number, element in enumerate((uint(8), uint(1), {"type": "structure"})):
        metadata = payload(("n", uint(64)), ("a", {**array, "element-field-class": element}))
        trace = load(write(tmp_path / str(number), metadata, packing.pack("<Q", length) + b"abc"))
        assert list(notes(trace)) in (
            ["a length goes beyond the content of its packet"], ["a length is absurd"]
        )  # fmt: skip


def test_fields_without_size_do_not_take_forever(tmp_path: Path) -> None:
    nested: dict[str, object] = {"type": "structure"}
    for _ in range(6):
        nested = {"type": "static-length-array", "length": 1 << 16, "element-field-class": nested}
    trace = load(write(tmp_path / "t", payload(("n", uint(8)), ("a", nested)), b"abc"))
    assert notes(trace) == {"a length is absurd": 1}
    trace = load(write(tmp_path / "u", tsdl(""), b"abc"))
    assert notes(trace) == {"an event has no size": 1}


def test_a_trace_cut_anywhere(tmp_path: Path) -> None:
    stream = packet(b"\1\7\2hi\0\1\x08") + packet(b"\1\x09")
    whole = load(write(tmp_path / "t", HEADERS, stream))
    assert len(rows(whole, "a")) == 3
    for size, part in enumerate(truncated(stream)):
        trace = load(write(tmp_path / "t", HEADERS, part))
        found = [row["x"] for row in rows(trace, "a")] if "raw_events.a" in trace.tables else []
        assert found == [7, 8, 9][: len(found)]
        assert any(one.incomplete for one in trace.diagnostics) == (size not in (0, 16))


def test_metadata_cut_anywhere(tmp_path: Path) -> None:
    for metadata in (HEADERS, payload(("x", uint(8)))):
        folder = write(tmp_path / "t", metadata, packet(b"\1\7"))
        for part in truncated(metadata.encode(), 7):
            write(folder, part)
            try_to_load(folder)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ctf") / "sample"
    generate(folder, 200)
    return folder


Flips = st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), min_size=1, max_size=8)


@given(flips=Flips)
@bounded(60)
def test_flipped_streams(sample: Path, flips: list[tuple[int, int]]) -> None:
    _flip(sample, "channel0_1", flips)


@given(flips=Flips)
@bounded(60)
def test_flipped_metadata(sample: Path, flips: list[tuple[int, int]]) -> None:
    _flip(sample, "metadata", flips)


def _flip(sample: Path, name: str, flips: list[tuple[int, int]]) -> None:
    folder = sample.parent / "flipped"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(sample, folder)
    (folder / name).write_bytes(flipped((sample / name).read_bytes(), *flips))
    try_to_load(folder)
