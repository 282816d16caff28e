"""`dctv replay`: options of filters and fields, errors with places, and data that a trace lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line import ROOT, run

CALLS = ROOT / "tests/data/stdlib/calls.pfw"

TRAIN = """\
# DURATION    FUNCTION
            | train() {
   4.000 us |   open();
  20.000 us |   pread64();
   2.000 us |   read();
 100.000 us | } /* train */
"""


def test_calls_are_printed_as_they_nest() -> None:
    ran = run("replay", CALLS, "-F", "train", "-f", "duration", "--no-args")
    assert (ran.code, ran.err, ran.out) == (0, "", TRAIN)
    assert 'train({"hhash":"9","hostname":"node1"}) {' in run("replay", CALLS).out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-F", "a@sample=x"], "<filter>:1:10: expected a number from 1, found `x`"),
        (["-T", "a@dept=1"], "<trigger>:1:3: unknown action `dept=1`"),
        (["-f", "durration"], "unknown field `durration`, did you mean `duration`?"),
        (["-r", "5ms"], "found `-r 5ms`, expected FROM~TO"),
        (["-t", "5q"], "found `-t 5q`, expected a time such as `100us`"),
        (["-N", "a(("], "<filter>:1:2: `a((` is not a valid pattern: found open group without closing ')'"),
        (["--flat", "-F", "a"], "--flat prints what was recorded, expected no filters with it"),
        (["--no-libcall"], "the trace does not say which functions belong to libraries"),
        (["-Z", "10"], "these filters need sizes, and the table has no column `size`"),
    ],
)
def test_errors_state_what_was_expected(options: list[str], message: str) -> None:
    ran = run("replay", CALLS, *options)
    assert ran.code == 2
    assert ran.out == ""
    assert message in ran.err


def test_both_orders_of_filters_are_kept(tmp_path: Path) -> None:
    last = run("replay", CALLS, "-F", "read", "-N", "read", "-f", "none", "-o", tmp_path / "x.txt")
    assert (last.code, last.err, (tmp_path / "x.txt").read_text()) == (0, "", "")
    assert "read(" in run("replay", CALLS, "-N", "read", "-F", "read", "-f", "none").out
