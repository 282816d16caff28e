"""DFTracer traces of every generation, and every way in which one can be broken."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from dctv.contracts import whole
from dctv.contracts.reader import Head, LoadContext, LoadedTrace
from dctv.errors import TraceError
from dctv.readers.dftracer import READER
from dctv.session import Session
from tests.readers.pfw_chunks import plain_rows

V0 = (
    '{"id":"1","name":"open","cat":"POSIX","pid":"7","tid":"8","ts":"1000","dur":"5","ph":"X",'
    '"args":{"hostname":"h","ret":"18","fname":"/a"}}'
)
V1_HASH = '{"id":1,"name":"FH","cat":"dftracer","pid":7,"tid":8,"ph":"M","args":{"name":"/a","value":330}}'
V1 = '{"id":2,"name":"open","cat":"POSIX","pid":7,"tid":8,"ts":1000,"dur":5,"ph":"X","args":{"fhash":330,"level":1}}'
V2_HASH = '{"name":"FH","cat":"dftracer","pid":7,"tid":8,"ph":"M","args":{"hhash":"e","name":"/a","value":"8d"}}'
V2 = '{"id":2,"name":"open","cat":"POSIX","pid":7,"tid":8,"ts":1000,"dur":5,"ph":"X","args":{"fhash":"8d","hhash":"e"}}'
V22_HASH = V2_HASH.replace('"ph":"M"', '"type":1,"ph":4')
V22 = V2.replace('"ph":"X"', '"type":3,"ph":1')
UNIT = '{"name":"CM","cat":"dftracer","pid":7,"tid":8,"ph":4,"args":{"name":"time_metric","value":"%s"}}'


def event(name: str, ts: object, args: str = "{}", **more: object) -> str:
    fields = {"name": name, "cat": "c", "pid": 1, "tid": 2, "ts": ts, "dur": 1, "ph": 1, **more}
    return f'{json.dumps(fields)[:-1]},"args":{args}}}'


def context(threads: int = 2) -> LoadContext:
    return LoadContext({}, threads, lambda _done, _total: None)


def load(*paths: Path) -> LoadedTrace:
    return READER.load(paths, context())


@pytest.fixture
def trace(tmp_path: Path) -> Callable[..., LoadedTrace]:
    def write(*lines: str | bytes) -> LoadedTrace:
        path = tmp_path / "t.pfw"
        path.write_bytes(b"".join((x.encode() if isinstance(x, str) else x) + b"\n" for x in lines))
        return load(path)

    return write


def rows(trace: LoadedTrace, name: str) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = trace.tables[f"raw_events.{name}"].data.to_pylist()
    return result


def troubles(trace: LoadedTrace) -> dict[str, int]:
    return {d.reason: d.count for d in trace.diagnostics}


@pytest.mark.parametrize(
    "lines",
    [
        ("[", f"   {V0}"),
        ("[", V1_HASH, V1, "]"),
        ("[", V2_HASH, V2, "]"),
        (V2_HASH, V2),
        (V22_HASH, V22),
    ],
    ids=["v0", "v1.0", "v2.0", "v2.0-no-brackets", "v2.2"],
)
def test_generations(trace: Callable[..., LoadedTrace], lines: Sequence[str]) -> None:
    loaded = trace(*lines)
    (row,) = rows(loaded, "open")
    expected = {"_ts": 0, "dur": 5000, "cat": "POSIX", "pid": 7, "tid": 8, "ph": "X", "fname": "/a"}
    assert {key: row[key] for key in expected} == expected
    assert loaded.properties["start_ns"] == "1000000"
    assert loaded.last_ts == 5000
    (file,) = plain_rows(loaded.tables["files"])
    assert (file["events"], file["invalid_lines"], file["min_ts"], file["max_ts"]) == (1, 0, 1000, 1000)
    assert file["metadata"] == sum("FH" in line for line in lines)


def test_old_args_keep_their_type(trace: Callable[..., LoadedTrace]) -> None:
    assert rows(trace(V0), "open")[0]["ret"] == "18"


def test_hashes_are_texts_in_all_generations(trace: Callable[..., LoadedTrace]) -> None:
    assert [row["fhash"] for row in rows(trace(V1_HASH, V1, V2_HASH, V2), "open")] == ["330", "8d"]


@pytest.mark.parametrize(("unit", "factor"), [("NS", 1), ("US", 10**3), ("MS", 10**6), ("SEC", 10**9)])
def test_units(trace: Callable[..., LoadedTrace], unit: str, factor: int) -> None:
    loaded = trace(event("a", 5), UNIT % unit, event("a", 8))
    assert [(row["_ts"], row["dur"]) for row in rows(loaded, "a")] == [(0, factor), (3 * factor, factor)]
    assert [row["time_unit"] for row in plain_rows(loaded.tables["files"])] == [unit]


def test_units_are_per_file(tmp_path: Path) -> None:
    (tmp_path / "a.pfw").write_text(f"{UNIT % 'NS'}\n{event('a', 5000)}\n")
    (tmp_path / "b.pfw").write_text(f"{event('a', 7)}\n")
    assert [row["_ts"] for row in rows(load(*sorted(tmp_path.iterdir())), "a")] == [0, 2000]


def test_phases(trace: Callable[..., LoadedTrace]) -> None:
    lines = [event("a", i, ph=ph) for i, ph in enumerate([1, 2, 3, "X", "C", "B", 9])]
    assert [row["ph"] for row in rows(trace(*lines), "a")] == ["X", "C", "A", "X", "C", "B", "9"]


def test_without_duration(trace: Callable[..., LoadedTrace]) -> None:
    loaded = trace('{"name":"a","cat":"c","pid":1,"tid":2,"ts":3,"ph":2,"args":{"value":4}}')
    assert rows(loaded, "a") == [
        {"_ts": 0, "dur": None, "cat": "c", "pid": 1, "tid": 2, "ph": "C", "value": 4},
    ]


def test_one_hash_with_two_texts(tmp_path: Path) -> None:
    other = V1_HASH.replace("/a", "/b")
    (tmp_path / "1.pfw").write_text(f"{V1_HASH}\n{V1}\n")
    (tmp_path / "2.pfw").write_text(f"{other}\n{V1}\n")
    (tmp_path / "3.pfw").write_text(f"{V1_HASH}\n{other}\n{V1}\n")
    loaded = load(*sorted(tmp_path.iterdir()))
    assert [row["fname"] for row in rows(loaded, "open")] == ["/a", "/b", None]
    assert troubles(loaded) == {"hash stands for several texts": 1, "hash without a text": 1}


def test_names_that_are_taken(trace: Callable[..., LoadedTrace]) -> None:
    loaded = trace(event("a", 1, '{"dur":9,"name":"n","pid":8,"x":1,"X":2,"_ts":3}'))
    (row,) = rows(loaded, "a")
    renamed = {"args_dur": 9, "args_name": "n", "args_pid": 8, "x": 1, "X_2": 2, "args__ts": 3}
    assert {key: row[key] for key in renamed} == renamed
    made = loaded.tables["raw_events.a"].event
    assert made is not None
    assert made.args == tuple(renamed)


def test_units_of_columns(trace: Callable[..., LoadedTrace]) -> None:
    loaded = trace(event("read", 1, '{"count":9,"ret":9}', cat="POSIX"), event("write", 1, '{"count":9}', cat="mine"))
    units = {c.name: str(c.unit) for c in loaded.tables["raw_events.read"].schema.columns}
    assert (units["_ts"], units["dur"], units["count"], units["ret"]) == ("ns", "ns", "B", "")
    assert [str(c.unit) for c in loaded.tables["raw_events.write"].schema.columns if c.name == "count"] == [""]


def test_last_of_equal_keys_wins(trace: Callable[..., LoadedTrace]) -> None:
    (row,) = rows(trace('{"name":"z","ts":1,"ts":2,"name":"a","ph":1,"args":{"q":1},"args":{"k":1,"k":2}}'), "a")
    assert (row["k"], "q" in row) == (2, False)


@pytest.mark.parametrize(
    ("values", "expected", "kind"),
    [
        ("1 2 null", [1, 2, None], "BIGINT"),
        ("1 2.50", [1.0, 2.5], "DOUBLE"),
        ("9007199254740993 2.50", ["9007199254740993", "2.50"], "VARCHAR"),
        ('1 2.50 "x"', ["1", "2.50", "x"], "VARCHAR"),
        ("1 18446744073709551615", [1, 2**64 - 1], "UBIGINT"),
        ("-1 18446744073709551615", ["-1", "18446744073709551615"], "VARCHAR"),
        ("99999999999999999999999", ["99999999999999999999999"], "VARCHAR"),
        ("true false", [True, False], "BOOLEAN"),
        ("true 1", ["true", "1"], "VARCHAR"),
        ('[1,{"a":2}] {}', ['[1,{"a":2}]', "{}"], "VARCHAR"),
        (r'"\ud83d\ude00\n" "ä"', ["😀\n", "ä"], "VARCHAR"),
        ("null null", [None, None], "VARCHAR"),
    ],
)
def test_types_of_columns(trace: Callable[..., LoadedTrace], values: str, expected: list[object], kind: str) -> None:
    loaded = trace(*(event("a", i, f'{{"v":{value}}}') for i, value in enumerate(values.split())))
    assert [row["v"] for row in rows(loaded, "a")] == expected
    assert [c.type for c in loaded.tables["raw_events.a"].schema.columns if c.name == "v"] == [kind]


def test_events_are_sorted_and_ties_keep_their_order(trace: Callable[..., LoadedTrace]) -> None:
    times = [5, 3, 9, 3, 5, 0, 3]
    loaded = trace(*(event("a", ts, f'{{"n":{i}}}') for i, ts in enumerate(times)))
    expected = sorted(range(len(times)), key=times.__getitem__)
    assert [row["n"] for row in rows(loaded, "a")] == expected


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"name":"a","args":{"note":"quote " and \\ back"}}', "line is not JSON"),
        ('{"step":8,}', "line is not JSON"),
        ("[1, 2]", "line is not a JSON object"),
        ('{"ts":1}', "record without a name"),
        ('{"name":"a","ph":1}', "event without a timestamp"),
        (event("a", 1.5), "event whose timestamp is not a whole number"),
        (event("a", "soon"), "event whose timestamp is not a whole number"),
        (event("a", -1), "event with a negative timestamp"),
        (event("a", 1, dur=-1), "event with a negative duration"),
        (event("a", 2**63), "event whose time does not fit into 64 bits of nanoseconds"),
        (event("a", 2**62), "event whose time does not fit into 64 bits of nanoseconds"),
        (event("a", 2**53, dur=2**53), "event whose time does not fit into 64 bits of nanoseconds"),
    ],
)
def test_bad_lines_are_counted(trace: Callable[..., LoadedTrace], line: str, reason: str) -> None:
    loaded = trace(event("a", 7), line, line)
    assert [row["_ts"] for row in rows(loaded, "a")] == [0]
    (diagnostic,) = (one for one in loaded.diagnostics if not one.incomplete)
    assert (diagnostic.reason, diagnostic.count, diagnostic.incomplete) == (reason, 2, False)
    assert diagnostic.example.startswith(("line 2: ", "event a: "))
    (file,) = plain_rows(loaded.tables["files"])
    assert file["events"] == 1


def test_bad_duration_is_null(trace: Callable[..., LoadedTrace]) -> None:
    loaded = trace(event("a", 7, dur="long"))
    assert rows(loaded, "a")[0]["dur"] is None
    assert troubles(loaded) == {"duration is not a whole number (read as NULL)": 1}


def test_not_utf8(trace: Callable[..., LoadedTrace]) -> None:
    loaded = trace(event("a", 1, '{"v":"?"}').encode().replace(b"?", b"x\xffy"))
    assert rows(loaded, "a")[0]["v"] == "x\ufffdy"
    assert troubles(loaded) == {"text is not UTF-8 (bad bytes replaced)": 1}


def test_half_surrogate(trace: Callable[..., LoadedTrace]) -> None:
    loaded = trace(event("a", 1, r'{"v":"x\ud800y"}'))
    assert rows(loaded, "a")[0]["v"] == "x\ufffdy"
    assert troubles(loaded) == {"text is not UTF-8 (bad bytes replaced)": 1}


def test_zeros_in_keys_are_replaced(trace: Callable[..., LoadedTrace]) -> None:
    loaded = trace(event("a", 1, r'{"x\u0000":1,"y":{"z\u0000":2}}'), event("a", 2, r'{"x\u0000":3}'))
    assert [(row["x\ufffd"], row["y"]) for row in rows(loaded, "a")] == [(1, r'{"z\u0000":2}'), (3, None)]


def test_unknown_time_unit(trace: Callable[..., LoadedTrace]) -> None:
    assert troubles(trace(UNIT % "WEEKS", event("a", 1))) == {"unknown time unit (microseconds assumed)": 1}


def test_file_ends_inside_a_record(tmp_path: Path) -> None:
    path = tmp_path / "t.pfw"
    path.write_text(f'{event("a", 1)}\n{{"name":"a","ts":12')
    loaded = load(path)
    assert [(d.reason, d.incomplete) for d in loaded.diagnostics] == [("file ends inside a record", True)]


def test_endless_line_is_skipped(tmp_path: Path) -> None:
    from dctv._kernels import PfwPass

    path = tmp_path / "t.pfw"
    path.write_text(f"{event('a', 1)}\n{'x' * 2_000_000}\n{event('a', 2)}\n{'y' * 2_000_000}")
    run = PfwPass([str(path)], 1, chunk_bytes=1000, line_limit=100_000)
    assert sum(data.num_rows for chunk in run for _, data in chunk.events) == 2
    (trouble,) = run.metadata()["troubles"]
    assert (trouble["reason"], trouble["count"], trouble["incomplete"]) == ("line is too long", 2, True)
    assert trouble["example"][:20] == "line 2: xxxxxxxxxxxx"


LINES = "".join(event("a", i, f'{{"v":{i}}}') + "\n" for i in range(5000))


@pytest.mark.parametrize("members", [1, 3, 500])
def test_gzip_members(tmp_path: Path, members: int) -> None:
    data = LINES.encode()
    cuts = [len(data) * i // members for i in range(members + 1)]
    path = tmp_path / "t.pfw.gz"
    path.write_bytes(b"".join(gzip.compress(data[a:b]) for a, b in pairwise(cuts)))
    loaded = load(path)
    assert [row["v"] for row in rows(loaded, "a")] == list(range(5000))
    assert loaded.diagnostics == []


def test_zeros_after_gzip_are_padding(tmp_path: Path) -> None:
    path = tmp_path / "t.pfw.gz"
    path.write_bytes(gzip.compress(LINES.encode()) + bytes(1000))
    assert load(path).diagnostics == []


@pytest.mark.parametrize("cut", [0.3, 0.7, 0.99])
def test_truncated_gzip_keeps_complete_events(tmp_path: Path, cut: float) -> None:
    data = gzip.compress(LINES.encode())
    path = tmp_path / "t.pfw.gz"
    path.write_bytes(data[: int(len(data) * cut)])
    loaded = load(path)
    found = [row["v"] for row in rows(loaded, "a")]
    assert found == list(range(len(found)))
    assert len(found) > 1000 * cut
    assert ("gzip data end early", True) in [(d.reason, d.incomplete) for d in loaded.diagnostics]


def test_corrupted_gzip(tmp_path: Path) -> None:
    broken = bytearray(gzip.compress(LINES.encode(), mtime=0))
    broken[10] |= 0b110  # a block of the type that does not exist
    path = tmp_path / "t.pfw.gz"
    path.write_bytes(gzip.compress(LINES.encode()) + broken)
    loaded = load(path)
    assert [(d.reason, d.incomplete) for d in loaded.diagnostics] == [("gzip data are damaged", True)]
    assert loaded.tables["raw_events.a"].data.num_rows == 5000


def test_wrong_checksum(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(LINES.encode()))
    data[-8] ^= 1
    path = tmp_path / "t.pfw.gz"
    path.write_bytes(data)
    loaded = load(path)
    assert ("gzip data are damaged", True) in [(d.reason, d.incomplete) for d in loaded.diagnostics]


def test_garbage_after_gzip(tmp_path: Path) -> None:
    path = tmp_path / "t.pfw.gz"
    path.write_bytes(gzip.compress(LINES.encode()) + b"hello")
    (diagnostic,) = load(path).diagnostics
    assert (diagnostic.reason, diagnostic.incomplete) == ("bytes that are not gzip follow the gzip data", True)


@pytest.mark.parametrize("name", ["t.pfw", "t.pfw.gz"])
def test_empty_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.touch()
    loaded = load(path)
    assert sorted(loaded.tables) == ["files", "metadata"]
    assert troubles(loaded) == {"file is empty": 1}
    assert loaded.last_ts == 0


@pytest.mark.parametrize("text", ["[", "[\n", "[\n]\n"])
def test_the_file_of_a_process_that_traced_nothing(tmp_path: Path, text: str) -> None:
    """Its name says that it is DFTracer's; a list of no events in another file may be Chrome's."""
    for name, path in (("chrome-json", tmp_path / "t.json"), ("dftracer", tmp_path / "t.pfw")):
        path.write_text(text)
        with Session(index=False) as session:
            session.mount(path, "t")
            assert session.warnings() == [f"found no event in `{path}`, which was read as {name}"]
            assert session.sql("SELECT COUNT(*) FROM t.events").fetchall() == [(0,)]
            assert session.incomplete() == []


def test_binary_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.pfw"
    path.write_bytes(bytes(range(256)) * 10)
    with pytest.raises(TraceError, match=r"no DFTracer record in `.*t.pfw`: line is not JSON"):
        load(path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"cannot read `.*none.pfw`: no such file"):
        load(tmp_path / "none.pfw")


def test_progress_can_interrupt(tmp_path: Path) -> None:
    class StopNowError(Exception):
        pass

    def stop(_done: int, _total: int) -> None:
        raise StopNowError

    path = tmp_path / "t.pfw"
    path.write_text(LINES)
    before = set(threading.enumerate())
    with pytest.raises(StopNowError):
        READER.load([path], LoadContext({}, 2, stop))
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize("block", [1, 1000, 1 << 20])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_chunks_and_threads_do_not_matter(
    tmp_path: Path, block: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.pfw"
    lines = [event("ab"[i % 2], 9000 - i, f'{{"v":{json.dumps(i if i % 7 else str(i))}}}') for i in range(9000)]
    lines[50] = "broken"
    path.write_text("\n".join(lines))
    monkeypatch.setattr(whole, "CHUNK_BYTES", block)
    found = READER.load([path], context(threads))
    tables = {name: rows(found, name) for name in "ab"}
    expected = [i for i in range(8999, -1, -1) if i != 50]
    assert [int(row["v"]) for row in tables["a"]] == [i for i in expected if i % 2 == 0]
    assert [int(row["v"]) for row in tables["b"]] == [i for i in expected if i % 2 == 1]
    assert [(one.count, one.example) for one in found.diagnostics] == [(1, "line 51: broken")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (V0, True),
        (f"[\n{V1_HASH}\n{V1}\n]", True),
        (V22[:-20], True),
        ('{"traceEvents":[]}', False),
        ('{"a":1}\n{"b":2}', False),
        ("# tracer: nop\n", False),
        ("", False),
        ("[1,2,3]", False),
    ],
)
def test_sniff(text: str, *, expected: bool) -> None:
    assert READER.sniff(Head(Path("x"), text.encode(), text.encode())) is expected


def test_a_file_of_which_most_is_not_json_is_incomplete(tmp_path: Path) -> None:
    """F8: the rest of it would look like a complete trace."""
    path = tmp_path / "a.pfw"
    path.write_text("[\n" + event("read", 5) + "\n" + "no\n" * 5)
    assert [(one.reason, one.count) for one in load(path).diagnostics if one.incomplete] == [
        ("most lines could not be read", 5)
    ]
