"""Events of the kernel in bundles: typed columns, compact switches, marks, events that describe themselves."""

from __future__ import annotations

import json
from typing import Any

from google.protobuf.descriptor_pb2 import DescriptorProto
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

from tests.readers.perfetto.perfetto_reading import ask, load, notes, rows, trace


def bundle(*builds: Any, cpu: int = 3) -> Any:
    def build(packet: Any) -> None:
        packet.ftrace_events.cpu = cpu
        for number, fill in enumerate(builds):
            event = packet.ftrace_events.event.add()
            event.timestamp = 1000 + number
            event.pid = 42
            fill(event)

    return build


def switch(event: Any) -> None:
    switched = event.sched_switch
    switched.prev_comm, switched.prev_pid, switched.prev_prio, switched.prev_state = "a", 42, 120, 0x100
    switched.next_comm, switched.next_pid, switched.next_prio = "b", 43, 97


def test_events_have_the_kernels_columns() -> None:
    def entered(event: Any) -> None:
        event.sys_enter.id = 7
        event.sys_enter.args.extend([1, 0xFF])

    def idle(event: Any) -> None:
        event.cpu_idle.state = 4294967295
        event.cpu_idle.cpu_id = 1

    found = load(trace(bundle(switch, entered, idle)))
    assert rows(found, "raw_events.sched_switch") == [
        {
            "_ts": 0,
            "cpu": 3,
            "common_pid": 42,
            "line": 1,
            "prev_comm": "a",
            "prev_pid": 42,
            "prev_prio": 120,
            "prev_state": "R+",
            "next_comm": "b",
            "next_pid": 43,
            "next_prio": 97,
        }
    ]
    assert rows(found, "raw_events.sys_enter")[0]["args"] == "1, ff"
    assert rows(found, "raw_events.cpu_idle")[0]["state"] == 4294967295
    assert notes(found) == {}


def test_compact_switches_infer_the_previous_thread() -> None:
    def compact(packet: Any) -> None:
        packet.ftrace_events.cpu = 1
        sched = packet.ftrace_events.compact_sched
        sched.intern_table.extend(["a", "b"])
        sched.switch_timestamp.extend([1000, 20])
        sched.switch_prev_state.extend([1, 2])
        sched.switch_next_pid.extend([5, 0])
        sched.switch_next_prio.extend([120, 100])
        sched.switch_next_comm_index.extend([0, 1])
        sched.waking_timestamp.extend([1010])
        sched.waking_pid.extend([9])
        sched.waking_target_cpu.extend([2])
        sched.waking_prio.extend([99])
        sched.waking_comm_index.extend([1])

    found = load(trace(compact))
    first, second = rows(found, "raw_events.sched_switch")
    assert "prev_pid" not in first
    assert (second["prev_pid"], second["prev_comm"], second["prev_prio"], second["prev_state"]) == (5, "a", 120, "D")
    (waking,) = rows(found, "raw_events.sched_waking")
    assert waking["common_pid"] == 5
    assert waking["common_comm"] == "a"
    assert (waking["_ts"], waking["pid"], waking["comm"], waking["target_cpu"]) == (10, 9, "b", 2)
    assert [first["line"], waking["line"], second["line"]] == [1, 2, 3]


def test_threads_that_compact_switches_leave_have_the_names_that_they_were_given() -> None:
    def ran(times: list[int], names: list[str], pids: list[int], renamed: dict[int, tuple[int, str]]) -> Any:
        def build(packet: Any) -> None:
            sched = packet.ftrace_events.compact_sched
            sched.intern_table.extend(names)
            sched.switch_timestamp.extend(times)
            sched.switch_prev_state.extend([1] * len(times))
            sched.switch_next_pid.extend(pids)
            sched.switch_next_prio.extend([120] * len(times))
            sched.switch_next_comm_index.extend(range(len(names)))
            for time, (pid, name) in renamed.items():
                event = packet.ftrace_events.event.add(timestamp=time, pid=pid)
                event.task_rename.pid, event.task_rename.newcomm = pid, name

        return build

    # The shell starts a program, another thread runs, and the program runs again; then it is renamed once more.
    first = ran([1000, 100, 100], ["sh", "other", "cc1"], [5, 6, 5], {1050: (5, "cc1"), 1060: (6, "else")})
    second = ran([1400], ["swapper/0"], [0], {1300: (5, "late"), 1450: (5, "never here")})
    found = load(trace(first, second, bundle(lambda event: event.cpu_idle.SetInParent(), cpu=0)))
    switches = [(row["_ts"], row.get("prev_comm")) for row in rows(found, "raw_events.sched_switch")]
    assert switches == [(0, None), (100, "cc1"), (200, "other"), (400, "late")]
    assert [row.get("common_comm") for row in rows(found, "raw_events.task_rename")][2:] == ["cc1", "late"]


def test_lost_events_are_counted_and_reset_the_running_thread() -> None:
    def compact(packet: Any) -> None:
        sched = packet.ftrace_events.compact_sched
        sched.intern_table.append("a")
        for values, value in (
            (sched.switch_timestamp, 1),
            (sched.switch_prev_state, 1),
            (sched.switch_next_pid, 5),
            (sched.switch_next_prio, 120),
            (sched.switch_next_comm_index, 0),
        ):
            values.append(value)

    def lost(packet: Any) -> None:
        compact(packet)
        packet.ftrace_events.lost_events = True

    found = load(trace(compact, lost, compact))
    assert ["prev_pid" in row for row in rows(found, "raw_events.sched_switch")] == [False, False, True]
    assert notes(found) == {"events of cpu 0 were lost before a bundle": 1}


def mark(text: str) -> Any:
    def fill(event: Any) -> None:
        event.print.ip = 5
        event.print.buf = text

    return fill


def test_marks_are_split_by_letter() -> None:
    found = load(
        trace(
            bundle(mark("B|12|a|b\n"), mark("E|12\n"), mark("C|12|heap|-7\n"), mark("C|12|r|1.5"), mark("hi|there\n"))
        )
    )
    assert rows(found, "raw_events.print|B")[0] | {"_ts": 0} == {
        "_ts": 0,
        "cpu": 3,
        "common_pid": 42,
        "line": 1,
        "ip": 5,
        "pid": 12,
        "name": "a|b",
    }
    assert [row.get("value", row.get("value_float")) for row in rows(found, "raw_events.print|C")] == [-7, 1.5]
    assert rows(found, "raw_events.print")[0]["text"] == "hi|there"


def test_values_that_are_not_whole_are_values_of_counters() -> None:
    data = trace(bundle(mark("C|12|heap|-7\n"), mark("C|12|heap|1.5\n"), mark("E|12")))
    assert ask(data, "SELECT value FROM t.counters ORDER BY _ts") == [(-7.0,), (1.5,)]


def test_events_that_name_themselves() -> None:
    def generic(event: Any) -> None:
        event.generic.event_name = "net/napi_poll"
        event.generic.field.add(name="work", int_value=-4)
        event.generic.field.add(name="dev_name", str_value="eth0")
        event.generic.field.add(name="cpu", uint_value=9)

    (row,) = rows(load(trace(bundle(generic))), "raw_events.napi_poll")
    assert (row["work"], row["dev_name"], row["field_cpu"], row["cpu"]) == (-4, "eth0", 9, 3)


def test_events_that_a_bundle_describes() -> None:
    descriptor = DescriptorProto(name="my_event")
    descriptor.field.add(name="size", number=1, type=4, label=1)

    def described(packet: Any) -> None:
        bundle = packet.ftrace_events
        bundle.generic_event_descriptors.add(field_id=70000, event_descriptor=descriptor.SerializeToString())
        event = bundle.event.add(timestamp=5, pid=1)
        event.MergeFromString(bytes([0x82, 0x97, 0x22, 2, 8, 77]))

    assert rows(load(trace(described)), "raw_events.my_event")[0]["size"] == 77


def test_unknown_events_and_fields_are_kept() -> None:
    def odd(packet: Any) -> None:
        event = packet.ftrace_events.event.add(timestamp=5, pid=1)
        event.MergeFromString(bytes([0xFA, 0x7E, 2, 8, 77]))

    def field(event: Any) -> None:
        event.cpu_idle.MergeFromString(bytes([0x78, 9]))

    found = load(trace(odd, bundle(field)))
    (unknown,) = rows(found, "raw_events.unknown_ftrace_event")
    assert (unknown["field"], unknown["bytes"]) == (2031, "084d")
    assert json.loads(rows(found, "raw_events.cpu_idle")[0]["args"]) == {"#15": 9}
    assert notes(found) == {
        "ftrace event that no descriptor describes": 1,
        "field that no descriptor describes is kept in args": 1,
    }


def test_every_event_of_the_descriptors_has_a_table() -> None:
    def all_of_them(packet: Any) -> None:
        packet.ftrace_events.cpu = 0
        for field in pb.FtraceEvent.DESCRIPTOR.fields:
            if field.message_type is not None:
                event = packet.ftrace_events.event.add(timestamp=1, pid=1)
                getattr(event, field.name).SetInParent()

    found = load(trace(all_of_them))
    split = {"print", "tracing_mark_write", "generic"}
    wanted = {field.name for field in pb.FtraceEvent.DESCRIPTOR.fields if field.message_type is not None} - split
    assert {f"raw_events.{name}" for name in wanted} - set(found.tables) == set()
    assert notes(found) == {}
