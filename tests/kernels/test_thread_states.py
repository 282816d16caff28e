"""States of threads and critical paths of random switches and wakeups, against plain simulations and the engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dctv.session import Session
from tests.bounds import bounded

LEFT = ["runnable", "sleeping", "uninterruptible", "ended"]
TIDS = st.integers(0, 4)
OWN = (
    "_ts, end_ts, tid, state, cpu, line, woken, waker_tid, waker_context, next_state, next_cpu, end_line, ended_by_tid"
)


@st.composite
def _events(draw: st.DrawFn) -> list[dict[str, Any]]:
    ts, rows = 0, []
    for line in range(draw(st.integers(0, 25))):
        ts += draw(st.integers(0, 3))
        cpu = draw(st.integers(0, 1))
        row: dict[str, Any] = {"_ts": ts, "line": line, "cpu": cpu, "target_cpu": None, "comm": f"c{line}"}
        if draw(st.booleans()):
            row |= {"kind": "switch", "tid": draw(TIDS), "other_tid": draw(TIDS), "code": draw(st.sampled_from(LEFT))}
        else:
            waker = draw(st.one_of(st.none(), TIDS))
            context = draw(st.sampled_from(["thread", "thread", "interrupt", None]))
            row |= {"kind": "wakeup", "tid": draw(TIDS), "other_tid": waker, "code": context, "target_cpu": cpu}
        rows.append(row)
    return rows


TYPES = {
    "_ts": pa.int64(),
    "line": pa.int64(),
    "cpu": pa.int64(),
    "target_cpu": pa.int64(),
    "kind": pa.string(),
    "tid": pa.int64(),
    "other_tid": pa.int64(),
    "code": pa.string(),
    "comm": pa.string(),
}


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in TYPES.items()})


def _queried(rows: list[dict[str, Any]], sql: str, engine: str = "kernel") -> list[tuple[Any, ...]]:
    with Session() as session:
        session.add_table("e", _table(rows))
        session.sql(f"SET span_engine = '{engine}'")
        session.sql("CREATE VIEW s AS SELECT * FROM dctv.thread_states(e)")
        return list(session.sql(sql).fetchall())


@dataclass
class Machine:
    """One state a thread, and what each CPU was last switched to."""

    open: dict[int, list[Any]] = field(default_factory=dict)
    on: dict[int, int] = field(default_factory=dict)
    ran: dict[int, int] = field(default_factory=dict)
    done: list[tuple[Any, ...]] = field(default_factory=list)

    def change(
        self, row: dict[str, Any], tid: int, state: str, cpu: Any, waker: Any = None, *, woken: bool = False
    ) -> None:
        context = row["code"] if woken else None
        before = self.open.pop(tid, None)
        if before is not None:
            ended_by = waker if woken else None
            self.done.append((before[0], row["_ts"], tid, *before[1:], state, cpu, row["line"], ended_by))
        self.open[tid] = [row["_ts"], state, cpu, row["line"], woken, waker, context]

    def switch(self, row: dict[str, Any]) -> None:
        cpu, after, before = row["cpu"], row["tid"], row["other_tid"]
        lost = self.ran.get(cpu, 0)
        if lost not in (0, before, after) and self.on.get(lost) == cpu:
            del self.on[lost]
            self.change(row, lost, "unknown", cpu)
        if before:
            self.on.pop(before, None)
            self.change(row, before, row["code"], cpu)
        if after:
            self.on[after] = cpu
            self.change(row, after, "running", cpu)
        self.ran[cpu] = after

    def wakeup(self, row: dict[str, Any]) -> None:
        tid = row["tid"]
        if tid and self.open.get(tid, [0, ""])[1] not in ("running", "runnable"):
            waker = row["other_tid"] if row["other_tid"] is not None else self.ran.get(row["cpu"])
            self.change(row, tid, "runnable", row["target_cpu"], waker, woken=True)


def _simulated(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    machine = Machine()
    for row in rows:
        machine.switch(row) if row["kind"] == "switch" else machine.wakeup(row)
    rest = [(o[0], None, tid, *o[1:], None, None, None, None) for tid, o in machine.open.items()]
    return machine.done + rest


@bounded(20)
@given(_events())
def test_states_match_a_simulation(rows: list[dict[str, Any]]) -> None:
    found = _queried(rows, f"SELECT {OWN} FROM s")
    assert sorted(map(repr, found)) == sorted(map(repr, _simulated(rows)))


@bounded(10)
@given(_events())
def test_the_engine_gives_the_same_states(rows: list[dict[str, Any]]) -> None:
    swept, queried = (_queried(rows, "SELECT * FROM s", engine) for engine in ("kernel", "relational"))
    assert sorted(map(repr, swept)) == sorted(map(repr, queried))


State = tuple[Any, ...]


def _at(states: list[State], tid: int, t: int, limit: tuple[int, int], depth: int) -> tuple[Any, ...]:
    """Return the thread that is responsible for one nanosecond."""
    for ts, end, own, state, cpu, line, by, context in states:
        if own != tid or not ts <= t < (end if end is not None else t + 1):
            continue
        reason = None
        if state in ("sleeping", "uninterruptible"):
            if end is None:
                reason = "still waiting"
            elif context == "interrupt" or by == 0:
                reason = "interrupt"
            elif by is None:
                reason = "unknown waker"
            elif (end, line) >= limit:
                reason = "circle"
            else:
                return _at(states, by, t, (end, line), depth + 1)
        return tid, state, cpu, depth, reason
    return tid, "unknown", None, depth, "no events"


@bounded(20)
@given(_events(), st.integers(1, 4), st.integers(0, 20), st.integers(1, 30))
def test_critical_paths_are_right_at_every_moment(
    rows: list[dict[str, Any]], tid: int, start: int, duration: int
) -> None:
    states = _queried(rows, "SELECT _ts, end_ts, tid, state, cpu, end_line, ended_by_tid, ended_by_context FROM s")
    sql = f"SELECT * FROM dctv.critical_path(s, {tid}, {start}ns, {duration}ns)"
    path = _queried(rows, sql)
    moments = [(t, *piece[2:]) for piece in path for t in range(piece[0], piece[0] + piece[1])]
    far = (2**63, 2**63)
    assert moments == [(t, *_at(states, tid, t, far, 0)) for t in range(start, start + duration)]
    assert path == _queried(rows, sql, "relational")


def test_a_long_chain_of_sleepers_is_followed_in_one_go() -> None:
    count = 20000
    rows: list[dict[str, Any]] = []

    def add(ts: int, kind: str, tid: int, other: int, code: str) -> None:
        row = {"_ts": ts, "line": len(rows), "cpu": 0, "target_cpu": 0, "comm": "c"}
        rows.append(row | {"kind": kind, "tid": tid, "other_tid": other, "code": code})

    for tid in range(1, count):
        add(tid, "switch", tid + 1, tid, "sleeping")
    for tid in reversed(range(2, count + 1)):
        add(2 * count - tid, "wakeup", tid - 1, tid, "thread")
    path = _queried(rows, f"SELECT COUNT(*), SUM(_duration), MAX(depth) FROM dctv.critical_path(s, 1, 2ns, {count}ns)")
    assert path == [(count, count, count - 1)]
