"""Recordings of small programs: graphs, records, stacks and metadata against what the real tool printed of them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from dctv.cli import main

OUTPUTS = {
    "graph": (["graph"], "graph.txt"),
    "raw": (["dump"], "dump.txt"),
    "chrome": (["dump", "--chrome"], "dump_chrome.json"),
    "flame": (["dump", "--flame-graph"], "dump_flame.txt"),
    "info": (["info"], "info.txt"),
}
DIFFERENT = {
    # The tool loses its place where calls are left by a jump, or in a process that runs another program; and forgets
    # that a thread that was interrupted, not waiting, was off its CPU.
    "graph": ("forkexec-", "longjmp-", "fork-v0.13"),
    "chrome": ("fork-", "forkexec-", "longjmp-", "thread-v0.19", "exception-v0.13", "sort-args-v0.13"),
    "flame": ("fork-", "forkexec-", "longjmp-", "thread-v0.19"),
}


def root() -> Path:
    folder = os.environ.get("DCTV_TRACES")
    if folder is None:
        pytest.fail("the environment variable DCTV_TRACES does not say where the trace collection is")
    return Path(folder) / "uftrace" / "small"


def cases() -> list[Any]:
    """Return recordings and outputs; none where there is no collection."""
    folder = Path(os.environ.get("DCTV_TRACES") or ".") / "uftrace" / "small"
    return [
        pytest.param(one.name, what, id=f"{one.name} {what}")
        for one in sorted(folder.glob("*"))
        for what in OUTPUTS
        if not one.name.startswith(DIFFERENT.get(what, "-")) and (one / "truth" / OUTPUTS[what][1]).exists()
    ]


def test_there_are_cases() -> None:
    assert len(list(root().glob("*"))) == 48
    assert len(cases()) > 200


def plain(text: str) -> str:
    """Leave out what differs between versions of the tool, and the time of a file, which stands there for a date."""
    return re.sub(" +", " ", re.sub('"recorded_time":".*"', "", text))


@pytest.mark.parametrize(("name", "what"), cases())
def test_output_is_that_of_the_tool(name: str, what: str, tmp_path: Path) -> None:
    (command, *options), file = OUTPUTS[what]
    out = tmp_path / "out.txt"
    assert main([command, str(root() / name / "uftrace.data"), *options, "--no-index", "-o", str(out)]) == 0
    expected = (root() / name / "truth" / file).read_bytes().decode("utf-8", "replace")
    assert plain(out.read_bytes().decode("utf-8", "replace")) == plain(expected)


def test_without_events_waiting_counts_as_time_of_the_call(tmp_path: Path) -> None:
    trace, out = root() / "sleep-sched-v0.19" / "uftrace.data", tmp_path / "out.txt"
    words = ["dump", "--flame-graph", "--sample-time=2ms", str(trace), "--no-index", "-o", str(out)]
    assert main(words) == 0
    assert out.read_text() == "main;foo;bar;usleep;linux:schedule 1\n"
    assert main([*words, "--no-event"]) == 0
    assert out.read_text() == "main;foo;bar;usleep 1\n"
