"""Samples of recorded calls: the listings of the request for them, and cases worked out by hand."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.command_line import run

A = "a >b >>c >>>getpid"
START = "__monstartup __cxa_atexit"


def root() -> Path:
    folder = os.environ.get("DCTV_TRACES")
    if folder is None:
        pytest.fail("the environment variable DCTV_TRACES does not say where the trace collection is")
    return Path(folder) / "uftrace_goldens"


def shown(data: str, *options: str) -> str:
    """Return the calls that are printed, `>` for one in the other."""
    ran = run("replay", root() / data, *options, "-f", "none", "--no-index")
    assert (ran.code, ran.err) == (0, "")
    begun = re.findall(r"^( *)(\w+)\(", ran.out, re.MULTILINE)
    return " ".join(">" * (len(blanks) // 2) + name for blanks, name in begun)


def deeper(text: str) -> str:
    return " ".join(f">{word}" for word in text.split())


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["-F", "main", "-F", "a@sample=2"], f"main {deeper(A)} {deeper(A)}"),
        (
            ["-T", "a@sample=2"],
            " ".join([f"{START} main", *([deeper("b >c >>getpid"), deeper(A)] * 2), deeper("b >c >>getpid")]),
        ),
        (["-F", "a@sample=2", "-F", "c@sample=2"], f"a >b {A}"),
        (["-F", "a@sample=3"], A),
        (["-F", "a@sample=6"], ""),
        (["-F", "a", "-F", "c@sample=2"], f"a >b {A} a >b {A} a >b"),
    ],
)
def test_five_calls(options: list[str], expected: str) -> None:
    assert shown("data-abc5", *options) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["-F", "leaf@sample=3"], "leaf leaf leaf leaf"),
        (["-F", "rec@sample=2"], "rec >leaf"),
        (
            ["-F", "main", "-F", "even@sample=2", "-F", "leaf@sample=2"],
            "main >odd >>mid >even >>leaf >odd >>mid >>>leaf >odd >>mid "
            ">rec >>leaf >>rec >>>rec >>>>leaf >>>>rec >slow >>usleep >rec >>rec >>>leaf >>>rec",
        ),
    ],
)
def test_a_varied_tree(options: list[str], expected: str) -> None:
    assert shown("data-nest", *options) == expected


def test_a_sampled_trigger_keeps_the_leaves() -> None:
    whole, sampled = shown("data-nest", "-F", "main"), shown("data-nest", "-F", "main", "-T", "rec@sample=2")
    assert sampled.count("leaf") == whole.count("leaf") == 14
    assert (whole.count("rec"), sampled.count("rec")) == (7, 3)


def test_sampling_one_of_one_keeps_everything() -> None:
    assert shown("data-nest", "-F", "rec@sample=1") == shown("data-nest", "-F", "rec")
