"""Indexes of each format: they agree with the trace, get further dimensions, and hold for all files of the trace."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from dctv.catalog.files import find_traces
from dctv.index.build import IndexSettings
from dctv.index.request import IndexRequest
from dctv.session import Session
from tests.sqltest import BLOCK, ROOT

FURTHER = IndexRequest(IndexSettings(dimensions=("args.none",)))
RECORDING = ROOT / "tests" / "data" / "uftrace" / "switches"


def traces() -> dict[str, str]:
    """Return a trace of each format that can be indexed, by format; those that queries in text files mount."""
    found: dict[str, str] = {}
    with Session(index=False) as session:
        registry = session._context.registries.readers
    for file in sorted((ROOT / "tests" / "stdlib").rglob("*.test")):
        for block in BLOCK.finditer(file.read_text(encoding="utf-8")):
            if block["name"]:
                reader = find_traces([str(ROOT / block["path"])], registry, None).reader
                if reader.chunks is not None:
                    found.setdefault(reader.name, block["path"])
    return found


TRACES = traces()


@pytest.mark.parametrize("name", TRACES)
def test_an_index_agrees_with_the_trace(name: str, tmp_path: Path) -> None:
    path = ROOT / TRACES[name]
    with Session(index_dir=tmp_path) as session:
        events = session.index(path).events
        assert session.check_index(path) == []
        assert session.index(path, FURTHER).events == events
        assert session.check_index(path, FURTHER) == []


def test_a_pattern_may_match_the_file_that_means_a_folder() -> None:
    counts = []
    with Session(index=False) as session:
        for name, path in (("a", RECORDING), ("b", RECORDING / "info"), ("c", RECORDING / "inf*")):
            session.mount(path, name)
            counts += session.sql(f"SELECT COUNT(*) FROM {name}.raw_events.call").fetchall()
    assert counts[0] > (0,)
    assert counts == [counts[0]] * 3


def test_the_file_that_means_a_folder_is_indexed_with_all_others(tmp_path: Path) -> None:
    recording = tmp_path / "uftrace.data"
    shutil.copytree(RECORDING, recording)
    info = recording / "info"
    with Session(index=False) as plain, Session(index=True, index_dir=tmp_path / "indexes") as indexed:
        rows = []
        for session in (plain, indexed):
            session.mount(info, "t")
            ((longest,),) = session.sql("SELECT MAX(dur) FROM t.raw_events.call").fetchall()
            query = f"SELECT tid, dur FROM t.raw_events.call WHERE dur = {longest}ns ORDER BY ALL"
            rows.append(session.sql(query).fetchall())
        assert rows[0]
        assert rows[0] == rows[1]
    os.utime(next(recording.glob("*.dat")), (0, 0))
    with Session(index_dir=tmp_path / "indexes") as session:
        assert session.index(info).seconds is not None, "a changed file of the folder is seen"
