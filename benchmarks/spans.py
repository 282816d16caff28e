"""Print the cost of the span operators, from stored columns to the counted result, against bars and a peer.

Run as `python benchmarks/spans.py [rows ...] [--peer path/to/trace_processor_shell] [--only part-of-a-name]`. Every
operator runs as a compiled sweep and as a query of the engine, and where a peer is given as the peer's query for the
same work. Each figure is of a process of its own: CPU seconds (user and system) and wall seconds without making the
tables, the peak memory above that of the tables, and the most that a kernel held. Figures of kernels, and those of
tables of at most a million rows, are medians of three.

`--one NAME EXECUTION ROWS` measures once and prints JSON.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.span_peer import measure_peer
from benchmarks.span_work import WORK, Work, tables

if TYPE_CHECKING:
    from dctv import Session

EXECUTIONS = ("kernel", "relational")
GROWTH = 11.0
"""Ten times the rows may cost so many times the CPU time."""
HELD = 16.0
"""For ten times the rows kernels may hold so many MB more."""
PATIENCE = 900
Figures = dict[str, float]


def _peak() -> float:
    """Return the peak memory in MB, since it was last forgotten where the system can forget it."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    (line,) = [line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


def _forget_peak() -> None:
    clear = Path("/proc/self/clear_refs")
    if clear.exists():
        clear.write_text("5", encoding="ascii")


def measure(name: str, execution: str, rows: int) -> Figures:
    """Run one piece of work in this process."""
    import pyarrow as pa  # so that the parent process stays light

    from dctv import Session

    work = WORK[name]
    with Session() as session:
        session.sql(f"SET span_engine = '{execution}'")
        for size, prefix in ((1000, "small_"), (work.size(rows), "")):
            for table in tables(work, size):
                session.add_table(prefix + table.name, table.data, kind=table.kind, partitions=table.partitions)
        # What loads on first use is loaded by the same query over small tables.
        session.sql(work.query(1000, "small_")).fetchall()
        pa.default_memory_pool().release_unused()
        _forget_peak()
        held, started = _peak(), time.perf_counter()
        before = resource.getrusage(resource.RUSAGE_SELF)
        found = session.sql(work.query(work.size(rows))).fetchall()
        after = resource.getrusage(resource.RUSAGE_SELF)
        wall = time.perf_counter() - started
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        peak = _peak() - held
        return {
            "cpu": cpu,
            "wall": wall,
            "peak": peak,
            "held": _held(session, work.query(work.size(rows))) if execution == "kernel" else 0.0,
            "rows": found[0][0],
            "sum": float(found[0][1] or 0),
        }


def _held(session: Session, query: str) -> float:
    """Return how many MB the kernel that holds most held at most, from what EXPLAIN ANALYZE tells."""
    units = {"B": 1e-6, "kB": 1e-3, "MB": 1.0, "GB": 1e3}
    found, operator = [0.0], ""
    for (line,) in session.sql(f"EXPLAIN ANALYZE {query}").fetchall():
        ran = re.fullmatch(r" *ran: .*, peak ([\d.e+]+) (\w+)", line)
        if ran is None:
            detail = line.strip().startswith(("columns:", "pushed:", "sql:", "kept:"))
            operator = operator if detail else re.sub(r"shared \d+: ", "", line.strip())
        elif not operator.startswith(("engine", "scan")):
            found.append(float(ran[1]) * units[ran[2]])
    return max(found)


def _again(arguments: argparse.Namespace, name: str, execution: str, rows: int) -> Figures | str:
    """Measure in other processes; return the medians, or why there are none."""
    found: list[Figures] = []
    for _ in range(3 if execution == "kernel" or rows <= 1_000_000 else 1):
        if execution == "peer":
            one = measure_peer(arguments.peer, WORK[name], WORK[name].size(rows))
        else:
            command = [sys.executable, __file__, "--one", name, execution, str(rows)]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
            except subprocess.TimeoutExpired:
                return f"took more than {PATIENCE} s"
            if done.returncode:
                return (done.stderr.strip().splitlines() or ["no message"])[-1]
            one = json.loads(done.stdout)
        if isinstance(one, str):
            return one
        found.append(one)
    return {key: statistics.median(figures[key] for figures in found) for key in found[0]}


def _bars(work: Work, sizes: dict[int, dict[str, Figures | str]]) -> Iterator[tuple[bool, str]]:
    """Yield what was to be reached, and whether it was."""
    kernels = {rows: found["kernel"] for rows, found in sizes.items()}
    at_bar = kernels.get(work.at)
    if work.bar is not None and isinstance(at_bar, dict):
        yield at_bar["cpu"] <= work.bar, f"{at_bar['cpu']:.3f} of {work.bar:.2f} CPU s"
    elif work.bar is not None and isinstance(at_bar, str):
        yield False, at_bar
    small, large = (kernels[rows] for rows in (min(kernels), max(kernels)))
    if max(kernels) == 10 * min(kernels) and isinstance(small, dict) and isinstance(large, dict):
        growth = large["cpu"] / small["cpu"]
        yield growth <= GROWTH, f"{growth:.1f} times the CPU time for ten times the rows (at most {GROWTH:.0f})"
        more = large["held"] - small["held"]
        yield (
            more <= HELD,
            f"kernels hold {large['held']:.1f} MB, {more:+.1f} for ten times the rows (at most {HELD:.0f})",
        )


def _show(execution: str, figures: Figures | str, kernel: Figures | str) -> None:
    if isinstance(figures, str):
        print(f"  {execution:<12} {figures}")
        return
    ratio = f"{figures['held']:6.1f} MB held by a kernel at most" if execution == "kernel" else ""
    if execution != "kernel" and isinstance(kernel, dict) and kernel["cpu"] > 0:
        ratio = f"{figures['cpu'] / kernel['cpu']:6.1f} times the kernel"
        if (figures["rows"], figures["sum"]) != (kernel["rows"], kernel["sum"]):
            ratio += f"  OTHER RESULT: {kernel['rows']:,.0f} rows, sum {kernel['sum']:,.0f} by the kernel"
    print(
        f"  {execution:<12} {figures['cpu']:8.3f} CPU s {figures['wall']:8.3f} s {figures['peak']:8,.0f} MB"
        f" {figures['rows']:>12,.0f} rows {figures['sum']:>20,.0f}  {ratio}",
        flush=True,
    )


def main() -> None:
    """Measure all work, or one piece of it when called by itself."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", type=int, help="sizes of the tables; 1000000 and 10000000")
    parser.add_argument("--peer", help="path of Perfetto's trace_processor_shell")
    parser.add_argument("--only", default="", help="operators whose name holds this")
    parser.add_argument("--one", nargs=3, metavar=("NAME", "EXECUTION", "ROWS"), help="measure once, print JSON")
    arguments = parser.parse_args()
    if arguments.one:
        name, execution, rows = arguments.one
        print(json.dumps(measure(name, execution, int(rows))))
        return
    sizes = arguments.rows or [1_000_000, 10_000_000]
    executions = [*EXECUTIONS, *(["peer"] if arguments.peer else [])]
    verdicts: list[tuple[bool, str]] = []
    for name, work in WORK.items():
        if arguments.only not in name:
            continue
        found: dict[int, dict[str, Figures | str]] = {}
        for rows in sizes:
            print(f"\n{name}: {work.size(rows):,} {work.unit}", flush=True)
            found[rows] = {}
            for execution in executions:
                found[rows][execution] = _again(arguments, name, execution, rows)
                _show(execution, found[rows][execution], found[rows]["kernel"])
        verdicts += [(passed, f"{name}: {text}") for passed, text in _bars(work, found)]
    print("\nBars")
    for passed, text in verdicts:
        print(f"  {'pass' if passed else 'FAIL'}  {text}")


if __name__ == "__main__":
    main()
