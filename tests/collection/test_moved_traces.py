"""Views of real traces are the same wherever a trace lies in time, and have the keys that are declared."""

from __future__ import annotations

import pytest

from dctv.session import Session
from tests.collection.ftrace_lines import COLLECTION
from tests.declared_keys import duplicates
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
OTHERS = (
    "chrome-json/catapult/chromeos_system_trace.json",
    "chrome-json/catapult/instance_counters.json",
    "chrome-json/catapult/nestable_async.json",
    "chrome-json/tci/flow_various.json",
    "ctf/tracecompass/perf-taskset2",
    "perf/live/cpuclock.data",
    "perfetto/live/linux_sys_marks.pftrace",
    "perfetto/public/androidBasicMemory.pftrace",
    "perfetto/public/chrome.pftrace",
    "trace-cmd/lisa_sched_load.dat",
)
"""More traces whose tracks belong to threads and processes in other ways."""


@pytest.mark.parametrize("name", TRACES)
def test_views_of_a_trace_that_is_moved(name: str) -> None:
    assert not list(differences(COLLECTION / name))


@pytest.mark.parametrize("name", [*TRACES, *OTHERS])
def test_declared_keys(name: str) -> None:
    with Session(index=False) as session:
        session.mount(COLLECTION / name, "t")
        assert list(duplicates(session)) == []
