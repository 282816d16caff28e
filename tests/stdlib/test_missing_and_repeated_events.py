"""Views of traces in which events are missing, come twice, at the same time, or with numbers that were used before."""

from __future__ import annotations

from pathlib import Path

import pytest

from dctv.session import Session

FRAMES = """\
             app-100 (100) [000] ..... 1.000000: tracing_mark_write: B|100|Choreographer#doFrame 1
             app-100 (100) [000] ..... 1.000000: tracing_mark_write: E|100
             app-100 (100) [000] ..... 1.000000: tracing_mark_write: B|100|Choreographer#doFrame 2
    RenderThread-101 (100) [000] ..... 1.002000: tracing_mark_write: B|100|DrawFrames 2
             app-100 (100) [000] ..... 1.033666: tracing_mark_write: E|100
    RenderThread-102 (100) [000] ..... 1.034000: tracing_mark_write: B|100|DrawFrame 2
    RenderThread-102 (100) [000] ..... 1.034333: tracing_mark_write: E|100
             app-100 (100) [000] ..... 1.040000: tracing_mark_write: B|100|Choreographer#doFrame 3
             app-100 (100) [000] ..... 1.060000: tracing_mark_write: E|100
    RenderThread-102 (100) [000] ..... 1.060000: tracing_mark_write: B|100|DrawFrame 3
    RenderThread-102 (100) [000] ..... 1.080000: tracing_mark_write: E|100
"""
DISPLAY = """\
  surfaceflinger-200 (200) [000] ..... 1.000000: tracing_mark_write: B|200|commit 11
  surfaceflinger-200 (200) [000] ..... 1.001000: tracing_mark_write: E|200
    RenderEngine-201 (200) [000] ..... 1.000000: tracing_mark_write: B|200|composite 11
    RenderEngine-201 (200) [000] ..... 1.001000: tracing_mark_write: E|200
"""
COLLECTIONS = """\
              js-300 (300) [000] ..... 1.000000: tracing_mark_write: B|300|MinorGC
              js-300 (300) [000] ..... 1.000000: tracing_mark_write: E|300
              js-300 (300) [000] ..... 1.000000: tracing_mark_write: B|300|MajorGC
              js-300 (300) [000] ..... 1.001000: tracing_mark_write: B|300|step
              js-300 (300) [000] ..... 1.001000: tracing_mark_write: B|300|V8.GCFinalizeMC
              js-300 (300) [000] ..... 1.002000: tracing_mark_write: E|300
"""
SWITCH = "x-1 [000] d..1 1.{}: sched_switch: prev_comm=p prev_pid={} prev_prio=1 prev_state={} ==> {}\n"
NEXT = "next_comm=n next_pid={} next_prio=1"
SWITCHES = (
    SWITCH.format("000000", 0, "R", NEXT.format(10))
    + "CPU:0 [LOST 3 EVENTS]\n"
    + SWITCH.format("000500", 12, "D", NEXT.format(11))
    + SWITCH.format("000600", 11, "S", NEXT.format(0))
)
ON_OTHER_CPU = SWITCH.replace("[000]", "[001]")
REUSED = (
    SWITCH.format("000000", 0, "R", NEXT.format(10))
    + SWITCH.format("000001", 10, "S", NEXT.format(0))
    + ON_OTHER_CPU.format("000002", 0, "R", NEXT.format(10))
    + ON_OTHER_CPU.format("000003", 10, "X", NEXT.format(0))
    + SWITCH.format("000004", 0, "R", NEXT.format(10))
    + SWITCH.format("000005", 10, "S", NEXT.format(0))
)
LOCKS = """\
          <idle>-0     [000] d..1  1.000000: contention_begin: lock_addr=0xff01 flags=SPIN
          <idle>-0     [001] d..1  1.000001: contention_begin: lock_addr=0xff01 flags=SPIN
          <idle>-0     [000] d..1  1.000010: contention_end: lock_addr=0xff01 ret=0
          <idle>-0     [001] d..1  1.000030: contention_end: lock_addr=0xff01 ret=0
"""
SENT = (
    "app-101 (100) [000] .... 1.{}: binder_transaction: transaction=1 dest_proc=200 dest_thread=0 reply=0 flags=0x11\n"
)
RECEIVED = "server-{} (200) [001] .... 1.{}: binder_transaction_received: transaction=1\n"
CALLS = (
    SENT.format("000000")
    + RECEIVED.format(201, "000010")
    + SENT.format("000100")
    + RECEIVED.format(202, "000130")
    + RECEIVED.format(203, "000140")
    + SENT.format("000200")
)
IDLE = """\
          <idle>-0   [000] d..1  1.000000: tracing_mark_write: B|0|a
          <idle>-0   [001] d..1  1.000010: tracing_mark_write: B|0|b
          <idle>-0   [000] d..1  1.000020: tracing_mark_write: E|0
          <idle>-0   [001] d..1  1.000050: tracing_mark_write: E|0
          <idle>-0   [001] d..1  1.000050: tracing_mark_write: I|0|c
"""
REQUESTS = """\
             app-101   [000] ....  1.000000: block_io_start: 8,0 R 4096 () 800 + 8 none,0,0 [app]
             app-101   [000] ....  1.000050: block_rq_complete: 8,0 R () 800 + 8 none,0,0 [0]
             app-101   [000] ....  1.000060: block_io_done: 8,0 R 4096 () 800 + 8 none,0,0 [app]
"""
# Lines are not in order of time, so their numbers do not tell what came first.
HEAPS = """\
               k-1     [000] ....  1.000000: gpu_mem_total: gpu_id=0 pid=7 size=100
               k-1     [000] ....  1.000030: task_newtask: pid=7 comm=b clone_flags=0 oom_score_adj=0
               k-1     [000] ....  1.000040: gpu_mem_total: gpu_id=0 pid=7 size=300
               k-1     [000] ....  1.000010: sched_process_free: comm=a pid=7 prio=120
               k-1     [000] ....  1.000020: gpu_mem_total: gpu_id=0 pid=7 size=200
               k-1     [000] ....  1.000050: gpu_mem_total: gpu_id=0 pid=7 size=0
"""

CASES = {
    "a frame has the first drawing before the next, even if that has no end": (
        FRAMES,
        "SELECT frame, _duration IN us, main_time IN us, render_tid, render_time IN us FROM t.frames.app",
        [(1, 0, 0, None, None), (2, None, 33666, 101, None), (3, 40000, 20000, 102, 20000)],
    ),
    "a frame misses a refresh only after the deadline": (
        FRAMES,
        "SELECT frame, missed, cause FROM t.frames.janky(20ms)",
        [(3, 1, "both")],
    ),
    "both threads miss a deadline by themselves": (
        FRAMES,
        "SELECT frame, missed, cause FROM t.frames.janky(19ms)",
        [(3, 2, "both")],
    ),
    "other threads of SurfaceFlinger are left out": (
        DISPLAY,
        "SELECT tid, name FROM t.frames.surfaceflinger",
        [(200, "commit 11")],
    ),
    "a collection without an end encloses what begins in it": (
        COLLECTIONS,
        "SELECT name, outermost FROM t.gc.collections",
        [("MinorGC", True), ("MajorGC", True), ("V8.GCFinalizeMC", False)],
    ),
    "another thread was switched out": (
        SWITCHES,
        "SELECT pid, end_state FROM t.scheduler.timeslices_p_cpu",
        [(10, None), (11, "S")],
    ),
    "a thread with the number of one that has ended did not migrate": (
        REUSED,
        "SELECT _ts IN us, from_cpu, to_cpu, since IN us FROM t.scheduler.migrations",
        [(2, 0, 1, 2)],
    ),
    "threads of the last event are in the summary": (
        SWITCH.format("000000", 0, "R", NEXT.format(10)) + ON_OTHER_CPU.format("000010", 12, "R", NEXT.format(13)),
        "SELECT tid, running IN us, preemptions FROM t.scheduler.thread_summary",
        [(10, 10, 0), (12, 0, 1), (13, 0, 0)],
    ),
    "idle threads of two CPUs wait for one lock": (
        LOCKS,
        "SELECT tid, _duration IN us, ret FROM t.locks.kernel",
        [(0, 10, 0), (0, 29, 0)],
    ),
    "idle threads of two CPUs have slices of their own": (
        IDLE,
        "SELECT s.name, _duration IN us, s.tid, s.pid, t.name FROM t.slices AS s JOIN t.tracks AS t USING (track) "
        "ORDER BY _ts",
        [("a", 20, 0, None, "idle on CPU 0"), ("b", 40, 0, None, "idle on CPU 1")],
    ),
    "idle threads are in no list of threads": (IDLE, "SELECT tid FROM t.threads", []),
    "an instant of an idle thread is on its track": (
        IDLE,
        "SELECT i.name, t.name FROM t.instants AS i JOIN t.tracks AS t ON t.track = i.track",
        [("c", "idle on CPU 1")],
    ),
    "binder uses a number again": (
        CALLS,
        "SELECT _duration IN us, server_tid FROM t.binder.transactions",
        [(10, 201), (30, 202), (None, None)],
    ),
    "requests complete in two kinds of events": (
        REQUESTS,
        "SELECT _duration IN us, (SELECT MAX(number) FROM t.state.io WHERE path LIKE '%read') FROM t.block.requests",
        [(60, 8)],
    ),
    "a process is gone until its number is used again": (
        HEAPS,
        "SELECT _ts IN us, size IN B FROM t.memory.heaps",
        [(0, 100), (40, 300)],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_views(case: str, tmp_path: Path) -> None:
    text, query, expected = CASES[case]
    (tmp_path / "t.txt").write_text(f"# tracer: nop\n#\n{text}")
    with Session(index=False) as session:
        session.mount(tmp_path / "t.txt", "t")
        assert session.sql(query).fetchall() == expected
