"""Slices that begin or end at one time lie in each other as before in what `dctv convert` writes of them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bounds import bounded
from tests.command_line import run
from tests.export.round_trip import answers

STEPS = st.lists(
    st.tuples(st.sampled_from("BBEEEXX"), st.sampled_from([1, 1, 2]), st.sampled_from([0, 0, 0, 1]), st.integers(0, 2))
)
TARGETS = ["pftrace", "json"]


def events(steps: list[tuple[str, int, int, int]]) -> list[dict[str, Any]]:
    """Return begins, ends and complete events, some of them at one time."""
    found: list[dict[str, Any]] = []
    now = 0
    for number, (phase, tid, gap, length) in enumerate(steps):
        now += gap
        event = {"ph": phase, "name": f"n{number}", "ts": now, "pid": 1, "tid": tid}
        found.append(event | {"dur": length} if phase == "X" else event)
    return found


def nesting(trace: Path) -> Counter[str]:
    return answers(trace, {"slices"})["slices"]


@bounded(40)
@given(STEPS, st.sampled_from(TARGETS))
def test_slices_lie_in_each_other_as_before(steps: list[tuple[str, int, int, int]], target: str) -> None:
    with TemporaryDirectory() as folder:
        trace, out = Path(folder, "in.json"), Path(folder, f"out.{target}")
        trace.write_text(json.dumps(events(steps)))
        assert run("convert", trace, out, "--no-index").code == 0
        assert nesting(out) == nesting(trace)


@pytest.mark.parametrize("target", TARGETS)
def test_a_slice_in_one_without_length(tmp_path: Path, target: str) -> None:
    trace, out = tmp_path / "in.json", tmp_path / f"out.{target}"
    trace.write_text(json.dumps(events([*((phase, 1, 0, 0) for phase in "BBEEBEB"), ("E", 1, 5, 0)])))
    assert run("convert", trace, out, "--no-index").code == 0
    found = [json.loads(row) for row in nesting(out)]
    assert {one["name"]: one["depth"] for one in found} == {"n0": 0, "n1": 1, "n4": 0, "n6": 0}
