"""The text of perf script, and collapsed stacks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.contracts.reader import Head, LoadedTrace
from dctv.index.build import IndexSettings
from dctv.index.request import IndexRequest
from dctv.readers import collapsed_stacks, ftrace_text, perf_script
from dctv.session import Session
from tests.bounds import bounded
from tests.damage import survives
from tests.readers.ftrace_text.printed_events import PRINTED
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


@pytest.mark.parametrize(("event", "expected"), PRINTED)
def test_tracepoints_have_the_fields_of_ftrace_text(event: str, expected: dict[str, object], tmp_path: Path) -> None:
    name = event.partition(":")[0]
    (row,) = rows(script(tmp_path, f"a task 12/12 [003] 1.000001: any:{event}\n"), f"raw_events.{name}")
    head = {"_ts": 0, "cpu": 3, "common_comm": "a task", "common_pid": 12, "common_tgid": 12, "line": 1}
    assert row == head | {column: value for column, value in expected.items() if value is not None}


@pytest.mark.parametrize(
    ("frame", "name"),
    [
        ("main+0x20 (/usr/bin/prog (deleted))", "main"),
        ("f(int (*)(int))+0x3 (/usr/lib/a (copy)/prog)", "f(int (*)(int))"),
        ("f(int) const (/memfd:doublemapper (deleted)) (inlined)", "f(int) const"),
        ("f(int (*)(int))+0x3", "f(int (*)(int))"),
        ("operator()(int)", "operator()(int)"),
        ("f (/usr/lib/a)b)", "f"),
        ("(/usr/bin/prog (deleted))", "[unknown]"),
    ],
)
def test_files_with_parentheses(frame: str, name: str, tmp_path: Path) -> None:
    (sample,) = rows(script(tmp_path, f"prog 7/7 [000] 1.000001: 1 cycles:\n\t4005d0 {frame}\n\n"), "raw_events.sample")
    assert sample["stack"] == name


def test_every_skipped_line_is_reported(tmp_path: Path) -> None:
    """Wherever a text is cut, each of its lines is an event, part of one, metadata, blank or counted."""
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
    registry = (collapsed_stacks.READER, ftrace_text.READER, perf_script.READER)
    assert [reader.name for reader in registry if reader.sniff(head)] == ([format_] if format_ else [])


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


EXITING = """            perf 18012 [000]  2772.818948: sched:sched_stat_runtime: comm=perf pid=18012 runtime=35406 [ns]
             :-1    -1 [001]  2772.829709: sched:sched_stat_runtime: comm=dctv ahead pid=18021 runtime=30487 [ns]
"""


def test_threads_that_exit_do_not_make_it_ftrace_text(tmp_path: Path) -> None:
    """F2: one such line made the file another format, of which a hundredth was read."""
    head = Head(tmp_path, EXITING.encode(), EXITING.encode())
    assert (ftrace_text.sniff(head), perf_script.sniff(head)) == (False, True)
    found = rows(script(tmp_path, EXITING), "raw_events.sched_stat_runtime")
    assert [(row["common_comm"], row["common_pid"]) for row in found] == [("perf", 18012), (":-1", -1)]


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("11166  2513.374389: cpu-clock: \n", {"tid": 11166, "event": "cpu-clock"}),
        ("11166  2513.374389: \n", {"tid": 11166}),
        ("         python3 11166  2513.374389: \n", {"tid": 11166, "comm": "python3"}),
        ("     py 3 11166/11167  2513.374389: \n", {"pid": 11166, "tid": 11167, "comm": "py 3"}),
        (
            "11166  2513.374389: cpu-clock:      7fc8de5b4645 handle_amd\n",
            {"tid": 11166, "event": "cpu-clock", "ip": 0x7FC8DE5B4645, "stack": "handle_amd"},
        ),
        ("11166  2513.374389:      7fc8de5b4645\n", {"tid": 11166, "ip": 0x7FC8DE5B4645, "stack": "[unknown]"}),
        (
            "     py 3 11166  2513.374389:      7fc8de5b4645 ns::f(a::b)+0x7 (/usr/lib/x)\n",
            {"tid": 11166, "comm": "py 3", "ip": 0x7FC8DE5B4645, "stack": "ns::f(a::b)"},
        ),
        ("11166  2513.374389:    250000 14f02 f\n", {"tid": 11166, "period": 250_000, "ip": 0x14F02, "stack": "f"}),
        ("11166  2513.374389:    250000 \n", {"tid": 11166, "period": 250_000}),
        ("11166  2513.374389:    250000\n", {"tid": 11166, "ip": 0x250000, "stack": "[unknown]"}),
        ("11166  2513.374389:    250000 g\n", {"tid": 11166, "ip": 0x250000, "stack": "g"}),
    ],
)
def test_few_fields(text: str, known: dict[str, object], tmp_path: Path) -> None:
    """F9: `-F tid,time,event` and `-F comm,tid,time` were refused."""
    head = Head(tmp_path, text.encode(), text.encode())
    assert perf_script.sniff(head)
    (row,) = rows(script(tmp_path, text), "raw_events.sample")
    assert row == {"_ts": 0, "line": 1, **known}


def test_records_without_a_time_stand_at_the_start(tmp_path: Path) -> None:
    """F9: perf's own records at 0.000000 made the trace last since the machine was started."""
    trace = script(
        tmp_path,
        "swapper     0     0.000000: PERF_RECORD_MMAP -1/0: [0xffff(0x12) @ 0xffff]: x [kernel.kallsyms]_text\n"
        "burn 17372  2751.417456: PERF_RECORD_COMM exec: burn:17372/17372\n"
        "burn 17372  2751.517456:          1      page-faults: \n",
    )
    assert trace.last_ts == 100_000_000
    assert [(row["event"], row["_ts"]) for row in rows(trace, "raw_events.record")] == [("mmap", 0), ("comm", 0)]
    assert [(one.reason, one.count) for one in trace.diagnostics] == [("record without a time, placed at the start", 1)]
    alone = script(tmp_path, "swapper 0 0.000000: PERF_RECORD_MMAP -1/0: x\n")
    assert [row["_ts"] for row in rows(alone, "raw_events.record")] == [0]


@pytest.mark.parametrize(
    ("head", "known"),
    [
        ("java 19983 cycles:", {"comm": "java", "tid": 19983, "event": "cycles"}),
        ("       Web Content  3244/3245 [002] cpu-clock: ", {"pid": 3244, "tid": 3245, "cpu": 2, "event": "cpu-clock"}),
        ("dd 7 250000 cycles:uppp: ", {"comm": "dd", "tid": 7, "period": 250_000, "event": "cycles:uppp"}),
        ("irq: 9 cycles: ", {"comm": "irq:", "tid": 9, "event": "cycles"}),
    ],
)
def test_samples_without_times(head: str, known: dict[str, object], tmp_path: Path) -> None:
    """`-F comm,pid,event,ip,sym,dso`, from which many flame graphs are made."""
    text = f"# ========\n# hostname : x\n#\n{head}\n"
    text += "ffffffff8103d0ca native_write ([kernel.kallsyms])\n        f00 main (/bin/x)\n\n"
    text += f"{head}\n        dd main (/bin/x)\n"
    assert perf_script.sniff(Head(tmp_path, text.encode(), text.encode()))
    trace = script(tmp_path, text)
    first, second = rows(trace, "raw_events.sample")
    assert {**first, **known} == first
    assert (first["_ts"], first["line"], first["stack"]) == (0, 4, "main;native_write")
    assert {**second, **known} == second
    assert (second["_ts"], second["line"], second["stack"]) == (0, 8, "main")
    assert trace.properties["clock"] == "none"
    assert [(one.reason, one.count) for one in trace.diagnostics] == [("sample without a time, placed at 0", 2)]


@pytest.mark.parametrize(
    "text",
    [
        "python3 11 12 foo\n    f00 main (/bin/x)\n",
        "line 12: error\n    what is it\n",
        "java 12 GC: pause 12 ms\n   dead code\n",
        "java 12 GC:\nadded 12 words\n",
        "     16       sched:sched_wakeup: \n   1244   raw_syscalls:sys_enter: \n",
    ],
)
def test_other_text_is_not_samples_without_times(text: str, tmp_path: Path) -> None:
    assert not perf_script.sniff(Head(tmp_path, text.encode(), text.encode()))


def test_samples_without_a_time_are_none_where_others_have_one(tmp_path: Path) -> None:
    trace = script(tmp_path, "java 12 1.000001: cycles:\n\t4005d0 f\n\njava 12 cycles:\n\t4005d0 g\n\n")
    assert [row["stack"] for row in rows(trace, "raw_events.sample")] == ["f"]
    assert ("line is not an event", 2) in [(one.reason, one.count) for one in trace.diagnostics]


@pytest.mark.parametrize("reader", ["script", "collapsed"])
def test_text_that_ends_in_the_middle_of_a_line(reader: str, tmp_path: Path) -> None:
    """G4: a cut file is incomplete."""
    line, chosen = {
        "script": (EXITING, perf_script.READER),
        "collapsed": ("a;b 12\nc;d 345\n", collapsed_stacks.READER),
    }[reader]
    for text, reasons in ((line, []), (line[:-2], ["file ends in the middle of a line"])):
        path = tmp_path / "t.txt"
        path.write_text(text)
        assert [one.reason for one in load(chosen, path).diagnostics if one.incomplete] == reasons


def test_text_of_which_most_cannot_be_read(tmp_path: Path) -> None:
    trace = script(tmp_path, "what\n" * 3 + EXITING)
    assert [(one.reason, one.count) for one in trace.diagnostics if one.incomplete] == [
        ("most lines could not be read", 3)
    ]


@pytest.mark.parametrize("indexed", [False, True])
def test_fields_whose_names_differ_in_case_stay_apart(*, tmp_path: Path, indexed: bool) -> None:
    """Files of column stores are read by names without regard to case."""
    path = tmp_path / "a.script.txt"
    path.write_text("a 12/12 [003] 1.000001: any:mine: A=1 a=2\na 12/12 [003] 1.000002: any:mine: a=x A=3 Text=y z\n")
    with Session(index="auto" if indexed else False, index_dir=tmp_path) as session:
        if indexed:
            session.index(path, IndexRequest(IndexSettings(store=True)))
        session.mount(path, "t")
        names = ["A", "field_a", "field_a_text", "field_Text"]
        found = session.sql(f"SELECT {', '.join(names)} FROM t.raw_events.mine ORDER BY _ts").fetchall()
    assert found == [(1, 2, None, None), (3, None, "x", "y z")]


TRACEPOINTS = """perf 12/12 [003] 1.000001: syscalls:sys_enter_read: fd: 0x00000003, buf: 0x7ffe
perf 12/12 [003] 1.000002: syscalls:sys_exit_read: 0x2
perf 12/12 [003] 1.000003: sched:sched_stat_runtime: comm=b c pid=7 runtime=30487 [ns]
perf 12/12 [003] 1.000004: 5 cycles: 4005d0 main+0x20 (/usr/bin/prog)
"""


def test_fields_are_arguments_of_events(tmp_path: Path) -> None:
    """Those of samples are without the columns that `events` has by itself."""
    path = tmp_path / "a.script.txt"
    path.write_text(TRACEPOINTS)
    with Session(index=False) as session:
        session.mount(path, "t")
        found = [json.loads(args) for (args,) in session.sql("SELECT args FROM t.events ORDER BY _ts").fetchall()]
        ((called, took),) = session.sql("SELECT args, _duration FROM t.syscalls.calls").fetchall()
    assert found == [
        {"fd": "0x00000003", "buf": "0x7ffe"},
        {"ret": "0x2"},
        {"comm": "b c", "pid": 7, "runtime": 30487},
        {"cpu": 3, "comm": "perf", "period": 5, "ip": 0x4005D0, "stack": "main"},
    ]
    assert (json.loads(called), took) == (found[0], 1000)


def test_units_of_tracepoints(tmp_path: Path) -> None:
    trace = script(tmp_path, TRACEPOINTS)
    units = {column.name: str(column.unit) for column in trace.tables["raw_events.sched_stat_runtime"].schema.columns}
    assert (units["runtime"], units["cpu"]) == ("ns", "")


SOURCE = "10268100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK"


@pytest.mark.parametrize(
    ("text", "ip", "stack", "kept"),
    [
        ("     0 ffffffff8cc2ba08 [unknown] ([unknown])", 0xFFFFFFFF8CC2BA08, "[unknown]", "     0"),
        ("     0     55d0a1 ns::f(int, a|b) const+0x1d (/bin/x y)", 0x55D0A1, "ns::f(int, a|b) const", "     0"),
        ("           7fad7c47425d add (/usr/lib/x)", 0x7FAD7C47425D, "add", ""),
        ("  33         7fad7c47425d f1", 0x7FAD7C47425D, "f1", "  33"),
        ("  33         7fad7c47425d", 0x7FAD7C47425D, "[unknown]", "  33"),
        ("  33    85", None, None, "  33    85"),
        ("  5033    85 0", None, None, "  5033    85 0"),
        ("", None, None, ""),
    ],
)
@pytest.mark.parametrize("address", ["ffffb33a850078a0     ", ""])
@pytest.mark.parametrize("blocked", ["N/A", " Data  Addr"])
def test_samples_of_memory(
    text: str, ip: int | None, stack: str | None, kept: str, *, address: str, blocked: str, tmp_path: Path
) -> None:
    before = f"{address}{SOURCE} {blocked}"
    event = "cpu_core/mem-loads,ldlat=30/"
    trace = script(tmp_path, f"taskset  182628 247517.778385:   1  {event}: {before}{text}\n")
    (row,) = rows(trace, "raw_events.sample")
    assert (row["event"], row["period"]) == (event, 1)
    assert (row.get("ip"), row.get("stack"), row["text"]) == (ip, stack, before + kept)


def test_samples_of_memory_with_call_chains(tmp_path: Path) -> None:
    text = f"ls 1234 10.000001: 1 mem-loads:  7fad0 {SOURCE} N/A   4 \n\t55d0a1 main+0x1 (/bin/ls)\n\n"
    (row,) = rows(script(tmp_path, text), "raw_events.sample")
    assert (row["ip"], row["stack"], row["text"]) == (0x55D0A1, "main", f"7fad0 {SOURCE} N/A   4")
