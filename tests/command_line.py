"""Run the command line as a user does: in the process of the test, or in a separate one if that is under test."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from unittest.mock import patch

from dctv.cli import main

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
    """Run in this process: a separate one takes half a second, mostly to load the engine."""
    return _run(words, stdin, cwd or Path.cwd(), changes, together=False)


def shown(*words: str | Path, cwd: Path, **changes: str) -> Ran:
    """Run in this process, with stdout and stderr interleaved, as a terminal shows them."""
    return _run(words, "", cwd, changes, together=True)


def _run(words: Sequence[str | Path], stdin: str, cwd: Path, changes: Mapping[str, str], *, together: bool) -> Ran:
    with contextlib.ExitStack() as stack:
        asked, out, err = (stack.enter_context(_file()) for _ in range(3))
        if together:
            err = stack.enter_context(os.fdopen(os.dup(out.fileno()), "w", encoding="utf-8"))
        asked.write(stdin)
        asked.seek(0)
        for name, stream in (("stdin", asked), ("stdout", out), ("stderr", err)):
            stack.enter_context(patch.object(sys, name, stream))
        stack.enter_context(patch.dict(os.environ, changes))
        stack.enter_context(contextlib.chdir(cwd))
        code = main(list(map(str, words)))
        return Ran(code, _written(out), "" if together else _written(err))


def _file() -> IO[str]:
    """Return a stream over a file: results are written to descriptors."""
    return tempfile.TemporaryFile("w+", encoding="utf-8", newline="")


def _written(stream: IO[str]) -> str:
    stream.flush()
    return os.pread(stream.fileno(), os.fstat(stream.fileno()).st_size, 0).decode()


def run_process(*words: str | Path, stdin: str = "", cwd: Path | None = None, **changes: str) -> Ran:
    """Run as a process, which loads and ends as one does."""
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
