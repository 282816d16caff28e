"""Trees and records of random calls with random filters: each has the calls that the others have."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dctv import _kernels
from dctv.calls.rules import CallFilters
from tests.bounds import bounded
from tests.calls.shown_batches import batches, shown_rows
from tests.calls.test_filter_kernel import some_filters
from tests.calls.trees import Call, filters, traces

Rows = list[dict[str, Any]]
CUT = st.integers(0, 40)
SWITCHES = st.lists(
    st.builds("-T {}@{}".format, st.sampled_from("abc"), st.sampled_from(["trace_on", "trace_off", "sample=2"])),
    max_size=3,
).map(lambda words: filters(*words))
"""Filters by which only the begin or only the end of a call may be shown."""


def written(writer: Any, rows: Rows, cut: int) -> str:
    return b"".join([*(writer.push(one) for one in batches(rows, cut)), writer.finish()]).decode()


def chrome(rows: Rows, cut: int) -> list[dict[str, Any]]:
    form = SimpleNamespace(chrome=True, structured=False, args=True, start=0)
    found = json.loads(f"[{written(_kernels.Dump(form), rows, cut)}]")
    assert isinstance(found, list)
    return found


def raw(rows: Rows, cut: int) -> list[str]:
    form = SimpleNamespace(chrome=False, structured=False, args=True, start=0)
    ordered = sorted(rows, key=lambda row: (row["tid"], row["_ts"], row["id"]))
    return written(_kernels.Dump(form), ordered, cut).splitlines()


def replayed(rows: Rows, cut: int) -> list[str]:
    looks = {"colored": False, "offset": 0, "merge": True, "rules": [], "match": "regex"}
    times = {"start": 0, "first": 0}
    style = SimpleNamespace(fields=[], args=True, comments=True, flat=True, task_newline=False, **times, **looks)
    return written(_kernels.Replay(style), rows, cut).splitlines()


@dataclass
class Sum:
    calls: int = 0
    total: int = 0
    own: int = 0


def added(rows: Rows, cut: int, function: str | None = None) -> tuple[dict[tuple[str, ...], Sum], list[Any]]:
    tree = _kernels.CallTree(SimpleNamespace(function=function, sample_times=[3], sessions=[]))
    for one in batches(rows, cut):
        tree.push(one)
    nodes, ways, _ = tree.finish()
    paths: list[tuple[str, ...]] = []
    found = {}
    for node in nodes:
        path = () if node.above is None else (*paths[node.above], node.name or "")
        paths.append(path)
        found[path] = Sum(node.calls, node.total, node.own)
    return found, ways


def expected(rows: Rows, function: str | None = None) -> tuple[dict[tuple[str, ...], Sum], int]:
    """Walk from each shown call to those above it."""
    by_id = {row["id"]: row for row in rows}
    sums: dict[tuple[str, ...], Sum] = {}
    ways = 0
    for row in rows:
        path = [row["name"]]
        above = row["call"]
        while above is not None:
            path.insert(0, by_id[above]["name"])
            above = by_id[above]["call"]
        if function is not None:
            if function not in path:
                continue
            path = path[path.index(function) + 1 :]
            ways += not path
        within = sum(one["dur"] or 0 for one in rows if one["call"] == row["id"])
        one = sums.setdefault(tuple(path), Sum())
        one.calls += 1
        if row["dur"] is not None:
            one.total += row["dur"]
            one.own += row["dur"] - within
    return sums, ways


@bounded(300)
@given(traces(), st.one_of(some_filters(), SWITCHES), CUT)
def test_tree_matches_the_shown_calls(calls: list[Call], chosen: CallFilters, cut: int) -> None:
    rows = shown_rows(calls, chosen)
    found, _ = added(rows, cut)
    assert {path: one for path, one in found.items() if path} == expected(rows)[0]


@bounded(200)
@given(traces(), some_filters(), CUT, st.sampled_from("abc"))
def test_tree_of_a_function_has_what_its_outermost_calls_made(
    calls: list[Call], chosen: CallFilters, cut: int, function: str
) -> None:
    rows = shown_rows(calls, chosen)
    found, ways = added(rows, cut, function)
    sums, hits = expected(rows, function)
    assert found == sums
    assert sum(way.hits for way in ways) == hits
    assert sum(way.time for way in ways) == sums.get((), Sum()).total


@bounded(300)
@given(traces(), some_filters(), CUT)
def test_all_writers_have_the_same_calls(calls: list[Call], chosen: CallFilters, cut: int) -> None:
    rows = shown_rows(calls, chosen)
    shown = Counter((row["tid"], row["name"]) for row in rows)
    begun = (
        Counter((event.get("tid", event["pid"]), event["name"]) for event in chrome(rows, cut) if event["ph"] == "B")
        if rows
        else {}
    )
    assert {(tid, name): count for (tid, name), count in begun.items()} == dict(shown)
    sums, _ = added(rows, cut)
    by_name: Counter[str] = Counter()
    for path, one in sums.items():
        if path:
            by_name[path[-1]] += one.calls
    assert by_name == Counter(row["name"] for row in rows)


@bounded(300)
@given(traces(), st.one_of(some_filters(), SWITCHES), CUT)
def test_records_match_replay(calls: list[Call], chosen: CallFilters, cut: int) -> None:
    rows = shown_rows(calls, chosen)
    flat = re.findall(r"\] (==>|<==) (\d+)/\d+: ip \((\w+)\), time \((\d+)", "\n".join(replayed(rows, cut)))
    of_replay = Counter((word == "==>", int(tid), name, int(time)) for word, tid, name, time in flat)
    lines = re.findall(r"0\.(\d{9}) +(\d+): \[(entry|exit )\] (\w+)\(0\)", "\n".join(raw(rows, cut)))
    assert Counter((word == "entry", int(tid), name, int(time)) for time, tid, word, name in lines) == of_replay


@bounded(300)
@given(traces(), st.one_of(some_filters(), SWITCHES), CUT)
def test_begins_and_ends_nest_to_the_same_slices(calls: list[Call], chosen: CallFilters, cut: int) -> None:
    rows = shown_rows(calls, chosen)
    stacks: dict[int, list[tuple[int, str]]] = {}
    slices: Counter[tuple[int, int, int, str]] = Counter()
    last = 0
    for event in chrome(rows, cut) if rows else ():
        time = round(event["ts"] * 1000)
        tid = event.get("tid", event["pid"])
        assert time >= last
        last = time
        if event["ph"] == "B":
            stacks.setdefault(tid, []).append((time, event["name"]))
        else:
            start, name = stacks[tid].pop()
            assert name == event["name"]
            slices[tid, start, time - start, name] += 1
    ended = [row for row in rows if row["dur"] is not None]
    assert slices == Counter((row["tid"], row["_ts"], row["dur"], row["name"]) for row in ended)
    assert sum(map(len, stacks.values())) == len(rows) - len(ended)


@bounded(300)
@given(traces(), st.sets(st.integers(0, 39)), CUT)
def test_an_end_closes_the_calls_in_it_that_never_end(calls: list[Call], lost: set[int], cut: int) -> None:
    for call in calls:
        call.end = None if call.id - 1 in lost else call.end
    stacks: dict[int, list[tuple[int, str]]] = {}
    found = []
    for event in chrome(shown_rows(calls, filters()), cut):
        time, stack = round(event["ts"] * 1000), stacks.setdefault(event.get("tid", event["pid"]), [])
        if event["ph"] == "B":
            stack.append((time, event["name"]))
        else:
            start, name = stack.pop()
            found.append((start, time, name))
    ends = [(call.ts, end_of(call), call.name) for call in calls]
    assert sorted(found) == sorted(one for one in ends if one[1] is not None)


def end_of(call: Call | None) -> int | None:
    """Return the end of a call, or of the nearest one around it that has one."""
    while call is not None and call.end is None:
        call = call.parent
    return None if call is None else call.end
