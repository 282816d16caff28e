"""Kernel states of the collection's traces agree with `scheduler.*`, in every format."""

from __future__ import annotations

import pytest

from tests.collection.ftrace_lines import COLLECTION
from tests.state.agreement import assert_agreement, assert_interrupts

TRACES = (
    "ftrace-text/lisa_trace.txt",
    "ftrace-text/live_marks.trace.txt",
    "ftrace-text/live_marks_tgid.trace.txt",
    "ftrace-text/live_overrun.trace.txt",
    "ftrace-text/live_lost.trace_pipe.txt.gz",
    "ftrace-text/catapult_android_systrace.html",
    "ftrace-text/trappy_surfaceflinger_systrace.html",
    "ftrace-text/tci_trace-android-sched.txt",
    "ftrace-text/tci_trace-android-sched-irq.txt",
    "ftrace-text/tci_trace-android-sched-irq-syscall.txt",
    "ftrace-text/tci_trace-critical-path.txt",
    "ftrace-text/perfetto_sched_blocked_systrace.systrace",
    "trace-cmd/lisa_sched_load.dat",
    "trace-cmd/live_marks.dat",
    "trace-cmd/live_marks_tgid.dat",
    "trace-cmd/live_overrun.dat",
    "perfetto/public/test_trace.perfetto-trace",
    "perfetto/live/linux_sys_marks.pftrace",
    "perfetto/live/linux_sys_deflate.pftrace",
    "ctf/babeltrace/succeed/lttng-tracefile-rotation/kernel",
    "ctf/tracecompass/perf-taskset2",
    "perf/live/tracepoints.data",
)


@pytest.mark.parametrize("name", TRACES)
def test_states_agree_with_the_scheduler_s_views(name: str) -> None:
    assert_agreement(COLLECTION / name)


@pytest.mark.parametrize(
    "name",
    ["ftrace-text/live_overrun.trace.txt", "trace-cmd/live_overrun.dat", "ftrace-text/live_lost.trace_pipe.txt.gz"],
)
def test_cpus_have_the_status_of_interrupts_while_these_are_handled(name: str) -> None:
    assert assert_interrupts(COLLECTION / name) > 50
