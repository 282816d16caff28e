"""Write a perf.data of a given size: samples with call chains, switches as tracepoints, records of processes."""

from __future__ import annotations

import argparse
import random
import struct
from pathlib import Path

MMAP, COMM, FORK, EXIT, SAMPLE, MMAP2, FINISHED_ROUND = 1, 3, 7, 4, 9, 10, 68
KERNEL, USER = 1, 2
SAMPLE_TYPE = 0b1_0000_0001_1010_0111
"""Identifier, ip, thread, time, call chain, CPU, period."""
TRACE_TYPE = SAMPLE_TYPE & ~(1 << 5) | 1 << 10
"""Identifier, ip, thread, time, CPU, period, raw data."""
CLOCK, SWITCH = 100, 200
"""Ids of the two events' counters."""
FLAGS = 1 << 8 | 1 << 9 | 1 << 18
"""Mappings, names, and the same ends of records that are no samples."""
SWITCH_ID = 314

_FORMAT = """name: sched_switch
ID: 314
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;
\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;
\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;
\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;
\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;

print fmt: "prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%ld ==> next_comm=%s next_pid=%d next_prio=%d", \
REC->prev_comm, REC->prev_pid, REC->prev_prio, REC->prev_state, REC->next_comm, REC->next_pid, REC->next_prio
"""

_PAGE = b"""\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;
"""


class Writer:
    """A writer of records in one byte order."""

    def __init__(self, *, big: bool = False) -> None:
        """Choose the byte order."""
        self.order = ">" if big else "<"
        self.big = big

    def pack(self, form: str, *values: int | bytes) -> bytes:
        """Pack values."""
        return struct.pack(self.order + form, *values)

    def record(self, kind: int, misc: int, body: bytes) -> bytes:
        """Make a record of a body, padded to whole words."""
        body += b"\0" * (-len(body) % 8)
        return self.pack("IHH", kind, misc, len(body) + 8) + body

    def text(self, text: str) -> bytes:
        """Make a text with its end, padded."""
        raw = text.encode() + b"\0"
        return raw + b"\0" * (-len(raw) % 8)

    def end(self, ids: tuple[int, int], time: int, cpu: int) -> bytes:
        """Make what stands at the end of records that are no samples."""
        return self.pack("iiQiiQ", *ids, time, cpu, 0, CLOCK)

    def attr(self, kind: int, config: int, sample_type: int) -> bytes:
        """Make the description of an event, without its ids."""
        flags = int(f"{FLAGS:064b}"[::-1], 2) if self.big else FLAGS
        head = self.pack("IIQQQQQ", kind, 112, config, 250_000, sample_type, 4, flags)
        return head + bytes(112 - len(head))

    def sample(self, ids: tuple[int, int], time: int, cpu: int, chain: list[int]) -> bytes:
        """Make a sample with its call chain, leaf first, contexts among the addresses."""
        head = self.pack("QQiiQiiQ", CLOCK, chain[1], *ids, time, cpu, 0, 250_000)
        return self.record(SAMPLE, USER, head + self.pack(f"Q{len(chain)}Q", len(chain), *chain))

    def switch(self, ids: tuple[int, int], time: int, cpu: int, to: int) -> bytes:
        """Make a sample of the tracepoint sched_switch."""
        names = (f"thread{ids[1]}".encode(), f"thread{to}".encode())
        raw = self.pack("HBBi16siiq16sii", SWITCH_ID, 0, 0, ids[1], names[0], ids[1], 120, 1, names[1], to, 120)
        head = self.pack("QQiiQiiQ", SWITCH, 0, *ids, time, cpu, 0, 1)
        return self.record(SAMPLE, KERNEL, head + self.pack("I", len(raw)) + raw + bytes(-(len(raw) + 4) % 8))

    def formats(self) -> bytes:
        """Make the formats of tracepoints, as a trace carries them."""
        layout = _FORMAT.encode()
        head = b"\x17\x08\x44tracing0.6\0" + bytes([self.big, 8]) + self.pack("I", 4096)
        titles = b"".join(
            title + self.pack("Q", len(text)) + text
            for title, text in ((b"header_page\0", _PAGE), (b"header_event\0", b"# compressed entry header\n"))
        )
        event = self.pack("II", 0, 1) + b"sched\0" + self.pack("IQ", 1, len(layout)) + layout
        return head + titles + event + self.pack("IIQ", 0, 0, 0)


def records(writer: Writer, events: int, threads: int = 8) -> bytes:
    """Make the records: a process whose threads take turns on two CPUs."""
    random_ = random.Random(7)
    kernel = writer.pack("iiQQQ", -1, 0, 0xFFFFFFFF81000000, 0x1000000, 0)
    out = bytearray(
        writer.record(MMAP, KERNEL, kernel + writer.text("[kernel.kallsyms]_text") + writer.end((-1, 0), 0, 0))
    )
    out += writer.record(COMM, 0, writer.pack("ii", 100, 100) + writer.text("main") + writer.end((100, 100), 0, 0))
    body = writer.pack("iiQQQ", 100, 100, 0x400000, 0x100000, 0x1000) + writer.text("/usr/bin/worker")
    out += writer.record(MMAP, USER, body + writer.end((100, 100), 0, 0))
    now = 1_000_000_000
    for tid in range(101, 101 + threads):
        now += 1000
        fork = writer.pack("iiiiQ", 100, 100, tid, 100, now)
        out += writer.record(FORK, 0, fork + writer.end((100, 100), now, 0))
        name = writer.pack("ii", 100, tid) + writer.text(f"thread{tid}")
        out += writer.record(COMM, 0, name + writer.end((100, tid), now + 500, 0))
    stacks = [
        [0x400000 + random_.randrange(0x1000, 0xF0000) for _ in range(random_.randrange(2, 24))] for _ in range(500)
    ]
    for number in range(events):
        now += random_.randrange(500, 1500)
        ids = (100, 101 + random_.randrange(threads))
        cpu = number & 1
        if number % 4 == 0:
            out += writer.switch(ids, now, cpu, 101 + random_.randrange(threads))
        else:
            chain = [2**64 - 512, *stacks[int(random_.paretovariate(0.8)) % len(stacks)]]
            out += writer.sample(ids, now, cpu, chain)
        if number % 5000 == 4999:
            out += writer.record(FINISHED_ROUND, 0, b"")
    out += writer.record(EXIT, 0, writer.pack("iiiiQ", 100, 1, 100, 1, now) + writer.end((100, 100), now, 0))
    return bytes(out)


def sections(writer: Writer) -> list[tuple[int, bytes]]:
    """Make the feature sections with their numbers."""

    def text(value: str) -> bytes:
        raw = writer.text(value)
        return writer.pack("I", len(raw)) + raw

    names = writer.pack("II", 2, 112)
    for kind, config, sample_type, number, name in (
        (1, 0, SAMPLE_TYPE, CLOCK, "cpu-clock:u"),
        (2, SWITCH_ID, TRACE_TYPE, SWITCH, "sched:sched_switch"),
    ):
        names += writer.attr(kind, config, sample_type) + writer.pack("I", 1) + text(name) + writer.pack("Q", number)
    return [
        (1, writer.formats()),
        (3, text("machine")),
        (4, text("6.1.0")),
        (5, text("6.1")),
        (7, writer.pack("II", 2, 2)),
        (11, writer.pack("I", 2) + text("perf") + text("record")),
        (12, names),
    ]


def generate(path: Path, events: int, *, big: bool = False, pipe: bool = False) -> None:
    """Write a trace of so many samples, as to a file or to a pipe."""
    writer = Writer(big=big)
    magic = b"2ELIFREP" if big else b"PERFILE2"
    data = records(writer, events)
    attrs = [(writer.attr(1, 0, SAMPLE_TYPE), CLOCK), (writer.attr(2, SWITCH_ID, TRACE_TYPE), SWITCH)]
    if pipe:
        head = b"".join(writer.record(64, 0, attr + writer.pack("Q", number)) for attr, number in attrs)
        for number, section in sections(writer):
            if number == 1:
                padded = section + bytes(-len(section) % 8)
                head += writer.record(66, 0, writer.pack("I", len(padded))) + padded
            else:
                head += writer.record(80, 0, writer.pack("Q", number) + section)
        path.write_bytes(magic + writer.pack("Q", 16) + head + data)
        return
    ids = b"".join(writer.pack("Q", number) for _, number in attrs)
    at = 104 + len(ids)
    listed = b"".join(attr + writer.pack("QQ", 104 + 8 * place, 8) for place, (attr, _) in enumerate(attrs))
    start = at + len(listed)
    listed_sections = sections(writer)
    bits = [sum(1 << number for number, _ in listed_sections), 0, 0, 0]
    head = magic + writer.pack("QQQQQQQQ", 104, 128, at, len(listed), start, len(data), 0, 0) + writer.pack("4Q", *bits)
    behind = start + len(data) + 16 * len(listed_sections)
    table = b""
    for _, section in listed_sections:
        table += writer.pack("QQ", behind, len(section))
        behind += len(section)
    path.write_bytes(head + ids + listed + data + table + b"".join(section for _, section in listed_sections))


def main() -> None:
    """Write one trace, as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("events", type=int)
    parser.add_argument("--big", action="store_true", help="big-endian")
    parser.add_argument("--pipe", action="store_true", help="as written to a pipe")
    arguments = parser.parse_args()
    generate(arguments.path, arguments.events, big=arguments.big, pipe=arguments.pipe)


if __name__ == "__main__":
    main()
