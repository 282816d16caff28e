"""Views of a trace are the same wherever it lies in time: bundled traces with most of the events that views read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.moved_views import differences

DATA = Path(__file__).parents[1] / "data"
FEW = ("stdlib/kernel.trace.txt",)
OTHERS = (
    "stdlib/browser.json",
    "stdlib/disk.trace.txt",
    "stdlib/frames.trace.txt",
    "stdlib/memory.pftrace",
    "stdlib/speeds.trace.txt",
    "trace_dat/live_marks.dat",
)
"""Those that are left to CI, which moves real traces of the other formats as well."""


@pytest.mark.parametrize("name", [*FEW, *(pytest.param(name, marks=pytest.mark.ci) for name in OTHERS)])
def test_views_of_a_trace_that_is_moved(name: str) -> None:
    assert not list(differences(DATA / name))
