"""A trace of several machines: all that they recorded is read, or one of them; kernels that are mixed are warned of."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from dctv.errors import TraceError
from dctv.session import Session
from tests.readers.perfetto.perfetto_reading import load, notes, written

MIXED = "events of the kernels of several machines are mixed: choose one by the option `machine`"
OTHERS = "packets of other machines"
MACHINES = (0, 7, 4294967295)


def packets(machine: int, rng: random.Random) -> list[str]:
    """Return packets of a machine whose clocks, threads, tracks and CPUs have the numbers that those of others have."""
    own = f"machine_id: {machine}" if machine else ""
    sequence = f"{own} trusted_packet_sequence_id: {MACHINES.index(machine) + 1}"
    # How far the clock of track events is ahead of the kernel's.
    ahead = len(str(machine)) * 10**9
    found = [
        f"{own} clock_snapshot {{ clocks {{ clock_id: 3 timestamp: {ahead} }} clocks {{ clock_id: 6 timestamp: 0 }} }}",
        f'{sequence} track_descriptor {{ uuid: 5 name: "of {machine}" }}',
        f'{own} process_tree {{ processes {{ pid: 9 ppid: 1 cmdline: "app{machine}" }} }}',
    ]
    time = 10_000 + machine % 100
    for _ in range(rng.randrange(1, 5)):
        switch = f'sched_switch {{ prev_comm: "a{machine}" prev_pid: 9 next_comm: "b{machine}" next_pid: 10 }}'
        found.append(f"{own} ftrace_events {{ cpu: 0 event {{ timestamp: {time} pid: 9 {switch} }} }}")
        time += rng.randrange(1, 1000)
        event = 'track_event { type: TYPE_INSTANT track_uuid: 5 name: "mark" }'
        found.append(f"{sequence} timestamp: {time + ahead} timestamp_clock_id: 3 {event}")
    return [f"packet {{ {one} }} " for one in found]


def interleaved(parts: list[list[str]], rng: random.Random) -> str:
    """Mix packets of machines; each machine's stay in their order."""
    rest, mixed = [list(part) for part in parts], []
    while rest := [part for part in rest if part]:
        mixed.append(rng.choice(rest).pop(0))
    return "".join(mixed)


def tables(data: bytes, folder: Path, options: str = "") -> dict[str, Any]:
    """Return the rows of all tables that packets become rows of, with absolute times; but for numbers of packets."""
    path = folder / "trace.pftrace"
    path.write_bytes(data)
    found: dict[str, Any] = {}
    with Session(index=False, warn=False) as session:
        session.sql(f"MOUNT TRACE '{path}' AS t {options}")
        ((start,),) = session.sql("SELECT value FROM t.properties WHERE key = 'start_ns'").fetchall()
        for name, columns in (
            ("raw_events.sched_switch", "_ts, cpu, common_pid, prev_comm, next_comm"),
            ("raw_events.instant", "_ts, name, track"),
            ("tracks", "kind, name, tid, pid"),
            ("threads", "tid, pid, name"),
            ("processes", "pid, name"),
        ):
            rows = session.sql(f"SELECT {columns} FROM t.{name}").fetchall()
            found[name] = [
                (row[0] + int(start), *row[1:]) if columns.startswith("_ts") else row for row in map(tuple, rows)
            ]
    return found


@pytest.mark.parametrize("seed", range(4))
def test_one_machine_is_read_as_if_it_were_alone(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    parts = [packets(machine, rng) for machine in MACHINES]
    mixed = written(interleaved(parts, rng))
    for machine, part in zip(MACHINES, parts, strict=True):
        alone = tables(written("".join(part)), tmp_path)
        assert len(alone["raw_events.sched_switch"]) == len(alone["raw_events.instant"]) > 0
        assert tables(mixed, tmp_path, f"WITH (machine => {machine})") == alone


def test_other_machines_are_counted(tmp_path: Path) -> None:
    rng = random.Random(0)
    parts = [packets(machine, rng) for machine in MACHINES[:2]]
    path = tmp_path / "trace.pftrace"
    path.write_bytes(written(interleaved(parts, rng)))
    with Session(index=False, warn=False) as session:
        session.sql(f"MOUNT TRACE '{path}' AS t WITH (machine => 7)")
        counted = session.sql("SELECT reason, count, example, incomplete FROM t.diagnostics").fetchall()
        assert (OTHERS, len(parts[0]), "machine 0", False) in counted


def test_kernels_that_are_mixed_are_warned_of() -> None:
    rng = random.Random(1)
    first, second = (packets(machine, rng) for machine in MACHINES[:2])
    switches = sum("sched_switch" in packet for packet in second)
    assert notes(load(written("".join(first + second))))[MIXED] == switches
    assert MIXED not in notes(load(written("".join(first))))
    assert MIXED not in notes(load(written("".join(second))))
    no_kernel = [packet for packet in second if "ftrace_events" not in packet]
    assert MIXED not in notes(load(written("".join(first + no_kernel))))


@pytest.mark.parametrize("stated", ["-1", "1.5", "4294967296", "'host'", "TRUE"])
def test_what_is_no_machine(stated: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.pftrace"
    path.write_bytes(written("".join(packets(0, random.Random(0)))))
    with Session(index=False) as session, pytest.raises(TraceError, match="expected the number of a machine"):
        session.sql(f"MOUNT TRACE '{path}' AS t WITH (machine => {stated})")


def test_each_machine_has_clocks_of_its_own(tmp_path: Path) -> None:
    """The kernels' clocks of all machines count as one."""
    parts = [packets(machine, random.Random(machine)) for machine in MACHINES]
    alone = [tables(written("".join(part)), tmp_path)["raw_events.instant"] for part in parts]
    mixed = tables(written(interleaved(parts, random.Random(2))), tmp_path)["raw_events.instant"]
    # Tracks are numbered in order of their packets.
    assert sorted(row[0] for row in mixed) == sorted(row[0] for rows in alone for row in rows)


@pytest.mark.parametrize("machine", MACHINES)
def test_the_time_of_day_is_that_of_a_machine_with_clocks(machine: int) -> None:
    own = f"machine_id: {machine}" if machine else ""
    clocks = "clock_snapshot { clocks { clock_id: 1 timestamp: 5000 } clocks { clock_id: 6 timestamp: 1000 } }"
    event = "timestamp: 1500 sys_stats { num_forks: 3 }"
    data = written(f"packet {{ {own} {clocks} }} packet {{ {own} {event} }}")
    assert load(data).properties["start_unix_ns"] == "5500"


def test_clocks_of_a_machine_may_come_with_those_of_the_recording_one() -> None:
    def clocks(monotonic: int) -> str:
        return f"{{ clocks {{ clock_id: 3 timestamp: {monotonic} }} clocks {{ clock_id: 6 timestamp: 1000 }} }}"

    sync = f"remote_clock_sync {{ synced_clocks {{ client_clocks {clocks(300)} host_clocks {clocks(400)} }} }}"
    event = "timestamp: 500 timestamp_clock_id: 3 sys_stats { num_forks: 3 }"
    packets = f"packet {{ clock_snapshot {clocks(450)} }} packet {{ machine_id: 7 {sync} }}"
    assert load(written(f"{packets} packet {{ machine_id: 7 {event} }}")).properties["start_ns"] == "1200"
    assert load(written(f"{packets} packet {{ {event} }}")).properties["start_ns"] == "1050"
