"""Read Perfetto's protobuf traces: plain, gzip, and with compressed packets, by Perfetto's descriptors.

Kernel events have the same tables as in other formats (`raw_events.sched_switch`), including compact ones; marks of
programs in ftrace become `print|B` and so on. Track events become `raw_events.begin`, `end`, `instant`, `counter` by
their type on threads, `async_begin` and `async_end` on other tracks; old phases of Chrome become the tables of Chrome's
JSON. `tracks` describes each `track`; `process_names` and `thread_names` have the trace's names of processes and
threads. Any other packet becomes a row of `raw_events.<kind>`, with numbers and texts in columns and the rest in
`args`, or a row of `packets` if it has no time.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dctv.contracts.reader import Head, LoadContext
from dctv.errors import TraceError
from dctv.readers.described import Described, RowPass

_NUMBERS = {8, 58, 10, 13, 41, 42, 87, 3, 79, 98}
"""Packet fields that are numbers; all other known fields are messages or bytes."""
_LAST_FIELD = 3000
_EMPTY = b"\n\0"
_CONTROL = frozenset(range(32)) - frozenset(b"\t\n\r")
"""Bytes that texts do not have."""


def sniff(head: Head) -> bool:
    """Whether a file begins with a packet with fields of Perfetto; packets without fields may precede it."""
    text = head.text[len(_EMPTY) * _empty(head.text) :]
    # In a text, letters could be tags, and lengths of what is missing.
    if not text.startswith(b"\n") or (text.isascii() and _CONTROL.isdisjoint(text)):
        return False
    length, begin = _varint(text, 1)
    return length > 0 and _is_packet(text[begin : begin + length], whole=begin + length <= len(text))


def _empty(text: bytes) -> int:
    """Count the packets without fields at the beginning."""
    count = 0
    while text.startswith(_EMPTY, count * len(_EMPTY)):
        count += 1
    return count


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Decode a varint; return it and its end, 0 if it has none."""
    value = 0
    for place in range(10):
        if at + place >= len(data):
            return 0, 0
        byte = data[at + place]
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return value, at + place + 1
    return 0, 0


def _is_packet(packet: bytes, *, whole: bool) -> bool:
    at = 0
    fields = 0
    while at < len(packet):
        tag, begin = _varint(packet, at)
        if begin == 0:
            return not whole and fields > 0
        field, wire = tag >> 3, tag & 7
        if not 0 < field < _LAST_FIELD or wire != (0 if field in _NUMBERS else 2):
            return False
        value, end = _varint(packet, begin)
        if end == 0:
            return not whole and fields > 0
        at = end + (value if wire == 2 else 0)
        fields += 1
    return at == len(packet) if whole else fields > 0


def start(paths: Sequence[Path], context: LoadContext, _: int) -> RowPass:
    """Start a pass."""
    from dctv._kernels import perfetto_pass
    from dctv.readers.perfetto_spec.descriptors import descriptors

    threads = max(1, context.threads)
    names = [str(path) for path in paths]
    machine = _machine(context.options.get("machine"))
    return perfetto_pass(names, threads, context.progress, descriptors=descriptors(), machine=machine)


def _machine(stated: object) -> int | None:
    """Return the number of a machine; 0 is the one that recorded.

    Raises:
        TraceError: it is none.
    """
    if stated is None or (isinstance(stated, int) and not isinstance(stated, bool) and 0 <= stated < 1 << 32):
        return stated
    raise TraceError(f"expected the number of a machine for `machine`, found {stated!r}")


READER = Described(
    name="perfetto",
    title="Perfetto protobuf (.pftrace, .perfetto-trace)",
    suffixes=tuple(
        suffix + packed
        for suffix in (".pftrace", ".perfetto-trace", ".perfetto_trace", ".pb")
        for packed in ("", ".gz")
    ),
    sniff=sniff,
    start=start,
    options={
        "machine": "the machine whose packets are read, 0 for the one that recorded; without it, those of all machines"
    },
).reader()
