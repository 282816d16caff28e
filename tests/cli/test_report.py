"""`dctv report`: sums by function and thread, by the same calls that `dctv replay` prints."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests.command_line import ROOT, run

CALLS = ROOT / "tests/data/stdlib/calls.pfw"

TRAIN = """\
  Total time   Self time       Calls  Function
  ==========  ==========  ==========  ====================
  100.000 us   74.000 us           1  train
   20.000 us   20.000 us           1  pread64
    4.000 us    4.000 us           1  open
    2.000 us    2.000 us           1  read
"""


def test_calls_are_added_up() -> None:
    ran = run("report", CALLS, "-F", "train")
    assert (ran.code, ran.err, ran.out) == (0, "", TRAIN)


def test_sorted_by_name_and_with_other_columns() -> None:
    ran = run("report", CALLS, "-F", "train", "-s", "func", "-f", "call,self-max")
    assert [line.split() for line in ran.out.splitlines()[2:]] == [
        ["1", "4.000", "us", "open"],
        ["1", "20.000", "us", "pread64"],
        ["1", "2.000", "us", "read"],
        ["1", "74.000", "us", "train"],
    ]


def test_threads() -> None:
    lines = run("report", CALLS, "-F", "train", "--task").out.splitlines()
    assert lines[0] == "  Total time   Self time      TID   Num funcs  Task name"
    assert lines[2].split() == ["100.000", "us", "100.000", "us", "5", "4"]


@pytest.mark.parametrize("options", [[], ["-F", "train@sample=1"], ["-T", "read@sample=2"], ["-D", "1"], ["-t", "4us"]])
def test_it_counts_what_is_printed(options: list[str]) -> None:
    printed = run("replay", CALLS, "-f", "none", "--no-args", *options).out
    begun = Counter(re.findall(r"^ *(\w+)\(\)", printed, re.MULTILINE))
    rows = [line.split() for line in run("report", CALLS, "-f", "call", *options).out.splitlines()[2:]]
    assert {name: int(calls) for calls, name in rows} == begun


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-s", "totl"], "unknown key `totl`, did you mean `total`?"),
        (["-f", "+selff"], "unknown field `selff`, did you mean `self`?"),
        (["-s", "size"], "the trace does not record the sizes of functions"),
        (["--avg-self", "--task"], "not allowed with argument"),
    ],
)
def test_errors_state_what_was_expected(options: list[str], message: str) -> None:
    ran = run("report", CALLS, *options)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
