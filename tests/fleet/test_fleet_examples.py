"""To list the tables of a fleet, a trace of each format is mounted once, and unmounted behind it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dctv.run.context import ExecutionContext
from dctv.run.fleet.members import FleetMember
from dctv.run.fleet.metadata import MountSettings
from dctv.run.fleet.metadata import mounted as mount
from dctv.session import Session
from tests.fleet.traces import write_fleet


def test_tables_are_listed_with_one_mount_of_each_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounted: list[str] = []
    unmounted: list[str] = []

    @contextmanager
    def counted(
        member: FleetMember, settings: MountSettings, context: ExecutionContext
    ) -> Iterator[tuple[ExecutionContext, object]]:
        mounted.append(member.name)
        with mount(member, settings, context) as found:
            yield found
        unmounted.append(member.name)

    monkeypatch.setattr("dctv.run.fleet.examples.mounted", counted)
    monkeypatch.chdir(tmp_path)
    write_fleet(tmp_path, 3)
    (tmp_path / "x.pfw").write_text('{"id":1,"name":"read","cat":"POSIX","pid":1,"tid":1,"ts":10,"dur":5,"ph":"X"}\n')
    with Session(index=False, warn=False) as session:
        session.mount_traces("*.[jp]*[nw]", "runs")
        names = {info.name for info in session.tables("runs")}
        assert len(names) > 50
        assert sorted(mounted) == ["run000.json", "x.pfw"]
        assert sorted(unmounted) == sorted(mounted)
        # A view alone mounts what it needs, too.
        assert session.sql("SELECT COUNT(DISTINCT _trace) AS n FROM runs.counters").fetchall() == [(0,)]
        assert session.sql("SHOW TABLES FROM runs").fetchall()
        assert sorted(unmounted) == sorted(mounted)
