"""Print the cost of queries besides their work, in CPU milliseconds of a warm session: medians over rounds.

Run as `python benchmarks/compile.py [--rounds 15]`. Tables have a few rows, so nearly all of what is printed is the
cost of reading, binding, rewriting and writing queries. `parse` makes a syntax tree of the text; `bind` makes a typed
plan of that and begins to run it; `rest` runs it to its end. Each round asks for another number, so that nothing is
known by its text, and rounds of all queries take turns. The last lines mount a trace anew each time: they bind all
views of the standard library that it gets, first from their texts, then by the plans of an earlier mount, and ask one
question after another that reads names of threads.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from statistics import median

from dctv.errors import SourceText
from dctv.run.view_templates import VIEWS as TEMPLATES
from dctv.session import Session
from dctv.syntax.parse import parse

TRACE = Path(__file__).resolve().parents[1] / "tests" / "data" / "ftrace" / "live_marks_tgid.trace.txt"
SPANS = "dctv.as_spans((SELECT * FROM (VALUES ({from_}, 10, {i})) AS v(_ts, _duration, {name})))"
LEFT, RIGHT = (SPANS.format(from_=from_, name=name, i="{i}") for from_, name in ((0, "x"), (5, "y")))
VIEWS = (
    *("slices", "async_slices", "instants", "counters", "threads", "processes", "io.calls", "syscalls.calls"),
    *("scheduler.timeslices_p_cpu", "scheduler.wakeups", "scheduler.thread_states_p_tid", "scheduler.run_queue"),
)
QUERIES = {
    "SELECT 1": "SELECT {i}",
    "filter and group": "SELECT name, SUM(_duration) FROM t.slices WHERE _duration > {i}ns GROUP BY name ORDER BY 2",
    "span join of two rows": f"SELECT SPAN a.x, b.y FROM {LEFT} AS a SPAN JOIN {RIGHT} AS b",
    "worked example": """
        WITH frames AS (SELECT SPAN * FROM dctv.time_series_to_spans(
            sources=>[{{source=>(SELECT * FROM t.raw_events.`print|B`), timestamp=>'ts'}}], columns=>[])),
          bad_frames AS (SELECT SPAN * FROM frames WHERE _duration > {i}ns),
          bad_timeslices AS (SELECT SPAN * FROM t.scheduler.timeslices_p_cpu SPAN BROADCAST FROM bad_frames)
        SELECT comm, cpu, SUM(_duration) AS totdur FROM bad_timeslices
        WHERE pid != 0 GROUP BY comm, cpu ORDER BY totdur DESC, comm LIMIT 3
    """,
    "12 views": " UNION ALL ".join(f"(SELECT COUNT(*) FROM t.{name} WHERE {{i}} > 0)" for name in VIEWS),
}
NAMES = "SELECT process, thread, SUM(_duration) FROM t.slices WHERE _duration > {i}ns GROUP BY ALL"


def timed(session: Session, text: str) -> tuple[float, float, float]:
    """Return the CPU seconds of parsing, binding and the rest of a text."""
    begin = time.process_time()
    parse(SourceText("query", text))
    parsed = time.process_time()
    result = session.sql(text)
    bound = time.process_time()
    if result is not None:
        result.fetchall()
    return parsed - begin, bound - parsed - (parsed - begin), time.process_time() - bound


def views_bound(*, anew: bool) -> tuple[int, float]:
    """Mount the trace, bind all views that it gets, and return how many these are and the CPU seconds of binding."""
    if anew:
        TEMPLATES.clear()
    with Session(index=False) as session:
        session.mount(str(TRACE), "t")
        names = [table.name for table in session.tables("t") if table.kind == "view"]
        begin = time.process_time()
        for name in names:
            session.columns(name)
        return len(names), time.process_time() - begin


def names_read() -> list[float]:
    """Mount the trace, ask four questions that read the names of threads, and return the CPU seconds of each."""
    taken = []
    with Session(index=False) as session:
        session.mount(str(TRACE), "t")
        for number in range(4):
            begin = time.process_time()
            session.sql(NAMES.format(i=number)).fetchall()
            taken.append(time.process_time() - begin)
    return taken


def main() -> None:
    """Run all queries in turn and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    runs: dict[str, list[tuple[float, float, float]]] = {name: [] for name in QUERIES}
    with Session(index=False) as session:
        session.mount(str(TRACE), "t")
        for number in range(rounds + 1):
            for name, text in QUERIES.items():
                figures = timed(session, text.format(i=100_000 + number))
                if number:
                    runs[name].append(figures)
    print(f"{'query, CPU ms':<24} {'parse':>7} {'bind':>7} {'rest':>7} {'all':>7}")
    for name, figures in runs.items():
        parts = [1000 * median(column) for column in zip(*figures, strict=True)]
        print(f"{name:<24} " + " ".join(f"{part:7.2f}" for part in (*parts, sum(parts))))
    for anew, called in ((True, "bound"), (False, "bound again")):
        taken = [views_bound(anew=anew) for _ in range(2 + max(2, rounds // 3))]
        # A plan is kept when its view is bound for the second time.
        views, seconds = taken[0][0], median(seconds for _, seconds in taken[2:])
        print(f"{f'all {views} views {called}':<24} {'':>7} {1000 * seconds:7.1f}")
    named = [names_read() for _ in range(max(2, rounds // 3))]
    for name, column in zip(("first", "second", "third", "fourth"), zip(*named[1:], strict=True), strict=True):
        print(f"{f'names of threads, {name}':<24} {'':>7} {'':>7} {'':>7} {1000 * median(column):7.1f}")


if __name__ == "__main__":
    main()
