"""Runs the command line as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMMAND = [sys.executable, "-m", "dctv"]


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


def environment(**changes: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", **changes}


def run(*words: str | Path, stdin: str = "", cwd: Path | None = None, **changes: str) -> Ran:
    done = subprocess.run(
        [*COMMAND, *map(str, words)],
        input=stdin.encode(),
        capture_output=True,
        cwd=cwd,
        env=environment(**changes),
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
