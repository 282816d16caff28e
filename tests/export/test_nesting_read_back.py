"""Slices that begin or end at one time lie in each other as before when `dctv convert` writes them for Perfetto."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.bounds import bounded
from tests.command_line import run
from tests.export.round_trip import answers

THREADS = st.sampled_from([1, 1, 2])
STEPS = st.lists(st.tuples(st.sampled_from("BBEEEX"), THREADS, st.sampled_from([0, 0, 0, 1]), st.integers(0, 2)))


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
@given(STEPS)
def test_slices_lie_in_each_other_as_before(steps: list[tuple[str, int, int, int]]) -> None:
    with TemporaryDirectory() as folder:
        trace, out = Path(folder, "in.json"), Path(folder, "out.pftrace")
        trace.write_text(json.dumps(events(steps)))
        assert run("convert", trace, out, "--no-index").code == 0
        assert nesting(out) == nesting(trace)


def test_a_slice_in_one_without_length(tmp_path: Path) -> None:
    trace, out = tmp_path / "in.json", tmp_path / "out.pftrace"
    trace.write_text(json.dumps(events([(phase, 1, 0, 0) for phase in "BBEEBE"])))
    assert run("convert", trace, out, "--no-index").code == 0
    found = [json.loads(row) for row in nesting(out)]
    assert {one["name"]: one["depth"] for one in found} == {"n0": 0, "n1": 1, "n4": 0}
