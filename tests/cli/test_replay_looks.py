"""How lines of `dctv replay` look: colours, columns of threads, events."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from dctv.cli import main
from tests.readers.uftrace.uftrace_directory import BASE, Directory, calls, event, record, switch

TWO = (*Directory().tasks, "TASK timestamp=0.000000002 tid=2 pid=1")


def printed(folder: Path, *words: str) -> str:
    out = folder / "out.txt"
    assert main(["replay", str(folder / "d"), "--no-index", "-o", str(out), *words]) == 0
    return out.read_text()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Hold two threads whose calls alternate."""
    first = calls((100, "main"), (110, "a"), (2_000_150, None), (3_000_000_200, None))
    second = calls((120, "b"), (130, "c"), (140, None), (2_000_160, None))
    Directory({1: first, 2: second}, tasks=TWO).write(tmp_path / "d")
    return tmp_path


COLUMNS = """\
# DURATION     TID      FUNCTION
            [      1] | main() {
            [      1] |   a() {
            [      2] |         b() {
   0.010 us [      2] |           c();
   2.000 ms [      1] |   } /* a */
   2.000 ms [      2] |         } /* b */
   3.000  s [      1] | } /* main */
"""


def test_each_thread_has_a_column(folder: Path) -> None:
    assert printed(folder, "--column-view", "--column-offset", "4") == COLUMNS
    plain = printed(folder)
    assert printed(folder, "--column-view", "--column-offset", "0") == plain == COLUMNS.replace(" |         ", " | ")
    wide = printed(folder, "--column-view")
    assert wide == COLUMNS.replace(" |         ", " |" + " " * 17)


def test_calls_may_have_two_lines(folder: Path) -> None:
    lines = printed(folder, "--no-merge", "-F", "c").splitlines()[1:]
    assert lines == ["            [      2] | c() {", "   0.010 us [      2] | } /* c */"]


def test_colours(folder: Path) -> None:
    text = printed(folder, "--color", "always", "-T", "a@color=red;^c$@color=bold", "-T", "a@color=cyan")
    assert "|   \033[36ma\033[0m() {\n" in text
    assert "|   \033[1mc\033[0m();\n" in text
    assert "   2.000 \033[32mms\033[0m [      1] |   }\033[90m /* a */\033[0m\n" in text
    assert "   3.000 \033[33m s\033[0m [      1] | }" in text
    assert printed(folder, "-T", "a@color=red") == printed(folder)


def test_callers_are_gray(folder: Path) -> None:
    text = printed(folder, "--color", "always", "-T", "a@backtrace")
    assert " backtrace [      1] | \033[90m/* [ 0] main */\033[0m\n" in text


def test_arguments_that_are_texts_have_a_colour(tmp_path: Path) -> None:
    value = struct.pack("<H", 4) + b'x"\\y'
    data = record(100, 0, "a", 0, value + b"\xee\xee") + record(120, 1, "a")
    Directory({1: data}, argspec=["argspec:a@arg1/s"], features=["argument"]).write(tmp_path / "d")
    plain = printed(tmp_path)
    text = printed(tmp_path, "--color", "always")
    assert 'a(\033[35m"' in text
    assert '"\033[0m);' in text
    assert text.replace("\033[35m", "").replace("\033[0m", "") == plain


EVENTS = """\
# DURATION     TID      FUNCTION
            [      1] | main() {
            [      1] |   /* read:pmu-cycle (cycles=7 instructions=9) */
            [      1] |   /* diff:pmu-cycle (cycles=+2 instructions=+5 IPC=2.50) */
            [      1] |   /* diff:pmu-cache (refers=+8 misses=+2 hit=75.00%) */
            [      1] |   /* diff:pmu-branch (branch=+4 misses=+1 predict=75.00%) */
            [      1] |   /* diff:page-fault (major=+1 minor=+5) */
            [      1] |   /* watch:cpu (cpu=6) */
            [      1] |   /* watch:var (a=ff) */
            [      1] |   /* prov'`x:name */
            [      1] |   /* user_event:1000002 */
   0.050 us [      1] | } /* main */
"""


def test_events(tmp_path: Path) -> None:
    data = record(100, 0, "main") + event(101, 100005, struct.pack("<2Q", 7, 9))
    data += event(102, 100006, struct.pack("<2Q", 2, 5)) + event(103, 100008, struct.pack("<2Q", 8, 2))
    data += event(104, 100010, struct.pack("<2Q", 4, 1)) + event(105, 100004, struct.pack("<2Q", 1, 5))
    data += event(106, 100011, struct.pack("<i", 6)) + event(107, 100012, struct.pack("<QQ", BASE + 0x1100, 255))
    data += event(108, 1_000_001) + event(109, 1_000_002) + event(110, 100013, struct.pack("<Q", 77))
    data += record(150, 1, "main")
    files = {"events.txt": "EVENT: 1000001 prov'`x:name\n"}
    Directory({1: data}, features=["event"], files=files).write(tmp_path / "d")
    assert printed(tmp_path) == EVENTS
    assert "/*" not in printed(tmp_path, "--no-event", "--no-comment")
    assert "\033[32m/* watch:cpu (cpu=6) */\033[0m\n" in printed(tmp_path, "--color", "always")
    assert "\033[94m/* watch:cpu (cpu=6) */\033[0m\n" in printed(tmp_path, "--color", "always", "-T", "main@color=blue")


def test_report_has_the_time_off_cpu(tmp_path: Path) -> None:
    data = calls((100, "main"), (110, "a"), (150, None), (200, None))
    switches = [(120, True, False), (130, False, False), (160, True, True), (180, False, False), (300, True, False)]
    perf = b"".join(switch(time, 1, out=out, preempted=preempted) for time, out, preempted in switches)
    files = {"perf-cpu0.dat": perf}
    Directory({1: data}, features=["event", "perf-event"], files=files).write(tmp_path / "d")
    out = tmp_path / "report.txt"

    def rows(*words: str) -> list[str]:
        assert main(["report", str(tmp_path / "d"), "--no-index", "-o", str(out), *words]) == 0
        return [line.strip() for line in out.read_text().splitlines()[2:]]

    assert rows() == [
        "0.100 us    0.040 us           1  main",
        "0.040 us    0.030 us           1  a",
        "0.020 us    0.020 us           1  linux:schedule (pre-empted)",
        "0.010 us    0.010 us           1  linux:schedule",
    ]
    assert [line.split()[-1] for line in rows("-H", "a")] == ["main", "(pre-empted)"]
    assert [line.split()[-1] for line in rows("--no-event")] == ["main", "a"]
    assert rows("-t", "1ns")[:2] == rows()[:2]
    assert rows("--task")[0].split()[:6] == ["0.100", "us", "0.070", "us", "1", "4"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-T", "a@color=reed"], "unknown colour `reed`"),
        (["-T", "a@color"], "expected `color=` and a value, found `color`"),
        (["-F", "a@color=red"], "a filter takes no action `color`"),
        (["--column-offset", "-1"], "--column-offset"),
        (["--color", "blue"], "found `--color blue`, expected one of auto, always, never"),
    ],
)
def test_errors(folder: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code: object = main(["replay", str(folder / "d"), "-o", str(folder / "x"), *words])
    except SystemExit as end:
        code = end.code
    assert code == 2
    assert message in capsys.readouterr().err
