"""The timeline's providers have every row of the views that they are made of once, on tracks that have names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dctv import readers
from dctv.bind.binder import Binder
from dctv.catalog.stdlib import library
from dctv.contracts.reader import Reader
from dctv.contracts.registry import scan
from dctv.record import record
from dctv.run.plans import environment
from dctv.session import Session
from dctv.syntax import ast

DATA = Path(__file__).parent.parent / "data"
TRACES = {
    "stdlib/browser.json": "counters instants slices",
    "stdlib/calls.pfw": "io slices",
    "stdlib/frames.trace.txt": "async_slices display_frames frames gc slices",
    "stdlib/kernel.trace.txt": "block block_queue_depth io system_calls",
    "stdlib/lttng_names.trace.txt": "cpu_frequency cpu_idle cpu_running cpu_softirq thread_states",
    "stdlib/marks.trace.txt": "async_slices counters instants slices",
    "stdlib/memory.pftrace": "counters",
    "stdlib/nesting.json": "slices",
    "stdlib/requests.jaeger.json": "instants slices",
    "stdlib/states.trace.txt": "cpu_idle cpu_irq cpu_running cpu_softirq thread_states",
    "ftrace/live_processes.trace.txt.gz": "counters cpu_running cpu_softirq slices thread_states",
    "perf/cpuclock.collapsed.txt": "samples",
    "perf/cpuclock.data": "samples",
    "perfetto/linux_sys_deflate.pftrace": (
        "async_slices block counters cpu_running cpu_softirq instants io slices system_calls thread_states"
    ),
    "trace_dat/live_marks.dat": "async_slices counters cpu_irq cpu_running cpu_softirq instants slices thread_states",
    "uftrace/switches": "calls",
}
"""Traces, and the providers that have rows of them."""
LONG = {
    "stdlib/marks.trace.txt",
    "stdlib/nesting.json",
    "ftrace/live_processes.trace.txt.gz",
    "perfetto/linux_sys_deflate.pftrace",
    "trace_dat/live_marks.dat",
}
"""Those that are left to CI: others have rows of the same providers."""
VIEWS = {
    "async_slices": "async_slices",
    "block": "block.requests",
    "block_queue_depth": "block.queue_depth",
    "calls": "_parts.calls",
    "counters": "counters",
    "cpu_frequency": "cpu.frequency",
    "cpu_idle": "cpu.idle",
    "cpu_irq": "cpu.irq",
    "cpu_running": "scheduler.timeslices",
    "cpu_softirq": "cpu.softirq",
    "display_frames": "frames.surfaceflinger",
    "frames": "frames.app",
    "gc": "gc.collections",
    "instants": "instants",
    "io": "io.calls",
    "samples": "samples.samples",
    "slices": "slices",
    "system_calls": "syscalls.calls",
    "thread_states": "scheduler.thread_states",
}
"""What each provider is made of."""
TWICE = {"io"}
"""Those that have each row on two tracks."""
LISTED = {view for view in VIEWS.values() if not view.startswith("_")}
"""Views that say which inputs they lack."""
COLUMNS = [
    ("_ts", "INT64", "ns"),
    ("_duration", "INT64", "ns"),
    ("path", "STRING[]", None),
    ("kind", "STRING", None),
    ("ranks", "INT64[]", None),
    ("depth", "INT64", None),
    ("name", "STRING", None),
    ("value", "FLOAT64", None),
    ("unit", "STRING", None),
]


@record
class Filled:
    """A mounted trace, and the providers and views that it has something for."""

    session: Session
    providers: frozenset[str]
    views: frozenset[str]
    expected: frozenset[str]


@pytest.fixture(
    scope="module", params=[pytest.param(one, marks=pytest.mark.ci if one in LONG else ()) for one in TRACES]
)
def filled(request: pytest.FixtureRequest) -> Iterator[Filled]:
    with Session() as session:
        session.mount(str(DATA / request.param), "t")
        there = {table.name.removeprefix("t.timeline.") for table in session.tables("t")} & set(VIEWS)
        providers = {one for one in there if _is_filled(session, f"t.timeline.{one}")}
        views = {
            one
            for one in there
            if one in providers or (VIEWS[one] in LISTED and _is_filled(session, f"t.{VIEWS[one]}"))
        }
        yield Filled(session, frozenset(providers), frozenset(views), frozenset(TRACES[request.param].split()))


def _is_filled(session: Session, name: str) -> bool:
    binder = Binder(environment(session._context))
    session._context.log.clear()
    binder.table(ast.TableName(ast.Path.of(name)))
    return not any(message.startswith(f"`{name}` is empty: ") for message in session.warnings())


def test_every_row_is_there_once_and_in_order(filled: Filled) -> None:
    used = set()
    for provider in filled.providers:
        found = filled.session.sql(f"SELECT * FROM t.timeline.{provider}").fetchall()
        times = 2 if provider in TWICE else 1
        ((rows,),) = filled.session.sql(f"SELECT COUNT(*) FROM t.{VIEWS[provider]}").fetchall()
        assert len(found) == times * rows, provider
        tracks: dict[tuple[str, ...], tuple[object, ...]] = {}
        last = 0
        for ts, duration, path, kind, ranks, _, _, _, unit, *_ in found:
            assert tracks.setdefault(tuple(path), (kind, ranks, unit)) == (kind, ranks, unit), provider
            assert kind in ("slices", "states", "counter", "instants"), provider
            assert path, provider
            assert None not in path, provider
            assert len(ranks) == len(path), provider
            assert ts >= last, provider
            assert duration is None or duration >= 0, provider
            last = ts
        used |= {provider} if found else set()
    assert used == filled.expected


def test_names_fill_no_provider(filled: Filled) -> None:
    assert filled.providers == filled.views


def test_every_provider_has_the_common_columns_and_its_row_keys() -> None:
    seen = set()
    modules = {module.parts[1]: module for module in library().modules if module.parts[0] == "timeline"}
    for reader in ("uftrace/switches", "ftrace/live_marks.trace.txt.gz"):
        with Session() as session:
            session.mount(str(DATA / reader), "t")
            for name in [table.name.removeprefix("t.timeline.") for table in session.tables("t.timeline")]:
                if name in VIEWS:
                    described = [row[:3] for row in session.sql(f"DESCRIBE t.timeline.{name}").fetchall()]
                    rows_of = modules[name].rows_of
                    assert rows_of is not None, name
                    assert described[: len(COLUMNS)] == COLUMNS, name
                    assert [row[0] for row in described[len(COLUMNS) :]] == list(rows_of.by), name
                    seen.add(name)
    assert seen == set(VIEWS)


def test_every_provider_is_tried() -> None:
    modules = {module.parts[1] for module in library().modules if module.parts[0] == "timeline"}
    for left in (set(), LONG):
        assert (
            modules
            == set(VIEWS)
            == {name for one, names in TRACES.items() if one not in left for name in names.split()}
        )


def test_calls_are_not_slices_too() -> None:
    found = library()
    modules = {module.parts[1]: module for module in found.modules if module.parts[0] == "timeline"}
    formats = {file.parts[-1]: set(file.formats) for file in found.sources["slice_completes"]}
    assert set(modules["calls"].formats) == {one for file in found.sources["calls"] for one in file.formats}
    # Calls of uftrace are slices of the vocabulary; marks, which are of all formats, are none of its.
    assert set(modules["slices"].formats) == set(scan(readers, Reader)) - formats["uftrace"]


def _rows(path: str, *sql: str) -> list[list[tuple[Any, ...]]]:
    with Session() as session:
        session.mount(path, "t")
        return [session.sql(one).fetchall() for one in sql]


def test_all_that_a_thread_does_is_in_one_group() -> None:
    groups = [
        {tuple(path[:-1]) for (path,) in rows}
        for rows in _rows(
            str(DATA / "ftrace/live_processes.trace.txt.gz"),
            "SELECT DISTINCT path FROM t.timeline.slices",
            "SELECT DISTINCT path FROM t.timeline.thread_states",
        )
    ]
    assert groups[0]
    assert groups[0] <= groups[1]


def _chrome(folder: Path, *events: str) -> str:
    file = folder / "made.json"
    file.write_text("[\n" + ",\n".join(events) + "\n]\n", encoding="utf-8")
    return str(file)


def test_threads_with_equal_numbers_are_separate(tmp_path: Path) -> None:
    sample = '{"name": "s", "ph": "P", "ts": 3, "pid": %d, "tid": 7}'
    trace = _chrome(
        tmp_path,
        '{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "a/b"}}',
        '{"name": "thread_name", "ph": "M", "pid": 2, "tid": 7, "args": {"name": ""}}',
        '{"name": "x", "ph": "X", "ts": 1, "dur": 5, "pid": 1, "tid": 7}',
        '{"name": "y", "ph": "X", "ts": 2, "dur": 5, "pid": 2, "tid": 7}',
        sample % 1,
        sample % 2,
    )
    slices, samples = _rows(
        trace,
        "SELECT name, path, ranks FROM t.timeline.slices ORDER BY name",
        "SELECT path FROM t.timeline.samples ORDER BY path",
    )
    assert slices == [
        ("x", ["Processes", "a/b (1)", "7", "Slices"], [1, None, None, 1]),
        ("y", ["Processes", "2", "7", "Slices"], [1, None, None, 1]),
    ]
    assert samples == [(["Processes", "2", "7", "Samples"],), (["Processes", "a/b (1)", "7", "Samples"],)]


def test_counters_with_equal_names_are_separate(tmp_path: Path) -> None:
    trace = _chrome(
        tmp_path,
        '{"name": "a", "ph": "C", "ts": 1, "pid": 1, "id": "b", "args": {"value": 1}}',
        '{"name": "a[b]", "ph": "C", "ts": 1, "pid": 1, "args": {"value": 1}}',
        '{"name": "a", "ph": "C", "ts": 1, "pid": 2, "id": "b", "args": {"value": 1}}',
        '{"name": "x", "ph": "X", "ts": 1, "dur": 5, "pid": 1, "tid": 1}',
    )
    [rows] = _rows(trace, "SELECT path FROM t.timeline.counters ORDER BY path")
    assert [path[1:] for (path,) in rows] == [
        ["1", "Counters", "a[b]"],
        ["1", "Counters", "a[b] 2"],
        ["2", "Counters", "a[b]"],
    ]


def test_calls_without_exits_end_with_the_next_and_those_of_idle_cpus_are_by_cpu(tmp_path: Path) -> None:
    file = tmp_path / "calls.trace.txt"
    file.write_text(
        "cpus=2\n"
        "  app-11    [000]  1.000000: funcgraph_entry:       func=outer depth=0\n"
        "  app-11    [000]  1.000001: funcgraph_entry:       func=inner depth=1\n"
        "  app-11    [000]  1.000003: funcgraph_entry:       func=next depth=0\n"
        "  app-11    [000]  1.000004: funcgraph_exit:        func=next depth=0\n"
        "  <idle>-0  [001]  1.000005: funcgraph_entry:       func=tick depth=0\n"
        "  <idle>-0  [001]  1.000009: funcgraph_exit:        func=tick depth=0\n",
        encoding="utf-8",
    )
    [rows] = _rows(str(file), "SELECT _ts, _duration, path, ranks, depth, name FROM t.timeline.calls")
    thread, cpu = (["Threads", "app (11)", "Calls"], [2, None, 2]), (["CPUs", "CPU 1", "Calls"], [0, 1, 5])
    assert rows == [
        (0, 3000, *thread, 0, "outer"),
        (1000, None, *thread, 1, "inner"),
        (3000, 1000, *thread, 0, "next"),
        (5000, 4000, *cpu, 0, "tick"),
    ]
