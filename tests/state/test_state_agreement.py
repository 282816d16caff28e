"""Kernel states of our own recordings agree with `scheduler.*`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.state.agreement import assert_agreement, assert_interrupts

DATA = Path(__file__).parents[1] / "data"
RECORDINGS = (
    "ftrace/live_marks_tgid.trace.txt",
    "ftrace/live_lost.trace_pipe.txt",
    "trace_dat/live_marks.dat",
    "perfetto/linux_sys_deflate.pftrace",
    "stdlib/waits.trace.txt",
    "stdlib/states.trace.txt",
    "stdlib/lttng_names.trace.txt",
)


@pytest.mark.parametrize("name", RECORDINGS)
def test_states_agree_with_the_scheduler_s_views(name: str) -> None:
    assert_agreement(DATA / name)


@pytest.mark.parametrize("name", ["trace_dat/live_marks.dat", "perfetto/linux_sys_deflate.pftrace"])
def test_cpus_have_the_status_of_interrupts_while_these_are_handled(name: str) -> None:
    assert assert_interrupts(DATA / name) > 20
