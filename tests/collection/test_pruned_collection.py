"""Pruning loses no rows of real traces: random queries on whole traces, chunks and column stores."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bounds import bounded
from tests.session.pruned_shapes import Asked, asked, check, filters, questions

CHUNKS = 20
FEW = 5
"""Packed files that have fewer chunks than this, since there is no place to begin within, are asked unpacked."""
DIMENSIONS = ("args.size", "args.ret", "args.count", "args.offset", "args.step", "args.epoch")
TRACES = [
    "dftracer/dlio",
    "dftracer/live/aggregated_v2.2.0",
    "dftracer/live/function_v1.0.15dev",
    "dftracer/live/function_v1.0.9",
    "dftracer/live/function_v2.1.1",
    "dftracer/live/function_v2.2.0",
    "dftracer/live/functiongz_v1.0.15dev",
    "dftracer/live/functiongz_v1.0.9",
    "dftracer/live/functiongz_v2.1.1",
    "dftracer/live/functiongz_v2.2.0",
    "dftracer/live/preload_v1.0.15dev",
    "dftracer/live/preload_v1.0.9",
    "dftracer/live/preload_v2.0.3",
    "dftracer/live/preload_v2.1.1",
    "dftracer/live/preload_v2.2.0",
    "dftracer/live/preloadgz_v2.0.3",
    "dftracer/live/quotes_v2.2.0",
    "dftracer/samples/v0_dlp/test.pfw",
    "dftracer/samples/v0_dlp/trace-0-of-2.pfw",
    "dftracer/samples/v1_cm1/cm1-DEFAULT-3537780-preload.pfw.gz",
    "dftracer/samples/v1_dfanalyzer/test.pfw",
    "dftracer/samples/v1_dfanalyzer/test-trace.pfw.gz",
    "dftracer/samples/v1_dist/test-trace-dist-0.pfw.gz",
    "dftracer/samples/v2.0.0",
    "dftracer/samples/v2.0.3",
    "dftracer/samples/v2.1.0",
    "dftracer/samples/v4.3_real/fork",
    "dftracer/samples/v4.3_real/plain.pfw",
    "dftracer/samples/v4.3_real/preload",
    "dftracer/samples/v4.3_real/threads-invalidjson.pfw.gz",
    "dftracer/samples/v4.3_real/time_ns.pfw.gz",
    "ftrace-text/catapult_counter_tracks.html",
    "ftrace-text/lisa_trace.txt",
    "ftrace-text/live_marks.trace.txt",
    "ftrace-text/live_marks_tgid.trace.txt",
    "ftrace-text/perfetto_bad_print.systrace",
    "ftrace-text/tci_trace-android-sched-irq-syscall.txt",
    "ftrace-text/trappy_surfaceflinger_systrace.html",
    "ftrace-text/trappy_trace_failed_to_parse.txt",
    "ftrace-text/trappy_trace_idle_unsorted.txt",
]


def collection() -> Path:
    folder = os.environ.get("DCTV_TRACES")
    if folder is None:
        pytest.fail("the environment variable DCTV_TRACES does not say where the trace collection is")
    return Path(folder)


def unpacked(trace: Path, folder: Path) -> Path:
    """Copy a trace so that it can be cut anywhere."""
    for path in [trace] if trace.is_file() else trace.rglob("*.pfw*"):
        data = path.read_bytes()
        target = folder / (path.name if trace.is_file() else path.relative_to(trace))
        target.parent.mkdir(parents=True, exist_ok=True)
        packed = path.suffix == ".gz"
        target.with_suffix("" if packed else path.suffix).write_bytes(
            gzip.decompress(data) if packed and data else data
        )
    return folder


@pytest.fixture(scope="module", params=TRACES)
def trace(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    path = collection() / request.param
    folder = tmp_path_factory.mktemp("trace")
    if any(one.suffix == ".gz" for one in ([path] if path.is_file() else path.rglob("*"))):
        with asked(path, folder / "packed", DIMENSIONS, CHUNKS) as found:
            enough = found.chunks >= FEW
        if not enough:
            path = unpacked(path, folder / "unpacked")
    with asked(path, folder / "index", DIMENSIONS, CHUNKS) as found:
        yield found
    if found.chunks >= FEW:
        assert found.out["dictionary"], "nothing was left out, so that nothing is shown"


@bounded(10)
@given(data=st.data())
def test_pruning_loses_no_rows(trace: Asked, data: st.DataObject) -> None:
    sql = data.draw(st.sampled_from([True, True, True, False]))
    check(trace, data.draw(questions(trace) if sql else filters(trace)), sql=sql)
