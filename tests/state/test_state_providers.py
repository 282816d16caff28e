"""The shipped providers on small traces typed as lists of events: usage of CPUs, threads of a kernel, queues of disks.

Times of the lists are ns from 1 on; the first event of a trace is at 0, so what is looked up is one less.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from dctv.session import Session

DATA = Path(__file__).parents[1] / "data"
SLICES = """
SELECT 'Call_stacks/' || pid::STRING || '/' || tid::STRING || '/' || (depth + 1)::STRING AS path, _ts,
  COALESCE(_ts + _duration, ? IN ns) AS end_ts, name
FROM t.slices WHERE COALESCE(_duration > 0ns, TRUE) ORDER BY path, _ts
"""
Event = tuple[int, int, int, str]
"""A time, a CPU, the thread that runs there, the event with its fields."""
State = tuple[int, int, int | str | None]
"""The first and last time of a state, and the state."""
BLOCKED, RUN, CALLS, INTERRUPTED, READY, WAITS = 1, 2, 3, 4, 5, 6
IDLE, RAISED, CPU_RUN, CPU_CALLS, SOFT, HARD = 0, 1, 2, 4, 8, 16


def switch(time: int, cpu: int, before: int, after: int, state: int = 0) -> Event:
    """Return a switch of threads called after their ids."""
    fields = f"prev_comm=tid{before} prev_pid={before} prev_prio=120 prev_state={state} ==> "
    return time, cpu, before, f"sched_switch: {fields}next_comm=tid{after} next_pid={after} next_prio=120"


class Machine:
    """A session with a trace of some events and the state system of some providers."""

    def __init__(self, folder: Path, events: Sequence[Event], *providers: str) -> None:
        lines = [f"x-{tid} [{cpu:03}] .... 0.{time:09}: {text}\n" for time, cpu, tid, text in events]
        path = folder / "events.trace.txt"
        path.write_text("# tracer: nop\n#\n" + "".join(lines))
        self.session = Session()
        self.session.mount(str(path), "t")
        union = " UNION ALL ".join(f"SELECT * FROM t.state.{one}" for one in providers)
        self.session.sql(f"CREATE STATE SYSTEM k AS {union}")

    def rows(self, sql: str, *params: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        return self.session.sql(sql, list(params) or None).fetchall()

    def states(self, path: str) -> list[State]:
        """Return all states of an attribute, with inclusive ends."""
        value = "COALESCE(number::STRING, text)"
        sql = f"SELECT _ts + 1ns, _ts + _duration, {value} FROM k WHERE path = '{path}' ORDER BY _ts"
        return [(start, end, _plain(state)) for start, end, state in self.rows(sql)]

    def at(self, time: int, path: str) -> int | str | None:
        """Return the state of an attribute at a time."""
        sql = f"SELECT COALESCE(number::STRING, text) FROM dctv.state_at(k, {time - 1}ns, paths=>'{path}')"
        return _plain(self.rows(sql)[0][0])

    def threads(self, first: int, last: int, cpu: str = "*") -> set[int]:
        """Return what CPUs ran in a range of times."""
        where = f"start=>{first - 1}ns, stop=>{last - 1}ns, paths=>'CPUs/{cpu}/Current_thread'"
        return {tid for (tid,) in self.rows(f"SELECT number FROM dctv.state_2d(k, {where}) WHERE number > 0")}


def _plain(value: str | None) -> int | str | None:
    return int(value) if value is not None and value.lstrip("-").isdigit() else value


SWITCHES = (
    switch(1, 0, 1, 2),
    switch(2, 1, 3, 4),
    switch(5, 1, 4, 3),
    switch(10, 1, 3, 4),
    switch(15, 1, 4, 1),
    switch(20, 1, 1, 4),
    switch(20, 0, 2, 3),
    switch(25, 0, 3, 2),
)


@pytest.fixture(scope="module")
def usage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    machine = Machine(tmp_path_factory.mktemp("usage"), SWITCHES, "kernel", "cpu_usage")
    with machine.session:
        yield machine


@pytest.mark.parametrize(
    ("cpu", "tid", "states"),
    [
        (0, 2, [(1, 19, None), (20, 25, 19)]),
        (1, 4, [(1, 4, None), (5, 14, 3), (15, 25, 8)]),
        (0, 3, [(1, 24, None), (25, 25, 5)]),
        (1, 3, [(1, 1, None), (2, 9, 1), (10, 25, 6)]),
    ],
)
def test_time_that_a_cpu_ran_a_thread(usage: Machine, cpu: int, tid: int, states: list[State]) -> None:
    assert usage.states(f"CPU_usage/{cpu}/{tid}") == states


USED = """
WITH ends AS (SELECT 1 AS sign, {last} AS time UNION ALL SELECT -1, {first}),
told AS (
  SELECT 1 AS sign, SPLIT_PART(path, '/', 2) AS cpu, SPLIT_PART(path, '/', 3) AS tid, number AS used
  FROM dctv.state_at(k, {last}ns, paths=>'CPU_usage/*/*')
  UNION ALL
  SELECT -1, SPLIT_PART(path, '/', 2), SPLIT_PART(path, '/', 3), number
  FROM dctv.state_at(k, {first}ns, paths=>'CPU_usage/*/*')
  UNION ALL
  SELECT 1, SPLIT_PART(path, '/', 2), number::STRING, {last} - UNITLESS(_ts)
  FROM dctv.state_at(k, {last}ns, paths=>'CPUs/*/Current_thread') WHERE number > 0
  UNION ALL
  SELECT -1, SPLIT_PART(path, '/', 2), number::STRING, {first} - UNITLESS(_ts)
  FROM dctv.state_at(k, {first}ns, paths=>'CPUs/*/Current_thread') WHERE number > 0
)
SELECT cpu || '/' || tid, SUM(sign * used) FROM told GROUP BY cpu, tid HAVING SUM(sign * used) > 0
"""


@pytest.mark.parametrize(
    ("first", "last", "wanted"),
    [
        (0, 30, {"0/2": 19, "0/3": 5, "1/1": 5, "1/3": 6, "1/4": 13}),
        (22, 25, {"0/3": 3, "1/4": 3}),
        (1, 4, {"0/2": 3, "1/3": 1, "1/4": 2}),
        (4, 13, {"0/2": 9, "1/3": 5, "1/4": 4}),
    ],
)
def test_usage_of_a_range(usage: Machine, first: int, last: int, wanted: dict[str, int]) -> None:
    """Times that are not in the trace are those of its ends."""
    found = dict(usage.rows(USED.format(first=max(first, 1) - 1, last=min(last, 25) - 1)))
    assert found == wanted
    if first == 0:
        assert sum(found.values()) == 48
        assert {cpu: sum(n for path, n in found.items() if path[0] == cpu) for cpu in "01"} == {"0": 24, "1": 24}


def dump(time: int, tid: int, pid: int, ppid: int) -> Event:
    """Return the LTTng events of a waiting thread."""
    fields = f"tid={tid} pid={pid} ppid={ppid} name=tid{tid} status=5"
    return time, 0, 100, f"lttng_statedump_process_state: {fields}"


MACHINE = (
    dump(1, 10, 10, 1),
    dump(5, 11, 10, 10),
    dump(6, 12, 12, 11),
    dump(10, 20, 20, 1),
    switch(12, 1, 30, 11, 1),
    dump(15, 30, 30, 1),
    dump(15, 11, 99, 98),
    dump(15, 12, 99, 98),
    (17, 0, 100, "lttng_statedump_end: a=1"),
    switch(20, 1, 11, 20, 1),
    (25, 1, 20, "sched_process_fork: parent_tid=20 parent_pid=20 child_comm=tid21 child_tid=21 child_pid=20"),
    switch(30, 1, 20, 21, 1),
    switch(35, 0, 100, 11, 1),
    (40, 0, 11, "syscall_entry_open: filename=a"),
    (45, 0, 11, "syscall_exit_open: ret=3"),
    switch(50, 1, 21, 30),
    (55, 1, 30, "syscall_entry_exit: error_code=0"),
    (57, 1, 30, "sched_process_exit: comm=tid30 tid=30 prio=20"),
    switch(60, 1, 30, 21, 64),
    switch(70, 1, 21, 20, 1),
    (71, 1, 20, "syscall_entry_write: fd=1 count=1"),
    (78, 1, 20, "syscall_exit_write: ret=1"),
    switch(80, 1, 20, 21, 2048),
)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    machine = Machine(tmp_path_factory.mktemp("kernel"), MACHINE, "kernel")
    with machine.session:
        yield machine


def test_threads(kernel: Machine) -> None:
    root = "SELECT quark FROM k.attributes WHERE path = 'Threads'"
    rows = kernel.rows(f"SELECT name FROM k.attributes WHERE parent = ({root})")
    assert {int(name) for (name,) in rows} == {10, 11, 12, 20, 21, 30, 100}


def test_running_threads_at_a_time(kernel: Machine) -> None:
    found = {time: kernel.at(time, "CPUs/1/Current_thread") for time in (15, 29, 30, 59, 60)}
    assert found == {15: 11, 29: 20, 30: 21, 59: 30, 60: 21}
    assert kernel.at(59, "CPUs/0/Current_thread") == 11


def test_running_threads_in_a_range(kernel: Machine) -> None:
    assert kernel.threads(45, 65, "0") == {11}
    assert kernel.threads(45, 65, "1") == {21, 30}
    assert kernel.threads(45, 65) == {11, 21, 30}
    assert kernel.threads(70, 81) == {11, 20, 21}


def test_parents_processes_and_names(kernel: Machine) -> None:
    asked = [(4, 11), (5, 11), (10, 12), (25, 21)]
    assert [kernel.at(time, f"Threads/{tid}/PPID") for time, tid in asked] == [None, 10, 11, 20]
    assert kernel.states("Threads/11/PPID") == [(1, 4, None), (5, 80, 10)]
    assert kernel.states("Threads/11/PID") == [(1, 4, None), (5, 80, 10)]
    assert kernel.at(5, "Threads/11/PID") == 10
    assert kernel.at(25, "Threads/21/PID") == 20
    assert kernel.at(70, "Threads/21/Exec_name") == "tid21"


def test_statuses(kernel: Machine) -> None:
    assert kernel.states("Threads/12") == [(1, 5, None), (6, 80, WAITS)]
    assert kernel.states("Threads/20")[:4] == [(1, 9, None), (10, 19, WAITS), (20, 29, RUN), (30, 69, BLOCKED)]
    assert [one for one in kernel.states("Threads/21") if one[0] < 70] == [
        (1, 24, None),
        (25, 29, READY),
        (30, 49, RUN),
        (50, 59, READY),
        (60, 69, RUN),
    ]


def test_system_calls(kernel: Machine) -> None:
    """A thread that ended has no state, and a known state takes precedence over a statedump."""
    assert kernel.states("Threads/11/System_call") == [(1, 39, None), (40, 44, "open"), (45, 80, None)]
    assert kernel.states("Threads/11")[-3:] == [(35, 39, RUN), (40, 44, CALLS), (45, 80, RUN)]
    assert kernel.states("CPUs/0") == [(1, 34, None), (35, 39, CPU_RUN), (40, 44, CPU_CALLS), (45, 80, CPU_RUN)]
    assert kernel.states("Threads/20")[4:] == [(70, 70, RUN), (71, 77, CALLS), (78, 79, RUN), (80, 80, READY)]
    ended = [(1, 11, None), (12, 49, BLOCKED), (50, 54, RUN), (55, 59, CALLS), (60, 80, None)]
    assert kernel.states("Threads/30") == ended
    assert kernel.states("Threads/30/System_call") == [(1, 54, None), (55, 59, "exit"), (60, 80, None)]


INTERRUPTS = (
    switch(1, 0, 0, 7),
    (2, 0, 7, "irq_handler_entry: irq=9 name=nvme0q1"),
    (3, 0, 7, "softirq_raise: vec=4 [action=BLOCK]"),
    (4, 0, 7, "irq_handler_exit: irq=9 ret=handled"),
    (5, 0, 7, "softirq_entry: vec=4 [action=BLOCK]"),
    (6, 0, 7, "irq_handler_entry: irq=9 name=nvme0q1"),
    (7, 0, 7, "softirq_raise: vec=4 [action=BLOCK]"),
    (8, 0, 7, "irq_handler_exit: irq=9 ret=handled"),
    (9, 0, 7, "softirq_exit: vec=4 [action=BLOCK]"),
    (10, 0, 7, "irq_handler_entry: irq=9 name=nvme0q1"),
    switch(11, 0, 7, 0, 1),
    (12, 0, 0, "softirq_entry: vec=4 [action=BLOCK]"),
    (13, 0, 0, "softirq_exit: vec=4 [action=BLOCK]"),
    (14, 0, 0, "cpu_frequency: state=2000 cpu_id=0"),
    (15, 0, 0, "cpu_frequency_limits: min=1000 max=3000 cpu_id=0"),
    (16, 0, 0, "sched_wakeup: comm=tid7 pid=7 prio=120 target_cpu=1"),
    (17, 0, 0, "sched_migrate_task: comm=tid7 pid=7 prio=120 orig_cpu=1 dest_cpu=2"),
    (18, 0, 0, "sched_pi_setprio: comm=tid7 pid=7 oldprio=120 newprio=90"),
    (19, 0, 7, "sched_process_exec: filename=/usr/bin/a-long-program-name pid=7 old_pid=7"),
    (20, 0, 0, "sched_process_free: comm=tid7 pid=7 prio=90"),
)


@pytest.fixture(scope="module")
def interrupts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    machine = Machine(tmp_path_factory.mktemp("interrupts"), INTERRUPTS, "kernel")
    with machine.session:
        yield machine


def test_interrupts_come_before_soft_interrupts_and_those_before_threads(interrupts: Machine) -> None:
    assert interrupts.states("CPUs/0") == [
        (1, 1, CPU_RUN),
        (2, 3, HARD),
        (4, 4, CPU_RUN),
        (5, 5, SOFT),
        (6, 7, HARD),
        (8, 8, SOFT),
        (9, 9, CPU_RUN),
        (10, 10, HARD),
        (11, 11, RAISED),
        (12, 12, SOFT),
        (13, 20, IDLE),
    ]
    assert interrupts.states("Threads/7")[:5] == [
        (1, 1, RUN),
        (2, 3, INTERRUPTED),
        (4, 4, RUN),
        (5, 8, INTERRUPTED),
        (9, 9, RUN),
    ]


def test_interrupts_of_a_cpu_and_of_all(interrupts: Machine) -> None:
    """A switch ends an interrupt whose exit was lost."""
    hard = [(2, 3, HARD), (4, 5, None), (6, 7, HARD), (8, 9, None), (10, 10, HARD), (11, 20, None)]
    assert interrupts.states("CPUs/0/IRQs/9") == [(1, 1, None), *hard]
    cpus = [(first, last, None if state is None else 0) for first, last, state in hard]
    assert interrupts.states("IRQs/9") == [(1, 1, None), *cpus]
    assert interrupts.at(3, "IRQs/9/Name") == "nvme0q1"
    assert interrupts.states("CPUs/0/Soft_IRQs/4") == [
        (1, 2, None),
        (3, 4, RAISED),
        (5, 6, SOFT),
        (7, 8, SOFT | RAISED),
        (9, 11, RAISED),
        (12, 12, SOFT),
        (13, 20, None),
    ]
    assert interrupts.states("Soft_IRQs/4") == [(1, 2, None), (3, 12, 0), (13, 20, None)]


def test_other_attributes_of_cpus_and_threads(interrupts: Machine) -> None:
    assert interrupts.states("Threads/0_0")[0] == (1, 10, READY)
    assert interrupts.at(14, "CPUs/0/Frequency") == 2000
    assert [interrupts.at(15, f"CPUs/0/Frequency/{end}") for end in ("min", "max")] == [1000, 3000]
    assert interrupts.states("Threads/7/Current_cpu_rq") == [(1, 15, 0), (16, 16, 1), (17, 19, 2), (20, 20, None)]
    assert interrupts.states("Threads/7/Prio") == [(1, 17, 120), (18, 19, 90), (20, 20, None)]
    assert interrupts.states("Threads/7/Exec_name") == [(1, 18, "tid7"), (19, 19, "a-long-program-"), (20, 20, None)]
    assert interrupts.states("Threads/7")[-1] == (20, 20, None)


def block(time: int, event: str, sector: int, count: int, operation: str) -> Event:
    """Return what happens to a request of disk 8,0."""
    end = " [0]" if event == "complete" else " [x]"
    size = "()" if event == "complete" else f"{512 * count} ()"
    return time, 0, 1, f"block_rq_{event}: 8,0 {operation} {size} {sector} + {count} none,0,0{end}"


REQUESTS = (
    (1, 0, 2, "syscall_entry_read: fd=3 count=8"),
    block(5, "insert", 100, 8, "W"),
    (10, 0, 2, "syscall_exit_read: ret=8"),
    block(10, "issue", 100, 8, "W"),
    block(20, "complete", 100, 8, "W"),
    (21, 0, 2, "syscall_entry_read: fd=3 count=100"),
    (25, 0, 2, "syscall_exit_read: ret=36"),
    block(25, "insert", 200, 8, "W"),
    block(25, "insert", 300, 8, "W"),
    block(27, "issue", 200, 8, "W"),
    block(29, "issue", 300, 8, "W"),
    block(30, "complete", 200, 8, "W"),
    block(35, "complete", 300, 8, "W"),
    block(40, "insert", 400, 256, "R"),
    block(41, "issue", 0, 0, "F"),
    block(48, "complete", 0, 0, "F"),
    block(50, "issue", 400, 256, "R"),
    block(60, "complete", 400, 256, "R"),
)


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    machine = Machine(tmp_path_factory.mktemp("disk"), REQUESTS, "io")
    with machine.session:
        yield machine


@pytest.mark.parametrize(
    ("attribute", "states"),
    [
        (
            "Waiting_queue_length",
            [(1, 4, None), (5, 9, 1), (10, 24, 0), (25, 26, 2), (27, 28, 1), (29, 39, 0), (40, 49, 1), (50, 60, 0)],
        ),
        (
            "Driver_queue_length",
            [
                *((1, 4, None), (5, 9, 0), (10, 19, 1), (20, 26, 0), (27, 28, 1), (29, 29, 2)),
                *((30, 34, 1), (35, 40, 0), (41, 47, 1), (48, 49, 0), (50, 59, 1), (60, 60, 0)),
            ],
        ),
        ("Sectors_read", [(1, 59, None), (60, 60, 256)]),
        ("Sectors_written", [(1, 19, None), (20, 29, 8), (30, 34, 16), (35, 60, 24)]),
    ],
)
def test_queues_and_sectors_of_a_disk(disk: Machine, attribute: str, states: list[State]) -> None:
    assert disk.states(f"Disks/8,0/{attribute}") == states


def test_sectors_that_a_request_has_moved_so_far(disk: Machine) -> None:
    sql = """
    SELECT COALESCE((SELECT number FROM dctv.state_at(k, 54ns, paths=>'Disks/8,0/Sectors_read')), 0)
      + SUM(UNITLESS(bytes) / 512 * UNITLESS(54ns - _ts) / UNITLESS(_duration))
    FROM t.block.requests WHERE operation = 'read' AND _ts <= 54ns AND _ts + _duration > 54ns
    """
    assert disk.rows(sql) == [(128,)]


def test_bytes_that_a_thread_read(disk: Machine) -> None:
    assert [one for one in disk.states("IO/2/Bytes_read") if one[2] is not None] == [(10, 24, 8), (25, 60, 44)]


@pytest.mark.parametrize("name", ["stdlib/browser.json", "stdlib/marks.trace.txt", "stdlib/frames.trace.txt"])
def test_each_slice_is_a_state_of_its_depth(name: str) -> None:
    with Session() as session:
        session.mount(str(DATA / name), "t")
        session.sql("CREATE STATE SYSTEM k AS SELECT * FROM t.state.call_stacks")
        [(end,)] = session.sql("SELECT MAX(_ts + _duration) FROM k").fetchall()
        slices = session.sql(SLICES, [end]).fetchall()
        names = "path, _ts, _ts + _duration, text"
        states = session.sql(f"SELECT {names} FROM k WHERE text IS NOT NULL ORDER BY path, _ts").fetchall()
    assert slices
    assert states == slices


def test_slices_that_overlap_are_below_their_lane(tmp_path: Path) -> None:
    path = tmp_path / "lanes.json"
    begins = (("a", 0, 10), ("b", 5, 10), ("c", 6, 2))
    rows = [{"ph": "X", "pid": 1, "tid": 2, "name": name, "ts": ts, "dur": dur} for name, ts, dur in begins]
    path.write_text(json.dumps(rows))
    with Session() as session:
        session.mount(str(path), "t")
        session.sql("CREATE STATE SYSTEM k AS SELECT * FROM t.state.call_stacks")
        open_ = session.sql("SELECT _ts, number FROM k WHERE path = 'Call_stacks/1/2' ORDER BY _ts").fetchall()
        names = session.sql("SELECT path, text FROM k WHERE text IS NOT NULL ORDER BY text").fetchall()
    assert open_ == [(0, 1), (5000, 2), (6000, 3), (8000, 2), (10000, 1), (15000, None)]
    root = "Call_stacks/1/2"
    assert names == [(f"{root}/1", "a"), (f"{root}/lane 1/1", "b"), (f"{root}/lane 1/2", "c")]
