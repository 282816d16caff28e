"""Bundled queries: for whom they are, and that they compare traces of every format they are for."""

from __future__ import annotations

from pathlib import Path

import pytest

import dctv
from dctv import readers
from dctv.comparison.bundled import EVERY, Metric, fitting, metric_of, metrics
from dctv.contracts.reader import Reader
from dctv.contracts.registry import scan
from dctv.errors import DctvWarning, UsageError

DATA = Path(__file__).parents[1] / "data"
TRACES = {
    "chrome-json": "stdlib/browser.json",
    "collapsed-stacks": "perf/cpuclock.collapsed.txt",
    "dftracer": "dftracer/loader/trace-9553b4e3b4b52371-fork.pfw.gz",
    "ftrace-text": "ftrace/live_marks.trace.txt.gz",
    "jaeger": "stdlib/requests.jaeger.json",
    "perf-data": "perf/cpuclock.data",
    "perfetto": "perfetto/linux_sys_deflate.pftrace",
    "trace-dat": "trace_dat/live_marks.dat",
    "uftrace": "uftrace/switches",
    "v8-profile": "v8/fib.cpuprofile",
}
PAIRS = [
    pytest.param(metric, trace, id=f"{metric.name}-{name}")
    for metric in metrics().values()
    for name, trace in TRACES.items()
    if metric.covers([name])
]


@pytest.mark.parametrize("metric", metrics().values(), ids=lambda metric: metric.name)
def test_metrics_have_descriptions_and_formats(metric: Metric) -> None:
    assert metric.doc.endswith(".")
    assert metric.formats
    assert set(metric.formats) - {EVERY} <= set(scan(readers, Reader))


def test_every_format_has_a_metric() -> None:
    for name in scan(readers, Reader):
        assert {one.name for one in fitting([name])} > {"events_by_name"}, name


@pytest.mark.filterwarnings(f"ignore::{DctvWarning.__module__}.{DctvWarning.__name__}")
@pytest.mark.parametrize(("metric", "trace"), PAIRS)
def test_a_trace_does_not_differ_from_itself(metric: Metric, trace: str) -> None:
    found = dctv.compare(DATA / trace, DATA / trace, metric=metric.name)
    assert all(one.difference == 0 and not one.note for one in found.rows if one.values != (None, None))
    assert set(metric.better) <= set(found.metrics)
    assert found.regressions(0) == []


@pytest.mark.filterwarnings(f"ignore::{DctvWarning.__module__}.{DctvWarning.__name__}")
def test_each_has_rows_for_some_trace() -> None:
    sources = {
        "block_bandwidth": "stdlib/disk.trace.txt",
        "io_bandwidth": TRACES["dftracer"],
        "latency_quantiles": TRACES["ftrace-text"],
        "samples_by_function": TRACES["perf-data"],
        "time_by_state": TRACES["ftrace-text"],
    }
    for name in metrics():
        trace = DATA / sources.get(name, TRACES["dftracer"])
        assert dctv.compare(trace, trace, metric=name).rows, name


def test_functions_have_the_sums_of_the_view() -> None:
    trace = DATA / TRACES["dftracer"]
    found = dctv.compare(trace, trace, metric="time_by_function")
    with dctv.Session() as session:
        session.mount(trace, "t")
        rows = session.sql("SELECT name, SUM(_duration), COUNT(*) FROM t.slices GROUP BY name").fetchall()
    sums = {(one.key["name"], one.metric.name): one.values[0] for one in found.rows}
    assert {(name, "total") for name, _, _ in rows} <= set(sums)
    for name, total, count in rows:
        assert (sums[name, "total"], sums[name, "calls"]) == (total, count)


def test_bandwidth_is_bytes_by_the_time_in_which_any_call_was_under_way(tmp_path: Path) -> None:
    lines = [
        ("read", 0, 10, 1000),
        ("read", 5, 10, 500),
        ("read", 100, 5, 1500),
        ("write", 0, 4, 800),
    ]
    trace = tmp_path / "io.pfw"
    events = [
        f'{{"id":{number},"name":"{name}","cat":"POSIX","pid":1,"tid":1,"ts":{ts},"dur":{dur},"ph":"X",'
        f'"args":{{"ret":{size}}}}}'
        for number, (name, ts, dur, size) in enumerate(lines)
    ]
    trace.write_text("[\n" + "\n".join(events) + "\n]\n")
    found = {
        (one.key["direction"], one.metric.name): one.values[0]
        for one in dctv.compare(trace, trace, metric="io_bandwidth").rows
    }
    assert (found["read", "bytes"], found["read", "busy"]) == (3000, 20_000)
    assert found["read", "bandwidth"] == pytest.approx(150)
    assert found["write", "bandwidth"] == pytest.approx(200)


def test_calls_of_no_length_move_bytes(tmp_path: Path) -> None:
    """In traces in microseconds many calls take none."""
    traces = {"a": [("read", 2), ("read", 1), ("write", 0)], "b": [("read", 2), ("read", 0), ("write", 0)]}
    for trace, calls in traces.items():
        events = [
            f'{{"id":{ts},"name":"{name}","cat":"POSIX","pid":1,"tid":1,"ts":{ts * 10},"dur":{dur},"ph":"X",'
            '"args":{"ret":4096}}'
            for ts, (name, dur) in enumerate(calls)
        ]
        (tmp_path / f"{trace}.pfw").write_text("[\n" + "\n".join(events) + "\n]\n")
    rows = dctv.compare(tmp_path / "a.pfw", tmp_path / "b.pfw", metric="io_bandwidth").rows
    assert {(one.key["direction"], one.metric.name): list(one.values) for one in rows} == {
        ("read", "bytes"): [8192, 8192],
        ("read", "busy"): [3000, 2000],
        ("read", "bandwidth"): [pytest.approx(8192 / 3), pytest.approx(8192 / 2)],
        ("write", "bytes"): [4096, 4096],
        ("write", "busy"): [0, 0],
        ("write", "bandwidth"): [None, None],
    }


def test_names_are_checked() -> None:
    with pytest.raises(UsageError, match="found no metric `time_by_stat`") as error:
        metric_of("time_by_stat")
    assert error.value.hint == "did you mean `time_by_state`?"
