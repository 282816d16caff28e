"""Write small uftrace data directories, record by record."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dctv.contracts.reader import LoadContext, LoadedTrace
from dctv.readers.uftrace import READER
from dctv.readers.uftrace_files.files import folder_files
from dctv.readers.uftrace_files.info import FEATURES

BASE = 0x5555_5555_0000
EXE = "/bin/prog"
SYMBOLS = {"main": 0x1000, "a": 0x1100, "b": 0x1200, "c": 0x1300, "malloc": 0x1400, "_setjmp": 0x1500}
SID = "0123456789abcdef"
ENTRY, EXIT, LOST, EVENT = range(4)
COMMON = ("plthook", "task-session", "sym-rel-addr", "max-stack", "sym-size")


def address(name: str | int) -> int:
    return BASE + SYMBOLS[name] + 4 if isinstance(name, str) else name


@dataclass
class Directory:
    """What a data directory holds; `dat` has the bytes of each thread's file."""

    dat: Mapping[int, bytes] = field(default_factory=dict)
    argspec: Sequence[str] = ()
    """Lines `argspec:...`, `retspec:...`, `argauto:...` and the like."""
    features: Sequence[str] = ()
    pattern: str = "regex"
    tasks: Sequence[str] = (
        "SESS timestamp=0.000000001 pid=1 sid=" + SID + ' exename="' + EXE + '"',
        "TASK timestamp=0.000000001 tid=1 pid=1",
    )
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    big: bool = False
    wide: bool = True
    version: int = 4
    info: Sequence[str] = ()
    """More lines of `info`."""

    def write(self, folder: Path) -> Path:
        folder.mkdir(exist_ok=True)
        for name, content in self.contents().items():
            (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return folder

    def contents(self) -> dict[str, str | bytes]:
        symbols = [f"{at:016x} {0x100:08x} {'P' if name == 'malloc' else 'T'} {name}" for name, at in SYMBOLS.items()]
        return {
            "info": self._info(),
            "task.txt": "".join(f"{line}\n" for line in self.tasks),
            f"sid-{SID}.map": f"{BASE:x}-{BASE + 0x10000:x} r-xp 00000000 00:00 0    {EXE} build-id:12345678\n",
            "prog.sym": "".join(f"{line}\n" for line in ["# symbols: 6", f"# path name: {EXE}", *symbols]),
            **{f"{tid}.dat": data for tid, data in self.dat.items()},
            **self.files,
        }

    def _info(self) -> bytes:
        features = sum(1 << FEATURES.index(name) for name in (*COMMON, *self.features))
        lines = [
            f"exename:{EXE}",
            "cmdline:uftrace record prog",
            "osinfo:lines=2",
            "osinfo:kernel=Linux 6.1",
            "osinfo:hostname=box",
            "taskinfo:lines=2",
            f"taskinfo:nr_tid={len(self.dat)}",
            "taskinfo:tids=" + ",".join(map(str, self.dat)),
            *([f"argspec:lines={len(self.argspec)}", *self.argspec] if self.argspec else []),
            f"pattern_type:{self.pattern}",
            "uftrace_version:v0.19 ( x86_64 )",
            "utc_offset:1700000000",
            *self.info,
        ]
        form = ">8sIHBBQQH6x" if self.big else "<8sIHBBQQH6x"
        head = (b"Ftrace!\0", self.version, 40, 2 if self.big else 1, 2 if self.wide else 1, features, 0xFFFF, 1024)
        return struct.pack(form, *head) + "".join(f"{line}\n" for line in lines).encode()


def record(
    time: int, kind: int, name: str | int, depth: int = 0, data: bytes | None = None, *, big: bool = False
) -> bytes:
    """One record, with its data padded to 8 bytes."""
    word = kind | (4 if data is not None else 0) | 5 << 3 | depth << 6 | address(name) << 16
    data = data or b""
    return struct.pack(">QQ" if big else "<QQ", time, word) + data + b"\xee" * (-len(data) % 8)


def calls(*steps: tuple[Any, ...], big: bool = False) -> bytes:
    """Records of one thread: `(time, 'main')` enters, `(time, None)` leaves the newest; data may be third."""
    out = b""
    open_calls: list[str] = []
    for time, name, *data in steps:
        if name is None:
            left = open_calls.pop()
            out += record(time, EXIT, left, len(open_calls), *data, big=big)
        else:
            out += record(time, ENTRY, name, len(open_calls), *data, big=big)
            open_calls.append(name)
    return out


def text(value: bytes) -> bytes:
    """A text as an argument."""
    return padded(struct.pack("<H", len(value)) + value)


def padded(data: bytes) -> bytes:
    return data + b"\xee" * (-len(data) % 4)


def event(time: int, number: int, data: bytes | None = None) -> bytes:
    return record(time, EVENT, number, 0, None if data is None else struct.pack("<H", len(data)) + data)


def switch(time: int, tid: int, *, out: bool, preempted: bool = False) -> bytes:
    misc = (0x2000 if out else 0) | (0x4000 if preempted else 0)
    return struct.pack("<IHHIIQ", 14, misc, 24, 1, tid, time)


def task_event(kind: int, time: int, tid: int) -> bytes:
    """A fork (7) or exit (4)."""
    return struct.pack("<IHHIIIIQIIQ", kind, 0, 48, 1, 1, tid, 1, time, 1, tid, time)


def comm(time: int, tid: int, name: bytes) -> bytes:
    name = name + b"\0" * (8 - len(name) % 8)
    return struct.pack("<IHHII", 3, 0x2000, 32 + len(name), 1, tid) + name + struct.pack("<IIQ", 1, tid, time)


def load(folder: Path) -> LoadedTrace:
    files = folder_files(folder)
    assert files
    return READER.load(files, LoadContext({}, 2, lambda _done, _total: None))


def rows(trace: LoadedTrace, table: str = "call", *columns: str) -> list[Any]:
    """Rows of an event table, with absolute times; only some columns as tuples, if they are named."""
    start = int(trace.properties["start_ns"])
    found = [{**row, "_ts": row["_ts"] + start} for row in trace.tables[f"raw_events.{table}"].data.to_pylist()]
    return [tuple(row[name] for name in columns) for row in found] if columns else found


def notes(trace: LoadedTrace) -> dict[str, int]:
    return {one.reason: one.count for one in trace.diagnostics}


def small() -> Directory:
    """A directory with something of everything, for damage."""
    data = calls(
        (100, "main", struct.pack("<q", 1)),
        (110, "a", text(b"hello") + padded(struct.pack("<i", 5))),
        (120, "malloc"),
        (130, None),
        (140, None, struct.pack("<q", 7)),
    )
    data += event(150, 100001, struct.pack("<3Q", 10, 20, 30)) + event(151, 1_000_001)
    data += record(160, EXIT, "main", 0)
    return Directory(
        dat={1: data, 2: calls((105, "b"), (135, "c"), (145, None), (155, None))},
        argspec=["argspec:main@arg1;a@arg1/s,arg2/i32", "retspec:a@retval", "enumauto:enum e { A, B };"],
        features=["argument", "retval", "event", "perf-event"],
        tasks=(*Directory().tasks, "TASK timestamp=0.000000100 tid=2 pid=1"),
        files={
            "perf-cpu0.dat": comm(90, 1, b"prog")
            + switch(112, 1, out=True)
            + switch(118, 1, out=False)
            + task_event(4, 170, 1),
            "events.txt": "EVENT: 1000001 prov:ev\n",
            "extern.dat": "# remark\n0.000000125 a message\n",
            "prog.dbg": f"# path name: {EXE}\nF: 1100 a\nL: 7 prog.c\nA: @arg1/s\n",
        },
    )


def members(directory: Directory) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of the files."""
    for name, content in directory.contents().items():
        yield name, content.encode() if isinstance(content, str) else content
