"""Small trace.dat files for tests: a few events on two CPUs, in any form that the format has."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from benchmarks.generate_trace_dat import EVENTS, Event, Ring, Trace, comm, head
from dctv.contracts.reader import LoadContext, LoadedTrace
from dctv.readers.trace_dat import READER

MARK_IP = 0xFFFF_FFFF_8100_0120
"""In `tracing_mark_write`, by the symbols of `Trace`."""


def load(path: Path) -> LoadedTrace:
    return READER.load([path], LoadContext({}, 2, lambda _done, _total: None))


def loaded(trace: Trace, folder: Path) -> LoadedTrace:
    path = folder / "trace.dat"
    path.write_bytes(trace.written())
    return load(path)


def rows(trace: LoadedTrace, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = trace.tables[table].data.to_pylist()
    return found


def told(trace: LoadedTrace) -> dict[str, int]:
    return {one.reason: one.count for one in trace.diagnostics}


def switch(order: str, prev: tuple[int, str, int], following: tuple[int, str], long: int = 8) -> bytes:
    """A switch of threads: id, name and state of the one, id and name of the other."""
    pid, name, state = prev
    record = head(order, 372, pid, 1, 0x12) + comm(name) + struct.pack(order + "ii", pid, 120)
    record += struct.pack(order + ("q" if long == 8 else "i"), state)
    return record + comm(following[1]) + struct.pack(order + "ii", following[0], 120)


def mark(order: str, pid: int, text: str, long: int = 8) -> bytes:
    ip = struct.pack(order + ("Q" if long == 8 else "I"), MARK_IP if long == 8 else 0x81000120)
    return head(order, 5, pid, 0, 1) + ip + text.encode() + b"\n\0"


def of_long(events: tuple[Event, ...], long: int) -> tuple[Event, ...]:
    """The formats as a kernel with longs of so many bytes has them."""
    return tuple(
        Event(
            one.id,
            one.system,
            one.name,
            tuple((d, long if "long " in d and s == 8 else s, n) for d, s, n in one.fields),
            one.print,
        )
        for one in events
    )


def small(version: int = 7, packing: str = "none", order: str = "<", long: int = 8) -> Trace:
    """Five events: two switches and a mark of CPU 0, between them a switch and a text of CPU 1."""
    trace = Trace(version, packing, order, long, events=of_long(EVENTS, long), clock="mono")
    trace.comms = {10: "one", 20: "two"}
    if long == 4:
        trace.symbols = b"81000100 T tracing_mark_write\n81000200 T schedule\n"
    first, second = Ring(order, long=long), Ring(order, long=long)
    first.put(1000, switch(order, (10, "one", 1), (20, "two"), long))
    second.put(1500, switch(order, (0, "swapper/1", 0), (30, "three"), long))
    first.put(2000, mark(order, 20, "B|20|work", long))
    second.put(2500, mark(order, 30, "hello", long))
    first.put(2000 + (1 << 28), switch(order, (20, "two", 0x100), (10, "one"), long))
    trace.buffers[""] = [first, second]
    return trace
