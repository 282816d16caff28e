"""Damaged data directories give the rest with diagnostics of the losses, or an error."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.contracts.reader import LoadedTrace
from dctv.errors import TraceError
from dctv.readers.uftrace import READER
from dctv.session import Session
from tests.bounds import bounded
from tests.command_line import run
from tests.damage import flipped, peak_of, read, truncated
from tests.readers.uftrace.uftrace_directory import (
    ENTRY,
    EXIT,
    LOST,
    Directory,
    calls,
    event,
    load,
    members,
    notes,
    record,
    rows,
    small,
)

FILES = dict(members(small()))


def damaged(folder: Path, name: str, data: bytes) -> LoadedTrace | str:
    small().write(folder)
    (folder / name).write_bytes(data)
    return read(READER, folder)


@pytest.mark.parametrize("name", [name for name in FILES if name != "info"])
def test_truncated(tmp_path: Path, name: str) -> None:
    small().write(tmp_path / "d")
    whole = load(tmp_path / "d")
    for data in truncated(FILES[name], 1 if name[0].isdigit() else 5):
        trace = damaged(tmp_path / "d", name, data)
        assert isinstance(trace, LoadedTrace)
        assert len(rows(trace)) <= len(rows(whole))
        if name.endswith(".dat") and name[0].isdigit():
            records = int(trace.properties["entries"]) + int(trace.properties["exits"])
            cut = any(one.incomplete for one in trace.diagnostics)
            assert records == 14 or cut or len(data) in boundaries(name), (name, len(data))


def boundaries(name: str) -> set[int]:
    """Where a file may end without a record being cut."""
    sizes = {"1.dat": (24, 32, 16, 16, 24, 48, 16, 16), "2.dat": (16, 16, 16, 16)}[name]
    return {sum(sizes[:at]) for at in range(len(sizes) + 1)}


def test_truncated_info(tmp_path: Path) -> None:
    for data in truncated(FILES["info"], 3):
        small().write(tmp_path / "d")
        (tmp_path / "d" / "info").write_bytes(data)
        assert READER.folder
        if READER.folder(tmp_path / "d"):
            trace = read(READER, tmp_path / "d")
            assert isinstance(trace, str) == (len(data) < 40)


@bounded(60)
@given(
    name=st.sampled_from([*FILES]),
    places=st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), min_size=1, max_size=8),
)
def test_random_flips(tmp_path_factory: pytest.TempPathFactory, name: str, places: list[tuple[int, int]]) -> None:
    folder = tmp_path_factory.mktemp("flips") / "d"
    data = flipped(FILES[name], *places)
    if name == "info":
        data = FILES["info"][:8] + data[8:]
    damaged(folder, name, data)


def test_bytes_that_are_no_records_are_counted_and_passed_over(tmp_path: Path) -> None:
    data = record(100, ENTRY, "main") + b"\xff" * 24 + record(120, ENTRY, "a", 1) + record(130, EXIT, "a", 1)
    trace = load(Directory({1: data + record(140, EXIT, "main")}).write(tmp_path / "d"))
    assert rows(trace, "call", "name", "dur") == [("main", 40), ("a", 10)]
    assert notes(trace) == {"bytes are no records": 24}
    assert trace.diagnostics[0].incomplete


def test_times_beyond_all_clocks_are_no_records(tmp_path: Path) -> None:
    data = record(100, ENTRY, "main") + struct.pack("<QQ", 2**63 + 5, ENTRY | 5 << 3) + record(140, EXIT, "main")
    trace = load(Directory({1: data}).write(tmp_path / "d"))
    assert rows(trace, "call", "name", "dur") == [("main", 40)]


def test_times_that_go_back(tmp_path: Path) -> None:
    trace = load(Directory({1: record(100, ENTRY, "main") + record(90, EXIT, "main")}).write(tmp_path / "d"))
    assert rows(trace, "call", "_ts", "dur") == [(100, 0)]
    assert notes(trace) == {"calls end before they begin": 1}


def test_depths_that_jump(tmp_path: Path) -> None:
    data = b"".join(record(100 + n, ENTRY, "a", 1023 if n % 2 else 0) for n in range(2000))
    trace = load(Directory({1: data}).write(tmp_path / "d"))
    assert sum(row["name"] == "a" for row in rows(trace)) == 2000
    assert len(rows(trace)) < 3 * 2000 + 100
    assert {row["state"] for row in rows(trace) if row["name"] == "a"} == {"left", "open"}


def test_hostile_lengths(tmp_path: Path) -> None:
    data = calls((100, "main"), (110, "a", struct.pack("<H", 0xFFFF) + b"x" * 6))
    trace = load(Directory({1: data}, ["argspec:a@arg1/s"], ["argument"]).write(tmp_path / "d"))
    assert notes(trace)["the file ends within a record"] == 1
    data = calls((100, "main")) + record(110, 3, 100001, 0, struct.pack("<H", 0xFFFF) + b"x" * 6)
    trace = load(Directory({1: data}, features=["event"]).write(tmp_path / "e"))
    assert notes(trace)["the file ends within a record"] == 1
    huge = ["argspec:a@arg1/t999999:Big"]
    trace = load(Directory({1: calls((100, "a", b"12345678"), (110, None))}, huge, ["argument"]).write(tmp_path / "f"))
    assert notes(trace)["the file ends within a record"] == 1


def test_lost_records_at_the_beginning(tmp_path: Path) -> None:
    data = record(0, LOST, 7) + calls((100, "main"), (110, None)) + record(0, LOST, 2**47)
    trace = load(Directory({1: data}).write(tmp_path / "d"))
    assert rows(trace, "call", "_ts", "dur", "state") == [(100, 10, None)]
    assert notes(trace)["records lost"] == 2**47 + 7


def test_many_addresses_take_bounded_memory(tmp_path: Path) -> None:
    data = b"".join(record(n, n & 1, 0x7000_0000_0000 + n // 2 * 16) for n in range(100_000))
    folder = Directory({1: data}).write(tmp_path / "d")
    words, peak = peak_of(folder)
    assert words == "mounted"
    assert peak < 400


def test_files_that_are_missing(tmp_path: Path) -> None:
    folder = small().write(tmp_path / "d")
    for name in ("task.txt", "prog.sym", "prog.dbg", "events.txt", "sid-0123456789abcdef.map"):
        (folder / name).unlink()
    trace = load(folder)
    assert {row["name"][0] for row in rows(trace)} == {"<"}
    assert notes(trace)["there is no `task.txt`"] == 1
    assert notes(trace)["tasks are not in `task.txt`"] == 2


def test_skipped_kernel_functions_are_reported(tmp_path: Path) -> None:
    trace = load(
        Directory({1: calls((100, "main"), (110, None))}, files={"kernel-cpu0.dat": b"x" * 4096}).write(tmp_path / "d")
    )
    assert notes(trace) == {"bytes of kernel functions are not read": 4096}


@pytest.mark.parametrize("version", [0, 2, 5])
def test_other_versions(tmp_path: Path, version: int) -> None:
    folder = Directory({1: b""}, version=version).write(tmp_path / "d")
    with pytest.raises(TraceError) as failed:
        load(folder)
    assert failed.value.message == f"cannot read `{folder}/info`: expected format version 3 or 4, found {version}"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("task.txt", "TASK timestamp=0.1 tid=99999999999999999999 pid=1\n"),
        ("task.txt", "FORK timestamp=99999999999999.1 pid=1 ppid=99999999999999999999\n"),
        ("task.txt", f'DLOP timestamp=0.1 tid=1 sid={"0" * 16} base={"f" * 40} libname="x"\n'),
        ("sid-0123456789abcdef.map", f"{'f' * 40}-{'f' * 41} r-xp 0 0:0 0 /bin/prog\n"),
        ("prog.sym", f"{'f' * 16} {'f' * 16} T main\n{'f' * 17} 1 T a\n"),
        ("prog.dbg", "F: xyz a\nL: 99999999999999999999 prog.c\nA: @arg99999999999999999999\nL: 7 prog.c\n"),
        ("prog.dbg", "L: 7 prog.c\nE: enum e { A = 99999999999999999999, };\n"),
        ("events.txt", "EVENT: 99999999999999999999 a:b\n"),
        ("99999999999999999999.dat", "no records at all"),
        ("perf-cpu99999999999999999999.dat", "no records at all"),
        ("extern.dat", "99999999999999999999.0 x\n9223372036.999999999 y\n"),
    ],
)
def test_absurd_numbers(tmp_path: Path, name: str, text: str) -> None:
    assert isinstance(damaged(tmp_path / "d", name, text.encode()), LoadedTrace)


def test_names_of_folders_that_are_no_text(tmp_path: Path) -> None:
    folder = small().write(tmp_path / "d\udcff")
    assert len(rows(load(folder))) == 5
    with Session(index=False) as session:
        session.mount(str(folder), "t")
        assert session.sql("SELECT COUNT(*) FROM t.events").fetchall() == [(11,)]


def test_a_directory_without_records(tmp_path: Path) -> None:
    trace = load(Directory({1: b""}).write(tmp_path / "d"))
    assert rows(trace) == []


def test_an_event_without_its_values_is_shown_by_its_name(tmp_path: Path) -> None:
    data = record(100, ENTRY, "main", 0) + event(110, 100003, struct.pack("<2Q", 1, 2)) + record(120, EXIT, "main", 0)
    done = run("replay", Directory({1: data}).write(tmp_path / "d"), "--no-index", "-f", "none")
    assert done.out.splitlines() == ["main() {", "  /* diff:proc/statm */", "} /* main */"]
