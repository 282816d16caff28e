"""The engine reads files of a column store where they lie, and is handed the rows where it does not see them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dctv.engines.spark.connection import Connection
from dctv.engines.spark.job import SparkJob
from dctv.session import Session
from tests.engines.sail.blocks import on_engine
from tests.sqltest import ROOT

SQL = "SELECT tid, MAX(_ts) AS m, COUNT(*) AS n FROM t.raw_events.read WHERE count > 10B GROUP BY 1 ORDER BY 1"


@pytest.mark.parametrize("seen", [True, False])
def test_rows_of_an_indexed_trace(
    spark: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, seen: bool
) -> None:
    read: list[Path] = []
    usual = SparkJob.file

    def noted(self: SparkJob, path: Path, columns: Any) -> Any:
        read.append(path)
        return usual(self, path, columns)

    monkeypatch.setattr(SparkJob, "file", noted)
    if not seen:
        monkeypatch.setattr(Connection, "sees", lambda *_: False)
    with Session(index=True, index_dir=tmp_path) as session:
        session.mount(ROOT / "tests/data/dftracer/loader", "t")
        expected = session.sql(SQL).fetchall()
        with on_engine(session, spark):
            assert session.sql(SQL).fetchall() == expected
    assert expected
    assert bool(read) == seen
    assert not list(tmp_path.rglob("dctv-*.parquet"))
