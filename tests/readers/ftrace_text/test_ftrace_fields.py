"""The fields of events, exactly: `fields` reads one event and returns its table's name under "" and its fields."""

from __future__ import annotations

import pytest

from tests.readers.ftrace_text.ftrace_reading import fields, read
from tests.readers.ftrace_text.printed_events import PRINTED

SWITCH = {
    "": "sched_switch",
    "prev_comm": "VM Periodic Tas",
    "prev_pid": 16939,
    "prev_prio": 120,
    "prev_state": "R+",
    "next_comm": "my: app",
    "next_pid": 0,
    "next_prio": -1,
}
PREV = "prev_comm=VM Periodic Tas prev_pid=16939 prev_prio=120 prev_state=R+"
NEXT = "next_comm=my: app next_pid=0 next_prio=-1"
WAKEUP = {"comm": "kworker/0:2 x", "pid": 46, "prio": 120, "target_cpu": 7}


@pytest.mark.parametrize(
    "body",
    [
        f"{PREV} ==> {NEXT}",
        f"{PREV} {NEXT}",
        "VM Periodic Tas:16939 [120] R+ ==> my: app:0 [-1]",
        "task VM Periodic Tas:16939 [120] (R+) ==> my: app:0 [-1]",
        "VM Periodic Tas:16939:120 [R+] ==> my: app:0:-1",
        "VM Periodic Tas:16939:120 [R+] ==> my: app:0 [-1]",
    ],
)
def test_every_form_of_a_switch_has_the_same_columns(body: str) -> None:
    assert fields(f"sched_switch: {body}") == SWITCH


@pytest.mark.parametrize("event", ["sched_wakeup", "sched_waking", "sched_wakeup_new"])
@pytest.mark.parametrize(
    "body",
    [
        "comm=kworker/0:2 x pid=46 prio=120 target_cpu=007",
        "kworker/0:2 x:46 [120] CPU:007",
        "task kworker/0:2 x:46 [120] [007]",
    ],
)
def test_every_form_of_a_wakeup_has_the_same_columns(event: str, body: str) -> None:
    assert fields(f"{event}: {body}") == {"": event} | WAKEUP


def test_old_wakeups_have_a_success_column() -> None:
    expected = {"": "sched_wakeup", "comm": "sh", "pid": 1, "prio": 120, "success": 1, "target_cpu": 2}
    assert fields("sched_wakeup: sh:1 [120] success=1 CPU:002") == expected


def test_states_are_texts_in_the_raw_form_too() -> None:
    raw = "prev_comm=sh prev_pid=1 prev_prio=120 prev_state=4096 next_comm=7 next_pid=0 next_prio=120"
    found = fields(f"sched_switch: {raw}")
    assert (found["prev_state"], found["next_comm"]) == ("4096", "7")


@pytest.mark.parametrize(("event", "expected"), PRINTED)
def test_fields(event: str, expected: dict[str, object]) -> None:
    assert fields(event) == {"": event.partition(":")[0]} | expected


def test_system_calls_are_named_as_the_kernel_names_them() -> None:
    assert fields("sys_ioctl(fd: ff, cmd: 5410)") == {"": "sys_enter_ioctl", "fd": "ff", "cmd": "5410"}
    assert fields("sys_getpid()") == {"": "sys_enter_getpid"}
    assert fields("sys_recvmsg -> 0x24") == {"": "sys_exit_recvmsg", "ret": "0x24"}


def test_function_tracer() -> None:
    assert fields("path_put <-path_walk") == {"": "function", "ip": "path_put", "parent_ip": "path_walk"}


def test_a_column_has_one_type_in_which_nothing_is_lost() -> None:
    values = ["1", "2.50", "x", "-3"]
    trace = read("".join(f" t-1 [000] 1.0: e: a={v}\n" for v in values))
    assert trace.tables["raw_events.e"].data.column("a").to_pylist() == values


def test_failures_of_the_writer_are_counted() -> None:
    trace = read(" t-1 [000] 1.0: e: [FAILED TO PARSE] a=1\n t-1 [000] 1.0: e: a=1\n")
    (found,) = trace.diagnostics
    assert (found.reason, found.count, found.incomplete) == ("event that its writer failed to parse", 1, False)
    assert found.example.startswith("line 1: t-1 [000] 1.0: e: [FAILED")


@pytest.mark.parametrize(
    ("event", "units"),
    [
        ("cpu_frequency: state=300000 cpu_id=1", {"state": "kHz"}),
        ("cpu_frequency_limits: min=5 max=6 cpu_id=0", {"min": "kHz", "max": "kHz"}),
        ("clock_set_rate: a state=3 cpu_id=7", {"state": "Hz"}),
        ("sched_stat_wait: comm=a pid=1 delay=5 [ns]", {"delay": "ns"}),
        ("my: delta_ns=5 wait_us=6 poll_ms=7 ns=8 name_ns=x", {"delta_ns": "ns", "wait_us": "us", "poll_ms": "ms"}),
        ("rss_stat: size=4096B", {"size": "B"}),
        ("cpu_idle: state=1 cpu_id=0", {}),
    ],
)
def test_units(event: str, units: dict[str, str]) -> None:
    trace = read(f" t-1 [000] 1.0: {event}\n")
    (schema,) = (t.schema for n, t in trace.tables.items() if n.startswith("raw_events."))
    assert {c.name: str(c.unit) for c in schema.columns if str(c.unit)} == {"_ts": "ns"} | units
