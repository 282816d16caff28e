"""The number of threads and the peak memory are right on systems that count them differently, such as macOS."""

from __future__ import annotations

import os
import resource
import sys

import pytest

from dctv import Session
from dctv.cli.indexing import indexer
from dctv.processors import usable_processors
from dctv.run.explaining import peak_memory


def test_without_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    assert usable_processors() == os.cpu_count()
    with Session() as session:
        assert session.sql("SELECT 1").fetchall() == [(1,)]
    assert indexer(None, None, lambda _label, _done, _total: None).threads == os.cpu_count()


def test_with_affinity() -> None:
    assert usable_processors() == len(os.sched_getaffinity(0))


@pytest.mark.parametrize(("system", "unit"), [("linux", 1024), ("darwin", 1)])
def test_peak_memory_is_in_bytes(system: str, unit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", system)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    assert before <= peak_memory() < before * 1.5
