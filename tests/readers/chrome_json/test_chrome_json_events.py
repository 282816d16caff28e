"""Events of every phase: times, ids, tracks, names, and odd values of these."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.readers.chrome_json.chrome_text import column, load, load_files, notes, rows

TEN_YEARS = 10 * 365 * 86_400 * 10**9
X: dict[str, Any] = {"ph": "X", "name": "x", "cat": "c", "pid": 1, "tid": 2, "ts": 0, "dur": 1}


def events(*given: dict[str, Any]) -> str:
    return json.dumps([{key: value for key, value in one.items() if value is not ...} for one in given])


@pytest.mark.parametrize(
    ("written", "ns"),
    [
        ("12", 12_000),
        ("12.5", 12_500),
        ("0.001", 1),
        ("0.0004", 0),
        ("0.0005", 1),
        ("-0.0005", -1),
        ("-17000", -17_000_000),
        ("1.5e3", 1_500_000),
        ("6699710.992000001", 6_699_710_992),
        ("4203669603018.756", 4_203_669_603_018_756),
        ("9007199254740993.001", 9_007_199_254_740_993_001),
        ("0.00000000000000000000000000000000000000000001", 0),
        ("100000000000000000000000000000000000000000e-40", 10_000),
        ('"445191683049.142"', 445_191_683_049_142),
        ('" 7 "', 7_000),
        ('"+7"', 7_000),
    ],
)
def test_times_are_kept_to_the_nanosecond(tmp_path: Path, written: str, ns: int) -> None:
    event = f'{{"ph":"X","name":"x","pid":1,"tid":2,"ts":{written},"dur":{written}}}'
    trace = load(tmp_path, f"[{event}]")
    assert trace.properties["start_ns"] == str(ns)
    assert column(trace, "complete", "dur") == [ns if ns < TEN_YEARS else None]


@pytest.mark.parametrize("written", ["1e300", "9223372036854775808", '"soon"', "true", "[]", '""', "NaN"])
def test_invalid_times_are_kept_as_text(tmp_path: Path, written: str) -> None:
    trace = load(tmp_path, f'[{{"ph":"X","name":"x","ts":{written}}},{json.dumps(X)}]')
    assert column(trace, "complete", "name") == ["x"]
    assert column(trace, "unread", "reason") == ["time of an event is no number or too large"]
    assert written in column(trace, "unread", "text")[0]


@pytest.mark.parametrize(
    ("phases", "table"),
    [
        ("X", "complete"),
        ("B", "begin"),
        ("E", "end"),
        ("iI", "instant"),
        ("bS", "async_begin"),
        ("nTp", "async_instant"),
        ("eF", "async_end"),
        ("s", "flow_begin"),
        ("t", "flow_step"),
        ("f", "flow_end"),
        ("P", "sample"),
        ("N", "object_new"),
        ("O", "object_snapshot"),
        ("D", "object_delete"),
        ("R", "mark"),
        ("c", "clock_sync"),
        ("vV", "memory_dump"),
        ("=", "link"),
        ("(", "context_enter"),
        (")", "context_leave"),
        ("?", "other"),
    ],
)
def test_every_phase_has_its_table(tmp_path: Path, phases: str, table: str) -> None:
    given = [{**X, "ph": phase, "id": "0x1", "args": {"n": n}} for n, phase in enumerate(phases)]
    trace = load(tmp_path, events(*given))
    assert [json.loads(args) for args in column(trace, table, "args")] == [{"n": n} for n in range(len(phases))]
    assert column(trace, table, "line") == list(range(1, len(phases) + 1))
    for name, value in [("name", "x"), ("cat", "c"), ("pid", 1), ("tid", 2), ("_ts", 0)]:
        assert column(trace, table, name) == [value] * len(phases)


def test_unknown_phases_and_missing_ones_are_counted(tmp_path: Path) -> None:
    trace = load(tmp_path, events({**X, "ph": "?"}, {**X, "ph": ...}, {**X, "ph": "XX"}, {**X, "ph": 1}, {}, X))
    assert column(trace, "other", "ph") == ["?", None, "XX", "1"]
    assert column(trace, "unread", "text") == ["{}"]
    assert notes(trace) == {"phase is unknown": 3, "event has no phase": 1, "event is empty": 1}


def test_odd_durations_are_kept(tmp_path: Path) -> None:
    trace = load(tmp_path, events({**X, "dur": ...}, {**X, "dur": -2}, {**X, "dur": "3"}, {**X, "dur": "long"}))
    assert column(trace, "complete", "dur") == [None, -2000, 3000, None]
    assert notes(trace) == {
        "complete event has no duration": 1,
        "duration is negative": 1,
        "duration is no number or too large": 1,
    }


def test_order_of_equal_times_is_the_order_of_the_text(tmp_path: Path) -> None:
    given = [{**X, "ts": ts, "name": name} for ts, name in [(5, "a"), (3, "b"), (5, "c"), (3, "d")]]
    trace = load(tmp_path, events(*given))
    assert column(trace, "complete", "name") == ["b", "d", "a", "c"]
    assert column(trace, "complete", "line") == [2, 4, 1, 3]
    assert column(trace, "complete", "_ts") == [0, 0, 2000, 2000]


def test_each_thread_is_a_track(tmp_path: Path) -> None:
    given = [{**X, "pid": pid, "tid": tid} for pid, tid in [(1, 1), (1, 2), (2, 1), (1, 1), (..., ...)]]
    named = {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "worker"}}
    process = {"ph": "M", "name": "process_name", "pid": 2, "args": {"name": "server"}}
    trace = load(tmp_path, events(*given, named, process))
    found = column(trace, "complete", "track")
    assert found[0] == found[3]
    assert len(set(found)) == 4
    tracks = {row["track"]: row for row in rows(trace, "tracks")}
    assert {(row["kind"], row["pid"], row["tid"], row["name"]) for row in tracks.values()} == {
        ("process", 1, None, None),
        ("process", 2, None, "server"),
        ("thread", 1, 1, None),
        ("thread", 1, 2, "worker"),
        ("thread", 2, 1, None),
        ("thread", None, None, None),
    }
    assert tracks[tracks[found[1]]["parent"]]["pid"] == 1
    assert sorted(tracks) == list(range(1, len(tracks) + 1))


def test_ids_that_are_texts_get_numbers_and_are_names(tmp_path: Path) -> None:
    given = [
        {**X, "pid": "Spans", "tid": "Profiler"},
        {**X, "pid": "7", "tid": 8.0},
        {**X, "pid": "Spans", "tid": 18446744073709551615},
    ]
    trace = load(tmp_path, events(*given))
    first, second, third = rows(trace, "complete")
    assert (second["pid"], second["tid"]) == (7, 8)
    assert first["pid"] == third["pid"] < -1_000_000
    assert {(row["pid"], row["name"]) for row in rows(trace, "process_names")} == {(first["pid"], "Spans")}
    assert {row["name"] for row in rows(trace, "thread_names")} == {"Profiler", "18446744073709551615"}


def test_the_last_name_counts_and_all_are_kept(tmp_path: Path) -> None:
    meta = {"ph": "M", "name": "process_name", "pid": 1, "ts": 0}
    given = [{**meta, "args": {"name": name}} for name in ("old", "new")]
    sort = {"ph": "M", "name": "process_sort_index", "pid": 1, "args": {"sort_index": -5}}
    labels = {"ph": "M", "name": "process_labels", "pid": 1, "args": {"labels": "tab, other"}}
    trace = load(tmp_path, events(*given, sort, labels, X))
    assert rows(trace, "process_names") == [
        {"pid": 1, "name": "new", "labels": "tab, other", "sort_index": -5, "file": 0}
    ]
    assert [json.loads(text) for text in column(trace, "metadata", "args")][:2] == [{"name": "old"}, {"name": "new"}]
    assert column(trace, "metadata", "line") == [1, 2, 3, 4]


def test_counters_are_a_row_for_each_series(tmp_path: Path) -> None:
    c = {**X, "ph": "C", "name": "memory", "tid": ...}
    given = [
        {**c, "args": {"used": 1, "free": 2.5}},
        {**c, "args": {"used": "3"}},
        {**c, "args": {"used": 4}, "pid": 9},
        {**c, "args": {"used": 5}, "id": "0x1"},
        {**c, "args": {"used": "many"}},
        {**c, "args": {}},
        {**c, "args": ...},
    ]
    trace = load(tmp_path, events(*given))
    found = rows(trace, "counter")
    assert [(row["series"], row["value"]) for row in found] == [
        ("used", 1.0),
        ("free", 2.5),
        ("used", 3.0),
        ("used", 4.0),
        ("used", 5.0),
        ("used", None),
        (None, None),
        (None, None),
    ]
    tracks = [row["track"] for row in found]
    assert tracks[0] == tracks[2] == tracks[5]
    assert len(set(tracks)) == 5
    assert column(trace, "counter", "text")[5] == "many"
    assert notes(trace) == {"counter's value is no number": 1, "counter has no series": 2}


def test_asynchronous_events_are_grouped_by_category_id_and_reach(tmp_path: Path) -> None:
    b = {**X, "ph": "b", "dur": ...}
    given = [
        {**b, "id": 1},
        {**b, "id": "1", "name": "other", "pid": 5},
        {**b, "id": 1, "cat": "d"},
        {**b, "id": 1, "scope": "s"},
        {**b, "id2": {"local": 1}},
        {**b, "id2": {"local": 1}, "pid": 5},
        {**b, "id2": {"global": 1}, "pid": 6},
        {**b, "ph": "S", "id": 1},
        {**b, "ph": "S", "id": 1, "name": "other"},
        {**b},
    ]
    trace = load(tmp_path, events(*given))
    tracks = column(trace, "async_begin", "track")
    assert tracks[0] == tracks[1] == tracks[6]
    assert len(set(tracks)) == 8
    assert column(trace, "async_begin", "id_kind") == [None] * 4 + ["local", "local", "global"] + [None] * 3
    assert notes(trace) == {"asynchronous event has no id, its name is taken": 1}
    kinds = {row["track"]: row for row in rows(trace, "tracks")}
    assert {kinds[track]["kind"] for track in tracks} == {"async"}
    assert kinds[tracks[3]]["scope"] == "s"


def test_flows_are_joined_by_category_name_and_id(tmp_path: Path) -> None:
    s = {**X, "ph": "s", "dur": ..., "id": 7}
    given = [
        s,
        {**s, "ph": "t"},
        {**s, "ph": "f", "bp": "e", "pid": 4},
        {**s, "name": "other"},
        {**X, "bind_id": "0x7", "flow_out": True},
        {**X, "bind_id": "0x7", "flow_in": True, "flow_out": False},
    ]
    trace = load(tmp_path, events(*given))
    (first, other), (step,), (end,) = (column(trace, name, "flow") for name in ("flow_begin", "flow_step", "flow_end"))
    assert first == step == end != other
    assert column(trace, "flow_end", "bp") == ["e"]
    bound = column(trace, "complete", "bind")
    assert bound[0] == bound[1]
    assert bound[0] not in {first, other}
    assert column(trace, "complete", "flow_out") == [True, False]
    assert column(trace, "complete", "flow_in") == [None, True]


def test_objects_are_tracks_of_their_process(tmp_path: Path) -> None:
    o = {**X, "dur": ..., "id": "0x5"}
    given = [{**o, "ph": "N"}, {**o, "ph": "O", "args": {"snapshot": 1}}, {**o, "ph": "D"}, {**o, "ph": "N", "pid": 2}]
    trace = load(tmp_path, events(*given))
    new, snapshot, gone = (column(trace, name, "track") for name in ("object_new", "object_snapshot", "object_delete"))
    assert new[0] == snapshot[0] == gone[0] != new[1]


def test_instants_are_on_tracks_of_their_reach(tmp_path: Path) -> None:
    given = [{**X, "ph": "i", "s": s} for s in ("t", "p", "g", ...)]
    trace = load(tmp_path, events(*given))
    kinds = {row["track"]: row["kind"] for row in rows(trace, "tracks")}
    assert [kinds[track] for track in column(trace, "instant", "track")] == ["thread", "process", "global", "thread"]
    assert column(trace, "instant", "scope") == ["t", "p", "g", None]


def test_rare_members_have_columns_and_unknown_ones_are_kept(tmp_path: Path) -> None:
    rare = {"tts": 1.5, "tdur": 2, "cname": "good", "sf": 8, "stack": ["a"], "mine": [1], 'q"': "z"}
    trace = load(tmp_path, events(X, {**X, **rare}))
    plain, full = rows(trace, "complete")
    assert {key: full[key] for key in ("tts", "tdur", "cname", "sf")} == {
        "tts": 1500,
        "tdur": 2000,
        "cname": "good",
        "sf": "8",
    }
    assert json.loads(full["stack"]) == ["a"]
    assert json.loads(full["more"]) == {"mine": [1], 'q"': "z"}
    assert plain["more"] is None


def test_args_are_the_bytes_of_the_trace(tmp_path: Path) -> None:
    given = ['{ "a" : 1.50 , "b":[ ],"a":2}', '"text"', "[1, 2]", "null", "{}", '{"u":"\\u00e9\\ud83d\\ude00"}']
    text = ",".join(f'{{"ph":"B","name":"x","ts":{ts},"args":{args}}}' for ts, args in enumerate(given))
    trace = load(tmp_path, f"[{text}]")
    assert column(trace, "begin", "args") == [None if args == "null" else args for args in given]


def test_args_are_json_for_every_reader(tmp_path: Path) -> None:
    deep = "[" * 5000 + "]" * 5000
    given = ['{"a":"\\ud800x"}', '{"a":"\\udc00\\ud800"}', '{"a":"\\\\ud800"}', deep]
    text = ",".join(f'{{"ph":"B","name":"x","ts":{ts},"args":{args}}}' for ts, args in enumerate(given))
    trace = load(tmp_path, f"[{text}]")
    found = [json.loads(args) for args in column(trace, "begin", "args")]
    assert found == [{"a": "\ufffdx"}, {"a": "\ufffd\ufffd"}, {"a": "\\ud800"}, deep]
    assert notes(trace) == {"value is nested deeper than 512, kept as a string": 1}


def test_names_may_be_anything(tmp_path: Path) -> None:
    trace = load(tmp_path, events({**X, "name": ...}, {**X, "name": 5}, {**X, "name": 'é"\n\ud800'}, {**X, "name": ""}))
    assert column(trace, "complete", "name") == [None, "5", 'é"\n\ufffd', ""]


def test_text_that_is_not_utf8_is_replaced_and_counted(tmp_path: Path) -> None:
    trace = load(tmp_path, b'[{"ph":"B","name":"a\xff","ts":1,"args":{"k":"\xfe"}}]')
    assert column(trace, "begin", "name") == ["a\ufffd"]
    assert json.loads(column(trace, "begin", "args")[0]) == {"k": "\ufffd"}
    assert notes(trace) == {"text is not UTF-8": 2}


def test_of_a_member_given_twice_the_last_counts(tmp_path: Path) -> None:
    trace = load(tmp_path, '[{"ph":"X","name":"a","ts":1,"dur":1,"name":"b"}]')
    assert column(trace, "complete", "name") == ["b"]
    assert notes(trace) == {"member of an event is given twice, the last one is taken": 1}


def test_samples_have_stacks(tmp_path: Path) -> None:
    text = json.dumps(
        {
            "traceEvents": [{**X, "ph": "P", "sf": 3}, X],
            "samples": [{"cpu": 1, "tid": "2", "ts": "5", "name": "cycles", "sf": 2, "weight": "1"}],
            "stackFrames": {
                "1": {"name": "main", "category": "c"},
                "2": {"name": "f", "parent": 1},
                "3": {"name": "g", "parent": "2"},
                "4": {"name": "loop", "parent": "4"},
            },
        }
    )
    trace = load(tmp_path, text)
    assert [(row["sf"], row["tid"], row["line"]) for row in rows(trace, "sample")] == [("3", 2, 1), ("2", 2, 3)]
    assert column(trace, "sample", "cpu") == [None, 1]
    stacks = {row["id"]: row["stack"] for row in rows(trace, "stack_frames")}
    assert stacks == {"1": "main", "2": "main;f", "3": "main;f;g", "4": None}
    assert notes(trace) == {"stack is too deep, not spelt out": 1}


def test_files_of_one_trace_have_tracks_of_their_own(tmp_path: Path) -> None:
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, ts in zip(paths, (5, 3), strict=True):
        path.write_text(events({**X, "ts": ts, "name": path.name}))
    trace = load_files(*paths)
    assert column(trace, "complete", "name") == ["b.json", "a.json"]
    assert column(trace, "complete", "line") == [2, 1]
    assert len(set(column(trace, "complete", "track"))) == 2
    assert {row["file"] for row in rows(trace, "tracks")} == {0, 1}


@pytest.mark.parametrize(
    ("member", "start"),
    [('"beginningOfTime":1700000000000000', 1_700_000_000_000_010_000), ('"baseTimeNanoseconds":1000', 11_000)],
)
def test_unix_time_is_known_where_the_trace_tells(tmp_path: Path, member: str, start: int) -> None:
    trace = load(tmp_path, f'{{{member},"traceEvents":{events({**X, "ts": 10})}}}')
    assert trace.properties["start_unix_ns"] == str(start)


def test_an_event_without_thread_is_on_the_first_one_of_its_process(tmp_path: Path) -> None:
    child = {**X, "name": "child", "tid": ..., "dur": 5}
    begin = {**X, "ph": "B", "name": "begun", "tid": ..., "ts": 20, "dur": ...}
    named = {"ph": "M", "name": "thread_name", "pid": 1, "args": {"name": "main"}}
    trace = load(tmp_path, events(child, {**X, "name": "parent", "tid": 1, "dur": 10}, begin, named))
    assert column(trace, "complete", "tid") == [None, 1]
    tracks = column(trace, "complete", "track") + column(trace, "begin", "track")
    assert len(set(tracks)) == 1
    assert [row for row in rows(trace, "tracks") if row["kind"] == "thread"] == [
        {**dict.fromkeys(["cat", "scope", "id", "series"]), "track": tracks[0], "kind": "thread", "name": "main"}
        | {"pid": 1, "tid": 1, "parent": 1, "file": 0}
    ]


def test_a_counter_of_two_sources_is_on_two_tracks(tmp_path: Path) -> None:
    counter = {"ph": "C", "name": "heap", "ts": 0, "args": {"used": 1}}
    one, other = [{**counter, **more} for more in ({"pid": 1}, {"pid": 2})]
    by_id = [{**counter, "pid": 1, "id": number} for number in ("0xa", "0xb")]
    scoped = [{**counter, "pid": 1, "id2": {"local": "0xa"}}, {**counter, "pid": 2, "id2": {"local": "0xa"}}]
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    first.write_text(events(one, other, *by_id, *scoped))
    second.write_text(events(one))
    trace = load_files(first, second)
    tracks = column(trace, "counter", "track")
    assert len(tracks) == 7
    # An id of a process is the same one where another event names it plainly.
    assert len(set(tracks)) == 6
