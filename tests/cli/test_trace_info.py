"""`dctv info`: what traces say of themselves, and their threads."""

from __future__ import annotations

from pathlib import Path

from tests.command_line import ROOT, run
from tests.readers.uftrace.uftrace_directory import Directory, calls, switch, task_event

CALLS = ROOT / "tests/data/stdlib/calls.pfw"
LINES = [
    f"exit_status:{3 << 8}",
    "elapsed_time:0.001 sec",
    "usageinfo:lines=2",
    "usageinfo:systime=0.5",
    "usageinfo:usrtime=1.25",
    "loadinfo:1.00 / 2.00 / 3.00",
]
INFO = """\
# system information
# ==================
# program version     : v0.19 ( x86_64 )
# cmdline             : uftrace record prog
# system load         : 1.00 / 2.00 / 3.00 (1 / 5 / 15 min)
# kernel version      : Linux 6.1
# hostname            : box
#
# process information
# ===================
# number of tasks     : 1
# task list           : 1(prog)
# exe image           : /bin/prog
# pattern             : regex
# exit status         : exited with code: 3
# elapsed time        : 0.001 sec
# cpu time            : 0.500 / 1.250 sec (sys / user)

"""
TASKS = """\
#         TIMESTAMP       FLAGS     TID     TASK              DATA SIZE
             0.000000001  FS     [      1]  prog                  0.000 MB
"""


def test_info_of_a_recording_has_machine_and_program(tmp_path: Path) -> None:
    folder = Directory({1: calls((10, "main"), (20, None))}, info=LINES).write(tmp_path / "data")
    ran = run("info", folder, "--no-index")
    assert (ran.code, ran.err, ran.out) == (0, "", INFO)
    assert run("info", folder, "--task", "--no-index").out == TASKS


def test_threads_begin_with_the_first_that_the_kernel_recorded(tmp_path: Path) -> None:
    """The recorder notes a new process when that runs."""
    tasks = (
        Directory().tasks[0].replace("000000001", "000000100"),
        Directory().tasks[1].replace("000000001", "000000100"),
        "FORK timestamp=0.000000150 pid=2 ppid=1",
    )
    files = {"perf-cpu0.dat": switch(200, 1, out=True) + switch(210, 1, out=False) + task_event(7, 120, 2)}
    dat = {1: calls((110, "main"), (300, None)), 2: calls((160, "a"), (170, None))}
    folder = Directory(dat, features=["perf-event"], tasks=tasks, files=files).write(tmp_path / "data")
    lines = run("info", folder, "--task", "--no-index").out.splitlines()[1:]
    assert [line.split()[0] for line in lines] == ["0.000000100", "0.000000120"]


def test_signals_are_named(tmp_path: Path) -> None:
    folder = Directory({1: calls((10, "main"), (20, None))}, info=["exit_status:11"]).write(tmp_path / "data")
    assert "# exit status         : terminated by signal: 11 (Segmentation fault)\n" in run("info", folder).out


def test_a_note_stands_below(tmp_path: Path) -> None:
    files = {"note.txt": "mind this\n"}
    folder = Directory({1: calls((10, "main"), (20, None))}, files=files).write(tmp_path / "data")
    assert run("info", folder).out.endswith("#\n# extra note information\n# ======================\nmind this\n\n")


def test_info_of_other_traces_has_their_properties() -> None:
    ran = run("info", CALLS)
    assert (ran.code, ran.err) == (0, "")
    assert "# number of tasks     : 3\n# task list           : 5(), 6(), 7()\n" in ran.out
    threads = run("info", CALLS, "--task").out.splitlines()
    assert threads[1:] == [
        "             0.001000000  F      [      5]                   ",
        "             0.001050000         [      6]                   ",
        "             0.001060000  F      [      7]                   ",
    ]


def test_the_output_goes_to_a_file(tmp_path: Path) -> None:
    assert run("info", CALLS, "-o", tmp_path / "x").out == ""
    assert (tmp_path / "x").read_text().startswith("# system information\n")
    assert "cannot write" in run("info", CALLS, "-o", tmp_path / "no" / "x").err
