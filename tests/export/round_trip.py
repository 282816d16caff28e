"""Compare two mounts of one trace by the same queries: rows that only one of them has."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from dctv.session import Session

QUESTIONS = {
    "slices": "SELECT _ts, _duration, depth, tid, pid, category, name, args FROM t.slices",
    "async slices": "SELECT _ts, _duration, category, name, args FROM t.async_slices",
    "counters": "SELECT _ts, _duration, name, value, pid FROM t.counters",
    "units": "SELECT DISTINCT name, unit FROM t.counters",
    "instants": "SELECT _ts, tid, category, name, args FROM t.instants",
    "flows": """
        SELECT f.from_ts, a.name AS from_name, a._ts AS from_begin, f.to_ts, b.name AS to_name, b._ts AS to_begin
        FROM t.flows AS f
        LEFT JOIN t.slices AS a ON a.track = f.from_track AND a.id = f.from_id
        LEFT JOIN t.slices AS b ON b.track = f.to_track AND b.id = f.to_id""",
    "timeslices": "SELECT * FROM t.scheduler.timeslices_p_cpu",
    "thread states": "SELECT * FROM t.scheduler.thread_states_p_tid",
    "wakeups": "SELECT _ts, tid, comm, waker_tid, waker_context, target_cpu FROM t.scheduler.wakeups",
    "frequency": "SELECT * FROM t.scheduler.cpufreq_p_cpu",
    "frequency limits": "SELECT * FROM t.cpu.frequency_limits_p_cpu",
    "idle": "SELECT * FROM t.cpu.idle_p_cpu",
    "interrupts": "SELECT * FROM t.irq.hard_p_cpu",
    "soft interrupts": "SELECT * FROM t.irq.soft_p_cpu",
    "threads": "SELECT tid, name FROM t.threads WHERE name IS NOT NULL",
    "processes": "SELECT pid, name FROM t.processes WHERE name IS NOT NULL",
}


def answers(path: Path, wanted: Collection[str] | None = None) -> dict[str, Counter[str]]:
    """Return the rows of each question as texts, with how often each occurs."""
    with Session(index=False) as session:
        session.mount(str(path), "t")
        return {
            what: Counter(json.dumps(_plain(row), sort_keys=True) for row in session.sql(sql).arrow().to_pylist())
            for what, sql in QUESTIONS.items()
            if wanted is None or what in wanted
        }


def _plain(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row without what formats write in several ways."""
    plain = dict(row)
    if "args" in plain:
        plain["args"] = json.loads(plain["args"] or "{}")
    for name in ("category", "from_name", "to_name", "thread"):
        if name in plain:
            plain[name] = plain[name] or None
    for name in ("kernel_state", "end_state"):
        if name in plain:
            plain[name] = _letters(plain[name])
    return plain


def _letters(state: str | None) -> str | None:
    """Return what kernels since 4.14 print for a state that may be a number, or an older one's."""
    if state is None or not state.lstrip("-").isdigit():
        return state and re.sub(r"\|[KWN]", "", state).replace("x", "X")
    bits = int(state)
    if bits & 0x402 == 0x402:
        return "I"
    letters = "|".join(letter for place, letter in enumerate("SDTtXZPI") if bits >> place & 1) or "R"
    return letters + "+" * (bits >> 8 != 0)


def differences(before: Mapping[str, Counter[str]], after: Mapping[str, Counter[str]]) -> Iterator[str]:
    """Yield a line for each query with different results: the number of rows that only one has, and the first few."""
    for what, rows in before.items():
        lost, new = rows - after[what], after[what] - rows
        if lost or new:
            yield (
                f"{what}: {lost.total()} of {rows.total()} rows are lost, {new.total()} new:"
                f" {sorted(lost)[:2]} {sorted(new)[:2]}"
            )
