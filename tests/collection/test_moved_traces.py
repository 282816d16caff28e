"""Views of real traces are the same wherever a trace lies in time: a few small traces of each format."""

from __future__ import annotations

import pytest

from tests.collection.ftrace_lines import COLLECTION
from tests.moved_views import differences

TRACES = (
    "chrome-json/bazel/local-jobs-4.json.gz",
    "ctf/tracecompass/bandwidth_issue",
    "dftracer/samples/v4.3_real/fork",
    "ftrace-text/tci_trace-android-sched-irq-syscall.txt",
    "perf/live/tracepoints.data",
    "perfetto/public/androidGpu.pftrace",
    "uftrace/small/abc-v0.19",
)


@pytest.mark.parametrize("name", TRACES)
def test_views_of_a_trace_that_is_moved(name: str) -> None:
    assert not list(differences(COLLECTION / name))
