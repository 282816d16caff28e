"""Many calls of many threads keep their order, names and arguments, over chunks and windows of files."""

from __future__ import annotations

import struct
from pathlib import Path

from tests.readers.uftrace.uftrace_directory import ENTRY, EXIT, Directory, load, record, rows, text

LAST = 2**63 - 1


def tasks(*tids: int) -> tuple[str, ...]:
    return (*Directory().tasks, *(f"TASK timestamp=0.000000001 tid={tid} pid=1" for tid in tids if tid != 1))


def test_equal_times_are_in_the_order_of_the_threads(tmp_path: Path) -> None:
    tids = (1, 5, 2, 4, 3)
    data = record(100, ENTRY, "a", 0) + record(100, ENTRY, "b", 1) + record(100, EXIT, "b", 1)
    data += record(200, EXIT, "a", 0)
    trace = load(Directory(dict.fromkeys(tids, data), tasks=tasks(*tids)).write(tmp_path / "d"))
    found = sorted(rows(trace, "call", "id", "tid", "name", "parent"))
    expected = [((3 * at + 1, tid, "a", None), (3 * at + 2, tid, "b", 3 * at + 1)) for at, tid in enumerate(tids)]
    assert found == [row for pair in expected for row in pair]


def test_the_last_time_there_is(tmp_path: Path) -> None:
    data = record(LAST - 1, ENTRY, "a", 0) + record(LAST, EXIT, "a", 0)
    trace = load(Directory({1: data, 2: data, 3: b""}, tasks=tasks(1, 2, 3)).write(tmp_path / "d"))
    assert sorted(rows(trace, "call", "tid", "id", "dur", "state")) == [(1, 1, 1, None), (2, 2, 1, None)]


def test_more_calls_than_a_chunk_has(tmp_path: Path) -> None:
    count, names = 50_000, ("a", "b", "c")
    dat = {}
    for tid, name in zip((1, 2, 3), names, strict=True):
        out = bytearray(record(10, ENTRY, "main", 0))
        for at in range(count):
            more = struct.pack("<q", -at) if at % 10 == tid else None
            out += record(1000 + 20 * at + tid, ENTRY, name, 1, more)
            if at % 1000:
                out += record(1007 + 20 * at + tid, EXIT, name, 1)
        dat[tid] = bytes(out + record(1000 + 20 * count, EXIT, "main", 0))
    argspec = ["argspec:" + ";".join(f"{name}@arg1/i64" for name in names)]
    trace = load(Directory(dat, argspec, ["argument"], tasks=tasks(1, 2, 3)).write(tmp_path / "d"))
    every = rows(trace)
    found = {tid: [row for row in every if row["tid"] == tid] for tid in dat}
    for tid, name in zip((1, 2, 3), names, strict=True):
        main, *inner = found[tid]
        assert (main["name"], main["dur"], main["parent"]) == ("main", 990 + 20 * count, None)
        assert [row["name"] for row in inner] == [name] * count
        assert [row["_ts"] for row in inner] == [1000 + 20 * at + tid for at in range(count)]
        assert {row["parent"] for row in inner} == {main["id"]}
        left = [at for at, row in enumerate(inner) if row["state"] == "left"]
        assert left == list(range(0, count, 1000))
        assert {row["dur"] for row in inner if row["state"] is None} == {7}
        assert [row["args"] for row in inner] == [f"({-at})" if at % 10 == tid else None for at in range(count)]
        assert main["self"] == main["dur"] - sum(row["dur"] for row in inner)
    ids = sorted(row["id"] for one in found.values() for row in one)
    assert len(set(ids)) == len(ids) == 3 * (count + 1)


def test_numbers_that_need_eight_bytes_after_some_that_need_four(tmp_path: Path) -> None:
    lengths = [*range(1, 600), 1 << 31, *range(1, 600), 1 << 40, (1 << 31) - 1]
    out, time = bytearray(), 10
    for length in lengths:
        out += record(time, ENTRY, "a", 0) + record(time + length, EXIT, "a", 0)
        time += length + 1
    trace = load(Directory({1: bytes(out)}).write(tmp_path / "d"))
    found = rows(trace, "call", "dur", "self", "id", "depth")
    assert found == [(length, length, 2 * at + 1, 0) for at, length in enumerate(lengths)]


def test_long_open_calls_keep_their_arguments(tmp_path: Path) -> None:
    depth, inner = 20, 10_000
    out, left = bytearray(), bytearray()
    for at in range(depth):
        out += record(10 + at, ENTRY, "b", at, text(b"open %d" % at))
    for at in range(inner):
        out += record(1000 + 10 * at, ENTRY, "a", depth, text(b"%d" % (at % 3)) if at % 7 == 0 else None)
        out += record(1005 + 10 * at, EXIT, "a", depth, struct.pack("<i", at) if at % 5 == 0 else None)
    for at in reversed(range(depth)):
        left += record(10**6 - at, EXIT, "b", at, struct.pack("<i", -at) if at % 2 else None)
    argspec = ["argspec:a@arg1/s;b@arg1/s", "retspec:a@retval/i32;b@retval/i32"]
    folder = Directory({1: bytes(out + left)}, argspec, ["argument", "retval"]).write(tmp_path / "d")
    found = rows(load(folder), "call", "_ts", "name", "depth", "args", "retval", "state")
    callers = [(10 + at, "b", at, f'("open {at}")', str(-at) if at % 2 else None, None) for at in range(depth)]
    leaves = [
        (1000 + 10 * at, "a", depth, f'("{at % 3}")' if at % 7 == 0 else None, str(at) if at % 5 == 0 else None, None)
        for at in range(inner)
    ]
    assert found == callers + leaves


def test_words_of_megabytes(tmp_path: Path) -> None:
    count, size = 100, 60_000
    out = bytearray(record(10, ENTRY, "main", 0))
    for at in range(count):
        out += record(100 + 10 * at, ENTRY, "a", 1, text(b"%c" % (65 + at % 26) * size))
        out += record(105 + 10 * at, EXIT, "a", 1)
    out += record(10**6, EXIT, "main", 0)
    folder = Directory({1: bytes(out)}, ["argspec:a@arg1/s"], ["argument"]).write(tmp_path / "d")
    main, *inner = rows(load(folder), "call", "name", "args")
    assert main == ("main", None)
    assert inner == [("a", f'("{chr(65 + at % 26) * size}")') for at in range(count)]
