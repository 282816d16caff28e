"""Threads, processes and their memory in views of Perfetto traces: ownership, and its end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dctv.session import Session
from tests.readers.perfetto.perfetto_reading import trace, written

BASE = 1_000
CLONE_THREAD = 0x10000


def _tree(packet: Any) -> None:
    """Processes without their main threads, as written by recorders that did not list every thread."""
    packet.timestamp = BASE
    tree = packet.process_tree
    for pid, ppid, words in (
        (10, 1, ["/bin/app", "-x"]),
        (28, 2, ["kworker/1:0-events"]),
        (40, 1, ["tool --all of it"]),
        (50, 1, [""]),
    ):
        process = tree.processes.add(pid=pid, ppid=ppid)
        process.cmdline.extend(words)
        process.is_kthread = ppid == 2
        process.cmdline_is_comm = ppid == 2
    tree.threads.add(tid=11, tgid=10, name="worker")


def _kernel(packet: Any) -> None:
    bundle = packet.ftrace_events
    bundle.cpu = 0

    def event(at: int, pid: int) -> Any:
        return bundle.event.add(timestamp=BASE + at, pid=pid)

    def switch(at: int, before: int, after: int, state: int | None = 1) -> None:
        switched = event(at, before).sched_switch
        switched.prev_pid, switched.prev_comm, switched.next_pid, switched.next_comm = (
            before,
            f"t{before}",
            after,
            f"t{after}",
        )
        if state is not None:
            switched.prev_state = state

    def memory(at: int, pid: int, curr: int, size: int, mm: int = 7) -> None:
        stat = event(at, pid).rss_stat
        stat.member, stat.size, stat.curr, stat.mm_id = 1, size, curr, mm

    def made(at: int, by: int, tid: int, flags: int) -> None:
        task = event(at, by).task_newtask
        task.pid, task.comm, task.clone_flags = tid, f"new{tid}", flags

    switch(0, 0, 10)
    memory(5, 10, 1, 4096)
    made(10, 11, 12, CLONE_THREAD)
    made(20, 12, 13, CLONE_THREAD)
    made(30, 12, 20, 0)
    switch(100, 10, 11, state=None)
    memory(110, 11, 1, 8192)
    memory(120, 20, 0, 12288)
    event(150, 20).softirq_entry.vec = 1
    event(160, 20).softirq_exit.vec = 1
    freed = event(180, 10).sched_process_free
    freed.pid, freed.comm = 10, "t10"
    memory(190, 20, 0, 16384)
    switch(200, 11, 13)
    switch(300, 13, 20)


def _recorder(packet: Any) -> None:
    packet.timestamp = BASE + 1_000_000_000
    packet.service_event.tracing_disabled = True


@pytest.fixture(scope="module")
def mounted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    path: Path = tmp_path_factory.mktemp("threads") / "a.pftrace"
    path.write_bytes(trace(_tree, _kernel, _recorder))
    with Session() as session:
        session.mount(str(path), "t")
        yield session


def test_threads_have_processes(mounted: Session) -> None:
    """Main threads, which the tree does not name, and threads that threads made, over any number of steps."""
    rows = mounted.sql("SELECT tid, pid, process, is_main FROM t.threads ORDER BY tid").fetchall()
    assert rows == [
        (10, 10, "/bin/app", True),
        (11, 10, "/bin/app", False),
        (12, 10, "/bin/app", False),
        (13, 10, "/bin/app", False),
        (20, 20, "t20", True),
        (28, 28, "kworker/1:0", True),
        (40, 40, "tool", True),
        (50, 50, None, True),
    ]


def test_processes_have_parents(mounted: Session) -> None:
    """Of a fork, the parent is the process of the thread that forked."""
    rows = mounted.sql("SELECT pid, parent, name, threads FROM t.processes ORDER BY pid").fetchall()
    assert rows == [
        (10, 1, "/bin/app", 4),
        (20, 10, "t20", 1),
        (28, 2, "kworker/1:0", 1),
        (40, 1, "tool", 1),
        (50, 1, None, 1),
    ]


def test_names_of_the_tree(mounted: Session) -> None:
    """Empty names are none; whole command lines are kept."""
    rows = mounted.sql("SELECT pid, name, cmdline, is_kthread FROM t.process_names ORDER BY pid").fetchall()
    assert rows == [
        (10, "/bin/app", "/bin/app -x", False),
        (28, "kworker/1:0", "kworker/1:0", True),
        (40, "tool", "tool --all of it", False),
        (50, None, None, False),
    ]
    assert mounted.sql("SELECT name FROM t.threads WHERE tid = 28").fetchall() == [("kworker/1:0",)]


def test_time_of_processes_is_that_of_their_threads(mounted: Session) -> None:
    rows = mounted.sql("SELECT pid, running FROM t.scheduler.cpu_time_by_process ORDER BY pid").fetchall()
    assert rows == [(10, 300), (20, 0)]


def test_states_end_with_the_events_of_the_kernel(mounted: Session) -> None:
    """The recorder writes of itself a second later."""
    assert mounted.sql("SELECT _ts FROM t.last_ts").fetchall() == [(300,)]
    assert mounted.sql("SELECT _ts FROM t.raw_events.service_event").fetchall() == [(1_000_000_000,)]
    sql = "SELECT MAX(_ts + _duration) FROM t.scheduler.thread_states_p_tid"
    assert mounted.sql(sql).fetchall() == [(300,)]
    sql = "SELECT tid, state, _ts, _duration FROM t.scheduler.thread_states_p_tid WHERE tid = 10"
    # A state that is not written is 0.
    assert mounted.sql(sql).fetchall() == [(10, "running", 0, 100), (10, "runnable", 100, 200)]


def test_memory_is_of_processes(mounted: Session) -> None:
    """Events of other processes are about the last owner of the address space, while it lives."""
    rows = mounted.sql("SELECT unitless(_ts), pid, tid, unitless(size) FROM t.memory.rss_changes").fetchall()
    assert rows == [(5, 10, 10, 4096), (110, 10, 11, 8192), (120, 10, 20, 12288), (190, None, 20, 16384)]
    rows = mounted.sql("SELECT _ts, _duration, pid FROM t.memory.rss").fetchall()
    assert rows == [(5, 105, 10), (110, 10, 10), (120, 70, 10), (190, 110, None)]


def test_soft_interrupts_have_names(mounted: Session) -> None:
    assert mounted.sql("SELECT vec, action FROM t.irq.soft_p_cpu").fetchall() == [(1, "TIMER")]


def test_processes_are_states_from_the_begin_of_a_trace_wherever_it_lies(tmp_path: Path) -> None:
    (tmp_path / "a.pftrace").write_bytes(
        written("""
packet { process_tree { processes { pid: 5 } threads { tid: 6 tgid: 5 name: "io" } } }
packet { ftrace_events { cpu: 0
  event { timestamp: 100 pid: 6 sched_switch { prev_comm: "io" prev_pid: 6 next_comm: "b" next_pid: 5 } } } }
""")
    )
    with Session() as session:
        session.mount(tmp_path / "a.pftrace", "t", align=-30)
        found = session.sql("SELECT _ts, number FROM t.state.kernel WHERE path = 'Threads/6/PID'")
        assert found.fetchall() == [(-30, 5)]
