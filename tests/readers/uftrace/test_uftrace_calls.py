"""Entries and exits of threads become calls, whatever was left out or lost."""

from __future__ import annotations

import struct
from pathlib import Path

from dctv.contracts.reader import LoadedTrace
from dctv.session import Session
from tests.readers.uftrace.uftrace_directory import (
    BASE,
    ENTRY,
    EXIT,
    LOST,
    SID,
    SYMBOLS,
    Directory,
    address,
    calls,
    comm,
    event,
    load,
    notes,
    record,
    rows,
    small,
    switch,
    task_event,
)

FORK = (*Directory().tasks, "FORK timestamp=0.000000150 pid=2 ppid=1")
NESTED = calls((100, "main"), (110, "a"), (120, "b"), (150, None), (160, None), (170, "a"), (175, None), (200, None))


TWO_THREADS = (*Directory().tasks, "TASK timestamp=0.000000050 tid=2 pid=1")


def test_nested_calls(tmp_path: Path) -> None:
    trace = load(Directory({1: NESTED}).write(tmp_path / "d"))
    assert rows(trace, "call", "_ts", "dur", "depth", "name", "id", "parent", "self", "state") == [
        (100, 100, 0, "main", 1, None, 45, None),
        (110, 50, 1, "a", 2, 1, 20, None),
        (120, 30, 2, "b", 3, 2, 30, None),
        (170, 5, 1, "a", 6, 1, 5, None),
    ]
    (first, *_) = rows(trace)
    assert (first["tid"], first["pid"], first["module"], first["addr"]) == (1, 1, "prog", BASE + 0x1004)
    assert first["args"] is first["retval"] is None
    assert trace.properties["entries"] == trace.properties["exits"] == "4"
    assert (trace.properties["host"], trace.properties["kernel"]) == ("box", "Linux 6.1")
    assert trace.properties["start_unix_ns"] == str(1_700_000_000 * 10**9 + 100)
    assert not trace.diagnostics


def test_threads_are_merged_by_time(tmp_path: Path) -> None:
    tasks = (*Directory().tasks, "TASK timestamp=0.000000100 tid=2 pid=1")
    dat = {1: NESTED, 2: calls((105, "b"), (115, "c"), (121, None), (300, None))}
    trace = load(Directory(dat, tasks=tasks).write(tmp_path / "d"))
    found = sorted(rows(trace, "call", "id", "tid", "name", "_ts"))
    assert found == [
        (1, 1, "main", 100),
        (2, 2, "b", 105),
        (3, 1, "a", 110),
        (4, 2, "c", 115),
        (5, 1, "b", 120),
        (9, 1, "a", 170),
    ]


def test_open_calls_end_with_their_thread(tmp_path: Path) -> None:
    trace = load(Directory({1: calls((100, "main"), (110, "a"), (130, "b"), (140, None))}).write(tmp_path / "d"))
    assert rows(trace, "call", "name", "_ts", "dur", "self", "state") == [
        ("main", 100, 40, 10, "open"),
        ("a", 110, 30, 20, "open"),
        ("b", 130, 10, 10, None),
    ]
    assert notes(trace) == {"calls were still open at the end": 2}


def test_forked_threads_begin_within_the_calls_of_their_parents(tmp_path: Path) -> None:
    parent = calls((100, "main"), (110, "a"), (200, None), (300, None))
    child = record(160, EXIT, "a", 1) + record(170, ENTRY, "b", 1) + record(180, EXIT, "b", 1)
    trace = load(Directory({1: parent, 2: child + record(190, EXIT, "main", 0)}, tasks=FORK).write(tmp_path / "d"))
    found = [row for row in rows(trace) if row["tid"] == 2]
    by_id = {row["id"]: row["name"] for row in found}
    shown = {(r["name"], r["_ts"], r["dur"], r["depth"], by_id.get(r["parent"]), r["state"]) for r in found}
    assert shown == {
        ("main", 160, 30, 0, None, "entered"),
        ("a", 160, 0, 1, "main", "entered"),
        ("b", 170, 10, 1, "main", None),
    }
    assert {row["pid"] for row in found} == {2}


def test_switches_before_the_first_record_belong_to_the_fork(tmp_path: Path) -> None:
    """The new process is then within the calls that were open when it began, even if the parent has left them since."""
    parent = [(100, "main"), (110, "a"), (115, "b"), (140, None), (145, None), (150, "c"), (200, None), (300, None)]
    child = event(158, 1_000_001) + record(160, EXIT, "b", 2) + record(170, EXIT, "a", 1)
    off = switch(120, 2, out=False) + switch(125, 2, out=True) + switch(155, 2, out=False)
    directory = Directory(
        {1: calls(*parent), 2: child + record(190, EXIT, "main", 0)},
        features=["event", "perf-event"],
        tasks=FORK,
        files={"perf-cpu0.dat": off, "events.txt": "EVENT: 1000001 prov:ev\n"},
    )
    trace = load(directory.write(tmp_path / "d"))
    found = [row for row in rows(trace) if row["tid"] == 2]
    assert [(r["name"], r["_ts"], r["dur"], r["self"], r["state"]) for r in found] == [
        ("b", 120, 40, 10, "entered"),
        ("a", 120, 50, 10, "entered"),
        ("main", 120, 70, 20, "entered"),
    ]
    fork, caller, outermost = found
    assert (fork["parent"], caller["parent"], outermost["parent"]) == (caller["id"], outermost["id"], None)
    assert rows(trace, "linux:schedule", "_ts", "dur", "call") == [(125, 30, fork["id"])]
    assert rows(trace, "prov:ev", "_ts", "call") == [(158, fork["id"])]


def test_switches_before_the_first_call_belong_to_the_one_around_it(tmp_path: Path) -> None:
    """The fork itself was not recorded here."""
    off = switch(120, 2, out=True) + switch(130, 2, out=False)
    parent = calls((100, "main"), (200, None))
    child = record(160, ENTRY, "a", 1) + record(170, EXIT, "a", 1)
    directory = Directory({1: parent, 2: child}, tasks=FORK, files={"perf-cpu0.dat": off})
    trace = load(directory.write(tmp_path / "d"))
    found = [row for row in rows(trace) if row["tid"] == 2]
    assert sorted((r["name"], r["_ts"], r["dur"], r["self"], r["state"]) for r in found) == [
        ("a", 160, 10, 10, None),
        ("main", 120, 50, 30, "inherited"),
    ]
    (main,) = (row["id"] for row in found if row["name"] == "main")
    assert rows(trace, "linux:schedule", "_ts", "call") == [(120, main)]


def test_switches_of_a_process_without_records_belong_to_no_call(tmp_path: Path) -> None:
    off = switch(120, 2, out=True) + switch(130, 2, out=False)
    directory = Directory({1: calls((100, "main"), (200, None)), 2: b""}, tasks=FORK, files={"perf-cpu0.dat": off})
    trace = load(directory.write(tmp_path / "d"))
    assert rows(trace, "call", "name", "tid") == [("main", 1)]
    assert rows(trace, "linux:schedule", "_ts", "call") == [(120, None)]


def test_the_callers_of_calls_without_entries_exclude_them(tmp_path: Path) -> None:
    data = calls((100, "main"), (110, "a"), (120, None)) + record(150, EXIT, "b", 1) + record(180, EXIT, "main", 0)
    trace = load(Directory({1: data}).write(tmp_path / "d"))
    assert sorted(rows(trace, "call", "name", "_ts", "dur", "self", "state")) == [
        ("a", 110, 10, 10, None),
        ("b", 100, 50, 50, "entered"),
        ("main", 100, 80, 30, None),
    ]


def test_exec_leaves_all_calls(tmp_path: Path) -> None:
    tasks = (
        *Directory().tasks,
        f'SESS timestamp=0.000000150 pid=1 sid={SID[::-1]} exename="/bin/other"',
        "TASK timestamp=0.000000150 tid=1 pid=1",
    )
    files = {
        f"sid-{SID[::-1]}.map": f"{BASE:x}-{BASE + 0x10000:x} r-xp 00000000 00:00 0 /bin/other\n",
        "other.sym": f"# path name: /bin/other\n{0x1000:016x} {0x100:08x} T other_main\n",
    }
    data = calls((100, "main"), (110, "a")) + calls((160, "main"), (170, None))
    trace = load(Directory({1: data}, tasks=tasks, files=files).write(tmp_path / "d"))
    assert rows(trace, "call", "name", "module", "_ts", "dur", "state") == [
        ("main", "prog", 100, 60, "left"),
        ("a", "prog", 110, 50, "left"),
        ("other_main", "other", 160, 10, None),
    ]
    assert [row["exename"] for row in trace.tables["sessions"].data.to_pylist()] == ["/bin/prog", "/bin/other"]


def test_longjmp_leaves_calls_and_setjmp_returns_twice(tmp_path: Path) -> None:
    data = calls((100, "main"), (110, "_setjmp"), (120, None), (130, "a"), (140, "b"))
    data += record(150, EXIT, "_setjmp", 1) + record(160, EXIT, "main", 0)
    trace = load(Directory({1: data}).write(tmp_path / "d"))
    assert sorted(rows(trace, "call", "name", "_ts", "dur", "depth", "state"), key=lambda one: one[1:3]) == [
        ("main", 100, 60, 0, None),
        ("_setjmp", 110, 10, 1, None),
        ("a", 130, 20, 1, "left"),
        ("_setjmp", 130, 20, 1, "entered"),
        ("b", 140, 10, 2, "left"),
    ]
    (main,) = [row for row in rows(trace) if row["name"] == "main"]
    assert main["self"] == 60 - 10 - 20


def test_exits_with_the_depth_that_is_left_over(tmp_path: Path) -> None:
    data = calls((100, "main"), (110, "a")) + record(120, EXIT, "a", 0) + record(130, ENTRY, "a", 1)
    data += record(140, EXIT, "a", 0) + record(150, EXIT, "main", 0)
    trace = load(Directory({1: data}).write(tmp_path / "d"))
    assert rows(trace, "call", "name", "_ts", "dur", "state") == [
        ("main", 100, 50, None),
        ("a", 110, 10, None),
        ("a", 130, 10, None),
    ]


def test_recursion_with_exits_of_the_depth_of_entries(tmp_path: Path) -> None:
    data = calls((100, "a"), (110, "a"), (120, "a"), (130, None), (140, None), (150, None))
    trace = load(Directory({1: data}).write(tmp_path / "d"))
    assert rows(trace, "call", "_ts", "dur", "depth") == [(100, 50, 0), (110, 30, 1), (120, 10, 2)]


def test_lost_records_end_open_calls(tmp_path: Path) -> None:
    data = calls((100, "main"), (110, "a")) + record(0, LOST, 42)
    data += record(200, EXIT, "a", 1) + record(210, ENTRY, "b", 1) + record(220, EXIT, "b", 1)
    trace = load(Directory({1: data + record(230, EXIT, "main", 0)}).write(tmp_path / "d"))
    assert rows(trace, "call", "name", "_ts", "dur", "state") == [
        ("main", 100, 10, "lost"),
        ("a", 110, 0, "lost"),
        ("a", 200, 0, "entered"),
        ("main", 200, 30, "entered"),
        ("b", 210, 10, None),
    ]
    assert rows(trace, "lost", "_ts", "tid", "count") == [(110, 1, 42)]
    assert notes(trace)["records lost"] == 42
    assert any(one.incomplete for one in trace.diagnostics)


def entry(time: int, name: str, depth: int) -> bytes:
    return record(time, ENTRY, name, depth)


def exit_(time: int, name: str, depth: int) -> bytes:
    return record(time, EXIT, name, depth)


TREE = ("name", "_ts", "dur", "depth", "self", "state")


def tree(trace: LoadedTrace) -> list[tuple[object, ...]]:
    """Return calls in order, with the names of those that they were made from."""
    names = {row["id"]: row["name"] for row in rows(trace)}
    names[None] = None
    calls = sorted(rows(trace), key=lambda row: (row["_ts"], row["id"]))
    return [(*(row[column] for column in TREE), names[row["parent"]]) for row in calls]


def test_a_recording_that_begins_in_the_middle(tmp_path: Path) -> None:
    data = entry(100, "c", 2) + exit_(120, "c", 2) + exit_(130, "b", 1) + entry(140, "malloc", 1)
    data += exit_(150, "malloc", 1) + exit_(180, "main", 0)
    trace = load(Directory({1: data}).write(tmp_path / "d"))
    assert tree(trace) == [
        ("main", 100, 80, 0, 40, "entered", None),
        ("b", 100, 30, 1, 10, "entered", "main"),
        ("c", 100, 20, 2, 20, None, "b"),
        ("malloc", 140, 10, 1, 10, None, "main"),
    ]
    assert notes(trace) == {"exits have no entry": 2}


def test_a_recording_that_is_turned_on_again_deeper(tmp_path: Path) -> None:
    data = entry(100, "main", 0) + entry(110, "c", 3) + exit_(120, "c", 3)
    data += exit_(130, "b", 2) + exit_(140, "a", 1) + exit_(150, "main", 0)
    trace = load(Directory({1: data}).write(tmp_path / "d"))
    assert tree(trace) == [
        ("main", 100, 50, 0, 20, None, None),
        ("a", 110, 30, 1, 10, "entered", "main"),
        ("b", 110, 20, 2, 10, "entered", "a"),
        ("c", 110, 10, 3, 10, None, "b"),
    ]


def test_callers_after_lost_records(tmp_path: Path) -> None:
    data = calls((100, "main")) + record(0, LOST, 3) + entry(200, "b", 2) + exit_(210, "b", 2)
    trace = load(Directory({1: data + exit_(220, "a", 1) + exit_(230, "main", 0)}).write(tmp_path / "d"))
    assert tree(trace) == [
        ("main", 100, 0, 0, 0, "lost", None),
        ("main", 200, 30, 0, 10, "entered", None),
        ("a", 200, 20, 1, 10, "entered", "main"),
        ("b", 200, 10, 2, 10, None, "a"),
    ]


def test_callers_that_are_never_left_have_no_name(tmp_path: Path) -> None:
    data = entry(100, "b", 2) + exit_(110, "b", 2) + exit_(120, "a", 1) + entry(130, "c", 1)
    trace = load(Directory({1: data}).write(tmp_path / "d"))
    assert tree(trace) == [
        ("<0>", 100, 30, 0, 10, "inherited", None),
        ("a", 100, 20, 1, 10, "entered", "<0>"),
        ("b", 100, 10, 2, 10, None, "a"),
        ("c", 130, 0, 1, 0, "open", "<0>"),
    ]


def test_depths_that_damage_made_up_are_no_calls(tmp_path: Path) -> None:
    damaged = b"".join(entry(100 + 2 * n, "b", 1023) + entry(101 + 2 * n, "a", 0) for n in range(500))
    trace = load(Directory({1: damaged}).write(tmp_path / "d"))
    assert sum(row["name"] == "<0>" for row in rows(trace)) < 5000


def test_libraries_that_were_opened_have_names_from_then_on(tmp_path: Path) -> None:
    tasks = (
        *Directory().tasks,
        f'DLOP timestamp=0.000000150 tid=1 sid={SID} base=7f0000000000 libname="/lib/plugin.so"',
    )
    files = {"plugin.so.sym": f"# path name: /lib/plugin.so\n{0x500:016x} {0x10:08x} T plug\n"}
    data = calls((100, 0x7F0000000504), (110, None), (160, 0x7F0000000504), (170, None))
    trace = load(Directory({1: data}, tasks=tasks, files=files).write(tmp_path / "d"))
    assert rows(trace, "call", "name", "module") == [("<7f0000000504>", None), ("plug", "plugin.so")]


def test_old_symbol_files_have_no_sizes(tmp_path: Path) -> None:
    symbols = "0000000000001000 T main\n0000000000001100 t a\n0000000000001180 ? __sym_end\n"
    data = calls((100, "main"), (110, BASE + 0x117F), (120, None), (130, BASE + 0x1180), (140, None), (150, None))
    trace = load(Directory({1: data}, files={"prog.sym": symbols}).write(tmp_path / "d"))
    assert [row["name"] for row in rows(trace)] == ["main", "a", f"<{BASE + 0x1180:x}>"]
    sizes = {row["name"]: row["size"] for row in trace.tables["symbols"].data.to_pylist()}
    assert sizes == {"main": 0x100, "a": 0x80}


def test_modules_of_one_name_are_distinguished_by_build_id(tmp_path: Path) -> None:
    other = f"# path name: /other/prog\n# build-id: ffff\n{0x1000:016x} {0x100:08x} T wrong\n"
    right = f"# path name: /bin/prog\n# build-id: 12345678\n{0x1000:016x} {0x100:08x} T right\n"
    files = {"prog.sym": other, "prog-1234.sym": right}
    trace = load(Directory({1: calls((100, "main"), (110, None))}, files=files).write(tmp_path / "d"))
    assert [row["name"] for row in rows(trace)] == ["right"]


def test_functions_and_symbols_have_sizes_and_lines(tmp_path: Path) -> None:
    trace = load(small().write(tmp_path / "d"))
    functions = {row["name"]: row for row in trace.tables["functions"].data.to_pylist()}
    assert set(functions) == {"main", "a", "b", "c", "malloc"}
    assert functions["a"] == {
        "session": 0,
        "name": "a",
        "module": "prog",
        "addr": 0x1100,
        "size": 0x100,
        "type": "T",
        "file": "prog.c",
        "line": 7,
    }
    assert len(trace.tables["symbols"].data) == len(SYMBOLS)
    (mapped,) = trace.tables["maps"].data.to_pylist()
    assert (mapped["session"], mapped["start"], mapped["path"]) == (0, BASE, "/bin/prog")


def test_switches_are_time_off_the_cpu(tmp_path: Path) -> None:
    one = switch(50, 1, out=False) + switch(115, 1, out=True) + switch(120, 9, out=True, preempted=True)
    other = comm(40, 1, b"prog") + switch(118, 1, out=False) + task_event(7, 119, 9) + task_event(4, 260, 1)
    files = {"perf-cpu0.dat": one, "perf-cpu3.dat": other}
    trace = load(
        Directory({1: calls((100, "main"), (110, "a"), (120, None), (200, None))}, files=files).write(tmp_path / "d")
    )
    columns = ("_ts", "dur", "tid", "cpu", "to_cpu", "preempted", "call")
    assert rows(trace, "linux:schedule", *columns) == [(115, 3, 1, 0, 3, False, 4)]
    assert rows(trace, "linux:sched-in", "_ts", "tid", "cpu") == [(50, 1, 0)]
    assert rows(trace, "linux:sched-out", "_ts", "tid", "preempted") == [(120, 9, True)]
    assert rows(trace, "linux:task-name", "_ts", "tid", "comm", "exec") == [(40, 1, "prog", True)]
    assert rows(trace, "linux:task-new", "_ts", "tid", "ppid") == [(119, 9, 1)]
    assert rows(trace, "linux:task-exit", "_ts", "tid", "cpu") == [(260, 1, 3)]
    assert {row["name"]: row["self"] for row in rows(trace)} == {"main": 90, "a": 7}


def test_open_calls_last_until_their_thread_exits(tmp_path: Path) -> None:
    files = {"perf-cpu0.dat": switch(130, 1, out=True) + switch(140, 1, out=False) + task_event(4, 190, 1)}
    data = {1: calls((100, "main"), (120, "a")), 2: calls((105, "b"))}
    trace = load(Directory(data, files=files, tasks=TWO_THREADS).write(tmp_path / "d"))
    columns = ("name", "dur", "self", "state")
    assert rows(trace, "call", *columns) == [("main", 90, 20, "open"), ("b", 0, 0, "open"), ("a", 70, 60, "open")]


def test_threads_have_their_last_names(tmp_path: Path) -> None:
    files = {"perf-cpu0.dat": comm(40, 1, b"prog") + comm(125, 2, b"worker") + comm(126, 2, b"flusher")}
    data = {1: calls((100, "main"), (160, None)), 2: calls((120, "b"), (130, None))}
    with Session() as session:
        session.mount(str(Directory(data, files=files, tasks=TWO_THREADS).write(tmp_path / "d")), "t")
        threads = session.sql("SELECT tid, name, process FROM t.threads ORDER BY tid").fetchall()
        own = session.sql("SELECT tid, comm FROM t.tasks ORDER BY tid").fetchall()
    assert threads == [(1, "prog", "prog"), (2, "flusher", "prog")]
    assert own == [(1, "prog"), (2, "flusher")]


def test_big_endian_and_32_bit(tmp_path: Path) -> None:
    data = calls((100, "main", struct.pack(">i", -2)), (110, "a"), (120, None), (130, None), big=True)
    argspec = ["argspec:main@arg1/i"]
    trace = load(Directory({1: data}, argspec, ["argument"], big=True, wide=False).write(tmp_path / "d"))
    assert rows(trace, "call", "name", "_ts", "dur", "args") == [("main", 100, 30, "(-2)"), ("a", 110, 10, None)]
    assert rows(trace, "call", "addr")[0] == (address("main"),)


def test_queries_over_a_mounted_directory(tmp_path: Path) -> None:
    folder = small().write(tmp_path / "d")
    with Session() as session:
        session.mount(str(folder), "t")
        top = session.sql("SELECT name, `self` FROM t.raw_events.call ORDER BY `self` DESC LIMIT 1").fetchall()
        names = session.sql("SELECT DISTINCT name FROM t.events").fetchall()
        switches = session.sql("SELECT dur FROM t.raw_events.`linux:schedule`").fetchall()
        memory = session.sql("SELECT vmrss FROM t.raw_events.`read:proc/statm`").fetchall()
    assert top == [("b", 40)]
    assert {"a", "external-data", "linux:schedule", "main", "prov:ev", "read:proc/statm"} <= {name for (name,) in names}
    assert (switches, memory) == ([(6,)], [(20,)])


def test_the_vocabulary_of_all_formats(tmp_path: Path) -> None:
    folder = small().write(tmp_path / "d")
    with Session() as session:
        session.mount(str(folder), "t")
        found = session.sql(
            "SELECT name, _duration, depth, tid, module, args, retval FROM t.calls ORDER BY id"
        ).fetchall()
        slices = session.sql("SELECT name, depth, tid, thread, category FROM t.slices WHERE tid = 2").fetchall()
        threads = session.sql("SELECT tid, pid, name, process, is_main FROM t.threads ORDER BY tid").fetchall()
        top = session.sql("SELECT name, `self` FROM t.calls.by_function LIMIT 1").fetchall()
    assert found == [
        ("main", 60, 0, 1, "prog", "(1)", None),
        ("b", 50, 0, 2, "prog", None, None),
        ("a", 30, 1, 1, "prog", '("hello", 5)', "7"),
        ("malloc", 10, 2, 1, "prog", None, None),
        ("c", 10, 1, 2, "prog", None, None),
    ]
    assert slices == [("b", 0, 2, "prog", "prog"), ("c", 1, 2, "prog", "prog")]
    assert threads == [(1, 1, "prog", "prog", True), (2, 1, "prog", "prog", False)]
    assert top == [("b", 40)]
