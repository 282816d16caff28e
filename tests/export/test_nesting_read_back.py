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

STEPS = st.lists(st.tuples(st.sampled_from("BBEEEXX"), st.sampled_from([1, 1, 2]), st.sampled_from([0, 0, 0, 1])))


def events(steps: list[tuple[str, int, int]]) -> list[dict[str, Any]]:
    """Return begins, ends and complete events without length, some of them at one time: these never overlap."""
    found: list[dict[str, Any]] = []
    now = 0
    for number, (phase, tid, gap) in enumerate(steps):
        now += gap
        event = {"ph": phase, "name": f"n{number}", "ts": now, "pid": 1, "tid": tid}
        found.append(event | {"dur": 0} if phase == "X" else event)
    return found


def nesting(trace: Path) -> Counter[str]:
    return answers(trace, {"slices"})["slices"]


@bounded(40)
@given(STEPS)
def test_slices_lie_in_each_other_as_before(steps: list[tuple[str, int, int]]) -> None:
    with TemporaryDirectory() as folder:
        trace, out = Path(folder, "in.json"), Path(folder, "out.pftrace")
        trace.write_text(json.dumps(events(steps)))
        assert run("convert", trace, out, "--no-index").code == 0
        assert nesting(out) == nesting(trace)


@pytest.mark.parametrize("target", ["pftrace", "json"])
def test_slices_without_length_at_one_time(tmp_path: Path, target: str) -> None:
    trace, out = tmp_path / "in.json", tmp_path / f"out.{target}"
    trace.write_text(json.dumps(events([(phase, 1, 0) for phase in "BBEEBE"])))
    assert run("convert", trace, out, "--no-index").code == 0
    found = [json.loads(row) for row in nesting(out)]
    assert {one["name"]: one["depth"] for one in found} == {"n0": 0, "n1": 1, "n4": 0}


def test_a_slice_without_length_at_the_end_of_another(tmp_path: Path) -> None:
    trace = tmp_path / "in.json"
    pairs = events([("B", 1, 0), ("B", 1, 5), ("E", 1, 0), ("E", 1, 0), ("B", 1, 0), ("E", 1, 0)])
    for others in ([], events([("X", 2, 0)])):
        trace.write_text(json.dumps([*pairs, *others]))
        depths = [json.loads(row)["depth"] for row in nesting(trace) if json.loads(row)["tid"] == 1]
        assert sorted(depths) == [0, 0, 1]
