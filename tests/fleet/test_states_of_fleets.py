"""States and timelines of many traces are those of each, though plans of the first are used for the next ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dctv.catalog.stdlib import LibraryModule
from dctv.plan.nodes import Plan
from dctv.run import providers
from dctv.run.providers import Providers
from dctv.run.templates import Templates
from dctv.session import Session
from tests.house.tree import ROOT

TRACE = ROOT / "tests" / "data" / "ftrace" / "live_marks_tgid.trace.txt"
TABLES = {
    "state": "SELECT * EXCLUDE (_trace) FROM runs.state WHERE _trace = '{}' ORDER BY ALL",
    "timeline.rows": "SELECT * EXCLUDE (_trace) FROM runs.timeline.rows WHERE _trace = '{}' ORDER BY ALL",
}


@pytest.fixture
def traces(tmp_path: Path) -> list[Path]:
    """Return a trace, one of the same tables that begins later and ends earlier, and one without some tables."""
    text = TRACE.read_text()
    head = [line for line in text.splitlines(keepends=True) if line.startswith("#")]
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith("#")]
    later = [re.sub(r" 16(\d\d\.\d{6}):", r" 29\1:", line).replace("rec1.sh", "again.sh") for line in lines]
    few = [line for line in lines if "sched_waking" not in line and "tracing_mark_write" not in line]
    made = []
    for name, some in (("a", lines), ("b", later[: len(later) * 4 // 5]), ("c", few)):
        made.append(tmp_path / f"{name}.txt")
        made[-1].write_text("".join([*head, *some]))
    return made


@pytest.mark.parametrize("table", TABLES)
def test_each_trace_has_its_own(traces: list[Path], table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bound: list[tuple[str, ...]] = []
    bind = Providers._bound

    def noted(self: Providers, module: LibraryModule) -> Plan:
        bound.append(module.parts)
        return bind(self, module)

    alone = []
    for path in traces:
        with Session(index=False) as session:
            session.mount(path, "t")
            alone.append(session.sql(f"SELECT * FROM t.{table} ORDER BY ALL").fetchall())
    assert alone[0] != alone[1] != alone[2]
    monkeypatch.setattr(providers, "_plans", Templates(100))
    monkeypatch.setattr(Providers, "_bound", noted)
    with Session(index=False) as session:
        session.mount_traces(str(traces[0].parent / "*.txt"), "runs")
        assert [session.sql(TABLES[table].format(path)).fetchall() for path in traces] == alone
        # The first two have the same tables.
        assert len(bound) == 2 * len(set(bound))
        count = len(bound)
        session.sql(f"SELECT COUNT(*) FROM runs.{table}").fetchall()
        assert len(bound) == count
