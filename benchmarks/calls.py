"""Print the cost of `dctv report` and `dctv replay` on recorded calls, beside uftrace where that is installed.

Run as `python benchmarks/calls.py [--calls 1000000 5000000] [--rounds 3] [--data FOLDER]`. Traces of 8 threads are made
by `generate_uftrace.py`, once. Figures are medians of new processes: CPU seconds of all threads, and the largest peak.
The index and the column store are built before, and told beside; the last lines of a trace are without both.
"""

from __future__ import annotations

import argparse
import os
import selectors
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from generate_uftrace import generate
from processes import Run, dctv, run, show

DATA = Path(__file__).parent / "data" / "calls"
REPORT_BAR = 1.0
"""CPU seconds of filters and report over 5M calls."""
REPLAY_BAR = 1e6
"""Lines per CPU second."""


@dataclass(frozen=True, slots=True)
class Work:
    """What is asked of both programs."""

    name: str
    arguments: tuple[str, ...]


REPORTS = (
    Work("report", ("report",)),
    Work("report -F step -N work_079", ("report", "-F", "step", "-N", "work_079")),
    Work("report -F step -D 4 -t 1us", ("report", "-F", "step", "-D", "4", "-t", "1us")),
    Work("report -C work_079", ("report", "-C", "work_079")),
)
SAMPLED = Work("report -F step@sample=10", ("report", "-F", "step@sample=10"))
REPLAY = Work("replay", ("replay",))
"""To a file."""


def made(folder: Path, calls: int, threads: int) -> Path:
    """Return a trace of so many calls, made if it is not there."""
    path = folder / f"{calls}x{threads}" / "uftrace.data"
    if not path.exists():
        generate(path, 2 * calls, threads=threads)
    return path


def to_file(command: Sequence[str]) -> tuple[Run, int]:
    """Run a program with its output in a file; return what it took and the lines."""
    with tempfile.TemporaryDirectory(prefix="dctv-bench-") as place:
        target = Path(place) / "lines"
        done = run(["/bin/sh", "-c", 'exec "$@" > "$0"', str(target), *command])
        with target.open("rb") as file:
            return done, sum(piece.count(b"\n") for piece in iter(lambda: file.read(1 << 20), b""))


def first_line(command: Sequence[str]) -> float:
    """Return the seconds until a program has written a line behind the header."""
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=variables) as child:
        assert child.stdout is not None
        seen = 0
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ)
            while seen < 2:
                selector.select()
                piece = os.read(child.stdout.fileno(), 1 << 16)
                seen += piece.count(b"\n")
                if not piece:
                    break
        took = time.perf_counter() - started
        child.terminate()
    return took


def uftrace(work: Work, path: Path) -> list[str] | None:
    """Return the command of the tool, None if it is not there or cannot read the trace, as older ones cannot."""
    tool = shutil.which("uftrace")
    if tool is None:
        return None
    command, *options = work.arguments
    words = [tool, command, "-d", str(path), "--no-pager", *options]
    tried = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if tried.returncode:
        print(f"  uftrace {work.name}: not run, {tried.stderr.strip().splitlines()[-1]}")
        return None
    return words


def measure(path: Path, calls: int, rounds: int) -> None:
    """Print the figures of one trace."""
    print(f"\n{calls / 1e6:g}M calls", flush=True)
    with tempfile.TemporaryDirectory(prefix="dctv-bench-") as place:
        index = ("--index-dir", place)
        show("dctv index, before the others", [run(dctv("index", str(path), *index))])
        for work in (*REPORTS, SAMPLED):
            ours, theirs = [], []
            other = uftrace(work, path) if work is not SAMPLED else None
            for _ in range(rounds):
                ours.append(run(dctv(work.arguments[0], str(path), *index, *work.arguments[1:])))
                if other:
                    theirs.append(run(other))
            cpu = median(one.cpu for one in ours)
            bar = f"{REPORT_BAR * calls / 5e6 / cpu:.2f} of the bar" if calls >= 5e6 else ""
            show(f"dctv {work.name}", ours, bar)
            if theirs:
                show(f"uftrace {work.name}", theirs)
        replay(path, index, rounds)
    for work in (REPORTS[0], REPLAY):
        command = dctv(work.arguments[0], str(path), "--no-index", "-o", os.devnull)
        show(f"dctv {work.name}, no index", [run(command)])


def replay(path: Path, index: tuple[str, ...], rounds: int) -> None:
    """Print what it costs to write all calls as text."""
    ours, theirs, lines, first = [], [], 0, []
    command, other = dctv("replay", str(path), *index), uftrace(REPLAY, path)
    for _ in range(rounds):
        done, lines = to_file(command)
        ours.append(done)
        first.append(first_line(command))
        if other:
            theirs.append(to_file(other)[0])
    rate = lines / median(one.cpu for one in ours)
    told = f"{lines:,} lines, {rate / 1e6:.2f} M lines/cpu s, {rate / REPLAY_BAR:.2f} of the bar"
    show("dctv replay", ours, f"{told}, first line after {median(first):.2f} s")
    if other:
        show("uftrace replay", theirs, f"first line after {median(first_line(other) for _ in range(rounds)):.2f} s")


def main() -> None:
    """Measure traces of the sizes that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, nargs="+", default=[1_000_000, 5_000_000])
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", type=Path, default=DATA)
    arguments = parser.parse_args()
    if shutil.which("uftrace") is None:
        print("uftrace is not there to compare with")
    show("python -c pass", [run([sys.executable, "-c", "pass"]) for _ in range(arguments.rounds)])
    with tempfile.TemporaryDirectory(prefix="dctv-bench-") as place:
        path = made(Path(place), 1000, arguments.threads)
        index = ("--index-dir", place)
        run(dctv("index", str(path), *index))
        small = [run(dctv("report", str(path), *index)) for _ in range(arguments.rounds)]
        show("dctv report of 1,000 calls: the start", small)
    for calls in arguments.calls:
        measure(made(arguments.data, calls, arguments.threads), calls, arguments.rounds)


if __name__ == "__main__":
    main()
