"""Write an ftrace text of a given size: 70% sched_switch, 20% sched_waking, cpu_frequency, cpu_idle and marks."""

from __future__ import annotations

import argparse
import random
from pathlib import Path

COMMS = [
    "kworker/u8:3",
    "RenderThread",
    "surfaceflinger",
    "Binder:598_2",
    "rcu_preempt",
    "VM Periodic Tas",
    "python3",
    "tokio-rt-worker",
    "ksoftirqd/0",
    "C2 CompilerThre",
    "com.app.one",
    "swapper/0",
    "sshd",
    "jbd2/vda1-8",
    "irq/36-virtio",
]
NAMES = ["doFrame", "measure", "draw|layer=1", "onMessageReceived", "performTraversals", "eglSwapBuffers"]
HEADER = """# tracer: nop
#
# entries-in-buffer/entries-written: {lines}/{lines}   #P:8
#
#                                _-----=> irqs-off/BH-disabled
#                               / _----=> need-resched
#                              | / _---=> hardirq/softirq
#                              || / _--=> preempt-depth
#                              ||| / _-=> migrate-disable
#                              |||| /     delay
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
"""


def tasks(random_: random.Random, count: int) -> list[tuple[str, int]]:
    """Return threads as (comm, pid)."""
    return [(random_.choice(COMMS), random_.randrange(2, 40_000)) for _ in range(count)]


def line(random_: random.Random, threads: list[tuple[str, int]], us: int) -> str:
    """Return one event at a time in microseconds."""
    comm, pid = random_.choice(threads)
    cpu = random_.randrange(8)
    head = f"{comm:>16}-{pid:<7} [{cpu:03}] "
    time = f"{us // 1_000_000:>5}.{us % 1_000_000:06}"
    kind = random_.random()
    if kind < 0.7:
        to, to_pid = random_.choice(threads)
        state = random_.choice("SSSRRDI")
        body = f"prev_comm={comm} prev_pid={pid} prev_prio=120 prev_state={state} ==> next_comm={to} next_pid={to_pid}"
        return f"{head}d..2. {time}: sched_switch: {body} next_prio=120\n"
    if kind < 0.9:
        to, to_pid = random_.choice(threads)
        return (
            f"{head}d.h5. {time}: sched_waking: comm={to} pid={to_pid} prio=120 target_cpu={random_.randrange(8):03}\n"
        )
    if kind < 0.93:
        return f"{head}..... {time}: cpu_frequency: state={random_.randrange(3, 28)}00000 cpu_id={cpu}\n"
    if kind < 0.96:
        return f"{head}d..1. {time}: cpu_idle: state={random_.choice([0, 1, 2, 4294967295])} cpu_id={cpu}\n"
    mark = f"B|{pid}|{random_.choice(NAMES)}" if kind < 0.98 else f"E|{pid}"
    return f"{head}...1. {time}: tracing_mark_write: {mark}\n"


def generate(path: Path, lines: int, seed: int = 1) -> None:
    """Write a trace; the same arguments give the same bytes."""
    random_ = random.Random(seed)
    threads = tasks(random_, 400)
    us = 1_645_776_520
    with path.open("w", encoding="utf-8") as file:
        file.write(HEADER.format(lines=lines))
        for _ in range(lines):
            us += random_.randrange(40)
            file.write(line(random_, threads, us))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--lines", type=int, default=2_000_000)
    given = parser.parse_args()
    generate(given.path, given.lines)
