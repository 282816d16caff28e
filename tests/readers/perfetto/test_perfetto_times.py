"""Times that no clock can show, and events of the kernel from before the trace's own."""

from __future__ import annotations

import pytest

from tests.readers.perfetto.perfetto_reading import ask, load, notes, rows, written

IMPOSSIBLE = "event with an impossible time is left out"
EARLY = "events of the kernel from before its buffers were read are in `early`"
GOOD = """
packet { trusted_packet_sequence_id: 1 incremental_state_cleared: true track_descriptor { uuid: 1 name: "track" } }
packet { trusted_packet_sequence_id: 1 timestamp: 1000000
  track_event { type: TYPE_INSTANT track_uuid: 1 name: "good" } }
"""


def descriptor(micros: int) -> str:
    return (
        "packet { trusted_packet_sequence_id: 1 thread_descriptor "
        f"{{ pid: 1 tid: 1 reference_timestamp_us: {micros} }} }}"
    )


def delta(micros: int) -> str:
    return (
        "packet { trusted_packet_sequence_id: 1 track_event "
        f'{{ timestamp_delta_us: {micros} type: TYPE_INSTANT track_uuid: 1 name: "bad" }} }}'
    )


@pytest.mark.parametrize(
    ("bad", "count"),
    [
        (descriptor(-9223372036854775) + delta(-1), 1),
        (descriptor(9223372036854775) + delta(2) + delta(0), 2),
        (descriptor(0) + delta(-9223372036854776) + delta(0), 2),
        ('packet { timestamp: 18446744073709551615 track_event { type: TYPE_INSTANT track_uuid: 1 name: "bad" } }', 1),
        ('packet { timestamp: 9223372036854775807 track_event { type: TYPE_INSTANT track_uuid: 1 name: "bad" } }', 1),
        ("packet { ftrace_events { cpu: 0 event { timestamp: 18446744073709551615 pid: 1 sched_switch { } } } }", 1),
        (
            "packet { ftrace_events { cpu: 0 compact_sched { intern_table: 'a' switch_timestamp: 18446744073709551615"
            " switch_prev_state: 0 switch_next_pid: 1 switch_next_prio: 1 switch_next_comm_index: 0 } } }",
            1,
        ),
        ("packet { android_log { events { timestamp: 18446744073709551615 tag: 'x' } } }", 1),
        ("packet { power_rails { energy_data { index: 1 timestamp_ms: 18446744073709551 energy: 3 } } }", 1),
        ("packet { timestamp: 18446744073709551615 sys_stats { num_forks: 3 } }", 1),
    ],
)
def test_impossible_times_are_counted_and_shift_nothing(bad: str, count: int) -> None:
    found = load(written(GOOD + bad))
    assert found.properties["start_ns"] == "1000000"
    events = [row for name in found.tables if name.startswith("raw_events.") for row in rows(found, name)]
    assert [row["name"] for row in events] == ["good"]
    assert notes(found) == {IMPOSSIBLE: count}


def test_samples_behind_an_overflow_are_left_out() -> None:
    profile = (
        "packet { trusted_packet_sequence_id: 1 streaming_profile_packet { callstack_iid: 1 timestamp_delta_us: %d } }"
    )
    found = load(written(GOOD + descriptor(0) + profile % -9223372036854776 + profile % 0 + delta(0)))
    assert "raw_events.sample" not in found.tables
    assert (found.properties["start_ns"], notes(found)) == ("1000000", {IMPOSSIBLE: 3})


def test_a_snapshot_with_an_impossible_time_is_passed_over() -> None:
    snapshot = "packet { clock_snapshot { clocks { clock_id: 6 timestamp: 0 } clocks { clock_id: 3 timestamp: %d } } }"
    event = 'packet { timestamp: 7 timestamp_clock_id: 3 track_event { type: TYPE_INSTANT name: "x" } }'
    found = load(written(snapshot % (2**64 - 1) + snapshot % 5 + event))
    assert found.properties["start_ns"] == "2"
    assert notes(found) == {"impossible time in a clock snapshot is passed over": 1}


CROPPED = """
packet { ftrace_events { cpu: 1 FIELD: 1000
  event { timestamp: 1500 pid: 42 print { buf: "B|42|early\\n" } }
  event { timestamp: 2700 pid: 42 print { buf: "E|42\\n" } } } }
packet { ftrace_events { cpu: 0 FIELD: 2000 event { timestamp: 2200 pid: 42 print { buf: "B|42|kept\\n" } } } }
packet { ftrace_events { cpu: 0 FIELD: 9000 event { timestamp: 2800 pid: 42 print { buf: "I|42|later\\n" } } } }
"""


@pytest.mark.parametrize("field", ["previous_bundle_end_timestamp", "last_read_event_timestamp"])
def test_events_from_before_all_cpus_were_read_are_apart(field: str) -> None:
    data = written(CROPPED.replace("FIELD", field))
    assert ask(data, "SELECT name, unitless(_duration) FROM t.slices") == [("kept", 500)]
    early = "SELECT unitless(_ts), cpu, name, json_extract_string(args, '$.buf') FROM t.raw_events.early"
    assert ask(data, early) == [(0, 1, "print", "B|42|early\n")]
    assert notes(load(data)) == {EARLY: 1}


def test_each_machine_has_cpus_of_its_own() -> None:
    """The first bundle of a CPU of another machine counts too."""
    other = "packet { machine_id: 7 ftrace_events { cpu: 0 previous_bundle_end_timestamp: 2750 } }"
    data = written(CROPPED.replace("FIELD", "previous_bundle_end_timestamp") + other)
    assert ask(data, "SELECT name FROM t.slices") == []
    assert notes(load(data)) == {EARLY: 3}


SWITCHES = """
packet { CONFIG }
packet { timestamp: 100 service_event { tracing_started: true } }
packet { ftrace_events { cpu: 0
  event { timestamp: 50 pid: 1 sched_switch { prev_comm: "a" prev_pid: 1 next_comm: "b" next_pid: 2 } }
  event { timestamp: 60 pid: 2 sched_switch { prev_comm: "b" prev_pid: 2 next_comm: "a" next_pid: 1 } } } }
packet { ftrace_events { cpu: 2
  event { timestamp: 100 pid: 2 sched_switch { prev_comm: "b" prev_pid: 2 next_comm: "a" next_pid: 1 } }
  event { timestamp: 110 pid: 1 sched_switch { prev_comm: "a" prev_pid: 1 next_comm: "b" next_pid: 2 } } } }
"""
PRESERVED = "trace_config { data_sources { config { ftrace_config { preserve_ftrace_buffer: true } } } }"


@pytest.mark.parametrize(("config", "times"), [("", [100, 110]), (PRESERVED, [50, 60, 100, 110])])
def test_switches_from_before_tracing_started_are_apart(config: str, times: list[int]) -> None:
    found = load(written(SWITCHES.replace("CONFIG", config)))
    start = int(found.properties["start_ns"])
    assert [row["_ts"] + start for row in rows(found, "raw_events.sched_switch")] == times


def test_compact_switches_before_the_start_infer_the_running_thread() -> None:
    compact = (
        "packet { ftrace_events { cpu: 0 previous_bundle_end_timestamp: 150 compact_sched { intern_table: 'a'"
        " intern_table: 'b' switch_timestamp: 100 switch_timestamp: 100 switch_prev_state: 1 switch_prev_state: 0"
        " switch_next_pid: 5 switch_next_pid: 6 switch_next_prio: 120 switch_next_prio: 120"
        " switch_next_comm_index: 0 switch_next_comm_index: 1"
        " waking_timestamp: 90 waking_pid: 5 waking_target_cpu: 0 waking_prio: 120 waking_comm_index: 0 } } }"
    )
    found = load(written(compact))
    (switch,) = rows(found, "raw_events.sched_switch")
    assert (switch["prev_pid"], switch["prev_comm"], switch["next_comm"]) == (5, "a", "b")
    waking, early = rows(found, "raw_events.early")
    assert (waking["name"], waking["args"]) == ("sched_waking", '{"pid":5,"prio":120,"target_cpu":0,"comm":"a"}')
    assert early["args"] == '{"prev_state":1,"next_pid":5,"next_prio":120,"next_comm":"a"}'
    assert rows(found, "raw_events.sched_waking") == []


def test_recorder_events_are_in_boot_time() -> None:
    """Whatever clock is the trace's: its packets do not name theirs."""
    data = written("""
packet { clock_snapshot { clocks { clock_id: 6 timestamp: 1000 } clocks { clock_id: 5 timestamp: 100 }
  primary_trace_clock: BUILTIN_CLOCK_MONOTONIC_RAW } trusted_packet_sequence_id: 1 }
packet { timestamp: 1050 trusted_packet_sequence_id: 1 service_event { tracing_started: true } }
""")
    assert load(data).properties["start_ns"] == "150"
