"""Damaged and hostile Perfetto traces: reported, without crashes, in bounded memory."""

from __future__ import annotations

import zlib
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.generate_perfetto import data, generate, number, packet
from dctv.contracts.reader import Head, LoadedTrace
from dctv.readers.perfetto import READER
from tests.bounds import EXPLORE, bounded
from tests.damage import flipped, peak_of, survives, truncated
from tests.readers.perfetto.perfetto_reading import load, notes, trace
from tests.readers.perfetto.test_perfetto_packets import battery, clocks, interned_stack
from tests.readers.perfetto.test_perfetto_track_events import begin, end, legacy, thread

MARKER = bytes.fromhex("82477a76b28d42ba81dc33326d57a079")
OWN = Path("tests/data/perfetto/linux_sys_deflate.pftrace")


@cache
def sample() -> bytes:
    """Return a small trace with most kinds of packets."""
    with TemporaryDirectory() as folder:
        return b"".join(made(Path(folder)))


def made(folder: Path) -> list[bytes]:
    parts = [trace(clocks, thread, interned_stack, begin, end, legacy("X", duration_us=1), battery)]
    for name, form in (("a", {"compact": True}), ("b", {"slices": True}), ("c", {"compact": True, "deflate": True})):
        generate(folder / name, 3, **form)
        whole = (folder / name).read_bytes()
        # The tree of processes is long, and the same in each.
        parts += [one for one in packets_of(whole) if len(one) < 600]
    return parts


def packets_of(whole: bytes) -> list[bytes]:
    found = []
    at = 0
    while at < len(whole):
        size = shift = 0
        place = at + 1
        while True:
            size |= (whole[place] & 127) << shift
            shift += 7
            place += 1
            if whole[place - 1] < 128:
                break
        found.append(whole[at : place + size])
        at = place + size
    return found


def counted(found: LoadedTrace | str) -> int:
    assert isinstance(found, LoadedTrace), found
    return sum(len(table.data) for table in found.tables.values() if table.event is not None)


def test_a_trace_cut_off_anywhere_is_reported(tmp_path: Path) -> None:
    whole = sample()
    ends = {0}
    for one in packets_of(whole):
        ends.add(max(ends) + len(one))
    events = counted(survives(READER, tmp_path / "t.pftrace", whole))
    before = 0
    # Everywhere takes 10 s: elsewhere, at the edges of packets and at some places within.
    edges = {place + by for place in ends for by in (-1, 0, 1)}
    for part in truncated(whole):
        if not EXPLORE and len(part) % 7 and len(part) not in edges:
            continue
        found = survives(READER, tmp_path / "t.pftrace", part)
        now = counted(found)
        assert before <= now <= events
        before = now
        assert isinstance(found, LoadedTrace)
        assert any(one.incomplete for one in found.diagnostics) == (len(part) not in ends), len(part)


@bounded(60)
@given(places=st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), min_size=1, max_size=6))
def test_flipped_bytes_end_in_a_trace_or_in_words(
    tmp_path_factory: pytest.TempPathFactory, places: list[tuple[int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("flipped")
    survives(READER, folder / "t.pftrace", flipped(sample(), *places))
    survives(READER, folder / "t.pftrace", flipped(OWN.read_bytes()[:8000], *places))


@bounded(30)
@given(body=st.binary(max_size=200))
def test_any_bytes_as_a_packet(tmp_path_factory: pytest.TempPathFactory, body: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    survives(READER, folder / "t.pftrace", body)
    survives(READER, folder / "t.pftrace", data(1, body))
    for field in (1, 2, 6, 7, 11, 12, 37, 60, 72, 76):
        survives(READER, folder / "t.pftrace", packet(number(8, 5), data(field, body)))


def test_reading_goes_on_behind_the_next_marker() -> None:
    good = trace(clocks, battery)

    def marked(packet: Any) -> None:
        packet.synchronization_marker = MARKER

    found = load(good + b"\xff" * 100 + trace(marked)[:-16] + MARKER + trace(battery))
    assert len(found.tables["raw_events.counter"].data) == 2
    (reason,) = notes(found)
    assert reason == "bytes that are no packet were passed over"
    assert found.diagnostics[0].incomplete


def test_lengths_that_lie_are_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "t.pftrace"
    path.write_bytes(trace(battery) + b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f")
    words, peak = peak_of(path)
    assert words == "mounted"
    assert peak < 400
    inner = packet(number(8, 5), b"\x0a\xff\xff\xff\xff\x0f")
    assert notes(load(trace(battery) + inner)) == {"packet is damaged": 1}


def nested(depth: int, number_: int) -> bytes:
    body = b""
    for _ in range(depth):
        body = data(number_, body)
    return body


@pytest.mark.parametrize("field", [11, 12])
def test_annotations_nested_without_end(field: int) -> None:
    deep = nested(20_000, field)
    event = data(4, data(10, b"deep") + deep) + number(9, 1)
    found = load(packet(number(8, 5), data(11, event)))
    assert len(found.tables["raw_events.async_begin"].data) == 1


def test_messages_nested_without_end() -> None:
    found = load(packet(number(8, 5), data(8, b"")) + packet(number(8, 5), data(49, nested(20_000, 2))))
    assert found.last_ts == 0


def test_packets_that_unpack_to_too_much_end(tmp_path: Path) -> None:
    path = tmp_path / "bomb.pftrace"
    deflate = zlib.compressobj(9, strategy=zlib.Z_RLE)
    piece = data(1, b"\0" * 1000) * 1000
    bomb = b"".join(deflate.compress(piece) for _ in range(700)) + deflate.flush()
    path.write_bytes(trace(battery) + packet(data(50, bomb)) + trace(battery))
    words, peak = peak_of(path)
    assert words == "mounted"
    assert peak < 400


def test_compressed_packets_in_compressed_packets_are_refused() -> None:
    inner = packet(data(50, zlib.compress(trace(battery))))
    found = load(packet(data(50, zlib.compress(inner))) + trace(battery))
    assert notes(found) == {"compressed packet within a compressed packet": 1}


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\n",
        b"\n# tracer: nop\n",
        b"\n]\n",
        b"\n{broken",
        b'{"traceEvents":[]}',
        b"\x0a\x04\x08\x01\x10\x02" * 20,
        b"PERFILE2" + b"\0" * 100,
        b"\x0a\x00\x0a\x00",
    ],
)
def test_other_formats_are_not_taken(text: bytes, tmp_path: Path) -> None:
    assert not READER.sniff(Head(tmp_path / "x", text, text))


def test_perfetto_traces_are_recognized_by_content(tmp_path: Path) -> None:
    for whole in (sample(), OWN.read_bytes()[: 1 << 16], trace(battery)):
        assert READER.sniff(Head(tmp_path / "x", whole, whole))
