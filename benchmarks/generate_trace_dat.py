"""A number of events becomes a `trace.dat` as trace-cmd writes it: scheduler, marks of programs, frequency and idle.

Run as `python benchmarks/generate_trace_dat.py FILE --events 1000000 --version 7 --packing zstd`; the same arguments
give the same bytes.
"""

from __future__ import annotations

import argparse
import random
import struct
import zlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

MAGIC = b"\x17\x08\x44tracing"
PAGE = 4096
CHUNK_PAGES = 10
"""Pages of a packed chunk, as trace-cmd packs them."""
START_NS = 1_645_776_519_868
COMMS = ("kworker/u8:3", "RenderThread", "surfaceflinger", "Binder:598_2", "rcu_preempt", "VM Periodic Tas", "python3")
MARKS = ("doFrame", "measure", "draw|layer=1", "onMessageReceived", "performTraversals", "eglSwapBuffers")
COMMON = (
    ("unsigned short common_type", 2, 0),
    ("unsigned char common_flags", 1, 0),
    ("unsigned char common_preempt_count", 1, 0),
    ("int common_pid", 4, 1),
)
STATES = '{ 1, "S" }, { 2, "D" }, { 4, "T" }, { 8, "t" }, { 16, "X" }, { 32, "Z" }, { 64, "P" }, { 128, "I" }'
SWITCH = (
    '"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d", REC->prev_comm,'
    f' REC->prev_pid, REC->prev_prio, (REC->prev_state & 255) ? __print_flags(REC->prev_state & 255, "|", {STATES})'
    ' : "R", REC->prev_state & 256 ? "+" : "", REC->next_comm, REC->next_pid, REC->next_prio'
)


@dataclass(frozen=True, slots=True)
class Event:
    """The format of an event: declarations with size and sign, and how it is printed."""

    id: int
    system: str
    name: str
    fields: tuple[tuple[str, int, int], ...]
    print: str

    def text(self) -> bytes:
        """Return it as the kernel writes it."""
        lines = [f"name: {self.name}", f"ID: {self.id}", "format:"]
        offset = 0
        for number, (declared, size, signed) in enumerate((*COMMON, *self.fields)):
            aligned = size and ("[" not in declared or declared.startswith("__"))
            offset += -offset % min(size, 8) if aligned else 0
            lines.append(f"\tfield:{declared};\toffset:{offset};\tsize:{size};\tsigned:{signed};")
            lines.extend([""] if number == len(COMMON) - 1 else [])
            offset += size
        return "\n".join([*lines, "", f"print fmt: {self.print}", ""]).encode()


EVENTS = (
    Event(
        5, "ftrace", "print", (("unsigned long ip", 8, 0), ("char buf[]", 0, 0)), '"%ps: %s", (void *)REC->ip, REC->buf'
    ),
    Event(
        372,
        "sched",
        "sched_switch",
        (
            ("char prev_comm[16]", 16, 0),
            ("pid_t prev_pid", 4, 1),
            ("int prev_prio", 4, 1),
            ("long prev_state", 8, 1),
            ("char next_comm[16]", 16, 0),
            ("pid_t next_pid", 4, 1),
            ("int next_prio", 4, 1),
        ),
        SWITCH,
    ),
    Event(
        375,
        "sched",
        "sched_waking",
        (("char comm[16]", 16, 0), ("pid_t pid", 4, 1), ("int prio", 4, 1), ("int target_cpu", 4, 1)),
        '"comm=%s pid=%d prio=%d target_cpu=%03d", REC->comm, REC->pid, REC->prio, REC->target_cpu',
    ),
    Event(
        420,
        "power",
        "cpu_frequency",
        (("u32 state", 4, 0), ("u32 cpu_id", 4, 0)),
        '"state=%lu cpu_id=%lu", (unsigned long)REC->state, (unsigned long)REC->cpu_id',
    ),
    Event(
        422,
        "power",
        "cpu_idle",
        (("u32 state", 4, 0), ("u32 cpu_id", 4, 0)),
        '"state=%lu cpu_id=%lu", (unsigned long)REC->state, (unsigned long)REC->cpu_id',
    ),
)


@dataclass
class Ring:
    """The pages of one CPU while events are put into them."""

    order: str = "<"
    page: int = PAGE
    long: int = 8
    pages: list[bytes] = field(default_factory=list)
    _entries: bytearray = field(default_factory=bytearray)
    _first: int = -1
    _last: int = 0

    def put(self, ts: int, record: bytes) -> None:
        """Add an event at a time in ns; times must not go down."""
        record += b"\0" * (-len(record) % 4)
        words = len(record) // 4
        body = record if words <= 28 else struct.pack(self.order + "I", len(record) + 4) + record
        delta = ts - self._last if self._first >= 0 else 0
        extend = b"" if delta < 1 << 27 else self._head(30, delta & (1 << 27) - 1, delta >> 27)
        if self._first >= 0 and len(self._entries) + len(extend) + 4 + len(body) > self.page - 8 - self.long:
            self.close()
            delta, extend = 0, b""
        if self._first < 0:
            self._first = ts
        self._entries += extend + self._head(words if words <= 28 else 0, 0 if extend else delta) + body
        self._last = ts

    def raw(self, entry: bytes) -> None:
        """Add an entry as it is."""
        self._entries += entry

    def _head(self, kind: int, delta: int, high: int | None = None) -> bytes:
        word = kind << 27 | delta if self.order == ">" else delta << 5 | kind
        return struct.pack(self.order + "I", word) + (b"" if high is None else struct.pack(self.order + "I", high))

    def close(self, flags: int = 0, lost: int | None = None) -> None:
        """End the page; `flags` are added to the number of its bytes, `lost` stands behind them."""
        if self._first < 0:
            return
        size = "I" if self.long == 4 else "Q"
        page = struct.pack(self.order + "Q" + size, self._first, len(self._entries) | flags) + self._entries
        page += b"" if lost is None else struct.pack(self.order + size, lost)
        self.pages.append(page.ljust(self.page, b"\0"))
        self._entries.clear()
        self._first = -1


@dataclass
class Trace:
    """A file of trace-cmd before it is written."""

    version: int = 7
    packing: str = "none"
    order: str = "<"
    long: int = 8
    page: int = PAGE
    events: tuple[Event, ...] = EVENTS
    symbols: bytes = b"ffffffff81000000 T _stext\nffffffff81000100 T tracing_mark_write\nffffffff81000200 T schedule\n"
    printks: bytes = b""
    comms: dict[int, str] = field(default_factory=dict)
    options: list[tuple[int, bytes]] = field(default_factory=list)
    buffers: dict[str, list[Ring]] = field(default_factory=dict)
    clock: str = "local"

    def number(self, kind: str, *values: int) -> bytes:
        """Return numbers in the file's order."""
        return struct.pack(self.order + kind, *values)

    def packed(self, data: bytes) -> bytes:
        """Return bytes packed as the file says."""
        if self.packing == "zlib":
            return zlib.compress(data, 6)
        import pyarrow as pa

        return bytes(pa.Codec("zstd").compress(data, asbytes=True))

    def sized(self, data: bytes, kind: str = "Q") -> bytes:
        """Return bytes with their number before them."""
        return self.number(kind, len(data)) + data

    def header_info(self) -> bytes:
        """Return the descriptions of pages and entries."""
        head = 8 + self.long
        page = (
            "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
            f"\tfield: local_t commit;\toffset:8;\tsize:{self.long};\tsigned:1;\n"
            f"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
            f"\tfield: char data;\toffset:{head};\tsize:{self.page - head};\tsigned:0;\n"
        ).encode()
        event = b"# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n"
        return b"header_page\0" + self.sized(page) + b"header_event\0" + self.sized(event)

    def formats(self) -> tuple[bytes, bytes]:
        """Return the formats of ftrace's own events, and of the others by their systems."""
        own = [event.text() for event in self.events if event.system == "ftrace"]
        first = self.number("I", len(own)) + b"".join(map(self.sized, own))
        systems = sorted({event.system for event in self.events} - {"ftrace"})
        rest = self.number("I", len(systems))
        for system in systems:
            texts = [event.text() for event in self.events if event.system == system]
            rest += system.encode() + b"\0" + self.number("I", len(texts)) + b"".join(map(self.sized, texts))
        return first, rest

    def cmdlines(self) -> bytes:
        """Return the names of threads."""
        return "".join(f"{pid} {comm}\n" for pid, comm in self.comms.items()).encode()

    def written(self) -> bytes:
        """Return the file."""
        for rings in self.buffers.values():
            for ring in rings:
                ring.close()
        big = self.order == ">"
        head = MAGIC + f"{self.version}".encode() + b"\0" + bytes([big, self.long]) + self.number("I", self.page)
        return self._sections(head) if self.version >= 7 else self._in_order(head)

    def _option(self, number: int, data: bytes) -> bytes:
        return (
            self.number("HI", number, len(data)) + data
            if self.order == ">"
            else struct.pack("<HI", number, len(data)) + data
        )

    def _in_order(self, head: bytes) -> bytes:
        first, rest = self.formats()
        out = bytearray(head + self.header_info() + first + rest)
        out += self.sized(self.symbols, "I") + self.sized(self.printks, "I") + self.sized(self.cmdlines())
        main, *others = self.buffers.items()
        out += self.number("I", len(main[1]))
        clock = f"local [{self.clock}] mono".encode() + b"\0"
        options = [(4, clock), (8, self.number("I", len(main[1]))), *self.options]
        named = [(3, self.number("Q", 0) + name.encode() + b"\0") for name, _ in others]
        out += b"options  \0" + b"".join(self._option(*one) for one in [*options, *named]) + self.number("H", 0)
        places = {}
        for (name, _), at in zip(
            reversed(others), _ends(len(out), [len(one[1]) + 6 for one in reversed(named)]), strict=True
        ):
            places[name] = at
        tables = {}
        out += b"flyrecord\0"
        tables[main[0]] = len(out)
        out += b"\0" * 16 * len(main[1])
        out += self.sized(clock)
        for name, rings in others:
            struct.pack_into(self.order + "Q", out, places[name], len(out))
            out += b"flyrecord\0"
            tables[name] = len(out)
            out += b"\0" * 16 * len(rings)
        for name, rings in self.buffers.items():
            for cpu, ring in enumerate(rings):
                out += b"\0" * (-len(out) % self.page)
                data = b"".join(ring.pages)
                struct.pack_into(self.order + "QQ", out, tables[name] + 16 * cpu, len(out), len(data))
                out += data
        return bytes(out)

    def section(self, number: int, data: bytes, description: int = 0) -> bytes:
        """Return a section, packed if the file is."""
        packs = self.packing != "none" and number != 0
        if packs:
            packed = self.packed(data)
            data = self.number("II", len(packed), len(data)) + packed
        return self.number("HHIQ", number, int(packs), description, len(data)) + data

    def _sections(self, head: bytes) -> bytes:
        version = b"" if self.packing == "none" else b"1.5"
        out = bytearray(head + self.packing.encode() + b"\0" + version + b"\0")
        first_options = len(out)
        out += self.number("Q", 0)
        first, rest = self.formats()
        options = []
        for number, data in (
            (16, self.header_info()),
            (17, first),
            (18, rest),
            (19, self.sized(self.symbols, "I")),
            (20, self.sized(self.printks, "I")),
            (21, self.sized(self.cmdlines())),
        ):
            options.append((number, self.number("Q", len(out))))
            out += self.section(number, data)
        cpus = len(next(iter(self.buffers.values()))) if self.buffers else 0
        options += [(8, self.number("I", cpus)), *self.options]
        for name, rings in self.buffers.items():
            options.append((3, self._buffer(out, name, rings)))
        struct.pack_into(self.order + "Q", out, first_options, len(out))
        body = b"".join(self._option(*one) for one in options) + self._option(0, self.number("Q", 0))
        out += self.section(0, body)
        return bytes(out)

    def _buffer(self, out: bytearray, name: str, rings: list[Ring]) -> bytes:
        place = len(out)
        packs = self.packing != "none"
        head = self.number("HHIQ", 3, int(packs), 0, 0)
        out += head
        told = self.number("Q", place) + name.encode() + b"\0" + self.clock.encode() + b"\0"
        told += self.number("II", self.page, len(rings))
        for cpu, ring in enumerate(rings):
            data = b"".join(ring.pages)
            if packs:
                data = self._chunks(data)
            else:
                out += b"\0" * (-len(out) % self.page)
            counted = len(data) - 4 if packs else len(data)
            told += self.number("I", cpu) + self.number("QQ", len(out), counted)
            out += data
        return told

    def _chunks(self, data: bytes) -> bytes:
        size = self.page * CHUNK_PAGES
        parts = [data[at : at + size] for at in range(0, len(data), size)]
        packed = [self.packed(part) for part in parts]
        chunks = (self.number("II", len(small), len(part)) + small for small, part in zip(packed, parts, strict=True))
        return self.number("I", len(parts)) + b"".join(chunks)


def _ends(end: int, sizes: list[int]) -> list[int]:
    """Return where the data of the last options begin, from the last on; two bytes follow them all."""
    found = []
    end -= 2
    for size in sizes:
        end -= size
        found.append(end + 6)
    return found


def head(order: str, event: int, pid: int, flags: int = 0, preempt: int = 0) -> bytes:
    """Return what all records begin with."""
    return struct.pack(order + "HBBi", event, flags, preempt, pid)


def comm(name: str) -> bytes:
    """Return the name of a thread in a record."""
    return name.encode()[:15].ljust(16, b"\0")


def generate(
    path: Path | str, events: int, *, version: int = 7, packing: str = "zstd", cpus: int = 8, seed: int = 1
) -> Counter[str]:
    """Write a trace; return how many events there are of each name."""
    rng = random.Random(seed)
    threads = [(rng.randrange(2, 40_000), rng.choice(COMMS)) for _ in range(400)]
    trace = Trace(version, packing, comms=dict(threads), clock="mono")
    rings = [Ring() for _ in range(cpus)]
    trace.buffers[""] = rings
    counts: Counter[str] = Counter()
    ts = START_NS
    running = [rng.choice(threads) for _ in range(cpus)]
    for _ in range(events):
        ts += rng.randrange(1, 2000)
        cpu = rng.randrange(cpus)
        name, record, running[cpu] = _record(rng, threads, running[cpu], cpu)
        rings[cpu].put(ts, record)
        counts[name] += 1
    uname = b"Linux generated 6.18.0 x86_64\0"
    trace.options += [(4, b"local [mono] boot\0"), (5, uname), (9, b"3.1.6\0")][version < 7 :]
    Path(path).write_bytes(trace.written())
    return counts


def _record(
    rng: random.Random, threads: list[tuple[int, str]], running: tuple[int, str], cpu: int
) -> tuple[str, bytes, tuple[int, str]]:
    """Draw an event of a CPU: its name, its record, and the thread that runs then."""
    pid, name = running
    kind = rng.random()
    if kind < 0.6:
        following = rng.choice(threads)
        state = rng.choice((0, 1, 1, 2, 256, 128))
        record = head("<", 372, pid, 1, 2) + comm(name) + struct.pack("<iiq", pid, 120, state)
        return "sched_switch", record + comm(following[1]) + struct.pack("<ii", following[0], 120), following
    if kind < 0.8:
        woken = rng.choice(threads)
        record = head("<", 375, pid, 9, 2) + comm(woken[1]) + struct.pack("<iii", woken[0], 120, cpu)
        return "sched_waking", record, running
    if kind < 0.85:
        frequency = rng.randrange(3, 28) * 100_000
        return "cpu_frequency", head("<", 420, pid) + struct.pack("<II", frequency, cpu), running
    if kind < 0.9:
        state = rng.choice((0, 1, 2, 0xFFFF_FFFF))
        return "cpu_idle", head("<", 422, pid, 1, 1) + struct.pack("<II", state, cpu), running
    text = f"B|{pid}|{rng.choice(MARKS)}" if kind < 0.95 else f"E|{pid}"
    record = head("<", 5, pid, 0, 1) + struct.pack("<Q", 0xFFFF_FFFF_8100_0120) + text.encode() + b"\n\0"
    return f"print|{text[0]}", record, running


def main() -> None:
    """Write what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--version", type=int, choices=(6, 7), default=7)
    parser.add_argument("--packing", choices=("none", "zlib", "zstd"), default="zstd")
    given = parser.parse_args()
    for name, count in sorted(generate(given.path, given.events, version=given.version, packing=given.packing).items()):
        print(name, count)


if __name__ == "__main__":
    main()
