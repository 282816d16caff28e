"""The number of threads is told on systems that do not limit processes to processors, such as macOS."""

from __future__ import annotations

import os

import pytest

from dctv import Session
from dctv.cli.indexing import indexer
from dctv.processors import usable_processors


def test_without_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    assert usable_processors() == os.cpu_count()
    with Session() as session:
        assert session.sql("SELECT 1").fetchall() == [(1,)]
    assert indexer(None, None, lambda _label, _done, _total: None).threads == os.cpu_count()


def test_with_affinity() -> None:
    assert usable_processors() == len(os.sched_getaffinity(0))
