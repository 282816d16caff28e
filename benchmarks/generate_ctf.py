"""Write a CTF 1.8 trace as LTTng does of a kernel: switches, wakeups, interrupts, system calls on several CPUs."""

from __future__ import annotations

import argparse
import random
import struct
from pathlib import Path

CPUS = 4
PACKET = 1 << 20
UUID = bytes(range(16, 32))
OFFSET = 1_700_000_000_000_000_000
COMMS = [b"kworker/u8:3", b"RenderThread", b"rcu_preempt", b"python3", b"tokio-rt-worker", b"sshd", b"jbd2/vda1-8"]

_HEAD = struct.Struct("<I16sIQ")
_CONTEXT = struct.Struct("<QQQQQQI")
_EXTENDED = struct.Struct("<BIQ")

METADATA = """/* CTF 1.8 */

typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 32; align = 8; signed = true; } := int32_t;
typealias integer { size = 64; align = 8; signed = true; } := int64_t;
typealias integer { size = 8; align = 8; signed = true; encoding = UTF8; } := char_t;
typealias integer { size = 5; align = 1; signed = false; } := uint5_t;

trace {
	major = 1;
	minor = 8;
	uuid = "10111213-1415-1617-1819-1a1b1c1d1e1f";
	byte_order = le;
	packet.header := struct {
		uint32_t magic;
		uint8_t uuid[16];
		uint32_t stream_id;
		uint64_t stream_instance_id;
	};
};

env {
	hostname = "example";
	domain = "kernel";
	sysname = "Linux";
	kernel_release = "6.1.0";
	tracer_name = "lttng-modules";
	tracer_major = 2;
	tracer_minor = 13;
};

clock {
	name = "monotonic";
	description = "Monotonic Clock";
	freq = 1000000000;
	offset = OFFSET;
};

typealias integer { size = 27; align = 1; signed = false; map = clock.monotonic.value; } := uint27_clock_t;
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := uint64_clock_t;

struct packet_context {
	uint64_clock_t timestamp_begin;
	uint64_clock_t timestamp_end;
	uint64_t content_size;
	uint64_t packet_size;
	uint64_t packet_seq_num;
	uint64_t events_discarded;
	uint32_t cpu_id;
};

struct event_header_compact {
	enum : uint5_t { compact = 0 ... 30, extended = 31 } id;
	variant <id> {
		struct { uint27_clock_t timestamp; } compact;
		struct { uint32_t id; uint64_clock_t timestamp; } extended;
	} v;
} align(8);

stream {
	id = 0;
	event.header := struct event_header_compact;
	packet.context := struct packet_context;
};
""".replace("OFFSET", str(OFFSET))

EVENTS = {
    "sched_switch": "char_t _prev_comm[16]; int32_t _prev_tid; int32_t _prev_prio; int64_t _prev_state;"
    " char_t _next_comm[16]; int32_t _next_tid; int32_t _next_prio;",
    "sched_waking": "char_t _comm[16]; int32_t _tid; int32_t _prio; int32_t _target_cpu;",
    "irq_handler_entry": "int32_t _irq; string _name;",
    "irq_handler_exit": "int32_t _irq; int32_t _ret;",
    "syscall_entry_read": "uint32_t _fd; uint64_t _count;",
    "syscall_exit_read": "int64_t _ret; uint64_t _buf;",
    "timer_hrtimer_start": "uint64_t _hrtimer; uint64_t _function; uint64_t _expires; uint64_t _softexpires;",
}


class _Cpu:
    """The stream of one CPU, packet by packet."""

    def __init__(self, folder: Path, number: int) -> None:
        self.file = (folder / f"channel0_{number}").open("wb")
        self.number = number
        self.comm, self.tid = b"swapper", 0
        self.parts = bytearray()
        self.begin = self.last = 0
        self.sequence = 0

    def add(self, ts: int, kind: int, payload: bytes) -> None:
        """Add an event; the first one of a packet, and one after a long time, tell the whole time."""
        if not self.parts:
            self.begin = self.last = ts
        if ts - self.last < 1 << 27 and ts >> 27 == self.last >> 27:
            self.parts += (kind | (ts & (1 << 27) - 1) << 5).to_bytes(4, "little")
        else:
            self.parts += _EXTENDED.pack(31, kind, ts)
        self.last = ts
        self.parts += payload
        if len(self.parts) > PACKET - 512:
            self.flush()

    def flush(self) -> None:
        """Write the packet."""
        content = _HEAD.size + _CONTEXT.size + len(self.parts)
        size = (content + 4095) // 4096 * 4096
        self.file.write(_HEAD.pack(0xC1FC1FC1, UUID, 0, self.number))
        self.file.write(_CONTEXT.pack(self.begin, self.last, content * 8, size * 8, self.sequence, 0, self.number))
        self.file.write(self.parts)
        self.file.write(bytes(size - content))
        self.parts.clear()
        self.sequence += 1


def payload(random_: random.Random, cpu: _Cpu, kind: int, ts: int) -> bytes:
    """Return the fields of an event."""
    comm, tid = random_.choice(COMMS), random_.randrange(2, 4000)
    if kind == 0:
        before = struct.pack("<16siiq", cpu.comm, cpu.tid, 20, random_.choice((0, 1, 2)))
        cpu.comm, cpu.tid = comm, tid
        return before + struct.pack("<16sii", comm, tid, 20)
    if kind == 1:
        return struct.pack("<16siii", comm, tid, 20, random_.randrange(CPUS))
    number = random_.randrange(64)
    others = (
        struct.pack("<i", number) + b"virtio0-input.0\0",
        struct.pack("<ii", number, 1),
        struct.pack("<IQ", number, 4096),
        struct.pack("<qQ", number, 0x7F00_0000_0000 + tid),
        struct.pack("<QQQQ", 0xFFFF_8880_0000_0000 + tid, 0xFFFF_FFFF_8110_0000, ts + 4_000_000, ts + 4_000_000),
    )
    return others[kind - 2]


def generate(path: Path, events: int) -> None:
    """Write a folder with so many events."""
    path.mkdir(parents=True, exist_ok=True)
    random_ = random.Random(7)
    text = METADATA
    for number, (name, fields) in enumerate(EVENTS.items()):
        text += f'\nevent {{\n\tname = "{name}";\n\tid = {number};\n\tstream_id = 0;\n'
        text += f"\tfields := struct {{ {fields} }};\n}};\n"
    (path / "metadata").write_text(text, encoding="utf-8")
    cpus = [_Cpu(path, number) for number in range(CPUS)]
    kinds = random_.choices(range(len(EVENTS)), (30, 20, 10, 10, 10, 10, 10), k=events)
    ts = 5_000_000_000
    for kind in kinds:
        ts += random_.randrange(1, 2000)
        cpu = cpus[random_.randrange(CPUS)]
        cpu.add(ts, kind, payload(random_, cpu, kind, ts))
    for cpu in cpus:
        cpu.flush()
        cpu.file.close()


def main() -> None:
    """Run as a program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path, help="the folder to write")
    parser.add_argument("--events", type=int, default=1_000_000)
    args = parser.parse_args()
    generate(args.path, args.events)


if __name__ == "__main__":
    main()
