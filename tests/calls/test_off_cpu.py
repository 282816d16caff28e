"""Time off the CPU is no function's self time: the same in reports, however filtered, and in views.

The recording has threads, a fork and switches; the lines are those that uftrace 0.19 prints of it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dctv.session import Session
from tests.command_line import ROOT, run
from tests.readers.uftrace.uftrace_directory import ENTRY, EXIT, Directory, calls, record, switch

RECORDED = ROOT / "tests" / "data" / "uftrace" / "switches"


def report(*options: str) -> dict[str, tuple[str, str]]:
    """Total and own time by function."""
    done = run("report", "--no-index", *options, RECORDED)
    assert done.code == 0, done.err
    rows = [line.split() for line in done.out.splitlines()[2:]]
    return {" ".join(words[5:]): (" ".join(words[:2]), " ".join(words[2:4])) for words in rows}


@pytest.mark.parametrize(
    ("options", "loop", "dlopen", "events"),
    [
        ((), ("13.348 ms", "86.592 us"), ("373.016 us", "327.822 us"), 2),
        (("--no-event",), ("13.348 ms", "86.592 us"), ("373.016 us", "327.822 us"), 0),
        (("-t", "100us"), ("13.348 ms", "117.981 us"), ("373.016 us", "373.016 us"), 2),
        (("-t", "100us", "--no-event"), ("13.348 ms", "117.981 us"), ("373.016 us", "373.016 us"), 0),
    ],
)
def test_own_time(
    options: tuple[str, ...], loop: tuple[str, str], dlopen: tuple[str, str], events: int, tmp_path: Path
) -> None:
    """A switch that is shorter than the time filter belongs to its call, as a short call does."""
    found = report(*options)
    assert found["loop"] == loop
    assert found["dlopen"] == dlopen
    assert sum(name.startswith("linux:schedule") for name in found) == events
    done = run("index", "--index-dir", tmp_path, RECORDED)
    assert done.code == 0, done.err
    stored = run("report", "--index-dir", tmp_path, *options, RECORDED)
    assert stored.out == run("report", "--no-index", *options, RECORDED).out


def test_the_view_matches_the_report() -> None:
    with Session(index=False) as session:
        session.mount(str(RECORDED), "t")
        rows = session.sql(
            "SELECT name, unitless(self), unitless(off_cpu) FROM t.calls.by_function WHERE name IN ('loop', 'dlopen')"
        ).fetchall()
    assert sorted(rows) == [("dlopen", 327_822, 45_194), ("loop", 86_592, 11_436_900)]


def test_a_thread_lasts_from_its_first_call_to_its_last() -> None:
    """It was off the CPU before and after, too."""
    done = run("graph", "--task", "--no-index", RECORDED)
    assert [line.split(" : ")[0].split() for line in done.out.splitlines()[2:] if line.strip()] == [
        ["6.311", "ms", "705.979", "us", "[", "20661]"],
        ["1.395", "ms", "42.770", "us", "[", "20664]"],
        ["3.749", "ms", "41.738", "us", "[", "20663]"],
        ["4.190", "ms", "47.619", "us", "[", "20665]"],
        ["4.013", "ms", "51.886", "us", "[", "20666]"],
    ]


@pytest.mark.parametrize("end", ["0.5ms", "500us"])
def test_ranges_since_the_begin_count_from_the_first_call(end: str) -> None:
    """Kernel events of the program's start precede its first call by 6.8 ms."""
    lines = run("replay", "--no-index", "--no-event", "-r", f"~{end}", RECORDED).out.splitlines()
    assert lines[0].split() == ["#", "ELAPSED", "DURATION", "TID", "FUNCTION"]
    assert lines[1].split("]")[1].split("|")[1] == " __monstartup();"
    assert lines.index("") == 8


def forked(folder: Path) -> Path:
    """A process that forks; the new one waits for a CPU before its first record."""
    parent = calls((1000, "main"), (2000, "a"), (3200, None), (9000, None))
    child = record(6000, EXIT, "a", 1) + record(6500, ENTRY, "b", 1) + record(7000, EXIT, "b", 1)
    directory = Directory(
        {1: parent, 2: child + record(7500, EXIT, "main", 0)},
        features=["perf-event"],
        tasks=(*Directory().tasks, "FORK timestamp=0.000002500 pid=2 ppid=1"),
        files={"perf-cpu0.dat": switch(3000, 2, out=False) + switch(3500, 2, out=True) + switch(5500, 2, out=False)},
    )
    return directory.write(folder)


def test_a_forked_process_waits_within_the_fork(tmp_path: Path) -> None:
    """The wait is in the `fork`, here `a`, though its entry is the parent's."""
    recorded = forked(tmp_path / "d")
    lines = run("replay", "--no-index", recorded).out.splitlines()
    assert [line for line in lines if "[      2]" in line] == [
        "   2.000 us [      2] |     /* linux:schedule */",
        "   3.000 us [      2] |   } /* a */",
        "   0.500 us [      2] |   b();",
        "   4.500 us [      2] | } /* main */",
    ]
    for options in ([], ["-t", "1ns"]):
        done = run("report", "--no-index", *options, recorded)
        rows = [line.split() for line in done.out.splitlines()[2:]]
        assert {row[-1]: (row[0], row[2]) for row in rows} == {
            "main": ("12.500", "7.800"),
            "a": ("4.200", "2.200"),
            "linux:schedule": ("2.000", "2.000"),
            "b": ("0.500", "0.500"),
        }
    with Session(index=False) as session:
        session.mount(str(recorded), "t")
        found = session.sql("SELECT name, unitless(self), unitless(off_cpu) FROM t.calls.by_function").fetchall()
    assert sorted(found) == [("a", 2200, 2000), ("b", 500, 0), ("main", 7800, 0)]
