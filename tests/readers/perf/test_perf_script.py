"""The text of perf script, and collapsed stacks."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.contracts.reader import Head, LoadedTrace
from dctv.readers import collapsed_stacks, ftrace_text, perf_script
from tests.bounds import bounded
from tests.damage import survives
from tests.readers.perf.perf_reading import load, rows

SCRIPT = """# hostname : vm
# cmdline : /usr/bin/perf record -g
my prog  7496/7498  [003] 2242.042271:     250000 cpu-clock:u:
\t           14f02 check word<int>+0x122 (/usr/lib/ld.so.2)
\t  7fffff60e56000 [unknown] ([unknown])

         python3  6728 [000]  2217.617504:   raw_syscalls:sys_enter: NR 12 (0, 7f)
         python3  6728 [000]  2217.620962:       sched:sched_switch: prev_comm=a b prev_pid=6 prev_prio=1 \
prev_state=R ==> next_comm=c next_pid=15 next_prio=120
\tffffffff81000000 schedule+0x1 ([kernel.kallsyms])

            echo  6288/6288   3325.068166:        cycles:pp:  ffffffff8103f94e foo+0x3 ([kernel])
           sleep  7/7  [001] 3326.000001: PERF_RECORD_COMM exec: sleep:7/7
nothing of it
"""


def script(tmp_path: Path, text: str) -> LoadedTrace:
    path = tmp_path / "a.script.txt"
    path.write_text(text)
    return load(perf_script.READER, path)


def test_script(tmp_path: Path) -> None:
    trace = script(tmp_path, SCRIPT)
    first, second = rows(trace, "raw_events.sample")
    assert first == {
        "_ts": 24_424_767_000,
        "event": "cpu-clock:u",
        "pid": 7496,
        "tid": 7498,
        "cpu": 3,
        "comm": "my prog",
        "period": 250_000,
        "ip": 0x14F02,
        "stack": "[unknown];check word<int>",
        "line": 3,
    }
    assert second["stack"] == "foo"
    assert second["ip"] == 0xFFFFFFFF8103F94E
    (switch,) = rows(trace, "raw_events.sched_switch")
    assert switch["prev_comm"] == "a b"
    assert switch["next_pid"] == 15
    assert switch["stack"] == "schedule"
    assert rows(trace, "raw_events.sys_enter")[0]["args"] == "0, 7f"
    assert rows(trace, "raw_events.record")[0]["text"] == "exec: sleep:7/7"
    assert rows(trace, "raw_events.record")[0]["event"] == "comm"
    assert [(note.reason, note.count) for note in trace.diagnostics] == [("line is not an event", 1)]
    assert trace.properties["host"] == "vm"
    assert trace.properties["command"] == "/usr/bin/perf record -g"


def test_every_line_is_told_of(tmp_path: Path) -> None:
    """Whatever is cut off a text, each of its lines is an event, part of one, a fact, blank or counted."""
    for size in range(0, len(SCRIPT), 3):
        path = tmp_path / "cut.txt"
        path.write_text(SCRIPT[:size])
        load(perf_script.READER, path)


@pytest.mark.parametrize(
    ("text", "format_"),
    [
        (SCRIPT, "perf-script"),
        ("main;a;b 12\nmain;c 3\n", "collapsed-stacks"),
        ("  task-12    [003] d..2. 1.000001: sched_waking: comm=a pid=1\n", "ftrace-text"),
        ("a,b;c 12\n1,2;3 4\n", "collapsed-stacks"),
        ("main 12\nother 4\n", None),
        ("a;b;c\nd;e;f\n", None),
    ],
)
def test_sniffed(text: str, format_: str | None) -> None:
    head = Head(Path("x"), text.encode(), text.encode())
    shelf = (collapsed_stacks.READER, ftrace_text.READER, perf_script.READER)
    assert [reader.name for reader in shelf if reader.sniff(head)] == ([format_] if format_ else [])


def test_collapsed(tmp_path: Path) -> None:
    path = tmp_path / "a.folded"
    path.write_text("main;a b;c 12\ncomm-1/2;x 3\nbad\n\n# note 5 x\n")
    trace = load(collapsed_stacks.READER, path)
    assert rows(trace, "raw_events.sample") == [
        {"_ts": 0, "event": "stack", "period": 12, "stack": "main;a b;c", "line": 1},
        {"_ts": 0, "event": "stack", "period": 3, "stack": "comm-1/2;x", "line": 2, "comm": "comm", "pid": 1, "tid": 2},
    ]
    assert {note.reason: note.count for note in trace.diagnostics} == {
        "line is not a stack and a number": 1,
        "line is a comment": 1,
    }


@bounded(60)
@given(data=st.binary(max_size=300))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    for reader in (perf_script.READER, collapsed_stacks.READER):
        survives(reader, folder / "a.txt", SCRIPT.encode()[:200] + data)
