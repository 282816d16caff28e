"""perf.data of either byte order, as written to files and pipes: the same rows; and what damage leaves of it."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.contracts.reader import Head
from dctv.readers.perf_data import READER
from tests.bounds import EXPLORE, bounded
from tests.damage import flipped, read, survives, truncated
from tests.readers.perf.perf_reading import DATA, generator, load, rows

GENERATE = generator()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("perf") / "small.data"
    GENERATE.generate(path, 40)
    return path.read_bytes()


@pytest.mark.parametrize("form", [{}, {"big": True}, {"pipe": True}, {"pipe": True, "big": True}])
def test_forms(tmp_path: Path, form: dict[str, bool]) -> None:
    plain, path = tmp_path / "plain.data", tmp_path / "other.data"
    GENERATE.generate(plain, 400)
    GENERATE.generate(path, 400, **form)
    expected, trace = load(READER, plain), load(READER, path)
    for name, table in expected.tables.items():
        assert trace.tables[name].data.equals(table.data), name
    assert {key: value for key, value in trace.properties.items() if key != "mode"} == {
        "clock": "perf",
        "command": "perf record",
        "cpus": "2",
        "cpus_online": "2",
        "host": "machine",
        "kernel": "6.1.0",
        "start_ns": "1000001000",
        "tool": "perf 6.1",
    }
    assert not trace.diagnostics


def test_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.data"
    GENERATE.generate(path, 400)
    trace = load(READER, path)
    samples = rows(trace, "raw_events.sample")
    assert len(samples) == 300
    assert samples[0]["event"] == "cpu-clock:u"
    assert samples[0]["comm"] == f"thread{samples[0]['tid']}"
    leaf = str(samples[0]["stack"]).rpartition(";")[2]
    assert leaf == f"worker+{int(str(samples[0]['ip'])) - 0x400000 + 0x1000:#x}"
    switches = rows(trace, "raw_events.sched_switch")
    assert len(switches) == 100
    assert switches[0]["prev_comm"] == f"thread{switches[0]['prev_pid']}"
    assert switches[0]["common_tgid"] == 100
    assert rows(trace, "process_names") == [{"pid": 100, "name": "main"}]
    assert [row["tid"] for row in rows(trace, "thread_names")] == list(range(100, 109))
    assert rows(trace, "raw_events.mmap")[1]["filename"] == "/usr/bin/worker"


@pytest.mark.parametrize("padding", [0, 512])
def test_packed(tmp_path: Path, small: bytes, padding: int) -> None:
    plain, packed = tmp_path / "a.data", tmp_path / "a.data.gz"
    plain.write_bytes(small)
    packed.write_bytes(gzip.compress(small) + bytes(padding))
    assert rows(load(READER, packed), "raw_events.sample") == rows(load(READER, plain), "raw_events.sample")


def test_recorded() -> None:
    trace = load(READER, DATA / "cpuclock.data")
    samples = rows(trace, "raw_events.sample")
    assert Counter(row["event"] for row in samples) == {"cpu-clock:u": 1411}
    assert {row["period"] for row in samples} == {250_000}
    assert samples[0]["stack"] == "[unknown];ld-linux-x86-64.so.2+0x14f02"
    assert len(rows(trace, "raw_events.exit")) == 4
    assert trace.properties["host"] == "vm"
    assert not trace.diagnostics


def test_sniffed() -> None:
    for magic in (b"PERFILE2", b"2ELIFREP"):
        assert READER.sniff(Head(Path("x"), magic, magic + bytes(96)))
    assert not READER.sniff(Head(Path("x"), b"PERFI", b"PERFI"))


def test_truncated(tmp_path: Path, small: bytes) -> None:
    whole = len(small)
    for data in truncated(small, 7 if EXPLORE else 29):
        trace = survives(READER, tmp_path / "cut.data", data)
        if not isinstance(trace, str) and len(data) < whole - 3000:
            assert any(note.incomplete for note in trace.diagnostics), len(data)


@bounded(40)
@given(places=st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), min_size=1, max_size=8))
def test_flipped(tmp_path_factory: pytest.TempPathFactory, small: bytes, places: list[tuple[int, int]]) -> None:
    survives(READER, tmp_path_factory.mktemp("flip") / "a.data", flipped(small, *places))


def test_a_file_with_only_a_header(tmp_path: Path) -> None:
    path = tmp_path / "a.data"
    path.write_bytes(b"PERFILE2" + (16).to_bytes(8, "little"))
    trace = load(READER, path)
    assert not trace.tables
    path.write_bytes(b"PERFFILE" + bytes(100))
    assert read(READER, path) == f"cannot read `{path}`: it is a perf.data of before 2010, expected `PERFILE2`"
    path.write_bytes(b"PERFILE2" + bytes(4))
    assert read(READER, path) == f"cannot read `{path}`: it ends within its header"


def test_bomb(tmp_path: Path) -> None:
    """Blocks of one byte repeated, 128 KiB from 4 bytes each."""
    writer = GENERATE.Writer()
    frame = bytes.fromhex("28b52ffd") + b"\x00\x50"
    block = (1 << 1 | 131072 << 3).to_bytes(3, "little") + b"\0"
    packed = b"".join(writer.record(81, 0, (frame if n == 0 else b"") + block * 8000) for n in range(4))
    path = tmp_path / "bomb.data"
    path.write_bytes(b"PERFILE2" + writer.pack("Q", 16) + packed)
    trace = read(READER, path)
    assert isinstance(trace, str) or any(note.incomplete for note in trace.diagnostics)
