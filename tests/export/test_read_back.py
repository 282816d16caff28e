"""What `dctv convert` writes is read back with the same slices, counters, instants and names."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from dctv.session import Session
from tests.command_line import run

ROOT = Path(__file__).parents[1] / "data"

EVENTS: list[dict[str, Any]] = [
    {"ph": "M", "name": "process_name", "pid": 7, "tid": 7, "args": {"name": 'a "process"'}},
    {"ph": "M", "name": "thread_name", "pid": 7, "tid": 8, "args": {"name": "ünî\ncode"}},
    {"ph": "M", "name": "thread_name", "pid": 7, "tid": 99, "args": {"name": "idle one"}},
    {
        "ph": "X",
        "name": "outer",
        "cat": "c,d",
        "pid": 7,
        "tid": 8,
        "ts": 10.001,
        "dur": 100,
        "args": {"n": 1, "s": 'x"y'},
    },
    {
        "ph": "X",
        "name": "inner",
        "pid": 7,
        "tid": 8,
        "ts": 10.001,
        "dur": 20.5,
        "args": {"f": 1.5, "b": True, "l": [1, 2]},
    },
    {"ph": "X", "name": "next", "pid": 7, "tid": 8, "ts": 30.501, "dur": 1},
    {"ph": "X", "name": "overlaps", "pid": 7, "tid": 8, "ts": 100, "dur": 50},
    {"ph": "X", "name": "nothing", "pid": 7, "tid": 8, "ts": 200, "dur": 0},
    {"ph": "B", "name": "b", "pid": 7, "tid": 7, "ts": 5, "args": {"k": "v"}},
    {"ph": "B", "name": "c", "pid": 7, "tid": 7, "ts": 6},
    {"ph": "E", "pid": 7, "tid": 7, "ts": 9},
    {"ph": "B", "name": "never ends", "pid": 7, "tid": 7, "ts": 20},
    {"ph": "i", "name": "now", "cat": "z", "pid": 7, "tid": 8, "ts": 12, "s": "t", "args": {"why": "not"}},
    {"ph": "C", "name": "load", "pid": 7, "tid": 7, "ts": 1, "args": {"value": 0.5}},
    {"ph": "C", "name": "load", "pid": 7, "tid": 7, "ts": 3, "args": {"value": 7}},
    {"ph": "b", "name": "request", "cat": "net", "id": "0x1", "pid": 7, "tid": 8, "ts": 15, "args": {"url": "u"}},
    {"ph": "b", "name": "request", "cat": "net", "id": "0x2", "pid": 7, "tid": 8, "ts": 16},
    {"ph": "e", "name": "request", "cat": "net", "id": "0x1", "pid": 7, "tid": 8, "ts": 18},
    {"ph": "e", "name": "request", "cat": "net", "id": "0x2", "pid": 7, "tid": 8, "ts": 19},
]
QUESTIONS = {
    "slices": "SELECT _ts, _duration, depth, name, category, args FROM t.slices ORDER BY _ts, depth, name, lane",
    "async slices": "SELECT _ts, _duration, name, category FROM t.async_slices ORDER BY _ts, name",
    "counters": "SELECT _ts, name, value FROM t.counters ORDER BY _ts",
    "instants": "SELECT _ts, name, category, args FROM t.instants ORDER BY _ts, name",
    "threads": "SELECT name FROM t.threads WHERE name IS NOT NULL ORDER BY name",
    "processes": "SELECT name FROM t.processes WHERE name IS NOT NULL ORDER BY name",
}


def answers(path: Path) -> dict[str, Any]:
    with Session(index=False) as session:
        session.mount(str(path), "t")
        found = {what: session.sql(question).arrow().to_pylist() for what, question in QUESTIONS.items()}
    for what in ("slices", "instants"):
        for row in found[what]:
            row["args"] = json.loads(row["args"] or "{}")
            row["category"] = row["category"] or None
    return found


known = cache(answers)
"""What traces that stay as they are answer."""


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("events") / "in.json"
    path.write_text(json.dumps(EVENTS))
    return path


@pytest.mark.parametrize("target", ["out.json", pytest.param("out.json.gz", marks=pytest.mark.ci), "out.pftrace"])
def test_trace_events(target: str, events: Path, tmp_path: Path) -> None:
    done = run("convert", str(events), str(tmp_path / target))
    assert (done.code, done.err) == (0, "")
    before, after = known(events), answers(tmp_path / target)
    assert len(before["slices"]) == 8
    assert len(before["async slices"]) == 2
    for what, rows in before.items():
        assert after[what] == rows, what


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("ftrace/live_marks_tgid.trace.txt", "out.json"),
        pytest.param("ftrace/live_marks_tgid.trace.txt", "out.pftrace", marks=pytest.mark.ci),
        ("stdlib/calls.pfw", "out.json"),
        ("stdlib/calls.pfw", "out.pftrace"),
    ],
)
def test_other_formats(source: str, target: str, tmp_path: Path) -> None:
    done = run("convert", str(ROOT / source), str(tmp_path / target))
    assert done.code == 0
    before, after = known(ROOT / source), answers(tmp_path / target)
    assert before["slices"] or before["instants"]
    for what in ("slices", "async slices", "counters", "instants"):
        # Times are those of the trace: where it begins is written too.
        assert after[what] == before[what], what


def test_rows_of_a_query(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("time,took,worker,job,cost\n10,20,3,a,1.5\n12,5,3,b,2\n12,5,4,c,\n")
    query = "SELECT time AS _ts, took AS _duration, worker AS tid, 1 AS pid, job AS name, cost FROM t.`in`"
    done = run("convert", str(tmp_path / "in.csv"), str(tmp_path / "out.json"), "-q", query)
    assert (done.code, done.err) == (0, "")
    found = answers(tmp_path / "out.json")["slices"]
    assert [(row["_ts"], row["_duration"], row["depth"], row["name"]) for row in found] == [
        (0, 20, 0, "a"),
        (2, 5, 0, "c"),
        (2, 5, 1, "b"),
    ]
    assert found[0]["args"] == {"cost": 1.5}


@pytest.mark.parametrize("target", ["out.json", "out.pftrace"])
def test_a_trace_that_begins_before_0(target: str, tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text(
        '[{"ph":"E","ts":-3,"pid":1,"tid":1},{"ph":"X","name":"a","ts":-2,"dur":1,"pid":1,"tid":1},'
        '{"ph":"X","name":"b","ts":5,"dur":1,"pid":1,"tid":1}]'
    )
    done = run("convert", tmp_path / "in.json", tmp_path / target)
    later = "warning: all times are 3000 ns later: Perfetto has none before 0\n"
    assert (done.code, done.err) == (0, later if target == "out.pftrace" else "")
    found = [(row["_ts"], row["_duration"], row["name"]) for row in answers(tmp_path / target)["slices"]]
    assert found == [(1000, 1000, "a"), (8000, 1000, "b")]
    query = "SELECT _ts - 2us AS _ts, name FROM t.slices"
    cut = "warning: 1 row was cut at 0: Perfetto has no earlier times\n"
    assert run("convert", tmp_path / "in.json", tmp_path / target, "-q", query).err == (
        cut if target == "out.pftrace" else ""
    )


@pytest.mark.parametrize("target", ["out.json", "out.pftrace"])
def test_units_of_a_query_that_are_left_out_are_told(target: str, tmp_path: Path) -> None:
    trace = ROOT / "stdlib" / "browser.json"
    counters = run("convert", trace, tmp_path / target, "-q", "SELECT _ts, 3B AS value, 'c' AS name FROM t.slices")
    in_json = "warning: units of 1 counter were left out: Chrome's JSON has no place for them\n"
    assert (counters.code, counters.err) == (0, in_json if target == "out.json" else "")
    with Session() as session:
        session.mount(tmp_path / target, "t")
        units = session.sql("SELECT DISTINCT unit FROM t.tracks WHERE kind = 'counter'").fetchall()
    assert units == [(None if target == "out.json" else "B",)]
    query = "SELECT _ts, _duration, name, 5ms AS d, 1 AS plain, 2B AS e FROM t.slices"
    slices = run("convert", trace, tmp_path / target, "-q", query)
    assert slices.err == "warning: units of `d`, `e` were left out: arguments have no place for them\n"
    assert run("convert", trace, tmp_path / target, "-q", "SELECT _ts, name, 1 AS n FROM t.slices").err == ""


@pytest.mark.parametrize("target", ["out.json", "out.pftrace"])
def test_counters_of_a_query_are_apart_by_process(target: str, tmp_path: Path) -> None:
    rows = "(VALUES (0, 3, 5.0, 'x'), (10, 4, 7.0, 'y'), (20, 3, 6.0, 'z'), (30, NULL, 'nan'::FLOAT64, 'z'))"
    query = f"SELECT a * 1ns AS _ts, b AS pid, 'm' AS name, c AS value, d AS job FROM {rows} AS v (a, b, c, d)"
    done = run("convert", ROOT / "stdlib" / "browser.json", tmp_path / target, "-q", query)
    infinite = "warning: 1 value of a counter was left out: JSON has no number for it\n"
    left_out = "warning: `job` was left out: counters have no place for it\n"
    assert (done.code, done.err) == (0, f"{infinite if target == 'out.json' else ''}{left_out}")
    with Session() as session:
        session.mount(tmp_path / target, "t")
        found = session.sql("SELECT unitless(_ts), pid, value FROM t.counters WHERE _ts < 20ns").fetchall()
    assert sorted(found) == [(0, 3, 5.0), (10, 4, 7.0)]


@pytest.mark.parametrize("duration", ["_duration", "_duration IN us", "unitless(_duration)", "_duration * 1.0"])
def test_durations_of_a_query_may_have_any_unit_of_time(duration: str, tmp_path: Path) -> None:
    query = f"SELECT _ts IN us AS _ts, {duration} AS _duration, name FROM t.slices WHERE name = 'click'"
    assert run("convert", ROOT / "stdlib" / "browser.json", tmp_path / "out.json", "-q", query).code == 0
    events = json.loads((tmp_path / "out.json").read_text())["traceEvents"]
    assert [(one["ts"], one["dur"]) for one in events if one["ph"] == "X"] == [(10, 50)]


@pytest.mark.parametrize(
    ("duration", "words"),
    [
        ("-5ns", "found 4 rows with a negative `_duration`, expected lengths of slices"),
        ("CASE WHEN name = 'click' THEN -1 ELSE NULL END", "found 1 row with a negative `_duration`"),
        ("'x'", "found `_duration` of type STRING, expected a number of ns"),
        ("5B", "found `_duration` in B, expected a unit of time"),
    ],
)
def test_durations_of_a_query_that_no_slice_has(duration: str, words: str, tmp_path: Path) -> None:
    query = f"SELECT _ts, {duration} AS _duration, name FROM t.slices"
    ran = run("convert", ROOT / "stdlib" / "browser.json", tmp_path / "out.json", "-q", query)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert not (tmp_path / "out.json").exists()


def test_slices_of_a_query_without_a_known_end(tmp_path: Path) -> None:
    query = "SELECT _ts, NULL AS _duration, name FROM t.slices"
    assert run("convert", ROOT / "stdlib" / "browser.json", tmp_path / "out.json", "-q", query).err == ""
    events = json.loads((tmp_path / "out.json").read_text())["traceEvents"]
    assert [one["name"] for one in events if one["ph"] == "B"] == ["click", "run task", "parse", "paint"]


def test_a_query_without_times_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("a,b\n1,x\n")
    done = run("convert", str(tmp_path / "in.csv"), str(tmp_path / "out.json"), "-q", "SELECT a FROM t.`in`")
    assert done.code == 2
    assert done.err == ("error: found the columns `a`, expected `_ts` among them\nhint: times come in `_ts`, in ns\n")
    assert not (tmp_path / "out.json").exists()


def test_parquet(tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text(json.dumps(EVENTS))
    assert run("convert", str(tmp_path / "in.json"), str(tmp_path / "out.parquet")).code == 0
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 16
    assert run("convert", str(tmp_path / "in.json"), str(tmp_path / "folder")).code == 0
    assert pq.read_table(tmp_path / "folder" / "slices.parquet").num_rows == 8
    assert pq.read_table(tmp_path / "folder" / "raw_events" / "complete.parquet").num_rows == 5
    again = run("convert", str(tmp_path / "in.json"), str(tmp_path / "folder"))
    assert (again.code, again.err) == (2, f"error: the folder `{tmp_path / 'folder'}` is not empty\n")


def test_packed_output_is_gzip(tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text(json.dumps(EVENTS))
    assert run("convert", str(tmp_path / "in.json"), str(tmp_path / "out.json.gz")).code == 0
    assert json.loads(gzip.decompress((tmp_path / "out.json.gz").read_bytes()))["displayTimeUnit"] == "ns"
