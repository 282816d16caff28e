"""Write small traces of many runs of one program: slices on two threads, each run with its own names and arguments."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from dctv.errors import DctvError, TraceError
from dctv.session import Session


def write_run(path: Path, seed: int, slices: int = 60) -> None:
    """Write one trace in Chrome's format; every third run has no arguments."""
    made = random.Random(seed)
    events = [
        {
            "ph": "X",
            "name": made.choice("abcd"),
            "cat": "run",
            "pid": 1,
            "tid": made.randint(1, 2),
            "ts": place * 10,
            "dur": made.randint(1, 9),
            **({"args": {"size": made.randint(0, 100)}} if seed % 3 else {}),
        }
        for place in range(slices)
    ]
    path.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")


def write_fleet(folder: Path, count: int) -> None:
    """Write so many runs, and a manifest that knows all but the second of them."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        write_run(folder / f"run{number:03}.json", number)
    lines = [
        f"run{n:03}.json,{100 + n},{'odd' if n % 2 else 'even'},2026-01-{1 + n % 28:02}" for n in range(count) if n != 1
    ]
    (folder / "runs.csv").write_text("\n".join(["trace,build,label,day", *lines, ""]), encoding="utf-8")


def check_errors_name_the_trace(session: Session, folder: Path) -> None:
    """Ask what fails in one trace of three, and for one that is gone, of a session whose traces are read elsewhere."""
    write_fleet(folder, 3)
    session.mount_traces(folder / "*.json", "runs")
    with pytest.raises(DctvError) as caught:
        session.sql("SELECT CAST(name AS INT) AS i FROM runs.slices").fetchall()
    assert "run000.json: could not convert string" in caught.value.message
    (folder / "run002.json").unlink()
    with pytest.raises(TraceError) as gone:
        session.sql("SELECT COUNT(*) AS n FROM runs.slices").fetchall()
    assert "run002.json: cannot read it" in gone.value.message
