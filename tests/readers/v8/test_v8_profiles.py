"""Profiles of V8: what Node wrote, every form of the tree, and damage."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dctv.contracts.reader import Head
from dctv.errors import DctvError
from dctv.readers.v8_profile import READER
from dctv.session import Session
from tests.damage import flipped, survives, truncated

DATA = Path(__file__).parents[2] / "data" / "v8"
PROFILES = ["fib.cpuprofile", "grow.heapprofile"]


def ask(path: Path, sql: str) -> list[tuple[Any, ...]]:
    session = Session()
    session.mount(str(path), "t")
    return session.sql(sql).fetchall()


def written(folder: Path, profile: Any, name: str = "p.cpuprofile") -> Path:
    path = folder / name
    path.write_text(profile if isinstance(profile, str) else json.dumps(profile))
    return path


def frame(name: str) -> dict[str, Any]:
    return {"functionName": name, "scriptId": "1", "url": "a.js", "lineNumber": 3, "columnNumber": 0}


def test_samples_of_the_cpu_match_the_file() -> None:
    path = DATA / "fib.cpuprofile"
    profile = json.loads(path.read_text())
    rows = ask(path, "SELECT unitless(_ts), period, name, `event` FROM t.samples.samples ORDER BY _ts")
    since, deltas = 0, profile["timeDeltas"]
    names = {node["id"]: node["callFrame"]["functionName"] or "(anonymous)" for node in profile["nodes"]}
    expected = []
    for node, delta in zip(profile["samples"], deltas, strict=True):
        since += delta
        expected.append(((since - deltas[0]) * 1000, delta * 1000, names[node], "cpu"))
    assert rows == sorted(expected)
    session = Session()
    session.mount(str(path), "t")
    assert session.properties("t")["start_ns"] == str((profile["startTime"] + deltas[0]) * 1000)
    assert session.incomplete() == []


@pytest.mark.parametrize(
    "times",
    [{"startTime": 10, "timeDeltas": [100, 200, -50, 300]}, {"startTime": 0, "timestamps": [110, 310, 260, 560]}],
)
def test_samples_out_of_order_last_since_the_one_before(times: dict[str, Any], tmp_path: Path) -> None:
    nodes = [{"id": n, "callFrame": frame(f"f{n}")} for n in range(4)]
    path = written(tmp_path, {"nodes": nodes, "samples": [0, 1, 2, 3], **times})
    rows = ask(path, "SELECT unitless(_ts) // 1000, period // 1000, name FROM t.samples.samples ORDER BY _ts")
    first = 100 if "timeDeltas" in times else None
    assert rows == [(0, first, "f0"), (150, 150, "f2"), (200, 50, "f1"), (450, 250, "f3")]


def test_functions_add_up_to_the_samples() -> None:
    profile = json.loads((DATA / "fib.cpuprofile").read_text())
    names = {node["id"]: node["callFrame"]["functionName"] or "(anonymous)" for node in profile["nodes"]}
    rows = ask(DATA / "fib.cpuprofile", "SELECT name, self_samples FROM t.samples.by_function WHERE self_samples > 0")
    assert dict(rows) == Counter(names[node] for node in profile["samples"])


def test_samples_of_the_heap_have_sizes() -> None:
    path = DATA / "grow.heapprofile"
    sizes = sorted(one["size"] for one in json.loads(path.read_text())["samples"])
    sql = "SELECT period, unitless(_ts), `event` FROM t.samples.samples ORDER BY period"
    assert ask(path, sql) == [(size, 0, "heap") for size in sizes]
    total = ask(path, "SELECT SUM(self_period) FROM t.samples.by_function")
    assert total == [(sum(sizes),)]


FORMS = {
    "children": {
        "nodes": [
            {"id": 1, "callFrame": frame("(root)"), "children": [2]},
            {"id": 2, "callFrame": frame("f"), "children": [3]},
            {"id": 3, "callFrame": frame("g;h")},
        ],
        "startTime": 5,
        "endTime": 50,
        "samples": [3, 2],
        "timeDeltas": [1, 10],
    },
    "parents": {
        "startTime": 5,
        "nodes": [
            {"id": 1, "callFrame": frame("(root)")},
            {"id": 2, "callFrame": frame("f"), "parent": 1},
            {"id": 3, "callFrame": frame("g;h"), "parent": 2},
        ],
        "samples": [3, 2],
        "timeDeltas": [1, 10],
    },
    "old": {
        "head": {
            "functionName": "(root)",
            "id": 1,
            "children": [
                {"functionName": "f", "id": 2, "children": [{"functionName": "g;h", "id": 3, "children": []}]}
            ],
        },
        "startTime": 0.000005,
        "samples": [3, 2],
        "timestamps": [6, 16],
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_tree(tmp_path: Path, form: str) -> None:
    path = written(tmp_path, FORMS[form])
    rows = ask(path, "SELECT unitless(_ts), stack FROM t.samples.samples ORDER BY _ts")
    assert rows == [(0, "f;g:h"), (10_000, "f")]
    packed = tmp_path / "p.cpuprofile.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert ask(packed, "SELECT unitless(_ts), stack FROM t.samples.samples ORDER BY _ts") == rows
    assert ask(path, "SELECT reason FROM t.diagnostics") == []


def test_a_heap_without_samples_uses_the_sizes_of_its_functions(tmp_path: Path) -> None:
    below = {"callFrame": frame("f"), "selfSize": 70, "id": 2, "children": []}
    path = written(tmp_path, {"head": {"callFrame": frame("(root)"), "selfSize": 0, "id": 1, "children": [below]}})
    assert ask(path, "SELECT stack, period FROM t.samples.samples") == [("f", 70)]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"samples": [3, 2, 2]}, "there are not as many times as samples"),
        ({"samples": [9, 2]}, "sample is of a function that is missing from the call tree"),
        ({"timeDeltas": [1, "x"]}, "sample has no time or size"),
        ({"timeDeltas": [1, 1 << 70]}, "sample has no time or size"),
        ({"startTime": -(1 << 62)}, "sample has no time or size"),
        ({"nodes": [{"id": 2, "callFrame": frame("f"), "children": [2, 3]}]}, "node of the call tree is malformed"),
        ({"nodes": [7, {"id": 2, "callFrame": frame("f")}, {"id": 2}]}, "node of the call tree is malformed"),
    ],
)
def test_inconsistent_records_are_counted(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    path = written(tmp_path, {**FORMS["children"], **change})
    assert any(reason in found for (found,) in ask(path, "SELECT reason FROM t.diagnostics"))


def test_deep_trees_are_read(tmp_path: Path) -> None:
    nodes = [{"id": n, "callFrame": frame("f" * 50), "children": [n + 1]} for n in range(1, 3000)]
    path = written(tmp_path, {"nodes": nodes, "samples": [2999], "timeDeltas": [1], "startTime": 0})
    wide = [{**node, "callFrame": frame("f" * 500)} for node in nodes]
    too_wide = written(tmp_path, {"nodes": wide, "samples": [2999], "timeDeltas": [1]}, "w.cpuprofile")
    with pytest.raises(DctvError, match="the stacks of its functions have more than 256 million characters"):
        ask(too_wide, "SELECT 1")
    assert ask(path, "SELECT LENGTH(stack) FROM t.samples.samples") == [(2999 * 51 - 1,)]


def test_other_json_is_not_taken() -> None:
    for text in ('{"nodes":[1,2]}', '{"head":{"a":1}}', '{"traceEvents":[{"ph":"X","ts":1,"callFrame":{}}]}', "[]"):
        assert not READER.sniff(Head(Path("x"), text.encode(), text.encode()))


@pytest.mark.parametrize("name", PROFILES)
def test_damaged_profiles(name: str, tmp_path: Path) -> None:
    raw = (DATA / name).read_bytes()
    for data in truncated(raw, len(raw) // 50):
        assert isinstance(survives(READER, tmp_path / name, data), str)
    places = random.Random(5)
    for _ in range(60):
        survives(READER, tmp_path / name, flipped(raw, (places.randrange(len(raw)), places.randrange(256))))
