"""Views of our own recordings agree with each other; the one with processes, switches, memory and marks has them all."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cross_checks import faults

from dctv.session import Session

DATA = Path(__file__).parent.parent / "data"
TRACES = (
    "ftrace/live_processes.trace.txt.gz",
    "ftrace/live_marks_tgid.trace.txt",
    "trace_dat/live_marks.dat",
    "perfetto/linux_sys_deflate.pftrace",
)


@pytest.mark.parametrize("name", TRACES)
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
