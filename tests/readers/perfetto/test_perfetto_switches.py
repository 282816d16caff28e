"""Random switches, wakeups and new names are read as they were, from full and from compact bundles."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

from dctv.record import record
from tests.bounds import bounded
from tests.readers.perfetto.perfetto_reading import load, notes, rows

STATES = {0: "R", 1: "S", 2: "D", 0x100: "R+"}
PREVIOUS = {"prev_comm", "prev_pid", "prev_prio"}
CPUS = 2


@record
class Event:
    """What happened on a CPU, and the thread that ran there, with its name before."""

    time: int
    pid: int
    comm: str
    kind: str
    fields: dict[str, Any]


def happened(rng: random.Random) -> dict[int, list[Event]]:
    """Return random events by CPU: threads are switched in and out, wake others, and take other names."""
    events: dict[int, list[Event]] = {cpu: [] for cpu in range(CPUS)}
    names = {pid: f"thread {pid}" for pid in range(1, 6)}
    running = dict.fromkeys(events, 0)
    now = 1000

    def comm(cpu: int, pid: int) -> str:
        return names[pid] if pid else f"swapper/{cpu}"

    kinds = ["sched_switch", *rng.choices(["sched_switch", "sched_switch", "sched_waking", "task_rename"], k=40)]
    for kind in kinds[: rng.randint(1, len(kinds))]:
        now += rng.choice([1, 1000])
        cpu = rng.randrange(CPUS)
        pid = running[cpu]
        idle = sorted(set(names) - set(running.values()))
        before = comm(cpu, pid)
        if kind == "sched_switch":
            following = rng.choice(idle + [0] * bool(pid))
            fields = {
                "prev_comm": before,
                "prev_pid": pid,
                "prev_prio": 100 + pid,
                "prev_state": rng.choice(list(STATES)) if pid else 0,
                "next_comm": comm(cpu, following),
                "next_pid": following,
                "next_prio": 100 + following,
            }
            running[cpu] = following
        elif kind == "sched_waking":
            woken = rng.choice(idle)
            fields = {"comm": names[woken], "pid": woken, "prio": 100 + woken, "success": 1, "target_cpu": 1}
        elif pid:
            names[pid] = rng.choice(["cc1", "sh", "a name of 15 ch"])
            fields = {"pid": pid, "oldcomm": before, "newcomm": names[pid]}
        else:
            continue
        events[cpu].append(Event(now, pid, before, kind, fields))
    return events


def put(packet: Any, events: list[Event], *, compact: bool) -> None:
    """Write events of a CPU into its bundle."""
    bundle = packet.ftrace_events
    sched = bundle.compact_sched
    last = {"sched_switch": 0, "sched_waking": 0}
    for event in events:
        if not compact or event.kind not in last:
            written = bundle.event.add(timestamp=event.time, pid=event.pid)
            getattr(written, event.kind).SetInParent()
            for name, value in event.fields.items():
                setattr(getattr(written, event.kind), name, value)
            continue
        fields, since = event.fields, event.time - last[event.kind]
        last[event.kind] = event.time
        name = fields["next_comm" if event.kind == "sched_switch" else "comm"]
        if name not in sched.intern_table:
            sched.intern_table.append(name)
        index = list(sched.intern_table).index(name)
        if event.kind == "sched_switch":
            sched.switch_timestamp.append(since)
            sched.switch_prev_state.append(fields["prev_state"])
            sched.switch_next_pid.append(fields["next_pid"])
            sched.switch_next_prio.append(fields["next_prio"])
            sched.switch_next_comm_index.append(index)
        else:
            sched.waking_timestamp.append(since)
            sched.waking_pid.append(fields["pid"])
            sched.waking_target_cpu.append(fields["target_cpu"])
            sched.waking_prio.append(fields["prio"])
            sched.waking_comm_index.append(index)


def written(rng: random.Random, happened: dict[int, list[Event]], *, compact: bool) -> bytes:
    """Write bundles of random sizes; those of several CPUs take turns."""
    left = {cpu: list(events) for cpu, events in happened.items()}
    whole = pb.Trace()
    while any(left.values()):
        cpu = rng.choice([cpu for cpu, events in left.items() if events])
        size = rng.randint(1, 8)
        packet = whole.packet.add(trusted_packet_sequence_id=1)
        packet.ftrace_events.cpu = cpu
        put(packet, left[cpu][:size], compact=compact)
        del left[cpu][:size]
    return bytes(whole.SerializeToString())


def expected(cpu: int, events: list[Event], kind: str, *, compact: bool) -> list[dict[str, Any]]:
    """Return the rows of an event on a CPU. Compact bundles tell nothing of the thread before the first switch."""
    found, known = [], not compact
    for event in events:
        if event.kind == kind:
            row = {"cpu": cpu, "_ts": event.time, **event.fields}
            if kind == "sched_switch":
                row["prev_state"] = STATES[row["prev_state"]]
            if known:
                row["common_pid"] = event.pid
            if known and compact:
                row["common_comm"] = event.comm
            found.append({name: one for name, one in row.items() if known or name not in PREVIOUS})
        known = known or event.kind == "sched_switch"
    return found


@pytest.mark.parametrize("compact", [False, True])
@given(seed=st.integers(0, 2**32))
@bounded(100)
def test_switches_are_read_as_they_were(*, compact: bool, seed: int) -> None:
    rng = random.Random(seed)
    events = happened(rng)
    found = load(written(rng, events, compact=compact))
    assert notes(found) == {}
    start = int(found.properties["start_ns"])
    dropped = {"line"} if compact else {"line", "common_comm"}
    for kind in ("sched_switch", "sched_waking"):
        read = rows(found, f"raw_events.{kind}") if f"raw_events.{kind}" in found.tables else []
        for row in read:
            row["_ts"] += start
        for cpu in events:
            own = [{name: one for name, one in row.items() if name not in dropped} for row in read if row["cpu"] == cpu]
            assert sorted(own, key=lambda row: row["_ts"]) == expected(cpu, events[cpu], kind, compact=compact)
