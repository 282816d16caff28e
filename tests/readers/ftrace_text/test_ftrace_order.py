"""Events whose order among equal times matters across tables know their line."""

from __future__ import annotations

import tomllib

from tests.house.tree import ROOT
from tests.readers.ftrace_text.ftrace_reading import read

# Tables that decoders make of lines which are no events of these names.
OF_OTHER_NAMES = {"syscall_enters", "syscall_exits", "funcgraph_entry", "funcgraph_exit", "func_entry", "func_exit"}
MARK = "     a task-12    [000] d..2. 1.000001: tracing_mark_write: "


def test_lines_count_from_1_and_include_non_events() -> None:
    trace = read(f"# tracer: nop\n\n{MARK}B|12|x\nnonsense\n{MARK}E|12\n{MARK}B|12|y\n")
    assert trace.tables["raw_events.print|B"].data.column("line").to_pylist() == [3, 6]
    assert trace.tables["raw_events.print|E"].data.column("line").to_pylist() == [5]


def test_lines_go_on_over_files_and_blocks() -> None:
    filler = "     a task-12    [000] d..2. 1.000001: cpu_idle: state=1 cpu_id=0\n" * 50_000
    trace = read(f"{MARK}B|12|x\n{filler}{MARK}B|12|y\n", f"{MARK}B|12|z\n")
    assert trace.tables["raw_events.print|B"].data.column("line").to_pylist() == [1, 50_002, 50_003]


def test_lines_stay_with_their_rows_when_rows_are_sorted() -> None:
    trace = read(f"{MARK.replace('1.0', '2.0')}C|12|x|1\n{MARK}C|12|x|2\n")
    assert trace.tables["raw_events.print|C"].data.select(["line", "value"]).to_pylist() == [
        {"line": 2, "value": 2},
        {"line": 1, "value": 1},
    ]


def test_events_that_the_library_sorts_by_lines_have_them() -> None:
    """Tables that a view sorts by `line` need it, or events of one time come in an order that the engine chooses."""
    declared = tomllib.loads((ROOT / "stdlib" / "events.toml").read_text(encoding="utf-8"))
    kernel = {
        name
        for name, columns in declared.items()
        if {"line", "common_pid"} <= columns.keys() and name not in OF_OTHER_NAMES
    }
    assert len(kernel) > 40
    line = "     a task-12    [000] d..2. 1.000001: "
    trace = read("".join(f"{line}{name}: a=1\n" for name in sorted(kernel | {"hrtimer_start"})))
    have = {n.removeprefix("raw_events.") for n, t in trace.tables.items() if "line" in t.schema.names}
    assert have == kernel
