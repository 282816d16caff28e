"""`dctv.TraceReader`: records, batches, counts; what it writes mounts again as the same trace."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dctv
from dctv.errors import BindError, ParseError, QueryError, TraceError, UnitError, render

DATA = Path(__file__).parents[1] / "data"
LOADER = DATA / "dftracer" / "loader"


def write(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def record(name: str, ts: int, **fields: Any) -> dict[str, Any]:
    whole = {"name": name, "cat": "POSIX", "pid": 1, "tid": 2, "ts": ts, "dur": 5, "id": ts, "ph": "X", "args": {}}
    return {key: value for key, value in {**whole, **fields}.items() if value is not None}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return write(
        tmp_path / "small.pfw",
        record("read", 30, args={"ret": 4096, "fname": "/a"}),
        record("write", 10, dur=2000, args={"ret": -1, "note": [1, {"x": None}], "io": {"size": 7, "kind": "seq"}}),
        record("read", 20, args={"ret": None, "fname": "/b"}),
        record("mark", 20, dur=None, cat="app", args={"ok": True, "share": 0.25}),
    )


def test_lines(small: Path) -> None:
    with dctv.TraceReader(small) as reader:
        assert list(reader.read_lines()) == [
            '{"name":"write","cat":"POSIX","pid":1,"tid":2,"ts":10,"dur":2000,"id":10,"ph":"X",'
            '"args":{"ret":-1,"note":[1, {"x": null}],"io":{"size": 7, "kind": "seq"}}}',
            '{"name":"read","cat":"POSIX","pid":1,"tid":2,"ts":20,"dur":5,"id":20,"ph":"X","args":{"fname":"/b"}}',
            '{"name":"mark","cat":"app","pid":1,"tid":2,"ts":20,"id":20,"ph":"X","args":{"ok":true,"share":0.25}}',
            '{"name":"read","cat":"POSIX","pid":1,"tid":2,"ts":30,"dur":5,"id":30,"ph":"X",'
            '"args":{"ret":4096,"fname":"/a"}}',
        ]
        assert reader.header == ()


@pytest.mark.parametrize(
    ("query", "times"),
    [
        ('name == "read"', [20, 30]),
        ("dur > 5", [10]),
        ("dur >= 2ms and dur < 2_001us", [10]),
        ("not (dur > 5)", [20, 30]),
        ("dur is null", [20]),
        ("ts == 20", [20, 20]),
        ("ts <= 0.02ms", [10, 20, 20]),
        ("ret != 5", [10, 30]),
        ("not (ret == 5)", [10, 30]),
        ("ret not in [5]", [10, 30]),
        ("args.ret is null", [20, 20]),
        ("ret in [4096, -1.0]", [10, 30]),
        ("ret < 18446744073709551616 and ret > -1e300", [10, 30]),
        ("io.size == 7", [10]),
        ('args.io.kind in ["seq", "random"]', [10]),
        ("ok == true", [20]),
        ("not (ok == false)", [20]),
        ("share == 0.25 or fname == '/b'", [20, 20]),
        ('cat in ["app"] or pid != 1', [20]),
        ("ret in []", []),
        ("ret not in []", [10, 30]),
        ('name < "read"', [20]),
    ],
)
def test_queries(query: str, times: list[int], small: Path) -> None:
    with dctv.TraceReader(small) as reader:
        assert [json.loads(line)["ts"] for line in reader.read_lines(query)] == times
        assert reader.count(query) == len(times)
        assert reader.warnings == []


def test_batches(small: Path) -> None:
    with dctv.TraceReader(str(small)) as reader:
        table = pa.Table.from_batches(reader.read_batches('name != "read"'))
    assert table.column_names == ["_ts", "_duration", "name", "category", "pid", "tid", "args"]
    assert [list(row.values())[:6] for row in table.to_pylist()] == [
        [0, 2_000_000, "write", "POSIX", 1, 2],
        [10_000, None, "mark", "app", 1, 2],
    ]
    assert json.loads(table.column("args")[1].as_py()) == {"ok": True, "share": 0.25}
    assert table.schema.field("_duration").metadata == {b"unit": b"ns"}


@pytest.mark.parametrize(
    ("query", "warnings"),
    [
        ("retn > 3", ["no event has a field `retn`, did you mean `ret`?"]),
        ("pid == 'x'", ["`pid` is a number, found `'x'`: no event matches that"]),
        ("zzz is null", ["no event has a field `zzz`"]),
        ("name == 5", ["`name` is a text, found `5`: no event matches that"]),
        ("ok == 1", ["`ok` is true or false, found `1`: no event matches that"]),
        ("ret == null", ["nothing equals null: write `ret is null`"]),
    ],
)  # fmt: skip
def test_warnings(query: str, warnings: list[str], small: Path) -> None:
    with dctv.TraceReader(small) as reader:
        reader.count(query)
        assert reader.warnings == warnings


def test_a_unit_that_fits_some_events_only(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.pfw",
        record("fread", 1, cat="STDIO", args={"size": 8192}),
        record("step", 2, cat="app", args={"size": 8192}),
    )
    with dctv.TraceReader(path) as reader:
        assert reader.count("size >= 4KiB") == 1
        assert reader.warnings == ["`size` has no unit, found `4KiB`: events of 1 name do not match for that"]
        assert reader.count("size >= 4096") == 2
        assert reader.warnings == []


@pytest.mark.parametrize(
    ("query", "kind", "shown"),
    [
        ("dur > 5MB", UnitError, "<query>:1:7: `dur` is in `us`, found `5MB`\n  dur > 5MB\n        ^^^"),
        ("ret > 5ms", UnitError, "<query>:1:7: `ret` has no unit, found `5ms`\n  ret > 5ms\n        ^^^"),
        ("dur > 5mz", UnitError, "<query>:1:7: unknown unit `mz`\n  dur > 5mz\n        ^^^\nhint: did you mean `m`?"),
        (
            "args == 1",
            BindError,
            "<query>:1:1: `args` is an object, expected one of its fields as in `args.ret`\n  args == 1\n  ^^^^",
        ),
        ("dur >", ParseError, "<query>:1:6: found the end of the filter, expected a value\n  dur >\n       ^"),
    ],
)
def test_errors(query: str, kind: type[QueryError], shown: str, small: Path) -> None:
    with dctv.TraceReader(small) as reader:
        with pytest.raises(kind) as caught:
            reader.read_lines(query)
        assert render(caught.value) == shown
        assert reader.count() == 4


def test_no_trace(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"^error: no such file or folder: `.*/none\.pfw`$"):
        dctv.TraceReader(tmp_path / "none.pfw")


def test_reading_may_stop_early_and_run_side_by_side() -> None:
    with dctv.TraceReader(LOADER) as reader:
        first, second = reader.read_lines(), reader.read_lines('name == "read"')
        one, other = json.loads(next(first)), json.loads(next(second))
        assert (one["name"], other["name"]) == ("start", "read")
        assert reader.count() == len([one, *first])


ROUND_TRIPS = [
    [record("read", 10**15 + n, dur=n, args={"ret": n, "hhash": 7, "fhash": "ab"}) for n in range(3)],
    [{**record("a", 5, dur=7), "ph": "M", "name": "CM", "args": {"name": "time_metric", "value": "NS"}},
     record("a", 1_700_000_000_000_000_001, dur=999, args={"x": 1})],
    [record("b", 3, args={"s": '"\\\n\u2028\x7f\u202e', "j": "[1,]", "k": "{\n}", "l": "[1]", "big": 2**64 - 1})],
    [record("c", 1, cat=None, tid=None, args={"f": 1e300, "g": 0.1, "h": -0.0, "name": "n", "pid": "p"}),
     record("c", 2, args={"X": 1, "x": 2})],
    [record('q"\\', 1, args={'k"': 1, "é\n": "v", "": 2}), record("read", 2, args={"deep": {"a": [[], {}]}})],
]  # fmt: skip


@pytest.mark.parametrize("records", ROUND_TRIPS, ids=str)
def test_a_rewritten_trace_is_the_same(records: list[dict[str, Any]], tmp_path: Path) -> None:
    assert_same(write(tmp_path / "in.pfw", *records), tmp_path)


def test_a_trace_of_several_files_is_written_as_the_same_events(tmp_path: Path) -> None:
    assert_same(LOADER, tmp_path)


def assert_same(path: Path, folder: Path) -> None:
    with dctv.TraceReader(path) as reader:
        lines = [*reader.header, *reader.read_lines()]
        before = tables(reader.session)
    again = folder / "again.pfw.gz"
    again.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))
    with dctv.TraceReader(again) as reader:
        assert tables(reader.session) == before
        assert [*reader.header, *reader.read_lines()] == lines


def tables(session: dctv.Session) -> dict[str, Any]:
    names = [info.name for info in session.tables("trace") if info.name.startswith("trace.raw_events.")]
    found = {}
    for name in names:
        quoted = ".".join(f"`{part.replace('`', '``')}`" for part in name.split(".", 2))
        table = session.sql(f"SELECT * FROM {quoted}").arrow()
        columns = sorted(table.column_names)
        found[name] = (columns, table.select(columns).to_pylist())
    start = session.sql("SELECT value FROM trace.properties WHERE key = 'start_ns'").fetchall()
    return {**found, "start": start}


def test_traces_of_other_formats() -> None:
    with dctv.TraceReader(DATA / "stdlib" / "states.trace.txt") as reader:
        line = json.loads(next(reader.read_lines('name == "sched_switch" and cpu == 0')))
        start = int(reader.session.sql("SELECT value FROM trace.properties WHERE key = 'start_ns'").fetchall()[0][0])
        first = (
            reader.session.sql("SELECT * FROM trace.raw_events.sched_switch WHERE cpu = 0 LIMIT 1")
            .arrow()
            .to_pylist()[0]
        )
        assert line["ts"] == start + first["_ts"]
        assert (line["tid"], line["cpu"], line["common_comm"]) == (first["common_pid"], 0, first["common_comm"])
        assert line["args"]["next_pid"] == first["next_pid"]
        assert reader.count(f"ts == {line['ts']}ns") >= 1
        assert reader.count("next_pid == 0") == reader.count('name == "sched_switch" and next_pid in [0]') > 0


@pytest.mark.parametrize(
    "read",
    [
        lambda reader: reader.count(),
        lambda reader: next(reader.read_lines()),
        lambda reader: next(reader.read_batches()),
        lambda reader: reader.header,
    ],
)
def test_a_closed_reader_says_so(read: Callable[[dctv.TraceReader], object]) -> None:
    with dctv.TraceReader(DATA / "stdlib" / "states.trace.txt") as reader:
        read(reader)
    with pytest.raises(dctv.UsageError, match="the reader of the trace is closed"):
        read(reader)
