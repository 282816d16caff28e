"""Print the cost of a fresh process before it answers: CPU seconds (user and system), medians, and peak memory.

Run as `python benchmarks/start_up.py`. Rounds take turns; the first run of each command, which may compile bytecode, is
thrown away. The bars: 0.45 s for `dctv query "SELECT 1"`, 0.12 s for `dctv --help`.
"""

from __future__ import annotations

import os
import sys
from statistics import median

COMMANDS = {
    "python -c pass": ["-c", "pass"],
    'python -c "import duckdb; duckdb.connect()"': ["-c", "import duckdb; duckdb.connect()"],
    'python -c "import sqlglot"': ["-c", "import sqlglot"],
    "dctv --help": ["-m", "dctv", "--help"],
    'dctv query "SELECT 1"': ["-m", "dctv", "query", "SELECT 1"],
}
ROUNDS = 11


def run(arguments: list[str]) -> tuple[float, float]:
    """Run Python once; return CPU seconds and peak memory in MiB."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    child = os.fork()
    if child == 0:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.execve(sys.executable, [sys.executable, *arguments], environment)
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{arguments}: exit status {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    """Run all commands in turns and print the table."""
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
    for number in range(ROUNDS + 1):
        for name, arguments in COMMANDS.items():
            figures = run(arguments)
            if number:
                runs[name].append(figures)
    print(f"{'command':<46} {'cpu s':>6} {'MiB':>5}")
    for name, figures in runs.items():
        cpu, memory = (median(column) for column in zip(*figures, strict=True))
        print(f"{name:<46} {cpu:6.3f} {memory:5.0f}")


if __name__ == "__main__":
    main()
