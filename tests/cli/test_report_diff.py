"""`dctv report --diff`: what one trace has more than another, in each of the layouts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dctv.cli import main
from tests.command_line import ROOT

CALLS = ROOT / "tests/data/stdlib/calls.pfw"
COMPACT = """\
    Total time     Self time         Calls   Function
   ===========   ===========   ===========   ====================
     +2.500 ms     +2.519 ms            +0   main
    -40.000 us    -40.000 us            -1   gone
    +30.000 us    +30.000 us            +1   came
     -9.000 us     -9.000 us            -2   less
          0 us          0 us            +0   same
"""
FULL = """\
                     Total time (diff)                       Calls (diff)   Function
   ===================================   ================================   ====================
     1.000 ms    3.500 ms    +2.500 ms            1          1         +0   main
            -   30.000 us   +30.000 us            0          1         +1   came
     5.000 us    5.000 us         0 us            1          1         +0   same
    10.000 us    1.000 us    -9.000 us            3          1         -2   less
    40.000 us           -   -40.000 us            1          0         -1   gone
"""


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    base = [
        ("main", 0, 1000),
        ("gone", 0, 40),
        ("same", 50, 5),
        *(("less", 60 + 5 * n, n + 2) for n in range(2)),
        ("less", 90, 5),
    ]
    other = [("main", 0, 3500), ("came", 0, 30), ("same", 50, 5), ("less", 60, 1)]
    return trace(tmp_path / "base.json", base), trace(tmp_path / "other.json", other)


def trace(path: Path, calls: list[tuple[str, int, int]]) -> Path:
    path.write_text(
        json.dumps([{"ph": "X", "name": n, "ts": ts, "dur": dur, "pid": 1, "tid": 1} for n, ts, dur in calls])
    )
    return path


def told(pair: tuple[Path, Path], *words: str) -> str:
    out = pair[0].with_name("out.txt")
    assert main(["report", str(pair[0]), "--diff", str(pair[1]), "--no-index", "-o", str(out), *words]) == 0
    text = out.read_text()
    head = f"#\n# uftrace diff\n#  [0] base: {pair[0]}\n#  [1] diff: {pair[1]}\n#\n"
    assert text.startswith(head)
    return text.removeprefix(head)


def names(text: str) -> list[str]:
    return [line.split()[-1] for line in text.splitlines()[2:]]


def test_differences_are_sorted_by_their_size(pair: tuple[Path, Path]) -> None:
    assert told(pair) == COMPACT


def test_all_columns(pair: tuple[Path, Path]) -> None:
    assert told(pair, "-f", "total,call", "--diff-policy", "full,no-abs") == FULL


def test_percent(pair: tuple[Path, Path]) -> None:
    lines = told(pair, "-f", "total,call", "--diff-policy", "full,percent").splitlines()
    assert lines[0] == "                  Total time (diff)                       Calls (diff)   Function"
    assert lines[2] == "     1.000 ms    3.500 ms  +250.00%            1          1         +0   main"
    assert lines[4] == "    10.000 us    1.000 us   -90.00%            3          1         -2   less"
    assert "            -   30.000 us      N/A             0          1         +1   came" in lines
    assert "    40.000 us           -      N/A             1          0         -1   gone" in lines
    compact = told(pair, "-f", "total", "--diff-policy", "percent").splitlines()
    assert compact[2] == "      +250.00%   main"
    assert "          N/A    came" in compact


def test_deviations_differ_by_points(pair: tuple[Path, Path]) -> None:
    lines = told(pair, "--avg-total").splitlines()
    assert lines[0] == "     Total avg     Total min     Total max    Total stdv   Function"
    [less] = [line for line in lines if line.endswith("less")]
    assert less.split()[-2].endswith("%pt")
    assert (
        told(pair, "-f", "total-stdv", "--diff-policy", "full")
        .splitlines()[0]
        .endswith(" Total stdv (diff)   Function")
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--sort-column", "0"], ["main", "gone", "less", "same", "came"]),
        (["--sort-column", "1"], ["main", "came", "same", "less", "gone"]),
        (["-s", "func"], ["came", "gone", "less", "main", "same"]),
        (["-s", "call,func"], ["less", "came", "gone", "main", "same"]),
        (["--diff-policy", "no-abs"], ["main", "came", "same", "less", "gone"]),
        (["--diff-policy", "percent"], ["main", "gone", "less", "same", "came"]),
    ],
)
def test_order(pair: tuple[Path, Path], words: list[str], expected: list[str]) -> None:
    assert names(told(pair, *words)) == expected


def test_filters_match_both(pair: tuple[Path, Path]) -> None:
    assert sorted(names(told(pair, "-F", "less|came"))) == ["came", "less"]


def test_a_trace_does_not_differ_from_itself(pair: tuple[Path, Path]) -> None:
    rows = told((pair[0], pair[0])).splitlines()[2:]
    assert {tuple(row.split()[:-1]) for row in rows} == {("0", "us", "0", "us", "+0")}


def test_colours_of_changes(pair: tuple[Path, Path]) -> None:
    lines = told(pair, "-f", "total,call", "--color", "always").splitlines()
    assert lines[2] == "     \033[91m+2.500\033[0m \033[32mms\033[0m            +0   main"
    assert lines[3] == "    \033[36m-40.000\033[0m us   \033[94m       -1\033[0m   gone".replace(
        "   \033[94m", "     \033[94m"
    )
    assert "     \033[36m-9.000\033[0m us     \033[94m       -2\033[0m   less" in lines


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--diff", str(CALLS), "--task"], "--diff compares functions, expected no --task with it"),
        (["--diff", str(CALLS), "--diff-policy", "ful"], "unknown policy `ful`, did you mean `full`?"),
        (["--diff", str(CALLS), "--sort-column", "3"], "found `--sort-column 3`, expected one of 0, 1, 2"),
    ],
)
def test_errors_state_what_was_expected(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    try:
        code: object = main(["report", str(CALLS), *words, "-o", str(tmp_path / "x")])
    except SystemExit as end:
        code = end.code
    assert code == 2
    assert message in capsys.readouterr().err
