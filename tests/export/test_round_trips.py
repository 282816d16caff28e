"""Output of `dctv convert` for traces of many formats reads back with the same rows, or losses are counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dctv.session import Session
from tests.command_line import run
from tests.export.round_trip import QUESTIONS, answers, differences
from tests.readers.uftrace.uftrace_directory import ENTRY, EXIT, Directory, record

DATA = Path(__file__).parents[1] / "data"


def _uftrace(folder: Path) -> Path:
    steps = [(100, ENTRY, "main", 0), (150, ENTRY, "a", 1), (300, EXIT, "a", 1), (400, EXIT, "main", 0)]
    dat = b"".join(record(at, kind, name, depth) for at, kind, name, depth in steps)
    return Directory(dat={1: dat}).write(folder / "uftrace.data")


SOURCES: dict[str, Callable[[Path], Path]] = {
    "ftrace text": lambda _: DATA / "ftrace" / "live_marks_tgid.trace.txt",
    "ftrace text, kernel": lambda _: DATA / "stdlib" / "kernel.trace.txt",
    "ftrace text, states": lambda _: DATA / "stdlib" / "states.trace.txt",
    "trace.dat": lambda _: DATA / "trace_dat" / "live_marks.dat",
    "Perfetto": lambda _: DATA / "perfetto" / "linux_sys_deflate.pftrace",
    "Chrome's JSON": lambda _: DATA / "stdlib" / "browser.json",
    "DFTracer": lambda _: DATA / "dftracer" / "loader" / "trace-3a2b65aa834b35bf-fork.pfw.gz",
    "uftrace": _uftrace,
}


QUICK = "ftrace text, states"
"""Others are left to CI; `test_read_back.py` and `tests/calls/test_same_rows_chrome.py` write some of them, too."""
LOSSES: dict[tuple[str, str], list[str]] = {
    ("Perfetto", "json"): ["thread states", "wakeups"],
    ("trace.dat", "pftrace"): ["threads"],
}
"""Questions whose answers differ, by the source and the format: what they lack is told on stderr."""


@pytest.mark.parametrize("source", [pytest.param(one, marks=() if one == QUICK else pytest.mark.ci) for one in SOURCES])
def test_rows_are_those_of_the_trace(source: str, tmp_path: Path) -> None:
    trace = SOURCES[source](tmp_path)
    expected = answers(trace)
    for target in ("pftrace", "json"):
        out = tmp_path / f"out.{target}"
        done = run("convert", str(trace), str(out))
        assert done.code == 0, done.err
        differing = list(differences(expected, answers(out)))
        assert [line.partition(":")[0] for line in differing] == LOSSES.get((source, target), []), differing


@pytest.mark.parametrize("words", [("convert", "IN", "OUT"), ("dump", "--chrome", "IN", "-o", "OUT")])
def test_arguments_that_are_not_finite_are_texts_in_json(words: tuple[str, ...], tmp_path: Path) -> None:
    trace, out = tmp_path / "in.json", tmp_path / "out.json"
    args = '{"a":NaN,"b":-Infinity,"c":[Infinity,-1],"d":"-Infinity\\" NaN","NaN":"I"}'
    trace.write_text(f'[{{"name":"N","ph":"X","pid":1,"tid":1,"ts":0,"dur":1,"args":{args}}}]')
    assert run(*(word.replace("IN", str(trace)).replace("OUT", str(out)) for word in words)).code == 0
    refused: list[str] = []
    events = json.loads(out.read_text(), parse_constant=refused.append)["traceEvents"]
    found = [one["args"] for one in events if one["name"] == "N" and "args" in one]
    assert found == [{"a": "NaN", "b": "-Infinity", "c": ["Infinity", -1], "d": '-Infinity" NaN', "NaN": "I"}]
    assert refused == []


def test_idle_threads_of_several_cpus_stay_apart(tmp_path: Path) -> None:
    marks = [
        ("<idle>-0", cpu, at, mark)
        for cpu, at, mark in ((0, 0, "B|0|a"), (1, 1, "B|0|b"), (0, 4, "E|0"), (1, 6, "E|0"))
    ]
    lines = [
        f"  {task} (-----) [00{cpu}] d..1. 1.00000{at}: tracing_mark_write: {mark}" for task, cpu, at, mark in marks
    ]
    trace = tmp_path / "in.txt"
    trace.write_text("\n".join(["# tracer: nop", *lines, ""]))
    columns = "s._ts, s._duration, s.depth, s.tid, s.name, t.name AS thread"
    asked = f"SELECT {columns} FROM t.slices AS s JOIN t.tracks AS t USING (track)"
    for out in (trace, tmp_path / "out.pftrace", tmp_path / "out.json"):
        assert out is trace or run("convert", str(trace), str(out)).code == 0
        with Session(index=False) as session:
            session.mount(str(out), "t")
            assert session.sql(f"{asked} ORDER BY s._ts").fetchall() == [
                (0, 4000, 0, 0, "a", "idle on CPU 0"),
                (1000, 5000, 0, 0, "b", "idle on CPU 1"),
            ]


@pytest.mark.parametrize("target", ["out.pftrace", "out.json"])
def test_instants_and_arrows_of_no_thread_and_no_slice(target: str, tmp_path: Path) -> None:
    mark = {"ph": "i", "pid": 7, "tid": 8}
    step = {"cat": "c", "id": "0x5", "pid": 7, "tid": 8}
    events = [
        {**mark, "name": "of the thread", "ts": 1, "s": "t"},
        {**mark, "name": "of the process", "ts": 2, "s": "p"},
        {**mark, "name": "of all", "ts": 3, "s": "g"},
        {**step, "ph": "b", "name": "request", "ts": 4},
        {**step, "ph": "n", "name": "halfway", "ts": 5},
        {**step, "ph": "e", "name": "request", "ts": 6},
        {"ph": "s", "name": "arrow", "cat": "a", "id": 1, "pid": 7, "tid": 8, "ts": 10},
        {"ph": "f", "name": "arrow", "cat": "a", "id": 1, "pid": 7, "tid": 9, "ts": 11, "bp": "e"},
        {"ph": "X", "name": "later", "pid": 7, "tid": 9, "ts": 20, "dur": 5},
    ]
    trace = tmp_path / "in.json"
    trace.write_text(json.dumps(events))
    assert run("convert", str(trace), str(tmp_path / target)).code == 0
    wanted = ("instants", "async slices", "flows", "slices")
    before, after = answers(trace, wanted), answers(tmp_path / target, wanted)
    assert [before[what].total() for what in wanted] == [4, 1, 1, 1]
    assert list(differences(before, after)) == []


TEXT = """# tracer: nop
  bash-12 ( 12) [001] d..2. 1.000000: sched_switch: bash:12 [120] S ==> cat:13 [120]
  cat-13 ( 12) [001] d..2. 1.000001: cpu_frequency: state=1800000 cpu_id=1
  cat-13 ( 12) [001] d..2. 1.000002: kmalloc: ptr=1
  cat-13 ( 12) [001] d..2. 1.000003: kmalloc: ptr=2
"""


@pytest.mark.parametrize("target", ["out.pftrace", "out.json"])
def test_omissions_are_counted_by_kind(target: str, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text(TEXT)
    done = run("convert", str(tmp_path / "in.txt"), str(tmp_path / target))
    assert (done.code, done.err) == (0, "warning: 2 events `kmalloc` were left out: no track is made of them\n")
    with Session(index=False) as session:
        session.mount(str(tmp_path / target), "t")
        states = session.sql("SELECT tid, state, cpu FROM t.scheduler.states ORDER BY tid").arrow().to_pylist()
        [bounds] = session.sql("SELECT _ts FROM t.last_ts").arrow().to_pylist()
    assert states == [
        {"tid": 12, "state": "sleeping", "cpu": 1},
        {"tid": 13, "state": "running", "cpu": 1},
    ]
    # What a recorder of Perfetto's tells of itself, such as that it stopped, makes no trace last longer.
    assert bounds["_ts"] == {"out.pftrace": 1000, "out.json": 3000}[target]


def test_an_empty_export_of_a_trace_is_reported(tmp_path: Path) -> None:
    done = run("convert", str(DATA / "perf" / "cpuclock.data"), str(tmp_path / "out.pftrace"))
    assert done.code == 0
    assert "warning: 1411 events `sample` were left out: no track is made of them\n" in done.err


def test_units_of_counters(tmp_path: Path) -> None:
    trace = DATA / "stdlib" / "memory.pftrace"
    done = run("convert", str(trace), str(tmp_path / "out.json"))
    assert "units of" in done.err
    assert run("convert", str(trace), str(tmp_path / "out.pftrace")).code == 0
    before, after = answers(trace, ["units"]), answers(tmp_path / "out.pftrace", ["units"])
    assert before == after
    assert any('"unit": "' in row for row in before["units"])


def test_places_and_names_of_several_counters(tmp_path: Path) -> None:
    events = [
        {"ph": "M", "name": "process_sort_index", "pid": 7, "args": {"sort_index": -3}},
        {"ph": "M", "name": "thread_sort_index", "pid": 7, "tid": 8, "args": {"sort_index": 5}},
        {"ph": "M", "name": "process_labels", "pid": 7, "args": {"labels": "first"}},
        {"ph": "X", "name": "a", "pid": 7, "tid": 8, "ts": 1, "dur": 2},
    ]
    (tmp_path / "in.json").write_text(json.dumps(events))
    assert run("convert", str(tmp_path / "in.json"), str(tmp_path / "out.json")).code == 0
    written = json.loads((tmp_path / "out.json").read_text())["traceEvents"]
    placed = {one["name"]: (one["pid"], one["tid"], one["args"]) for one in written if one["ph"] == "M"}
    assert placed["process_sort_index"] == (7, 0, {"sort_index": -3})
    assert placed["thread_sort_index"] == (7, 8, {"sort_index": 5})
    assert placed["process_labels"] == (7, 0, {"labels": "first"})


def test_the_folder_of_parquet_files_has_the_views_of_the_kernel(tmp_path: Path) -> None:
    trace = DATA / "ftrace" / "live_marks_tgid.trace.txt"
    assert run("convert", str(trace), str(tmp_path / "folder")).code == 0
    views = {"timeslices": "timeslices_p_cpu", "thread states": "thread_states_p_tid", "wakeups": "wakeups"}
    with Session(index=False) as session:
        session.mount(str(trace), "t")
        for what, view in views.items():
            rows = session.sql(QUESTIONS[what].partition(" FROM ")[0] + f" FROM t.scheduler.{view}").arrow().to_pylist()
            found = pq.read_table(tmp_path / "folder" / "scheduler" / f"{view}.parquet")
            assert rows
            assert found.select(list(rows[0])).to_pylist() == rows


def test_places_of_processes_that_are_no_objects_are_passed_over(tmp_path: Path) -> None:
    events = [
        {"ph": "M", "name": "process_sort_index", "pid": 1, "args": [3]},
        {"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 5, "dur": 2},
    ]
    (tmp_path / "in.json").write_text(json.dumps(events))
    done = run("convert", str(tmp_path / "in.json"), str(tmp_path / "out.pftrace"))
    assert done.code == 0, done.err
    assert not list(differences(answers(tmp_path / "in.json"), answers(tmp_path / "out.pftrace")))
