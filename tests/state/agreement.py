"""Kernel states of a trace beside those of `scheduler.*`, as lists that are equal if they agree."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from dctv.session import Session

Spans = dict[Any, list[tuple[int, int, Any]]]
"""Begins, ends and states, by CPU or thread."""
STATUSES: Mapping[int | None, str | None] = {1: "blocked", 2: "running", 3: "running", 4: "running", 5: "runnable"}
FORKS = "SELECT COALESCE(child_tid, child_pid)::STRING, _ts FROM t._events.sched_process_fork"
SCHEDULER = {"sleeping": "blocked", "uninterruptible": "blocked"}


def assert_agreement(path: Path) -> None:
    """Fail if the running threads of CPUs, or the states of threads, differ at any boundary."""
    with Session() as session:
        session.mount(str(path), "t")
        session.sql("CREATE STATE SYSTEM k AS SELECT * FROM t.state.kernel")
        running = _told(session, "SELECT cpu::STRING, _ts, _duration, pid FROM t.scheduler.timeslices_p_cpu")
        current = _told(session, _states("CPUs/%/Current_thread"))
        assert running
        assert current.keys() >= running.keys()
        for cpu, spans in running.items():
            # What runs last has no timeslice, since its end is not known.
            assert _until(current[cpu], spans[-1][1]) == spans, f"CPU {cpu}"
        known = _told(session, "SELECT tid::STRING, _ts, _duration, state FROM t.scheduler.thread_states_p_tid")
        statuses = _told(session, _states("Threads/%"), STATUSES)
        born = session.sql(FORKS).fetchall()
        assert known
        found = {tid: spans for tid, spans in statuses.items() if spans and not tid.startswith("0_")}
        end = min(max(spans[-1][1] for spans in per_thread.values()) for per_thread in (found, known))
        forks = defaultdict(set)
        for tid, at in born:
            forks[tid].add(at)
        for tid in found.keys() | known.keys():
            states, per_thread = (_until(spans.get(tid, []), end) for spans in (found, known))
            assert _without_forks(states, per_thread, forks[tid]) == per_thread, f"thread {tid}"


def assert_interrupts(path: Path) -> int:
    """Fail if a CPU has another status while `irq.*` says it handles one; return how often that is."""
    with Session() as session:
        session.mount(str(path), "t")
        session.sql("CREATE STATE SYSTEM k AS SELECT * FROM t.state.kernel")
        seen = 0
        for view, names in (("hard", {16: "handled"}), ("soft", {16: "handled", 8: "handled"})):
            statuses = _told(session, _states("CPUs/%"), names)
            spans = session.sql(f"SELECT cpu::STRING, _ts, _ts + _duration FROM t.irq.{view}_p_cpu").fetchall()
            for cpu, start, end in spans:
                place = bisect_right(statuses[cpu], start, key=lambda span: span[0]) - 1
                assert place >= 0, f"CPU {cpu} at {start}"
                first, last, _ = statuses[cpu][place]
                assert first <= start < end <= last, f"CPU {cpu} at {end}"
            seen += len(spans)
        return seen


def _states(path: str) -> str:
    depth = path.count("/")
    where = f"path LIKE '{path}' AND LENGTH(path) - LENGTH(REPLACE(path, '/', '')) = {depth}"
    return f"SELECT SPLIT_PART(path, '/', 2), _ts, _duration, number FROM k WHERE {where}"


def _told(session: Session, sql: str, names: Mapping[Any, Any] = SCHEDULER) -> Spans:
    """Return spans by their key in order of time; those that touch and have one state are one."""
    spans: Spans = defaultdict(list)
    for key, start, length, state in session.sql(f"SELECT * FROM ({sql}) ORDER BY 1, 2").fetchall():
        named = names.get(state, state if names is SCHEDULER else None)
        if named is not None:
            spans[key].append((start, start + length, named))
    return {key: _joined(found) for key, found in spans.items()}


def _joined(spans: Iterable[tuple[int, int, Any]]) -> list[tuple[int, int, Any]]:
    joined: list[tuple[int, int, Any]] = []
    for state, group in groupby(spans, key=lambda span: span[2]):
        for start, end, _ in group:
            if joined and joined[-1][1:] == (start, state):
                joined[-1] = (joined[-1][0], end, state)
            else:
                joined.append((start, end, state))
    return joined


def _until(spans: list[tuple[int, int, Any]], end: int) -> list[tuple[int, int, Any]]:
    return [(start, min(stop, end), state) for start, stop, state in spans if start < end]


def _without_forks(
    found: list[tuple[int, int, Any]], told: list[tuple[int, int, Any]], forks: set[int]
) -> list[tuple[int, int, Any]]:
    """Leave out the time from a fork to the wakeup of the new thread, when the scheduler knows nothing of it."""
    starts = [start for start, _, _ in told]
    kept = []
    for start, end, state in found:
        if start in forks and start not in starts:
            woken = min((one for one in starts if one > start), default=end)
            if woken < end:
                kept.append((woken, end, state))
        else:
            kept.append((start, end, state))
    return kept
