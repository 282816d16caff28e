"""Random events are read as they were, in whichever of Perfetto's encodings they are written."""

from __future__ import annotations

import json
import random
import zlib
from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

from dctv.contracts.reader import LoadedTrace
from dctv.record import record
from tests.bounds import bounded
from tests.readers.perfetto.perfetto_reading import load, notes, rows

EVENT = pb.TrackEvent
KINDS = {
    "begin": EVENT.TYPE_SLICE_BEGIN,
    "end": EVENT.TYPE_SLICE_END,
    "instant": EVENT.TYPE_INSTANT,
    "counter": EVENT.TYPE_COUNTER,
}
OFFSETS = {6: 0, 3: -12_345, 1: 1_700_000_000_000_000_000}
"""How far clocks are ahead of the time since boot, in ns."""
TICKS, MICROS = 64, 65
"""Clocks of a sequence: differences in µs, and µs."""
TEXTS = ["a", "b c", "é☃", 'q"\\\n']


@record
class Track:
    """A track, and the process and thread that it belongs to."""

    uuid: int
    name: str | None = None
    pid: int | None = None
    tid: int | None = None
    own: bool = False
    """Whether it is the track of a thread."""
    parent: int = 0
    multiplier: int = 1
    writer: int = 0
    """The only sequence that counts on it, by differences; 0 if all do, and by values."""


THREADS = [Track(20 + n, None, 100, 100 + n, own=True) for n in range(3)]
OTHERS = [Track(40, "of none"), Track(41, "of a thread", 100, 101, parent=21), Track(42, "below", 100, 101, parent=41)]
COUNTERS = [
    Track(60, "values"),
    Track(61, "of a thread", 100, 102, parent=22, multiplier=1000),
    Track(62, "differences", writer=1),
    Track(63, "scaled differences", writer=2, multiplier=7),
]

Row = tuple[Any, ...]


class Writer:
    """One sequence: what it has interned, and how far its clock is."""

    def __init__(self, number: int, rng: random.Random, packets: list[Any]) -> None:
        self.number, self.rng, self.packets = number, rng, packets
        self.interned: dict[tuple[str, str], int] = {}
        self.sums: dict[int, int] = {}
        self.default = THREADS[0]
        self.clock = 0
        self.ticks = 0

    def packet(self) -> Any:
        made = pb.TracePacket(trusted_packet_sequence_id=self.number)
        self.packets.append(made)
        return made

    def clear(self, now: int) -> None:
        """Begin anew, with other defaults."""
        packet = self.packet()
        packet.sequence_flags = 1
        self.interned.clear()
        self.sums.clear()
        self.ticks = now // 1000
        clocks = packet.clock_snapshot.clocks
        clocks.add(clock_id=6, timestamp=self.ticks * 1000)
        clocks.add(clock_id=TICKS, timestamp=self.ticks, unit_multiplier_ns=1000, is_incremental=True)
        clocks.add(clock_id=MICROS, timestamp=self.ticks - 77, unit_multiplier_ns=1000)
        self.default = self.rng.choice(THREADS + OTHERS)
        self.clock = self.rng.choice([0, TICKS, MICROS, *OFFSETS])
        packet.trace_packet_defaults.track_event_defaults.track_uuid = self.default.uuid
        if self.clock:
            packet.trace_packet_defaults.timestamp_clock_id = self.clock

    def number_of(self, packet: Any, field: str, text: str) -> int:
        """Intern a text, unless it is interned already."""
        if (field, text) not in self.interned:
            number = self.interned[field, text] = len(self.interned) + 1
            entry = getattr(packet.interned_data, field).add(iid=number)
            if field == "debug_annotation_string_values":
                entry.str = text.encode()
            else:
                entry.name = text
        return self.interned[field, text]

    def stamp(self, packet: Any, now: int) -> None:
        clock = self.rng.choice([self.clock, TICKS, MICROS, *OFFSETS])
        if clock != self.clock:
            packet.timestamp_clock_id = clock
        if clock == TICKS:
            packet.timestamp = now // 1000 - self.ticks
            self.ticks = now // 1000
        elif clock == MICROS:
            packet.timestamp = now // 1000 - 77
        else:
            packet.timestamp = now + OFFSETS.get(clock, 0)

    def event(self, now: int, kind: str) -> Row:
        """Write an event of a kind, and return what is to be read."""
        packet = self.packet()
        packet.sequence_flags = 2
        self.stamp(packet, now)
        event = packet.track_event
        event.type = KINDS[kind]
        if kind == "counter":
            return self.count(now, event)
        track = self.rng.choice(THREADS + OTHERS)
        if track != self.default:
            event.track_uuid = track.uuid
        name = self.rng.choice([None, *TEXTS])
        if name is not None and self.rng.random() < 0.5:
            event.name_iid = self.number_of(packet, "event_names", name)
        elif name is not None:
            event.name = name
        # Interned categories come first.
        texts = self.rng.choices(TEXTS, k=self.rng.randint(0, 2))
        numbered = self.rng.randint(0, len(texts))
        event.category_iids.extend(self.number_of(packet, "event_categories", text) for text in texts[:numbered])
        event.categories.extend(texts[numbered:])
        args = {
            key: self.annotate(packet, event.debug_annotations.add(), key, 0)
            for key in self.rng.sample(["x", "y.z", "é"], self.rng.randint(0, 3))
        }
        table = kind if track.own or kind == "instant" else f"async_{kind}"
        return now, table, name, ",".join(texts) or None, track.uuid, json.dumps(args, sort_keys=True)

    def count(self, now: int, event: Any) -> Row:
        track = self.rng.choice([one for one in COUNTERS if one.writer in (0, self.number)])
        event.track_uuid = track.uuid
        value = self.rng.randint(-9, 99)
        if self.rng.random() < 0.5:
            event.counter_value = value
        else:
            event.double_counter_value = value
        if track.writer:
            value += self.sums.get(track.uuid, 0)
            self.sums[track.uuid] = value
        return now, "counter", track.name, None, track.uuid, float(value * track.multiplier)

    def annotate(self, packet: Any, into: Any, key: str | None, depth: int) -> Any:
        """Write an argument, and return its value."""
        if key is not None and self.rng.random() < 0.5:
            into.name_iid = self.number_of(packet, "debug_annotation_names", key)
        elif key is not None:
            into.name = key
        kind = self.rng.choice(
            ["bool", "uint", "int", "double", "text", "number", "dict", "list"][: 8 - 2 * (depth > 2)]
        )
        if kind == "dict":
            keys = self.rng.sample(["k", "l.m"], self.rng.randint(1, 2))
            return {one: self.annotate(packet, into.dict_entries.add(), one, depth + 1) for one in keys}
        if kind == "list":
            each = range(self.rng.randint(1, 3))
            return [self.annotate(packet, into.array_values.add(), None, depth + 1) for _ in each]
        text = self.rng.choice(TEXTS)
        if kind == "number":
            into.string_value_iid = self.number_of(packet, "debug_annotation_string_values", text)
            return text
        values: dict[str, list[Any]] = {
            "bool": [False, True],
            "uint": [0, 2**64 - 1],
            "int": [-(2**63), 7],
            "double": [0.5, -1e300],
        }
        value = self.rng.choice(values.get(kind, [text]))
        setattr(into, "string_value" if kind == "text" else f"{kind}_value", value)
        return value


def described(track: Track) -> Any:
    packet = pb.TracePacket(trusted_packet_sequence_id=99)
    found = packet.track_descriptor
    found.uuid, found.parent_uuid = track.uuid, track.parent
    if track.name is not None:
        found.name = track.name
    if track.own:
        found.thread.pid, found.thread.tid = track.pid, track.tid
    if track in COUNTERS:
        found.counter.unit_multiplier = track.multiplier
        found.counter.is_incremental = bool(track.writer)
    return packet


def written(rng: random.Random) -> tuple[bytes, Counter[Row]]:
    """Write random events, and return what is to be read."""
    first = pb.TracePacket(trusted_packet_sequence_id=99)
    for clock, ahead in OFFSETS.items():
        first.clock_snapshot.clocks.add(clock_id=clock, timestamp=5_000_000 + ahead)
    streams: dict[int, list[Any]] = {1: [], 2: [], 3: []}
    writers = [Writer(number, rng, packets) for number, packets in streams.items()]
    now, expected = 10_000_000, Counter[Row]()
    for writer in writers:
        writer.clear(now)
    for _ in range(rng.randint(1, 40)):
        now += rng.choice([0, 1000, 5000])
        writer = rng.choice(writers)
        if rng.random() < 0.1:
            writer.clear(now)
        expected[writer.event(now, rng.choice(list(KINDS)))] += 1
    # The service reads what each writer has by and by; tracks may be described after their events.
    descriptors = [described(track) for track in THREADS + OTHERS + COUNTERS]
    rng.shuffle(descriptors)
    streams[99] = descriptors
    packets = [first]
    while any(streams.values()):
        packets_of = rng.choice([one for one in streams.values() if one])
        size = rng.randint(1, 5)
        packets += packets_of[:size]
        del packets_of[:size]
    return packed(packets, rng), expected


def packed(packets: list[Any], rng: random.Random) -> bytes:
    """Write packets, some of them compressed."""
    whole = pb.Trace()
    while packets:
        size = rng.randint(1, 6)
        some = pb.Trace(packet=packets[:size])
        del packets[:size]
        if rng.random() < 0.3:
            whole.packet.add(compressed_packets=zlib.compress(some.SerializeToString()))
        else:
            whole.packet.extend(some.packet)
    return bytes(whole.SerializeToString())


def read(found: LoadedTrace) -> Counter[Row]:
    uuids = {row["track"]: row.get("uuid") for row in rows(found, "tracks")}
    start = int(found.properties["start_ns"])
    tables = [f"{before}{kind}" for kind in KINDS for before in ("", "async_")]
    return Counter(
        (
            row["_ts"] + start,
            table,
            row.get("name"),
            row.get("cat"),
            uuids[row["track"]],
            row["value"] if table == "counter" else json.dumps(json.loads(row.get("args", "{}")), sort_keys=True),
        )
        for table in tables
        if f"raw_events.{table}" in found.tables
        for row in rows(found, f"raw_events.{table}")
    )


@given(seed=st.integers(0, 2**32))
@bounded(200)
def test_track_events_are_read_as_they_were(seed: int) -> None:
    data, expected = written(random.Random(seed))
    found = load(data)
    assert read(found) == expected
    assert notes(found) == {}
    owners = {row.get("uuid"): (row.get("name"), row.get("pid"), row.get("tid")) for row in rows(found, "tracks")}
    for track in THREADS + OTHERS + COUNTERS:
        assert owners[track.uuid] == (track.name, track.pid, track.tid)
