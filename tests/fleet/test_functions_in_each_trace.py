"""Functions give over many traces what they give for each of them alone, whatever their argument is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from dctv.session import Session
from tests.command_line import ROOT
from tests.fleet.traces import write_fleet

SPANS = (
    "dctv.as_spans((SELECT {trace}_ts, _duration, tid, name, id FROM {T}.slices), partition=>[{part}'tid'], "
    "on_overlap=>'truncate')"
)
EVENTS = "(SELECT EVENT name, tid, category FROM {T}.events)"
MARKS = (
    "(SELECT {trace}_ts, tid, name FROM {T}.slices WHERE id % 2 = 0)",
    "(SELECT {trace}_ts + 7us AS _ts, tid, name FROM {T}.slices WHERE id % 2 = 0)",
)
STACKS = f"starts=>{MARKS[0]}, stops=>{MARKS[1]}, partition=>'tid'"
OWN: Mapping[str, str] = {
    "quantize": "{T}.quantize(150us)",
    "one span": "{T}.quantize()",
    "a subquery": "{T}.quantize((SELECT 100us))",
}
CALLS: Mapping[str, str] = {
    "as_spans": "dctv.as_spans({T}.slices, partition=>'tid', on_overlap=>'truncate')",
    "as_spans without partitions": "dctv.as_spans({T}.slices, on_overlap=>'truncate')",
    "lanes": "dctv.from_overlapping((SELECT {trace}_ts, _duration, name FROM {T}.slices))",
    "as_events": "dctv.as_events({T}.slices, partition=>'tid')",
    "as_events sorted": "dctv.as_events((SELECT {trace}_ts, name FROM {T}.slices ORDER BY _ts, name), sorted=>TRUE)",
    "clip": f"dctv.clip({SPANS}, 100us, 400us)",
    "spans_to_events": f"dctv.spans_to_events({SPANS}, edge=>'both')",
    "filter_calls": "dctv.filter_calls({T}.slices, filters=>['a'])",
    "shown_calls": "dctv.shown_calls({T}.slices, notrace=>['b'])",
    "fill_gaps": f"dctv.fill_gaps({SPANS})",
    "complement": f"dctv.complement({SPANS}, 0ns)",
    "complement of all": "dctv.complement(dctv.as_spans({T}.slices, on_overlap=>'truncate'))",
    "merge_adjacent": "dctv.merge_adjacent(dctv.concurrency({T}.slices))",
    "session": f"dctv.session({EVENTS}, 15us, partition=>'tid')",
    "session of all": f"dctv.session({EVENTS}, 15us)",
    "label_events": f"dctv.label_events({EVENTS}, (SELECT EVENT id AS latest FROM dctv.as_events({{T}}.slices)))",
    "label_events of a thread": "dctv.label_events(dctv.as_events({T}.slices, partition=>'tid'), "
    "(SELECT EVENT name AS latest FROM dctv.as_events({T}.slices) WHERE name = 'a'))",
    "nested_slices": "dctv.nested_slices(completes=>(SELECT {trace}_ts, _duration, tid AS track, id AS line, name "
    "FROM {T}.slices))",
    "flatten": "dctv.flatten({T}.slices)",
    "concurrency": "dctv.concurrency({T}.slices, idle=>TRUE)",
    "concurrency_events": "dctv.concurrency_events({T}.slices, partition=>'tid')",
    "range_aggregate": "dctv.range_aggregate(dctv.as_events({T}.slices), 'id', 'max', "
    "dctv.generate_sequential_spans(0ns, 700us, 90us))",
    "range_aggregate of its own windows": "dctv.range_aggregate(dctv.as_events({T}.slices, partition=>'tid'), 'id', "
    "'sum', {T}.quantize(90us))",
    "sample": "dctv.sample({T}.slices, 2, per=>'tid')",
    "slices": "dctv.slices(complete=>{T}.slices, partition=>'tid')",
    "stack_history": f"dctv.stack_history({STACKS})",
    "stack_contents": f"dctv.stack_contents({STACKS})",
    "slices_from_stack": f"dctv.slices_from_stack({STACKS})",
    "time_series_to_spans": "dctv.time_series_to_spans(sources=>[{source=>{T}.slices, role=>'start', "
    "partition=>'tid'}, {source=>" + MARKS[1] + ", role=>'stop', partition=>'tid'}], columns=>[{column=>'name', "
    "source=>0}], partition=>'tid')",
    "timeline_rows": f"dctv.timeline_rows({SPANS})",
    "ancestors": "dctv.ancestors({T}.nested, 7)",
    "descendants": "dctv.descendants({T}.nested, 3)",
    "flow_path": "dctv.flow_path((SELECT {trace}id AS from_id, id + 3 AS to_id FROM {T}.slices), 3, "
    "slices=>{T}.slices)",
    "self_time": "dctv.self_time({T}.nested)",
    "flatten_slices": "dctv.flatten_slices({T}.nested, partition=>'tid')",
    "flame_graph": "dctv.flame_graph({T}.nested)",
    "flame_graph of samples": "dctv.flame_graph((SELECT {trace}name AS stack, id FROM {T}.slices), weight=>'id')",
    "zoom": f"dctv.zoom({SPANS}, step=>50us)",
    "zoom_counter": f"dctv.zoom_counter({SPANS}, column=>'id', step=>50us)",
    "a union": "dctv.concurrency((SELECT {trace}_ts, _duration FROM {T}.slices UNION ALL SELECT {trace}_ts + 3us, "
    "_duration FROM {T}.slices))",
    "a common table": "(WITH long AS (SELECT * FROM {T}.slices WHERE _duration > 3us) SELECT * FROM "
    "dctv.concurrency(long))",
    "a join": "dctv.concurrency((SELECT {a}a._ts, b._duration FROM {T}.slices AS a JOIN {T}.slices AS b ON {same} "
    "a.id = b.id + 1))",
}
KERNEL: Mapping[str, str] = {
    "critical_path": "{T}.critical_path(8, start=>1us)",
    "critical_path of states": "dctv.critical_path({T}.scheduler.states, thread=>8, start=>0ns, duration=>1s)",
    "thread_states": "dctv.thread_states((SELECT {trace}_ts, 0 AS line, 'switch' AS kind, cpu, pid AS tid, 0 AS "
    "other_tid, 0 AS target_cpu, 'sleeping' AS code FROM {T}.scheduler.timeslices_p_cpu))",
    "cpu_utilisation_by": "{T}.scheduler.cpu_utilisation_by(1ms)",
    "thread_utilisation_by": "{T}.scheduler.thread_utilisation_by(period=>50us)",
    "process_utilisation_by": "{T}.scheduler.process_utilisation_by()",
    "block bandwidth": "{T}.block.bandwidth_by(10us)",
    "janky frames": "{T}.frames.janky(1ms)",
    "frames by process": "{T}.frames.by_process(1ms)",
}
OPERATORS: Mapping[str, str] = {
    "broadcast": f"(SELECT SPAN name FROM {SPANS} SPAN BROADCAST FROM {{T}}.quantize(90us))",
    "broadcast into": f"(SELECT SPAN x.name FROM {{T}}.quantize(90us) SPAN OUTER BROADCAST INTO {SPANS} AS x "
    "WHERE x.id > 5)",
    "broadcast of events": "(SELECT EVENT name, open FROM dctv.as_events({T}.slices, partition=>'tid') SPAN BROADCAST "
    "FROM dctv.concurrency({T}.slices))",
    "events of partitions": f"(SELECT EVENT e.name, x.id FROM {{T}}.events AS e SPAN JOIN {SPANS} AS x)",
    "groups": f"(SELECT SPAN COUNT(*) AS n, MAX(id) AS id FROM {SPANS} GROUP USING SPANS FROM {{T}}.quantize(90us))",
    "groups of all partitions": f"(SELECT SPAN COUNT(*) AS n FROM {SPANS} GROUP AND INTERSECT USING SPANS FROM "
    "{T}.quantize(90us))",
    "groups of all partitions in given spans": f"(SELECT SPAN COUNT(*) AS n FROM {SPANS} GROUP AND INTERSECT USING "
    "SPANS FROM dctv.generate_sequential_spans(0ns, 600us, 90us))",
    "partitions taken away": f"(SELECT SPAN COUNT(*) AS n FROM {SPANS} GROUP USING PARTITION (tid))",
}


def written(call: str, name: str) -> str:
    """Write a call for a mount; the tables of many traces tell these apart."""
    many = name == "runs"
    filled = call.replace(
        "{T}.nested",
        "(SELECT {trace}_ts, _duration, tid, name, id, CASE WHEN id > 2 THEN id // 3 END AS parent_id FROM {T}.slices)",
    )
    for place, text in (
        ("{trace}", "_trace, "),
        ("{part}", "'_trace', "),
        ("{a}", "a._trace, "),
        ("{same}", "a._trace = b._trace AND"),
    ):
        filled = filled.replace(place, text if many else "")
    return filled.replace("{T}", name)


COUNT = 3
TOLD = ("_trace", "build", "label", "day")
"""The columns that are the same in all rows of a trace."""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder: Path = tmp_path_factory.mktemp("functions")
    write_fleet(folder, COUNT)
    with Session(index=False, warn=False) as made:
        made.mount_traces(folder / "*.json", "runs", manifest=folder / "runs.csv")
        for number in range(COUNT):
            made.mount(folder / f"run{number:03}.json", f"t{number}")
        yield made


@pytest.fixture(scope="module")
def kernel() -> Iterator[Session]:
    folder = ROOT / "tests/data/stdlib"
    with Session(index=False, warn=False) as made:
        made.mount_traces(folder / "[fsdk]*.trace.txt", "runs")
        for number, (name,) in enumerate(made.sql("SELECT _trace FROM runs.traces").fetchall()):
            made.mount(name, f"t{number}")
        yield made


def check(session: Session, call: str) -> None:
    """Compare the rows of a call for many traces with those of the calls for each of them."""
    many = session.sql(f"SELECT * FROM {written(call, 'runs')}")
    expected: Counter[str] = Counter()
    traces = session.sql("SELECT * FROM runs.traces")
    for number, cells in enumerate(traces.fetchall()):
        told = {name: cell for name, cell in zip(traces.schema.names, cells, strict=True) if name in TOLD}
        alone = session.sql(f"SELECT * FROM {written(call, f't{number}')}")
        names = [one for one in many.schema.names if one not in TOLD or one in alone.schema.names]
        assert names == list(alone.schema.names)
        for row in alone.fetchall():
            whole = {**told, **dict(zip(names, row, strict=True))}
            expected[repr(tuple(whole[one] for one in many.schema.names))] += 1
    assert "_trace" in many.schema.names
    assert Counter(map(repr, many.fetchall())) == expected
    assert expected


@pytest.mark.parametrize("call", [*OWN.values(), *CALLS.values(), *OPERATORS.values()])
def test_functions_and_operators(session: Session, call: str) -> None:
    check(session, call)


@pytest.mark.parametrize("call", KERNEL.values())
def test_functions_of_kernel_events(kernel: Session, call: str) -> None:
    check(kernel, call)


def test_an_executor_of_the_program(session: Session) -> None:
    calls = [*OWN.values(), *CALLS.values(), *OPERATORS.values()][::8]
    queries = [f"SELECT * FROM {written(call, 'runs')} ORDER BY ALL" for call in calls]
    here = [session.sql(query).fetchall() for query in queries]
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        session.executor = pool
        try:
            assert [session.sql(query).fetchall() for query in queries] == here
        finally:
            session.executor = None
