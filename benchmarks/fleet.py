"""Ask many traces one question: mounted as one, by a report for each, and by a `dctv query` for each.

Run as `python benchmarks/fleet.py [--format ftrace] [--traces 1000] [--lines 10000]`. All traces are indexed first.
Each way is a process of its own; wall and CPU seconds are those of the whole with its workers, memory is the most that
any one process took so far. One and two processors take turns, and medians of all rounds are given. What a `dctv query`
for each takes is measured with as many traces as `--alone` says, and given for all. DuckDB reads the column stores'
Parquet files at once, where that can be said in its SQL. With `--format dftracer`, dftracer-utils aggregates the same
folder if its programs are on the path, by an index that it has built.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import generate_ftrace
import generate_pfw

SLICES = "{0}.scheduler.timeslices_p_cpu"
PROCESSORS = ("1 processor", "2 processors")


@dataclass(frozen=True)
class Format:
    """A format of traces, and what is asked of them."""

    pattern: str
    write: Callable[[Path, int, int], None]
    """Write so many traces of so many events to a folder."""
    questions: Mapping[str, str]
    selective: str
    """A question for which few traces are opened."""
    peer: Mapping[str, tuple[str, ...]]
    """Arguments of `dftracer_view` for a question."""


def write_ftrace(folder: Path, traces: int, events: int) -> None:
    """Write traces of a kernel."""
    for number in range(traces):
        generate_ftrace.generate(folder / f"{number:05}.txt", events, seed=number)


def write_dftracer(folder: Path, traces: int, events: int) -> None:
    """Write the traces of the processes of a training job."""
    generate_pfw.generate(folder, traces * events, processes=traces, zipped=True)


FORMATS = {
    "ftrace": Format(
        "*.txt",
        write_ftrace,
        {
            "group by thread": f"SELECT comm, COUNT(*) AS n, SUM(_duration) AS busy FROM {SLICES} GROUP BY comm",
            "group by thread with p99": "SELECT comm, COUNT(*) AS n, SUM(_duration) AS busy, "
            f"quantile_cont(_duration, 0.99) AS p99 FROM {SLICES} GROUP BY comm",
            "p99 of all times by name": "SELECT name, COUNT(*) AS n, quantile_cont(_ts, 0.99) AS p99 FROM {0}.events "
            "GROUP BY name",
            "span join, top 10 of all": f"SELECT comm, SUM(_duration) AS d FROM (SELECT SPAN a.comm FROM {SLICES} AS a "
            f"SPAN JOIN {SLICES} AS b) GROUP BY comm ORDER BY d DESC LIMIT 10",
        },
        "SELECT _trace, COUNT(*) AS n FROM {0}.events WHERE name = 'sched_switch' "
        "AND regexp_matches(_trace, '/00[0-2]07') GROUP BY 1",
        {},
    ),
    "dftracer": Format(
        "*.pfw.gz",
        write_dftracer,
        {
            "group by name": "SELECT name, COUNT(*) AS n, SUM(_duration) AS s FROM {0}.events GROUP BY name",
            "group by name with p99": "SELECT name, COUNT(*) AS n, SUM(_duration) AS s, "
            "quantile_cont(_duration, 0.99) AS p99 FROM {0}.events GROUP BY name",
            "group by thread": "SELECT pid, tid, name, SUM(_duration) AS s FROM {0}.events GROUP BY ALL",
        },
        "SELECT _trace, COUNT(*) AS n FROM {0}.events WHERE name = 'checkpoint' "
        "AND regexp_matches(_trace, '-00') GROUP BY 1",
        {
            "group by name": ("--group-by", "name", "--agg", "count,sum:dur"),
            "group by name with p99": ("--group-by", "name", "--agg", "count,sum:dur,p99:dur"),
            "group by thread": ("--group-by", "pid,tid,name", "--agg", "sum:dur"),
        },
    ),
}


def with_indexes(folder: str) -> dict[str, str]:
    """Return the environment of a process that keeps its indexes in a folder."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**environment, "DCTV_INDEX_DIR": f"{folder}/indexes"}


def on_some(command: list[str], processors: int) -> list[str]:
    """Return a command that runs on so many processors."""
    some = sorted(os.sched_getaffinity(0))[:processors]
    return ["taskset", "--cpu-list", ",".join(map(str, some)), *command]


def asked_again(text: str, pattern: str, folder: str, rounds: int) -> list[tuple[float, float]]:
    """Return the seconds of questions with one and with two processors, in turn, but for the first of each session."""
    script = str(Path(__file__).with_name("warm_fleet.py"))
    pairs: list[tuple[float, float]] = []
    with ExitStack() as ended:
        sessions = [
            ended.enter_context(
                subprocess.Popen(
                    on_some([sys.executable, script, pattern, text], processors),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    env=with_indexes(folder),
                )
            )
            for processors in (1, 2)
        ]
        for _ in range(rounds + 1):
            one, two = map(answered, sessions)
            pairs.append((one, two))
    return pairs[1:]


def answered(session: subprocess.Popen[str]) -> float:
    """Return the seconds of one more question."""
    assert session.stdin is not None
    assert session.stdout is not None
    session.stdin.write("\n")
    session.stdin.flush()
    return float(session.stdout.readline())


def timed(words: list[str], processors: int, folder: str, program: str = sys.executable) -> tuple[float, float, float]:
    """Run a program; return wall and CPU seconds, of its workers too, and the MiB of the largest process so far."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        on_some([program, *words], processors), check=True, stdout=subprocess.DEVNULL, env=with_indexes(folder)
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - begin, cpu, after.ru_maxrss / 1024


def query(*words: str) -> list[str]:
    """Return the words of a `dctv query`."""
    return ["-m", "dctv", "query", *words]


def rows_moved(text: str, pattern: str, folder: str) -> int:
    """Return how many rows all traces hand on to the part of a query that runs once."""
    words = [sys.executable, *query(f"runs=@{pattern}", f"EXPLAIN ANALYZE {text}")]
    plan = subprocess.run(words, check=True, capture_output=True, text=True, env=with_indexes(folder)).stdout
    # The outermost scan; without one the question was answered from statistics.
    found = re.search(r"^  scan .*\n(?:    .*\n)*?    ran: ([\d,]+) rows", plan, re.MULTILINE)
    return 0 if found is None else int(found[1].replace(",", ""))


def line(way: str, wall: float, cpu: float | None = None, memory: float | None = None) -> None:
    """Print what a way took."""
    spent = "" if cpu is None else f"{cpu:.2f}"
    print(f"  {way:<40} {wall:8.2f} {spent:>8}   {'' if memory is None else f'{memory:,.0f} MiB'}", flush=True)


def ask(name: str, form: Format, folder: str, alone: int, rounds: int) -> None:
    """Ask one question in all ways and print what each took."""
    print(name, flush=True)
    text, pattern = form.questions[name], f"{folder}/{form.pattern}"
    words = query(f"runs=@{pattern}", text.format("runs"))
    commands = [[timed(words, processors, folder) for processors in (1, 2)] for _ in range(rounds)]
    for number, called in enumerate(PROCESSORS):
        spent = (median(part) for part in zip(*(pair[number] for pair in commands), strict=True))
        line(f"mounted as one, {called}", *spent)
    ratio = median(one[0] / two[0] for one, two in commands)
    pairs = asked_again(text.format("runs"), pattern, folder, rounds)
    for number, called in enumerate(PROCESSORS):
        line(f"asked again in a session, {called}", median(pair[number] for pair in pairs))
    again = median(one / two for one, two in pairs)
    each = timed(query("--each", pattern, text.format("t")), 2, folder)
    line("--each, 2 processors", *each)
    traces = sorted(Path(folder).glob(form.pattern))
    taken = [timed(query(f"t={path}", text.format("t")), 2, folder) for path in traces[:alone]]
    wall, cpu = (sum(column) / len(taken) * len(traces) for column in list(zip(*taken, strict=True))[:2])
    line("a process for each", wall, cpu)
    peer = shutil.which("dftracer_view")
    if peer is not None and name in form.peer:
        words = ["--directory", folder, "--index-dir", f"{folder}/peer", *form.peer[name]]
        line("dftracer-utils, 2 processors", *timed(words, 2, folder, peer))
    moved = rows_moved(text.format("runs"), pattern, folder)
    print(
        f"  two processors: {ratio:.2f} times one, {again:.2f} in a session; a process for each takes "
        f"{wall / median(two[0] for _, two in commands):.1f} times as long; {moved:,} rows moved"
    )


def count_in_duckdb(folder: str) -> list[str]:
    """Return the words of a process that counts the events of all column stores in DuckDB."""
    files = f"{folder}/indexes/*/store-*/events.parquet"
    return [
        "-c",
        f"import duckdb; duckdb.sql('SELECT name, count(*) FROM read_parquet(\"{files}\") GROUP BY name').fetchall()",
    ]


def made(form: Format, traces: int, events: int, folder: str) -> None:
    """Write traces and index them."""
    form.write(Path(folder), traces, events)
    line("indexed", *timed(query("--index", f"runs=@{folder}/{form.pattern}", "SELECT 1"), 2, folder))
    peer = shutil.which("dftracer_index")
    if peer is not None and form.peer:
        line("indexed by dftracer-utils", *timed(["-d", folder, "--index-dir", f"{folder}/peer"], 2, folder, peer))


def main() -> None:
    """Make traces, ask them, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--format", choices=FORMATS, default="ftrace")
    parser.add_argument("--traces", type=int, default=1_000)
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--alone", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5, help="how often a question is asked")
    args = parser.parse_args()
    form = FORMATS[args.format]
    with tempfile.TemporaryDirectory() as folder:
        print(f"{args.traces:,} traces of {args.lines:,} events: seconds, and the largest process")
        print(f"  {'way':<40} {'wall':>8} {'CPU':>8}")
        made(form, args.traces, args.lines, folder)
        runs = f"runs=@{folder}/{form.pattern}"
        for name in form.questions:
            ask(name, form, folder, args.alone, args.rounds)
        print("a selective query: few traces are opened")
        for processors in (1, 2):
            took = timed(query(runs, form.selective.format("runs")), processors, folder)
            line(f"mounted as one, {processors}", *took)
        print("events by name")
        counted = "SELECT name, COUNT(*) AS n FROM runs.events GROUP BY name"
        line("mounted as one, 2 processors", *timed(query(runs, counted), 2, folder))
        line("DuckDB over all column stores", *timed(count_in_duckdb(folder), 2, folder))


if __name__ == "__main__":
    main()
