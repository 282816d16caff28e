"""Views of our own recordings agree with each other; one recording has processes, switches, memory and marks."""

from __future__ import annotations

from pathlib import Path

import pytest

from dctv.session import Session
from tests.cross_checks import faults

DATA = Path(__file__).parent.parent / "data"
TRACES = (
    "ftrace/live_processes.trace.txt.gz",
    "ftrace/live_marks_tgid.trace.txt",
    "trace_dat/live_marks.dat",
    "perfetto/linux_sys_deflate.pftrace",
)


LONG = ("trace_dat/live_marks.dat", "ftrace/live_marks_tgid.trace.txt")
"""Those that are left to CI: the first has everything, as is held below, and the last is of another format."""


@pytest.mark.parametrize("name", [pytest.param(one, marks=pytest.mark.ci if one in LONG else ()) for one in TRACES])
def test_views_agree(name: str) -> None:
    with Session() as session:
        session.mount(str(DATA / name), "t")
        assert not list(faults(session))


def test_a_recording_has_everything() -> None:
    with Session() as session:
        session.mount(str(DATA / TRACES[0]), "t")
        for sql in (
            "SELECT * FROM t.processes WHERE parent IS NOT NULL AND start_ts < end_ts",
            "SELECT * FROM t.scheduler.cpu_time_by_process WHERE threads > 3",
            "SELECT * FROM t.memory.rss_changes WHERE tid != pid",
            "SELECT * FROM t.slices WHERE name = 'work 1' AND pid != tid",
            "SELECT * FROM t.counters WHERE name = 'blocks'",
            "SELECT * FROM t.irq.soft_p_cpu WHERE action = 'TIMER'",
        ):
            assert session.sql(sql).fetchall(), sql
