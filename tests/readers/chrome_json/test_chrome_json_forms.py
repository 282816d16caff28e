"""Forms of the JSON around events: lists and objects, whole, cut off and badly written."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.readers.chrome_json.chrome_text import column, is_sniffed, load, notes, rows

A = '{"ph":"X","name":"a","cat":"c","pid":1,"tid":2,"ts":10,"dur":5,"args":{"k":1}}'
B = '{"ph":"X","name":"b","cat":"c","pid":1,"tid":2,"ts":11,"dur":1}'
LOOSE = "list is not closed, as if it were still being written"
REPAIRED = "event is not JSON, repaired"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"[{A},{B}]", {}),
        (f"\ufeff [\n{A},\n{B}\n]\n", {}),
        (f'{{"traceEvents":[{A},{B}]}}', {}),
        (f'{{"otherData":{{"x":[1,2]}},"traceEvents":[{A},{B}],"displayTimeUnit":"ns"}}', {}),
        (f"[{A},{B}", {LOOSE: 1}),
        (f"[{A},{B},", {LOOSE: 1}),
        (f"[{A},{B},\n  \n", {LOOSE: 1}),
        (f"[{A},{B},]", {}),
        (f"[{A}\n{B}]", {"comma is missing": 1}),
        (f"[{A},,{B}]", {}),
        (f"{A}\n{B}\n", {}),
        (f'{{"traceEvents":[{A},{B}]', {"file ends before its JSON does": 1}),
        (f'{{"traceEvents":[{A},{B}', {"file ends before its JSON does": 1}),
        (f'{{"traceEvents":[{A},{B}}}', {"list is not closed": 1}),
        (f"[{A}][{B}]", {}),
        (f"{{traceEvents:[{A},{B}]}}", {}),
        (f"[{A},{B}]\nrest", {"text after the end of the JSON is not read": 1}),
    ],
)
def test_events_are_found_in_every_form(tmp_path: Path, text: str, told: dict[str, int]) -> None:
    trace = load(tmp_path, text)
    assert column(trace, "complete", "name") == ["a", "b"]
    assert notes(trace) == told


def test_only_lost_events_make_a_trace_incomplete(tmp_path: Path) -> None:
    def incomplete(text: str) -> list[str]:
        return [note.reason for note in load(tmp_path, text).diagnostics if note.incomplete]

    assert incomplete(f"[{A},{B}") == []
    assert incomplete(f"[{A},{B[:-9]}") == ["file ends inside of an event"]
    assert incomplete(f'{{"traceEvents":[{A}') == ["file ends before its JSON does"]


@pytest.mark.parametrize(
    "event",
    [
        "{name: 'b', ph: 'X', pid: 1, tid: 2, ts: 11, dur: 1, cat: 'c'}",
        '{"name":"b","ph"="X","pid":1,"tid":2,"ts":11,"dur":1,"cat":"c",}',
        '{"name":"b" "ph":"X" "pid":1,"tid":2,"ts":11,"dur":1,"cat":"c"}',
        '{"name":"b","ph":"X","pid":1,"tid":2,"ts":11,"dur":1,"cat":"c","args":{"x":"two\nlines"}}',
        '{"name":"b","ph":"X","pid":1,"tid":2,"ts":11,"dur":1,"cat":"c","args":{"x":undefined,"y":.5,"z":"\\x41"}}',
    ],
)
def test_output_of_broken_scripts_is_repaired(tmp_path: Path, event: str) -> None:
    trace = load(tmp_path, f"[{A},{event},{B}]")
    assert column(trace, "complete", "name") == ["a", "b", "b"]
    assert column(trace, "complete", "_ts") == [0, 1000, 1000]
    assert column(trace, "complete", "dur") == [5000, 1000, 1000]
    assert notes(trace) == {REPAIRED: 1}
    for text in column(trace, "complete", "args"):
        assert text is None or isinstance(json.loads(text), dict)


def test_what_cannot_be_repaired_is_kept_as_text_and_the_next_event_is_read(tmp_path: Path) -> None:
    broken = '{"ph":"X","name":"un"quoted","ts":1}'
    trace = load(tmp_path, f"[\n{A},\n{broken},\n{B}\n]")
    assert column(trace, "complete", "name") == ["a", "b"]
    (row,) = rows(trace, "unread")
    assert row["reason"] == "event is not JSON"
    assert row["text"].strip(",\n") == broken
    assert [note.incomplete for note in trace.diagnostics] == [True]


def test_an_open_string_costs_its_event_only(tmp_path: Path) -> None:
    lines = [A, '{"ph":"X","name":"open,"ts":1}', *[B] * 1000]
    trace = load(tmp_path, "[" + ",\n".join(lines))
    assert column(trace, "complete", "name") == ["a", *["b"] * 1000]
    assert notes(trace) == {"event is not JSON": 1, LOOSE: 1}


def test_values_between_events_are_kept(tmp_path: Path) -> None:
    trace = load(tmp_path, f'[{A},17,"text",[1,2],null,{B}]')
    assert column(trace, "complete", "name") == ["a", "b"]
    assert column(trace, "unread", "text") == ["17", '"text"', "[1,2]", "null"]
    assert notes(trace) == {"text between events is not read": 4}


def test_gzip_of_many_members_is_one_text(tmp_path: Path) -> None:
    text = f"[{A},{B}]".encode()
    packed = b"".join(gzip.compress(text[at : at + 7]) for at in range(0, len(text), 7))
    assert column(load(tmp_path, packed, "trace.json.gz"), "complete", "name") == ["a", "b"]


def test_gzip_that_ends_early_is_reported(tmp_path: Path) -> None:
    packed = gzip.compress(f"[{','.join([A] * 5000)}]".encode())
    trace = load(tmp_path, packed[: len(packed) // 2], "trace.json.gz")
    assert 0 < len(rows(trace, "complete")) < 5000
    assert notes(trace)["gzip data end early"] == 1
    assert any(note.incomplete for note in trace.diagnostics)


def test_an_event_larger_than_the_read_buffer(tmp_path: Path) -> None:
    long = "x" * 3_000_000
    big = A.replace('"k":1', f'"k":"{long}"')
    trace = load(tmp_path, f"[{B},{big},{B},{big}]")
    assert column(trace, "complete", "name") == ["a", "a", "b", "b"]
    assert json.loads(column(trace, "complete", "args")[0]) == {"k": long}


def test_members_of_the_object_are_properties(tmp_path: Path) -> None:
    text = f'{{"otherData":{{"v": 1}},"displayTimeUnit":"ns","n":12,"gone":null,"traceEvents":[{A}],"traceName":"/x"}}'
    properties = load(tmp_path, text).properties
    assert properties == {
        "start_ns": "10000",
        "otherData": '{"v": 1}',
        "displayTimeUnit": "ns",
        "n": "12",
        "traceName": "/x",
        "clock": "trace",
    }


def test_a_long_member_is_left_out_and_told(tmp_path: Path) -> None:
    trace = load(tmp_path, f'{{"metadata":"{"x" * 100_000}","traceEvents":[{A}]}}')
    assert "metadata" not in trace.properties
    assert notes(trace) == {"member is longer than 64 KiB, left out": 1}
    assert [note.example for note in trace.diagnostics] == ["metadata"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"[{A},{B}]", True),
        (f"[\n{A},\n{B}\n]", True),
        (f'{{"traceEvents":[{A}]}}', True),
        ('{"traceEvents":[]}', True),
        (f'{{"a":1,\n"traceEvents":[{A}', True),
        (f"[\n{A}\n]", True),
        ("[{}, " + A, True),
        ('[{"name":"x","pid":1,"ph":"X","cat":"c","tid":1,"id":1,"ts":1},', True),
        # Lines of DFTracer have no commas between them.
        (f"[\n{A}\n{A}\n", False),
        (f"{A}\n{A}\n", False),
        ('[\n{"id":1,"name":"x","cat":"c","pid":1,"tid":1,"ph":"X","ts":1}\n]', False),
        ("[[1,2],[3,4]]", False),
        ('{"spans":[{"name":"x"}]}', False),
        ('{"resourceSpans":[]}', False),
        ("", False),
        ("# tracer: nop\n", False),
        ("[]", True),
        ("\ufeff[\n", True),
        ("[ ] []", False),
        ("[1]", False),
    ],
)
def test_sniff(text: str, *, expected: bool) -> None:
    assert is_sniffed(text.encode()) is expected


def test_events_far_inside_of_an_object_are_found(tmp_path: Path) -> None:
    from dctv.contracts.head import head_of
    from dctv.readers.chrome_json import READER

    path = tmp_path / "far.json"
    path.write_text(f'{{"metadata":{{"x":"{"y" * 200_000}"}},"traceEvents":[{A}]}}')
    assert READER.sniff(head_of(path))
    path.write_text(f'{{"metadata":{{"x":"{"y" * 200_000}"}},"other":[{A[:10]}]}}')
    assert not READER.sniff(head_of(path))
