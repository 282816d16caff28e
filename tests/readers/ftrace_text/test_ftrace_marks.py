"""Marks of programs become `print|<letter>` tables, whatever the kernel called them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from dctv.session import Session
from tests.readers.ftrace_text.ftrace_reading import fields, read

WRITERS = ["tracing_mark_write: ", "print: tracing_mark_write: ", "print: 0xffff00000819ff24s: ", "print: ", "0: "]


@pytest.mark.parametrize("writer", [*WRITERS, "0xffffffc0: ", "print: ip=tracing_mark_write buf="])
@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        ("B|598|some event", {"": "print|B", "pid": 598, "name": "some event"}),
        ("B|598|draw|layer=1", {"": "print|B", "pid": 598, "name": "draw|layer=1"}),
        ("E|598", {"": "print|E", "pid": 598}),
        ("E", {"": "print|E", "pid": None}),
        ("C|124|VSYNC|1", {"": "print|C", "pid": 124, "name": "VSYNC", "value": 1}),
        ("C|124|a|b|-1", {"": "print|C", "pid": 124, "name": "a|b", "value": -1}),
        ("C|124|a b|7|cat", {"": "print|C", "pid": 124, "name": "a b", "value": 7, "category": "cat"}),
        ("B|598", {"": "print|B", "pid": 598, "name": ""}),
        ("S|1|input|263", {"": "print|S", "pid": 1, "name": "input", "cookie": 263}),
        ("F|1|in|put|263", {"": "print|F", "pid": 1, "name": "in|put", "cookie": 263}),
        ("I|1|missed|x", {"": "print|I", "pid": 1, "name": "missed|x"}),
        ("N|1|track|name", {"": "print|N", "pid": 1, "track": "track", "name": "name"}),
        ("G|1|track|na|me|7", {"": "print|G", "pid": 1, "track": "track", "name": "na|me", "cookie": 7}),
        ("H|1|track|7", {"": "print|H", "pid": 1, "track": "track", "cookie": 7}),
        ("X|anything|else", {"": "print|X", "payload": "anything|else"}),
        (
            "trace_event_clock_sync: parent_ts=6.375000",
            {"": "print|trace_event_clock_sync", "parent_ts": 6.375},
        ),
        (
            "trace_event_clock_sync: realtime_ts=37",
            {"": "print|trace_event_clock_sync", "realtime_ts": 37},
        ),
    ],
)
def test_marks(writer: str, mark: str, expected: dict[str, object]) -> None:
    assert fields(writer + mark) == expected


@pytest.mark.parametrize(
    ("event", "ip", "text"),
    [
        ("tracing_mark_write: hello: a=1", "tracing_mark_write", "hello: a=1"),
        ("print: 0xffff00000819ff24s: cpu_devlib: state=9", "0xffff00000819ff24s", "cpu_devlib: state=9"),
        ("print: tracing_mark_write: hi", "tracing_mark_write", "hi"),
        ("0xc042f8a0f: hi", "0xc042f8a0f", "hi"),
    ],
)
def test_other_texts_are_kept_unchanged(event: str, ip: str, text: str) -> None:
    assert fields(event) == {"": "print", "ip": ip, "text": text}


@pytest.mark.parametrize("mark", ["B|x|y", "C|1|name", "S|1|name", "G|1|a|b", "B|", "E|x"])
def test_marks_that_lack_fields_are_kept_as_text_and_counted(mark: str) -> None:
    trace = read(f" t-1 [000] 1.0: print: {mark}\n")
    assert trace.tables["raw_events.print"].data.column("text").to_pylist() == [mark]
    assert [(d.reason, d.count) for d in trace.diagnostics] == [("mark with missing fields, kept as text", 1)]


def test_a_clock_mark_of_no_time_does_not_stretch_the_trace() -> None:
    trace = read(
        " t-1 [000] 50260.5: 0: B|1|x\n t-1 [000] 50261.5: 0: E\n"
        "           dummy-0000  [000] 0.0: 0: trace_event_clock_sync: parent_ts=0.0\\n\n"
    )
    assert trace.last_ts == 1_000_000_000
    assert trace.tables["raw_events.print|trace_event_clock_sync"].data.column("_ts").to_pylist() == [0]
    assert [(d.reason, d.count) for d in trace.diagnostics] == [("clock mark without a time, placed at the start", 1)]


def test_values_are_whole_numbers_only_if_all_are() -> None:
    line = " t-1 [000] 1.0: print: C|1|n|{}\n"
    trace = read(line.format(1) + line.format(2.5))
    assert trace.tables["raw_events.print|C"].data.column("value").to_pylist() == [1.0, 2.5]


def test_a_begin_that_is_repeated_before_its_end_counts_once(tmp_path: Path) -> None:
    """A10: marks of one cookie do not nest, so the end belongs to the first begin, and the others are repetitions."""
    marks = [
        "S|1|load|7",
        "S|1|load|7",
        "S|1|other|7",
        "S|1|load|7",
        "F|1|load|7",
        "F|1|load|7",
        "S|1|load|7",
        "F|1|other|7",
    ]
    path = tmp_path / "marks.txt"
    path.write_text("".join(f" t-1 [000] 1.00000{at}: tracing_mark_write: {mark}\n" for at, mark in enumerate(marks)))
    with Session(index=False) as session:
        session.mount(str(path), "t")
        found = session.sql("SELECT name, _ts, _duration FROM t.async_slices ORDER BY _ts").arrow().to_pylist()
    assert [tuple(row.values()) for row in found] == [("load", 0, 4000), ("other", 2000, 5000), ("load", 6000, None)]


WALL = " t-1 [000] {}: tracing_mark_write: trace_event_clock_sync: realtime_ts={}\n"


@pytest.mark.parametrize("index", [False, True])
def test_the_first_mark_of_the_wall_clock_tells_when_the_trace_began(
    index: Literal[True, False], tmp_path: Path
) -> None:
    path = tmp_path / "t.txt"
    path.write_text(
        " t-1 [000] 5.000000: print: B|1|x\n"
        " dummy-0 [000] 0.0: tracing_mark_write: trace_event_clock_sync: realtime_ts=1\n"
        " t-1 [000] 5.250000: tracing_mark_write: trace_event_clock_sync: parent_ts=5.25\n"
        + WALL.format("5.250001", 1_700_000_000_250)
        + WALL.format("6.000000", 1_700_000_009_000)
    )
    with Session(index=index, index_dir=tmp_path / "index") as session:
        session.mount(path, "t")
        session.mount(path, "moved", align=1_000_000_000)
        for query in ("t.wall_clock(_ts) FROM t.events", "moved.wall_clock(_ts) FROM moved.events"):
            found = session.sql(f"SELECT {query} WHERE name = 'print|B'").arrow().column(0).cast("int64")
            assert found.to_pylist() == [1_699_999_999_999_999_000], query


@pytest.mark.parametrize("value", ["0", "-5", "1.5", "x", "9300000000000", "18446744073709551615"])
def test_marks_of_the_wall_clock_that_tell_nothing(value: str) -> None:
    assert read(" t-1 [000] 5.0: print: B|1|x\n" + WALL.format("5.0", value)).properties.keys() == {"start_ns"}
