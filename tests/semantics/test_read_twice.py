"""Each table of a trace can be read twice in one query, however its rows are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from dctv.index.build import IndexSettings
from dctv.index.request import IndexRequest
from dctv.session import Session
from tests.bounds import LEFT_TO_CI
from tests.sqltest import ROOT

DATA = ROOT / "tests" / "data"
FTRACE, PFW, UFTRACE = "ftrace/live_marks_tgid.trace.txt", "stdlib/calls.pfw", "uftrace/switches"


@pytest.mark.parametrize(
    ("name", "kept"),
    [(FTRACE, "in memory"), (PFW, "in memory"), (PFW, "chunks"), (PFW, "store"), (UFTRACE, "store")],
)
def test_twice_as_many_rows(name: str, kept: str, tmp_path: Path) -> None:
    trace = DATA / name
    with Session(index=False, index_dir=tmp_path) as session:
        if kept != "in memory":
            session.index(trace, IndexRequest(IndexSettings(store=kept == "store")))
    found = {}
    with Session(index=False if kept == "in memory" else "auto", index_dir=tmp_path) as session:
        session.mount(trace, "t")
        # Views read tables, in the same ways wherever the rows of these are kept.
        left_out = {"function", "view"} if LEFT_TO_CI or name != FTRACE else {"function"}
        tables = [name for name, kind, _ in session.sql("SHOW TABLES FROM t").fetchall() if kind not in left_out]
        for table in tables:
            once = session.sql(f"SELECT * FROM {table}").fetchall()
            twice = session.sql(f"SELECT * FROM {table} UNION ALL SELECT * FROM {table}").fetchall()
            found[table] = sorted(map(repr, twice)) == sorted(map(repr, 2 * once))
    assert len(found) > (10 if "view" in left_out else 20)
    assert [table for table, same in found.items() if not same] == []
