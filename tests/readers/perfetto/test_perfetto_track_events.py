"""Track events: interned data, defaults, clocks of sequences, counters, flows and phases of Chrome."""

from __future__ import annotations

import json
import zlib
from typing import Any

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

from tests.readers.perfetto.perfetto_reading import ask, load, notes, rows, trace, written

EVENT = pb.TrackEvent


def thread(packet: Any) -> None:
    packet.sequence_flags = 1
    packet.track_descriptor.uuid = 7
    packet.track_descriptor.thread.pid = 10
    packet.track_descriptor.thread.tid = 11
    packet.track_descriptor.thread.thread_name = "worker"
    packet.trace_packet_defaults.track_event_defaults.track_uuid = 7


def begin(packet: Any, ts: int = 100, name: str = "a") -> None:
    packet.timestamp = ts
    packet.sequence_flags = 2
    packet.track_event.type = EVENT.TYPE_SLICE_BEGIN
    packet.track_event.name = name


def end(packet: Any) -> None:
    packet.timestamp = 150
    packet.track_event.type = EVENT.TYPE_SLICE_END


def test_a_slice_on_the_default_track_of_its_sequence() -> None:
    found = load(trace(thread, begin, end))
    assert rows(found, "raw_events.begin") == [{"_ts": 0, "name": "a", "pid": 10, "tid": 11, "track": 0, "line": 1}]
    assert rows(found, "raw_events.end")[0]["_ts"] == 50
    assert rows(found, "tracks") == [{"track": 0, "kind": "thread", "pid": 10, "tid": 11, "uuid": 7}]
    assert rows(found, "thread_names") == [{"pid": 10, "tid": 11, "name": "worker", "told": 0}]
    assert notes(found) == {}


def test_interned_names_and_annotations() -> None:
    def interned(packet: Any) -> None:
        begin(packet)
        packet.track_event.ClearField("name")
        packet.track_event.name_iid = 3
        packet.track_event.category_iids.extend([1, 2])
        data = packet.interned_data
        data.event_names.add(iid=3, name="slow")
        data.event_categories.add(iid=1, name="gfx")
        data.event_categories.add(iid=2, name="ui")
        data.debug_annotation_names.add(iid=5, name="size")
        data.source_locations.add(iid=9, file_name="a.cc", function_name="run", line_number=4)
        packet.track_event.debug_annotations.add(name_iid=5, int_value=-3)
        nested = packet.track_event.debug_annotations.add(name="d")
        nested.dict_entries.add(name="x", bool_value=True)
        nested.dict_entries.add(name="y").array_values.add(string_value='q"\n')
        packet.track_event.debug_annotations.add(name="j", legacy_json_value='{"k":[1]}')
        packet.track_event.debug_annotations.add(name="bad", legacy_json_value="{nope")
        packet.track_event.task_execution.posted_from_iid = 9
        packet.track_event.chrome_user_event.action = "click"

    (row,) = rows(load(trace(thread, interned)), "raw_events.begin")
    assert (row["name"], row["cat"]) == ("slow", "gfx,ui")
    assert json.loads(row["args"]) == {
        "size": -3,
        "d": {"x": True, "y": ['q"\n']},
        "j": {"k": [1]},
        "bad": "{nope",
        "posted_from": {"file": "a.cc", "function": "run", "line": 4},
        "chrome_user_event": {"action": "click"},
    }


def test_packets_that_refer_to_lost_data_are_counted() -> None:
    def lost(packet: Any) -> None:
        begin(packet)
        packet.previous_packet_dropped = 1

    found = load(trace(thread, begin, lost, begin))
    assert len(rows(found, "raw_events.begin")) == 1
    assert notes(found) == {"packets lost by a writer": 1, "packet that refers to lost data": 2}


def test_clocks_of_a_sequence_count_by_themselves() -> None:
    def clocks(packet: Any) -> None:
        thread(packet)
        packet.trace_packet_defaults.timestamp_clock_id = 64
        packet.clock_snapshot.clocks.add(clock_id=6, timestamp=1_000_000)
        packet.clock_snapshot.clocks.add(clock_id=3, timestamp=400_000)
        packet.clock_snapshot.clocks.add(clock_id=64, timestamp=10, is_incremental=True, unit_multiplier_ns=1000)

    def monotonic(packet: Any) -> None:
        begin(packet, 400_500, "mono")
        packet.timestamp_clock_id = 3

    steps = [lambda packet: begin(packet, 5, "x"), lambda packet: begin(packet, 7, "y"), monotonic]
    found = load(trace(clocks, *steps))
    times = {
        row["name"]: row["_ts"] + int(found.properties["start_ns"]) for row in rows(found, "raw_events.async_begin")
    }
    assert times == {"x": 1_005_000, "y": 1_012_000, "mono": 1_000_500}
    assert found.properties["clock"] == "boottime"


def test_a_clock_without_a_snapshot_is_reported() -> None:
    def odd(packet: Any) -> None:
        begin(packet)
        packet.timestamp_clock_id = 3

    found = load(trace(thread, odd))
    assert notes(found) == {"time of a clock without a snapshot is taken as it is": 1}


def test_incremental_counters() -> None:
    def counter(packet: Any) -> None:
        packet.sequence_flags = 1
        packet.track_descriptor.uuid = 9
        packet.track_descriptor.name = "bytes"
        packet.track_descriptor.counter.unit = pb.CounterDescriptor.UNIT_SIZE_BYTES
        packet.track_descriptor.counter.is_incremental = True
        packet.track_descriptor.counter.unit_multiplier = 1024

    def value(packet: Any) -> None:
        packet.timestamp = 1
        packet.track_event.type = EVENT.TYPE_COUNTER
        packet.track_event.track_uuid = 9
        packet.track_event.counter_value = 2

    found = load(trace(counter, value, value))
    assert [(row["value"], row["name"]) for row in rows(found, "raw_events.counter")] == [
        (2048.0, "bytes"),
        (4096.0, "bytes"),
    ]
    (track,) = rows(found, "tracks")
    assert (track["kind"], track["unit"]) == ("counter", "B")


def test_counters_inside_slice_events() -> None:
    def described(packet: Any) -> None:
        packet.track_descriptor.uuid = 20
        packet.track_descriptor.counter.type = pb.CounterDescriptor.COUNTER_THREAD_TIME_NS

    def slice_(packet: Any) -> None:
        begin(packet)
        packet.track_event.extra_counter_track_uuids.extend([20, 21])
        packet.track_event.extra_counter_values.extend([77, 8])

    found = load(trace(thread, described, slice_))
    assert rows(found, "raw_events.begin")[0]["thread_ts"] == 77
    values = [(row.get("name"), row["value"]) for row in rows(found, "raw_events.counter")]
    assert values == [("thread_time", 77.0), (None, 8.0)]


def test_slices_on_other_tracks_than_threads_are_asynchronous() -> None:
    def track(packet: Any) -> None:
        packet.track_descriptor.uuid = 30
        packet.track_descriptor.parent_uuid = 7
        packet.track_descriptor.name = "downloads"

    def slice_(packet: Any) -> None:
        begin(packet)
        packet.track_event.track_uuid = 30

    found = load(trace(thread, track, slice_))
    assert rows(found, "raw_events.async_begin")[0]["tid"] == 11
    assert rows(found, "tracks")[1] == {
        "track": 1,
        "kind": "track",
        "name": "downloads",
        "pid": 10,
        "tid": 11,
        "parent": 0,
        "uuid": 30,
    }


def legacy(phase: str, **fields: Any) -> Any:
    def build(packet: Any) -> None:
        packet.timestamp = 500
        packet.track_event.name = "old"
        packet.track_event.categories.append("c")
        packet.track_event.legacy_event.phase = ord(phase)
        for name, value in fields.items():
            setattr(packet.track_event.legacy_event, name, value)

    return build


def test_phases_of_chrome() -> None:
    found = load(
        trace(
            thread,
            legacy("X", duration_us=4, thread_duration_us=2),
            legacy("b", unscoped_id=5),
            legacy("e", unscoped_id=5),
            legacy("n", local_id=5),
            legacy("s", unscoped_id=6),
            legacy("f", unscoped_id=6, bind_to_enclosing=True),
            legacy("I", tid_override=99, pid_override=98),
            legacy("(", unscoped_id=1),
            legacy("N", unscoped_id=255),
        )
    )
    (complete,) = rows(found, "raw_events.complete")
    assert (complete["dur"], complete["thread_dur"], complete["cat"]) == (4000, 2000, "c")
    (start,), (stop,) = rows(found, "raw_events.async_begin"), rows(found, "raw_events.async_end")
    assert start["track"] == stop["track"] != rows(found, "raw_events.async_instant")[0]["track"]
    (arrow,), (tip,) = rows(found, "raw_events.flow_begin"), rows(found, "raw_events.flow_end")
    assert arrow["flow"] == tip["flow"]
    (instant,) = rows(found, "raw_events.instant")
    assert (instant["pid"], instant["tid"]) == (98, 99)
    assert rows(found, "raw_events.mark")[0]["ph"] == "("
    assert rows(found, "raw_events.object_new")[0]["id"] == "0xff"


def test_values_of_more_counters_than_are_named_are_counted() -> None:
    def counted(packet: Any) -> None:
        begin(packet)
        packet.track_event.extra_counter_track_uuids.append(20)
        packet.track_event.extra_counter_values.extend([1, 2, 3])
        packet.track_event.extra_double_counter_values.append(0.5)

    found = load(trace(thread, counted))
    assert [row["value"] for row in rows(found, "raw_events.counter")] == [1.0]
    assert notes(found) == {"counter value without a track": 3}


def test_only_local_ids_are_of_their_process() -> None:
    kinds = ["unscoped_id", "global_id", "local_id"]
    found = load(trace(thread, *(legacy("b", **{kind: 5}) for kind in kinds)))
    unscoped, everywhere, local = (row["track"] for row in rows(found, "raw_events.async_begin"))
    assert unscoped == everywhere != local
    names = {row["track"]: row["id"] for row in rows(found, "tracks") if row["kind"] == "async"}
    assert names == {unscoped: "0x5", local: "0x5"}


def test_names_of_the_first_writers_are_in_their_message_of_the_older_kind() -> None:
    def named(packet: Any) -> None:
        legacy("B", name_iid=3)(packet)
        packet.track_event.ClearField("name")
        packet.interned_data.event_names.add(iid=3, name="slow")

    def both(packet: Any) -> None:
        named(packet)
        packet.track_event.name_iid = 4
        packet.interned_data.event_names.add(iid=4, name="newer")

    found = load(trace(thread, named, both))
    assert [row["name"] for row in rows(found, "raw_events.begin")] == ["slow", "newer"]


def test_flows_lead_to_the_slices_that_carry_them() -> None:
    def carrying(packet: Any) -> None:
        begin(packet)
        packet.track_event.flow_ids.append(2**63 + 1)

    def last(packet: Any) -> None:
        end(packet)
        packet.track_event.terminating_flow_ids.append(2**63 + 1)

    found = load(trace(thread, carrying, last))
    (step,), (tip,) = rows(found, "raw_events.flow_step"), rows(found, "raw_events.flow_end")
    assert step["flow"] == tip["flow"]
    assert (step["binding"], tip["binding"]) == ("own", "ended")
    assert step["line"] == rows(found, "raw_events.begin")[0]["line"]


def old_thread(packet: Any) -> None:
    packet.incremental_state_cleared = True
    packet.thread_descriptor.pid = 1
    packet.thread_descriptor.tid = 2
    packet.thread_descriptor.reference_timestamp_us = 1000
    packet.thread_descriptor.reference_thread_time_us = 50


def test_times_of_old_writers_are_differences() -> None:
    def clocks(packet: Any) -> None:
        packet.clock_snapshot.clocks.add(clock_id=6, timestamp=9_000_000)
        packet.clock_snapshot.clocks.add(clock_id=3, timestamp=0)

    def event(packet: Any) -> None:
        packet.track_event.type = EVENT.TYPE_SLICE_BEGIN
        packet.track_event.name = "t"
        packet.track_event.timestamp_delta_us = 10
        packet.track_event.thread_time_delta_us = 3

    found = load(trace(clocks, old_thread, event, event))
    (one, two) = rows(found, "raw_events.begin")
    assert int(found.properties["start_ns"]) == 9_000_000 + 1_010_000
    assert two["_ts"] - one["_ts"] == 10_000
    assert (one["thread_ts"], two["thread_ts"]) == (53_000, 56_000)
    assert (one["pid"], one["tid"]) == (1, 2)


def test_thread_times_of_old_writers_are_counters_too() -> None:
    def timed(packet: Any) -> None:
        begin(packet)
        packet.track_event.thread_time_absolute_us = 10
        packet.track_event.thread_instruction_count_absolute = 20

    found = load(trace(thread, timed))
    values = [(row["name"], row["tid"], row["value"]) for row in rows(found, "raw_events.counter")]
    assert values == [("thread_time", 11, 10_000.0), ("thread_instruction_count", 11, 20.0)]


def test_events_without_a_track_are_of_the_thread_that_their_sequence_described() -> None:
    """Track 0 is that for old writers only; others mean the default track, unless they name a thread."""

    def cleared(packet: Any) -> None:
        packet.incremental_state_cleared = True

    def zero(packet: Any) -> None:
        begin(packet, 120, "zero")
        packet.track_event.track_uuid = 0

    def overridden(packet: Any) -> None:
        zero(packet)
        packet.track_event.name = "overridden"
        packet.track_event.legacy_event.tid_override = 12

    def old(packet: Any) -> None:
        legacy("B")(packet)
        packet.track_event.track_uuid = 0

    def elsewhere(packet: Any) -> None:
        begin(packet, 130, "elsewhere")
        packet.trusted_packet_sequence_id = 2
        packet.sequence_flags = 0

    found = load(trace(thread, zero, overridden, old, cleared, begin, elsewhere))
    begun = {(row["name"], row["pid"], row["tid"]) for row in rows(found, "raw_events.begin")}
    assert begun == {("overridden", 10, 12), ("old", 10, 11), ("a", 10, 11)}
    tracks = {row["track"]: row for row in rows(found, "tracks")}
    nowhere = rows(found, "raw_events.async_begin")
    assert [row["name"] for row in nowhere] == ["zero", "elsewhere"]
    assert {(tracks[row["track"]]["kind"], tracks[row["track"]]["name"]) for row in nowhere} == {
        ("global", "Default Track")
    }


def test_tracks_without_a_name_are_called_like_their_first_event() -> None:
    def on(uuid: int, name: str) -> Any:
        def build(packet: Any) -> None:
            begin(packet, 100, name)
            packet.track_event.track_uuid = uuid

        return build

    def described(packet: Any) -> None:
        packet.track_descriptor.uuid = 31
        packet.track_descriptor.name = "described"

    found = load(trace(thread, on(30, "first"), on(30, "second"), on(31, "event"), described))
    assert [row.get("name") for row in rows(found, "tracks")] == [None, "first", "described"]


def test_moments_of_processes_and_of_the_trace_are_on_tracks_of_these() -> None:
    scopes = [legacy("I", instant_event_scope=scope) for scope in (0, 1, 2, 3)]
    found = load(trace(thread, *scopes))
    tracks = {row["track"]: row for row in rows(found, "tracks")}
    kinds = [tracks[row["track"]]["kind"] for row in rows(found, "raw_events.instant")]
    assert kinds == ["thread", "global", "process", "thread"]
    assert [row.get("tid") for row in rows(found, "raw_events.instant")] == [11, None, None, 11]


LATE = """
packet { trusted_packet_sequence_id: 1 timestamp: 100 track_event { type: 1 track_uuid: 7 name: "early" } }
packet { trusted_packet_sequence_id: 1 timestamp: 150 track_event { type: 3 track_uuid: 8 name: "moment" } }
packet { trusted_packet_sequence_id: 1 timestamp: 160 track_event { type: 4 track_uuid: 9 counter_value: 5 } }
packet { trusted_packet_sequence_id: 2 track_descriptor { uuid: 9 parent_uuid: 7 name: "count" counter {
    unit_multiplier: 10 is_incremental: true unit: 3 } } }
packet { trusted_packet_sequence_id: 2 track_descriptor { uuid: 8 parent_uuid: 7 name: "below" } }
packet { trusted_packet_sequence_id: 2 track_descriptor { uuid: 7 thread { pid: 10 tid: 11 } } }
packet { trusted_packet_sequence_id: 1 timestamp: 200 track_event { type: 2 track_uuid: 7 } }
packet { trusted_packet_sequence_id: 1 timestamp: 260 track_event { type: 4 track_uuid: 9 counter_value: 6 } }
"""


def test_descriptors_count_for_events_before_them() -> None:
    data = written(LATE)
    assert ask(data, "SELECT _ts, _duration, name, pid, tid FROM t.slices") == [(0, 100, "early", 10, 11)]
    assert ask(data, "SELECT _ts, name, pid, tid FROM t.raw_events.instant") == [(50, "moment", 10, 11)]
    assert ask(data, "SELECT _ts, value, tid FROM t.raw_events.counter") == [(60, 50.0, 11), (160, 110.0, 11)]
    tracks = [(one.get("name"), one["kind"], one.get("parent"), one.get("unit")) for one in rows(load(data), "tracks")]
    assert tracks == [(None, "thread", None, None), ("below", "track", 0, None), ("count", "counter", 0, "B")]


def test_descriptors_in_compressed_packets_count_for_events_before_them() -> None:
    whole = pb.Trace.FromString(written(LATE))
    packed = pb.Trace()
    packed.packet.extend(whole.packet[:2])
    packed.packet.add().compressed_packets = zlib.compress(pb.Trace(packet=whole.packet[2:]).SerializeToString())
    data = packed.SerializeToString()
    assert ask(data, "SELECT _ts, _duration, name, tid FROM t.slices") == [(0, 100, "early", 11)]
