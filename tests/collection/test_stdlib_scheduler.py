"""States, latencies and interrupts of real traces against a plain simulation of their lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from dctv.session import Session
from tests.collection.ftrace_lines import FTRACE, Line, read_lines

TRACES = [
    "lisa_trace.txt",
    "live_marks.trace.txt",
    "live_marks_tgid.trace.txt",
    "live_overrun.trace.txt",
    "catapult_android_systrace.html",
]
WAKEUPS = ("sched_waking", "sched_wakeup", "sched_wakeup_new")
LETTERS = {"R": "runnable", "D": "uninterruptible", "X": None, "x": None, "Z": None}
NUMBERS = {
    "0": "runnable",
    "4096": "runnable",
    "1": "sleeping",
    "2": "uninterruptible",
    "130": "uninterruptible",
    "64": None,
}


@pytest.fixture(scope="module", params=TRACES)
def trace(request: pytest.FixtureRequest) -> Iterator[tuple[Session, list[Line]]]:
    path = FTRACE / request.param
    with Session() as session:
        session.mount(str(path), "t")
        yield session, read_lines(path)


@dataclass
class Machine:
    """The thread that runs on each CPU, and the state of each thread with its start."""

    states: dict[int, tuple[int, str]] = field(default_factory=dict)
    running: dict[int, int] = field(default_factory=dict)
    woken: dict[int, int] = field(default_factory=dict)
    spans: list[tuple[int, int, int, str]] = field(default_factory=list)
    latencies: list[tuple[int, int, int, int]] = field(default_factory=list)

    def set(self, ts: int, tid: int, state: str | None) -> None:
        since, before = self.states.pop(tid, (ts, ""))
        if before and ts > since:
            self.spans.append((since, ts - since, tid, before))
        if state is not None:
            self.states[tid] = (ts, state)

    def switch(self, line: Line) -> None:
        fields = line.switch
        before, after = int(fields["prev_pid"]), int(fields["next_pid"])
        lost = self.running.pop(line.cpu, before)
        if lost != before:
            self.set(line.ts, lost, None)
        for cpu in [c for c, tid in self.running.items() if tid in (before, after)]:
            del self.running[cpu]
        if before != 0:
            state = fields["prev_state"]
            name = NUMBERS[state] if state.isdigit() else LETTERS.get(state[0], "sleeping")
            self.set(line.ts, before, name)
        if after != 0:
            self.set(line.ts, after, "running")
            self.running[line.cpu] = after
            if after in self.woken:
                since = self.woken.pop(after)
                self.latencies.append((since, after, line.ts - since, line.cpu))
        self.woken.pop(before, None)

    def wake(self, line: Line) -> None:
        fields = line.wakeup
        tid = int(fields["pid"])
        if tid == 0 or fields["success"] == "0":
            return
        if self.states.get(tid, (0, ""))[1] not in ("running", "runnable"):
            self.set(line.ts, tid, "runnable")
            self.woken[tid] = line.ts


def simulated(lines: list[Line]) -> Machine:
    machine = Machine()
    for line in lines:
        if line.event == "sched_switch":
            machine.switch(line)
        elif line.event in WAKEUPS:
            machine.wake(line)
    for tid in list(machine.states):
        machine.set(lines[-1].ts, tid, None)
    return machine


def test_states(trace: tuple[Session, list[Line]]) -> None:
    session, lines = trace
    found = session.sql("SELECT _ts, _duration, tid, state FROM t.scheduler.thread_states_p_tid").fetchall()
    assert len(found) > 40
    assert sorted(found) == sorted(simulated(lines).spans)


def test_no_cpu_runs_two_threads_at_once(trace: tuple[Session, list[Line]]) -> None:
    session, lines = trace
    rows = session.sql(
        "SELECT cpu, SUM(_duration) FROM t.scheduler.thread_states_p_tid WHERE state = 'running' GROUP BY cpu"
    ).fetchall()
    assert {cpu for cpu, _ in rows} <= {line.cpu for line in lines if line.event == "sched_switch"}
    assert all(0 < time <= lines[-1].ts for _, time in rows)


def test_latencies(trace: tuple[Session, list[Line]]) -> None:
    session, lines = trace
    found = session.sql("SELECT _ts, tid, latency, cpu FROM t.scheduler.wakeup_latency").fetchall()
    assert len(found) > 20
    assert sorted(found) == sorted(simulated(lines).latencies)


def test_summary(trace: tuple[Session, list[Line]]) -> None:
    session, lines = trace
    times: dict[tuple[int, str], int] = {}
    for _, duration, tid, state in simulated(lines).spans:
        times[tid, state] = times.get((tid, state), 0) + duration
    states = ("running", "runnable", "sleeping", "uninterruptible")
    for tid, *found in session.sql(f"SELECT tid, {', '.join(states)} FROM t.scheduler.thread_summary").fetchall():
        assert found == [times.get((tid, state), 0) for state in states], tid


def test_timeslices(trace: tuple[Session, list[Line]]) -> None:
    session, lines = trace
    since: dict[int, tuple[int, int]] = {}
    spans = []
    for line in lines:
        if line.event == "sched_switch":
            start, tid = since.get(line.cpu, (line.ts, 0))
            if line.ts > start:
                spans.append((start, line.ts - start, line.cpu, tid))
            since[line.cpu] = (line.ts, int(line.switch["next_pid"]))
    found = session.sql("SELECT _ts, _duration, cpu, pid FROM t.scheduler.timeslices_p_cpu").fetchall()
    assert sorted(found) == sorted(spans)


@pytest.mark.parametrize(
    ("view", "entry", "exit_", "key"),
    [
        ("hard_p_cpu", "irq_handler_entry", "irq_handler_exit", "irq="),
        ("soft_p_cpu", "softirq_entry", "softirq_exit", "vec="),
    ],
)
def test_interrupts(trace: tuple[Session, list[Line]], view: str, entry: str, exit_: str, key: str) -> None:
    session, lines = trace
    last: dict[int, Line] = {}
    spans = []
    for line in lines:
        if line.event not in (entry, exit_):
            continue
        number = line.body.split(key)[1].split()[0]
        before = last.get(line.cpu)
        matches = before is not None and before.event == entry and line.event == exit_
        if before is not None and matches and line.ts > before.ts and before.body.split(key)[1].split()[0] == number:
            spans.append((before.ts, line.ts - before.ts, line.cpu, int(number)))
        last[line.cpu] = line
    found = session.sql(f"SELECT _ts, _duration, cpu, {key[:-1]} FROM t.irq.{view}").fetchall()
    assert sorted(found) == sorted(spans)
