"""Calls that begin when a call of their own thread and one of another end: the other thread changes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.session import Session
from tests.bounds import bounded
from tests.calls.shown_batches import shown_rows
from tests.calls.test_call_writers import chrome
from tests.calls.trees import Call, filtered, filters, traces
from tests.command_line import run

STEPS = [
    (0, 1, "main"),
    (1, 1, "p"),
    (10, 2, "q"),
    (10, 1, "c"),
    (10, 1, None),
    (10, 1, None),
    (20, 1, None),
    (20, 2, None),
]
"""The call `c` is in `p`, which ends at the time at which another thread begins `q`."""

SHOWN = [("main", None, 0), ("p", "main", 1), ("q", None, 0), ("c", "p", 2)]
EQUAL = traces(60, 30, (0, 0, 0, 0, 1))


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    phases = {True: "B", False: "E"}
    events = [
        {"ph": phases[name is not None], "name": name or "", "ts": ts, "pid": 1, "tid": tid} for ts, tid, name in STEPS
    ]
    path = tmp_path_factory.mktemp("equal") / "equal.json"
    path.write_text(json.dumps(events))
    return path


def parents(path: Path, arguments: str, folder: Path | None = None) -> list[tuple[str, str | None, int]]:
    """Return names, names of parents, and depths of what filters show, with an index if there is a folder for it."""
    with Session(index=folder is not None, index_dir=folder) as session:
        session.mount(str(path), "t")
        shown = f"dctv.filter_calls(t.slices{arguments})"
        rows = session.sql(f"SELECT id, parent_id, depth, name FROM {shown} ORDER BY id").fetchall()
    names = {number: name for number, _, _, name in rows}
    return [(name, names.get(parent), depth) for _, parent, depth, name in rows]


@pytest.mark.parametrize(
    "arguments", ["", ", range=>[0ns,1s]", ", triggers=>['zz@trace_on']", ", triggers=>['zz@finish']"]
)
def test_filters_that_leave_out_nothing_change_nothing(trace: Path, tmp_path: Path, arguments: str) -> None:
    assert parents(trace, arguments) == SHOWN
    assert run("index", trace, "--index-dir", tmp_path).code == 0
    assert parents(trace, arguments, tmp_path) == SHOWN


def test_replay_shows_the_call_in_its_caller(trace: Path) -> None:
    lines = run("replay", trace, "--no-index", "-f", "none").out.splitlines()
    assert lines == [
        "main() {",
        "  p() {",
        "q() {",
        "    c();",
        "  } /* p */",
        "} /* q */",
        "} /* main */",
    ]


def test_chrome_records_have_the_same_parents(trace: Path, tmp_path: Path) -> None:
    dumped = tmp_path / "dumped.json"
    assert run("dump", "--chrome", trace, "--no-index", "-o", dumped).code == 0
    assert parents(dumped, "") == SHOWN


@bounded(300)
@given(EQUAL, st.integers(0, 40), st.sampled_from([{}, {"start": 0, "stop": 1000}]))
def test_all_filters_that_leave_out_nothing_agree(calls: list[Call], cut: int, times: dict[str, int]) -> None:
    words = () if times else ("-T z@trace_on",)
    plain, switched = filtered(calls, filters()), filtered(calls, filters(*words, **times), cut)
    assert sorted(row[:5] for row in switched) == sorted(row[:5] for row in plain)


@bounded(300)
@given(EQUAL, st.integers(0, 40))
def test_begins_are_within_their_callers(calls: list[Call], cut: int) -> None:
    rows = shown_rows(calls, filters())
    stacks: dict[int, list[str]] = {}
    found = []
    for event in chrome(rows, cut):
        stack = stacks.setdefault(event.get("tid", event["pid"]), [])
        if event["ph"] == "B":
            found.append((event["name"], stack[-1] if stack else None, len(stack)))
            stack.append(event["name"])
        else:
            assert stack.pop() == event["name"]
    assert found == [(call.name, call.parent and call.parent.name, depth(call)) for call in calls]


def depth(call: Call) -> int:
    return depth(call.parent) + 1 if call.parent else 0
