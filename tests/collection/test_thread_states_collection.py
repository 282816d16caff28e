"""Thread states of `scheduler.states` against Perfetto's: equal except for documented differences."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pytest

from dctv.record import record
from dctv.session import Session
from tests.collection.ftrace_lines import COLLECTION

STATES = {"Running": "running", "R": "runnable", "R+": "runnable", "D": "uninterruptible"}
"""Perfetto's names of states; threads in others sleep."""
Figures = dict[str, tuple[int, int]]
"""Of each state how often it was, and how long in all, in ns."""


@record
class Trace:
    """Results of Perfetto's trace_processor for a trace."""

    path: str
    compact: bool
    """Its switches were written in the compact form."""
    figures: Figures


def _traces() -> list[Trace]:
    compact: dict[str, bool] = {}
    found: dict[str, Figures] = {}
    for line in Path(__file__).with_name("thread_states.tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            path, form, state, rows, total = line.split("\t")
            compact[path] = form == "compact"
            figures, name = found.setdefault(path, {}), STATES.get(state, "sleeping")
            before = figures.get(name, (0, 0))
            figures[name] = before[0] + int(rows), before[1] + int(total)
    return [Trace(path, compact[path], figures) for path, figures in found.items()]


@record
class Row:
    """A state of a thread."""

    begin: int
    line: int
    end: int | None
    state: str
    counts: bool
    """Whether Perfetto takes notice of the event that began it."""


def _rows(session: Session, *, compact: bool) -> dict[int, list[Row]]:
    unnoticed = {
        line
        for (line,) in session.sql(
            "SELECT line FROM t._events.sched_wakeup UNION ALL SELECT line FROM t._events.sched_wakeup_new"
        ).fetchall()
    }
    if compact:
        # The compact form needs the switch before; so the first of each CPU and the wakings before it are left out.
        unnoticed |= {
            line
            for (line,) in session.sql(
                "WITH first AS (SELECT cpu, MIN(_ts) AS _ts FROM t._events.sched_switch GROUP BY cpu)"
                " SELECT e.line FROM t._events.sched_waking AS e JOIN first AS f ON f.cpu = e.cpu AND e._ts <= f._ts"
                " UNION ALL"
                " SELECT e.line FROM t._events.sched_switch AS e JOIN first AS f ON f.cpu = e.cpu AND e._ts = f._ts"
            ).fetchall()
        }
    rows: dict[int, list[Row]] = defaultdict(list)
    asked = "SELECT tid, _ts, line, end_ts, state FROM t.scheduler.states ORDER BY tid, _ts, line, end_ts NULLS LAST"
    for tid, begin, line, end, state in session.sql(asked).fetchall():
        rows[tid].append(Row(begin, line, end, state, line not in unnoticed))
    return rows


def _as_perfetto(session: Session, *, compact: bool) -> Figures:
    rows = _rows(session, compact=compact)
    # A thread is runnable as soon as it is being made.
    for tid, begin, line in session.sql("SELECT pid, _ts, line FROM t._events.task_newtask").fetchall():
        later = [row.begin for row in rows[tid] if (row.begin, row.line) > (begin, line)]
        rows[tid].append(Row(begin, line, min(later, default=None), "runnable", counts=True))
        rows[tid].sort(key=lambda row: (row.begin, row.line))
    count: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for own in rows.values():
        noticed: list[tuple[str, int, int | None]] = []
        for row in own:
            if row.counts:
                noticed.append((row.state, row.begin, row.end))
            elif noticed:
                # The state before goes on; one that ends with a switch which is left out has no end.
                noticed[-1] = (*noticed[-1][:2], None if row.state == "running" else row.end)
        for state, begin, end in noticed:
            if end is not None and end > begin and state not in ("ended", "unknown"):
                count[state] += 1
                total[state] += end - begin
    return {state: (count[state], total[state]) for state in count}


@pytest.mark.parametrize("trace", _traces(), ids=lambda trace: trace.path)
def test_thread_states_match_perfetto(trace: Trace) -> None:
    with Session() as session:
        session.mount(str(COLLECTION / trace.path), "t")
        assert _as_perfetto(session, compact=trace.compact) == trace.figures


@pytest.mark.parametrize("trace", _traces(), ids=lambda trace: trace.path)
def test_running_times_match_perfetto(trace: Trace) -> None:
    """Running times depend on switches alone."""
    with Session() as session:
        session.mount(str(COLLECTION / trace.path), "t")
        first = "(SELECT MIN(line) FROM t._events.sched_switch GROUP BY cpu)" if trace.compact else "(-1)"
        asked = (
            "SELECT COUNT(*), COALESCE(SUM(end_ts - _ts), 0ns) FROM t.scheduler.states"
            f" WHERE state = 'running' AND end_ts > _ts AND line NOT IN {first}"
        )
        assert session.sql(asked).fetchall() == [trace.figures["running"]]
