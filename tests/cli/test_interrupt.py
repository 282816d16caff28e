"""Ctrl-C ends a long query promptly, leaves nothing behind, and sets the exit code."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.command_line import COMMAND, environment

LONG = "SELECT COUNT(*) FROM range(1000000) AS a, range(1000000) AS b WHERE a.range % 7 = b.range % 5"
PATIENCE = 60


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt(number: signal.Signals, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "query", "SELECT 1 AS x; " + LONG, "-o", str(tmp_path / "out.csv")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    )  # fmt: skip
    wait_for(lambda: any(path.stat().st_size for path in tmp_path.iterdir()))
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    outcomes = {signal.SIGINT: (130, b"error: interrupted\n"), signal.SIGTERM: (143, b"error: terminated\n")}
    assert (process.returncode, err) == outcomes[number]
    assert out == b""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", ["query --each {0}", "compare {0} {0}"])
def test_an_interrupt_while_a_small_trace_is_read(words: str, tmp_path: Path) -> None:
    """The command reads it itself, in a session of its own."""
    trace = tmp_path / "trace.json"
    trace.write_text('[{"name": "load", "ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 5}]')
    kept = tmp_path / "kept"
    process = subprocess.Popen(
        [*COMMAND, *words.format(trace).split(), LONG, "--checkpoint", str(kept)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    )  # fmt: skip
    wait_for(lambda: any(kept.glob("*/begun")))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (130, b"", b"error: interrupted\n")
    assert not any(kept.glob("*/done.json"))


EARLY = """
import os, signal, sys
sys.argv = ["dctv", "query", "SELECT 1"]

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

from dctv.cli import process
sys.meta_path.insert(0, Finder())
process()
"""


@pytest.mark.parametrize(
    "module",
    ["dctv.console.verdict", "dctv.cli.dispatch", "dctv.cli.task", "dctv.session", "duckdb"],
)
def test_an_interrupt_while_the_program_loads(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", EARLY.format(module=module)], capture_output=True, env=environment(), check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"error: interrupted\n")


def test_a_closed_stdout_is_an_error() -> None:
    words = " ".join(shlex.quote(word) for word in [*COMMAND, "query", "SELECT 1"])
    done = subprocess.run(f"{words} >&-", shell=True, capture_output=True, env=environment(), check=False)
    message = b"error: cannot write the output: bad file descriptor\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", message)


def test_closed_streams_that_are_not_needed(tmp_path: Path) -> None:
    words = " ".join(shlex.quote(word) for word in [*COMMAND, "query", "SELECT 1 AS x", "-o", str(tmp_path / "x.csv")])
    done = subprocess.run(f"{words} <&- >&- 2>&-", shell=True, env=environment(), check=False)
    assert done.returncode == 0
    assert (tmp_path / "x.csv").read_text() == "x\n1\n"


STREAMED = "dctv.generate_sequential_spans(0, 1000s, 10ns)"
SHUFFLED = "dctv.as_spans((SELECT range * 7368787 % 100000000 * 9 AS _ts, 9 AS _duration FROM range(100000000)))"
JOINED = "SELECT SPAN FROM {} AS a SPAN JOIN (SELECT SPAN FROM {} WHERE _ts > 5ns) AS b"
JOINS = {
    "while a kernel reads": f"SELECT COUNT(*) FROM ({JOINED.format(STREAMED, STREAMED)})",
    "while results are written": JOINED.format(STREAMED, STREAMED),
    "while inputs are sorted": f"SELECT COUNT(*) FROM ({JOINED.format(SHUFFLED, SHUFFLED)})",
    "while it is measured": f"EXPLAIN ANALYZE {JOINED.format(STREAMED, STREAMED)}",
}


@pytest.mark.parametrize("join", JOINS.values(), ids=JOINS.keys())
def test_a_span_join_is_interrupted(join: str, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "query", f"SET memory_limit = '300MB'; {join}", "-o", str(tmp_path / "out.csv")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(XDG_CACHE_HOME=str(tmp_path / "cache")),
    )  # fmt: skip
    before = cpu_ticks(process.pid)
    wait_for(lambda: cpu_ticks(process.pid) > before + 200)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (130, b"", b"error: interrupted\n")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_the_prompt_outlives_an_interrupt() -> None:
    with subprocess.Popen(
        [*COMMAND, "repl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as repl:
        assert repl.stdin is not None
        assert repl.stdout is not None
        repl.stdin.write(f"SELECT 1 AS x; {LONG};\nSELECT 2 AS y;\n".encode())
        repl.stdin.close()
        assert [repl.stdout.readline() for _ in range(3)] == [b"x\n", b"-\n", b"1\n"]
        before = cpu_ticks(repl.pid)
        wait_for(lambda: cpu_ticks(repl.pid) > before + 50)
        repl.send_signal(signal.SIGINT)
        assert repl.stdout.read() == b"\ny\n-\n2\n"
        assert repl.stderr is not None
        assert repl.stderr.read() == b"error: interrupted\n"
    assert repl.returncode == 130


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def cpu_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
