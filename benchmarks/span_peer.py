"""Run a piece of span work in Perfetto's trace_processor_shell, and return the cost of one run.

The shell makes the tables in every process, so the question is asked once in one process and several times in
another: the difference is the cost.
"""

from __future__ import annotations

import csv
import os
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.span_work import PARTS, WINDOW, Work, end_of

AGAIN = 5
"""How many runs more the second process makes."""

_ROWS = "WITH RECURSIVE t(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM t WHERE i + 1 < {size})"
_STEP, _PART = f"i / {PARTS} * 1000", f"i % {PARTS}"
_LONG_A, _LONG_B = "400 + (i * 7919) % 600", "300 + (i * 104729) % 700"
_FREQ = "(i * 13) % 7 * 300000"
_TABLES = {
    "a": f"i AS id, {_STEP} + {_PART} * 13 AS ts, {_LONG_A} AS dur, {_PART} AS cpu, (i * 31) % 1000 AS utid FROM t",
    "b": f"{_STEP} + {_PART} * 17 + 250 AS ts, {_LONG_B} AS dur, {_PART} AS cpu, {_FREQ} AS freq FROM t",
    "a1": f"i * 1000 AS ts, {_LONG_A} AS dur, (i * 31) % 1000 AS utid FROM t",
    "b1": f"i * 1000 + 250 AS ts, {_LONG_B} AS dur, {_FREQ} AS freq FROM t",
    "b0": f"{_STEP} + 250 AS ts, {_LONG_B} AS dur, {_FREQ} AS freq FROM t WHERE {_PART} = 0",
    "samples": f"i * 10 AS ts, {_PART} AS cpu, (i * 17) % 200 AS value FROM t",
}
_MODULES = ("intervals.intersect", "intervals.overlap")


def _setup(work: Work, size: int) -> list[str]:
    rows = _ROWS.format(size=size)
    made = [f"CREATE PERFETTO TABLE {n} AS {rows} SELECT {_TABLES[n]};" for n in work.needs.split()]
    if "windows" in (work.peer or ""):
        rows = _ROWS.format(size=end_of(size) // WINDOW)
        window = f"i * {WINDOW} AS ts, {WINDOW} AS dur, i AS number"
        made.append(f"CREATE PERFETTO TABLE windows AS {rows} SELECT {window} FROM t;")
    return [*(f"INCLUDE PERFETTO MODULE {module};" for module in _MODULES), *made]


def _run(shell: str, statements: list[str]) -> tuple[dict[str, float], str]:
    """Run statements over an empty trace; return what that cost, and what was printed last."""
    with tempfile.TemporaryDirectory() as folder:
        script, trace = Path(folder, "work.sql"), Path(folder, "empty")
        script.write_text("\n".join(statements), encoding="utf-8")
        trace.touch()
        out = Path(folder, "out")
        started = time.perf_counter()
        with out.open("wb") as sink:
            child = subprocess.Popen([shell, "-q", str(script), str(trace)], stdout=sink, stderr=subprocess.STDOUT)
            _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - started
        text = out.read_text(encoding="utf-8", errors="replace")
    if child.returncode:
        raise RuntimeError((text.strip().splitlines() or ["it printed nothing"])[-1])
    return {"cpu": usage.ru_utime + usage.ru_stime, "wall": wall, "peak": usage.ru_maxrss / 1024}, text


def measure_peer(shell: str, work: Work, size: int) -> dict[str, float] | str:
    """Measure the peer's question, or say why there is no figure."""
    if work.peer is None:
        return "the peer has no operator for it"
    setup = _setup(work, size)
    try:
        nothing, _ = _run(shell, [*setup, "SELECT 1;"])
        once, text = _run(shell, [*setup, work.peer.format(n=0)])
        often, _ = _run(shell, [*setup, *(work.peer.format(n=n) for n in range(AGAIN + 1))])
    except (OSError, RuntimeError) as error:
        return str(error)
    last = next(csv.reader([text.strip().splitlines()[-1]]))
    cost = {key: (often[key] - once[key]) / AGAIN for key in ("cpu", "wall")}
    return {**cost, "peak": once["peak"] - nothing["peak"], "rows": float(last[0]), "sum": float(last[1])}
