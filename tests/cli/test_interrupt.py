"""Ctrl-C ends a long query soon, leaves nothing behind and says so with the exit code."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.command_line import COMMAND, environment

LONG = "SELECT COUNT(*) FROM range(1000000) AS a, range(1000000) AS b WHERE a.range % 7 = b.range % 5"


def started(*words: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [*COMMAND, "query", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    time.sleep(2)
    assert process.poll() is None, process.communicate()
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt(number: signal.Signals, tmp_path: Path) -> None:
    process = started(LONG, "-o", str(tmp_path / "out.csv"))
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, b"")
    assert b"interrupted" in err
    assert b"Traceback" not in err
    assert list(tmp_path.iterdir()) == []
