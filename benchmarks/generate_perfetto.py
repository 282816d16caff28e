"""Write Perfetto traces of a given size: ftrace events of eight CPUs, spelled out or compact, or track events."""

from __future__ import annotations

import argparse
import random
import zlib
from collections.abc import Iterator
from pathlib import Path

CPUS = 8
THREADS = 400
BUNDLE = 500
FREQUENCIES = [300_000, 576_000, 998_000, 1_401_000, 1_803_000, 2_253_000, 2_850_000]
STATES = [1, 1, 1, 0, 0, 2]
START = 1_000_000_000_000
Event = tuple[int, int, int, str, tuple[int, ...]]
"""Time, CPU, thread, kind, and what the kind needs."""


def varint(value: int) -> bytes:
    """Return a number as protobuf writes it; negative ones take ten bytes."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    """Return a field with a number."""
    return varint(field << 3) + varint(value)


def data(field: int, value: bytes) -> bytes:
    """Return a field with bytes, a text or a message."""
    return varint(field << 3 | 2) + varint(len(value)) + value


def text(field: int, value: str) -> bytes:
    """Return a field with a text."""
    return data(field, value.encode())


def packed(field: int, values: list[int]) -> bytes:
    """Return a repeated field of numbers."""
    return data(field, b"".join(map(varint, values)))


def packet(*fields: bytes) -> bytes:
    """Return a packet of a trace."""
    return data(1, b"".join(fields))


def comm(pid: int, cpu: int) -> str:
    """Return how a thread is called."""
    return f"thread-{pid}" if pid else f"swapper/{cpu}"


def kernel_events(count: int, seed: int) -> Iterator[Event]:
    """Yield events in order of time: 70% switches, 20% wake-ups, frequencies, idle states and marks."""
    choose = random.Random(seed)
    running = [0] * CPUS
    time = START
    for _ in range(count):
        time += 1 + int(choose.expovariate(1 / 5000))
        cpu = choose.randrange(CPUS)
        pid = running[cpu]
        kind = choose.random()
        if kind < 0.7:
            free = 1000 + choose.randrange(THREADS)
            following = 0 if choose.random() < 0.25 or free in running else free
            state = choose.choice(STATES) if pid else 0
            yield time, cpu, pid, "switch", (pid, state, following)
            running[cpu] = following
        elif kind < 0.9:
            yield time, cpu, pid, "waking", (1000 + choose.randrange(THREADS), choose.randrange(CPUS))
        elif kind < 0.94:
            yield time, cpu, pid, "frequency", (choose.choice(FREQUENCIES), cpu)
        elif not pid:
            yield time, cpu, pid, "idle", (choose.randrange(4), cpu)
        else:
            yield time, cpu, pid, "begin" if choose.random() < 0.5 else "end", (choose.randrange(200),)


def spelled(event: Event) -> bytes:
    """Return a message of one event."""
    time, cpu, pid, kind, args = event
    head = number(1, time) + number(2, pid)
    if kind == "switch":
        prev, state, following = args
        fields = text(1, comm(prev, cpu)) + number(2, prev) + number(3, 120) + number(4, state)
        return head + data(4, fields + text(5, comm(following, cpu)) + number(6, following) + number(7, 120))
    if kind == "waking":
        fields = text(1, comm(args[0], cpu)) + number(2, args[0]) + number(3, 120) + number(4, 1) + number(5, args[1])
        return head + data(20, fields)
    if kind in {"frequency", "idle"}:
        return head + data(11 if kind == "frequency" else 13, number(1, args[0]) + number(2, args[1]))
    mark = f"B|{pid}|slice_{args[0]}\n" if kind == "begin" else f"E|{pid}\n"
    return head + data(3, text(2, mark))


def in_column_form(found: list[Event]) -> bytes:
    """Return switches and wake-ups of one CPU in columns."""
    names: dict[str, int] = {}
    columns: dict[int, list[int]] = {field: [] for field in (1, 2, 3, 4, 6, 7, 8, 9, 10, 11)}
    last = {"switch": 0, "waking": 0}
    for time, cpu, _, kind, args in found:
        delta, last[kind] = time - last[kind], time
        pid = args[2] if kind == "switch" else args[0]
        name = names.setdefault(comm(pid, cpu), len(names))
        told = (delta, args[1], pid, 120, name) if kind == "switch" else (delta, pid, args[1], 120, name)
        for field, value in zip((1, 2, 3, 4, 6) if kind == "switch" else (7, 8, 9, 10, 11), told, strict=True):
            columns[field].append(value)
    return b"".join(packed(field, values) for field, values in columns.items()) + b"".join(
        text(5, name) for name in names
    )


def bundle(cpu: int, found: list[Event], *, in_columns: bool) -> bytes:
    """Return a packet with events of one CPU."""
    columns = [event for event in found if in_columns and event[3] in {"switch", "waking"}]
    others = [event for event in found if event not in columns] if in_columns else found
    fields = number(1, cpu) + b"".join(data(2, spelled(event)) for event in others)
    if columns:
        fields += data(4, in_column_form(columns))
    return packet(number(10, 2), data(1, fields))


def processes() -> bytes:
    """Return a packet with names of processes and threads."""
    tree = b""
    for first in range(1000, 1000 + THREADS, 10):
        tree += data(1, number(1, first) + number(2, 1) + text(3, f"proc-{first}"))
        for tid in range(first, first + 10):
            tree += data(2, number(1, tid) + text(2, f"thread-{tid}") + number(3, first))
    return packet(number(8, START), number(10, 1), data(2, tree))


def snapshot() -> bytes:
    """Return a packet with times of clocks of the same moment."""
    clocks = [(1, START + 1_600_000_000_000_000_000), (3, START - 5_000_000_000), (6, START)]
    return packet(
        number(10, 1), data(6, b"".join(data(1, number(1, clock) + number(2, time)) for clock, time in clocks))
    )


def ftrace(count: int, seed: int, *, in_columns: bool) -> Iterator[bytes]:
    """Yield packets with so many events of the kernel."""
    waiting: list[list[Event]] = [[] for _ in range(CPUS)]
    for event in kernel_events(count, seed):
        found = waiting[event[1]]
        found.append(event)
        if len(found) == BUNDLE:
            yield bundle(event[1], found, in_columns=in_columns)
            found.clear()
    for cpu, found in enumerate(waiting):
        if found:
            yield bundle(cpu, found, in_columns=in_columns)


def tracks(count: int, seed: int) -> Iterator[bytes]:
    """Yield packets with so many track events: slices within slices on eight threads, with interned names."""
    choose = random.Random(seed)
    depth = [0] * 8
    time = [START] * 8
    known: list[set[int]] = [set() for _ in range(8)]
    for thread in range(8):
        sequence = number(10, 100 + thread)
        told = number(1, 7000 + thread) + data(
            4, number(1, 1000) + number(2, 1000 + thread) + text(5, f"worker {thread}")
        )
        defaults = number(58, 6) + data(11, number(11, 7000 + thread))
        yield packet(sequence, number(13, 1), data(60, told), data(59, defaults))
    for _ in range(count):
        thread = choose.randrange(8)
        time[thread] += 1 + int(choose.expovariate(1 / 20_000))
        head = [number(8, time[thread]), number(10, 100 + thread), number(13, 2)]
        if depth[thread] and (depth[thread] > 6 or choose.random() < 0.5):
            depth[thread] -= 1
            yield packet(*head, data(11, number(9, 2)))
            continue
        depth[thread] += 1
        name = 1 + choose.randrange(300)
        if name not in known[thread]:
            known[thread].add(name)
            head.append(data(12, data(2, number(1, name) + text(2, f"Task{name}"))))
        argument = data(4, text(10, "size") + number(4, choose.randrange(1000)))
        yield packet(*head, data(11, number(9, 1) + number(10, name) + text(22, "work") + argument))


def generate(
    path: Path, events: int, *, compact: bool = False, slices: bool = False, deflate: bool = False, seed: int = 42
) -> None:
    """Write a trace; the same arguments give the same bytes."""
    with path.open("wb") as file:
        file.write(snapshot())
        file.write(processes())
        for one in tracks(events, seed) if slices else ftrace(events, seed, in_columns=compact):
            file.write(packet(number(10, 1), data(50, zlib.compress(one))) if deflate else one)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--compact", action="store_true", help="switches and wake-ups in columns")
    parser.add_argument("--slices", action="store_true", help="track events in place of events of the kernel")
    parser.add_argument("--deflate", action="store_true", help="compressed packets")
    given = parser.parse_args()
    generate(given.path, given.events, compact=given.compact, slices=given.slices, deflate=given.deflate)
