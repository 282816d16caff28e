"""Run all benchmarks one after another: start-up, span operators, a join larger than memory, decoding of both formats.

Run as `python -m benchmarks [--events 2000000]`. Generated data goes to benchmarks/data, which git ignores, and is
made once.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def run(script: str, *arguments: object) -> None:
    """Run one script of this folder and show what it prints."""
    print(f"\n{script}", flush=True)
    subprocess.run([sys.executable, HERE / script, *map(str, arguments)], check=True)


def main() -> None:
    """Generate what is missing and run everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=2_000_000, help="how many events the generated traces have")
    events = parser.parse_args().events
    data = HERE / "data"
    data.mkdir(exist_ok=True)
    text, lines = data / f"ftrace-{events}.txt", data / f"pfw-{events}"
    if not text.exists():
        run("generate_ftrace.py", text, "--lines", events)
    if not (lines / "expected.json").exists():
        run("generate_pfw.py", lines, "--events", events)
    run("start_up.py")
    run("spans.py")
    run("large_join.py")
    run("decode_ftrace.py", text)
    run("decode_pfw.py", lines)


if __name__ == "__main__":
    main()
