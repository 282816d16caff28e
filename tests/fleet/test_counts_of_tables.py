"""Rows of every table of a fleet are counted from what is known of indexed traces, or by these; never as none."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from dctv.errors import DctvError
from dctv.session import Session
from tests.bounds import EXPLORE
from tests.sqltest import ROOT

DATA = ROOT / "tests" / "data" / "stdlib"
FEW = 1_000_000
STEP = 1 if EXPLORE else 9
"""Every so many tables are counted: a view takes a second in four traces."""


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    (tmp_path / "runs").mkdir()
    for number, name in enumerate(("calls.pfw", "waits.trace.txt", "marks.trace.txt", "waits.trace.txt")):
        shutil.copy(DATA / name, tmp_path / "runs" / f"{number}.{name}")
    with Session(index=True, index_dir=tmp_path / "indexes", warn=False) as made:
        made.mount_traces(tmp_path / "runs" / "*", "runs")
        yield made


def names(session: Session) -> list[str]:
    """Return the names of tables that all traces have in one form."""
    found = []
    for name, kind, _ in session.sql("SHOW TABLES").fetchall()[::STEP]:
        if name.startswith("runs.") and name != "runs.traces" and kind in {"event", "span", "regular"}:
            try:
                session.sql(f"DESCRIBE {name}").fetchall()
            except DctvError:
                continue
            found.append(name)
    return [*found, "runs.slices", "runs.threads"]


def test_counts_of_every_table(session: Session) -> None:
    tables = list(dict.fromkeys(names(session)))
    branches = [f"(SELECT '{n}' AS t, _trace AS r FROM {n} LIMIT {FEW})" for n in tables]
    rows = session.sql(" UNION ALL ".join(f"SELECT t, r FROM {one}" for one in branches)).fetchall()
    counts = Counter(rows)
    assert len({name for name, _ in counts}) > 4
    for name in tables:
        of_traces = session.sql(f"SELECT _trace, COUNT(*) AS n FROM {name} GROUP BY 1").fetchall()
        assert {(name, trace): n for trace, n in of_traces} == {key: n for key, n in counts.items() if key[0] == name}
        ((n,),) = session.sql(f"SELECT COUNT(*) AS n FROM {name}").fetchall()
        assert n == sum(n for _, n in of_traces), name
