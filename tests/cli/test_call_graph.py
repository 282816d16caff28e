"""`dctv graph`: trees of calls and of threads, fields, and errors that state what was expected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import ROOT, run

CALLS = ROOT / "tests/data/stdlib/calls.pfw"
TRAIN = """\
# Function Call Graph for 'train'
=============== BACKTRACE ===============
 backtrace #0: hit 1, time 100.000 us
   [0] train

========== FUNCTION CALL GRAPH ==========
# TOTAL TIME   SELF TIME   FUNCTION
  100.000 us   74.000 us : (1) train
    4.000 us    4.000 us :  +-(1) open
                         :  |{blank}
   20.000 us   20.000 us :  +-(1) pread64
                         :  |{blank}
    2.000 us    2.000 us :  +-(1) read

""".replace("{blank}", " ")


def slices(*rows: tuple[str, int, int, int]) -> str:
    """Name, thread, begin and length in us of nested slices."""
    events: list[dict[str, Any]] = [
        {"ph": "X", "name": name, "pid": 1, "tid": tid, "ts": start, "dur": length} for name, tid, start, length in rows
    ]
    return json.dumps({"traceEvents": events})


def test_calls_of_a_function_are_added_up() -> None:
    ran = run("graph", CALLS, "train", "-f", "+self")
    assert (ran.code, ran.err, ran.out) == (0, "", TRAIN)


def test_call_paths_to_a_function_are_separate(tmp_path: Path) -> None:
    trace = tmp_path / "t.json"
    trace.write_text(
        slices(("a", 1, 0, 9), ("x", 1, 1, 2), ("b", 1, 10, 9), ("x", 1, 11, 3), ("x", 1, 15, 1), ("x", 2, 0, 5))
    )
    ran = run("graph", trace, "x", "-f", "none")
    assert ran.out.splitlines() == [
        "# Function Call Graph for 'x'",
        "=============== BACKTRACE ===============",
        " backtrace #0: hit 2, time   4.000 us",
        "   [0] b",
        "   [1] x",
        "",
        " backtrace #1: hit 1, time   2.000 us",
        "   [0] a",
        "   [1] x",
        "",
        " backtrace #2: hit 1, time   5.000 us",
        "   [0] x",
        "",
        "========== FUNCTION CALL GRAPH ==========",
        "(4) x",
        "",
    ]


def test_filters_and_samples_match_replay(tmp_path: Path) -> None:
    trace = tmp_path / "t.json"
    trace.write_text(slices(*(("a", 1, 10 * at, 8) for at in range(5)), *(("b", 1, 10 * at + 1, 2) for at in range(5))))
    whole = run("graph", trace, "-f", "none").out
    assert "(5) a\n(5) b\n" in whole
    assert "(2) a\n(2) b\n" in run("graph", trace, "-f", "none", "-F", "a@sample=2").out
    assert "+-(3) b\n" in run("graph", trace, "-f", "none", "-T", "a@sample=2").out
    assert "(1) a\n\n" in run("graph", trace, "-f", "none", "-F", "a@sample=4", "-D", "1").out


def test_depth_counts_from_the_function(tmp_path: Path) -> None:
    trace = tmp_path / "t.json"
    trace.write_text(slices(("a", 1, 0, 90), ("b", 1, 1, 80), ("c", 1, 2, 70), ("d", 1, 3, 60)))
    assert run("graph", trace, "b", "-D", "2", "-f", "none").out.endswith("(1) b\n(1) c\n\n")


def test_a_function_that_filters_hide_is_no_error() -> None:
    ran = run("graph", CALLS, "open", "-N", "train")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "uftrace: cannot find graph for 'open'\n\t please check your filter settings.\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["pread46"], "the trace has no call of the function `pread46`\nhint: did you mean `pread64`?"),
        (["nothing_like_it"], "the trace has no call of the function `nothing_like_it`\n"),
        (["-f", "totl"], "unknown field `totl`, did you mean `total`?"),
        (["-f", "tid"], "expected one of the fields total, self, addr, total-avg"),
        (["--task", "-f", "addr"], "expected one of the fields total, self, tid, found `addr`"),
        (["train", "--task"], "--task prints threads, expected no function with it, found `train`"),
        (["-F", "a@dept=1"], "<filter>:1:3: unknown action `dept=1`"),
    ],
)
def test_errors_state_what_was_expected(options: list[str], message: str) -> None:
    ran = run("graph", CALLS, *options)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_a_trace_without_calls_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text('{"traceEvents": [{"ph": "i", "name": "x", "pid": 1, "tid": 1, "ts": 1}]}')
    for command in (["graph"], ["dump"], ["dump", "--chrome"], ["dump", "--flame-graph"], ["dump", "--mermaid"]):
        ran = run(command[0], tmp_path / "t.json", *command[1:])
        assert (ran.code, ran.out) == (2, "")
        assert "the trace has no calls\nhint: a trace of functions or of slices is expected" in ran.err


def test_threads_stand_below_their_process() -> None:
    ran = run("graph", CALLS, "--task", "-f", "tid")
    assert ran.out == (
        "========== TASK GRAPH ==========\n#    TID      TASK NAME\n"
        "  [      5] : \n  [      6] :  +-\n  [      7] : \n\n"
    )
