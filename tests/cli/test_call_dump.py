"""`dctv dump`: each format's output, reading it back, and errors that state what was expected."""

from __future__ import annotations

import json
import re
import struct
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dctv.session import Session
from tests.command_line import ROOT, run
from tests.readers.uftrace.uftrace_directory import ENTRY, EXIT, Directory, calls, event, record, text

CALLS = ROOT / "tests/data/stdlib/calls.pfw"
FORMATS = ("chrome", "flame-graph", "graphviz", "mermaid", "raw")
NASTY = 'say "hi"; <b>&\\n\tx\x01\ud800'


def slices_of(trace: Path) -> Counter[tuple[Any, ...]]:
    session = Session(index=False)
    session.mount(str(trace), "t")
    query = "SELECT unitless(_ts), unitless(_duration), depth, tid, pid, name, args FROM t.calls"
    return Counter(tuple(row) for row in session.sql(query).fetchall())


def test_chrome_is_the_same_trace_again(tmp_path: Path) -> None:
    ran = run("dump", CALLS, "--chrome", "-o", tmp_path / "t.json")
    assert (ran.code, ran.err) == (0, "")
    assert slices_of(tmp_path / "t.json") == slices_of(CALLS)
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert {"B", "E", "M"} <= {one["ph"] for one in events}


def test_calls_that_do_not_nest_are_complete_events() -> None:
    """Two hosts have a thread of the same number there."""
    found = json.loads(run("dump", CALLS, "--chrome", "--no-args").out)["traceEvents"]
    assert [one for one in found if one["ph"] == "X"] == [
        {"ts": 1020.0, "ph": "X", "pid": 5, "tid": 5, "name": "close", "dur": 90.0}
    ]


def test_chrome_of_a_recording_is_the_same_trace_again(tmp_path: Path) -> None:
    data = calls((10, "main"), (20, "a"), (25, "b"), (30, None), (40, None), (45, "a"), (50, None), (2_000, None))
    folder = Directory({1: data}).write(tmp_path / "data")
    assert run("dump", folder, "--chrome", "-o", tmp_path / "t.json").code == 0

    def shown(trace: Path) -> Counter[tuple[Any, ...]]:
        return Counter((*row[:3], row[5]) for row in slices_of(trace))

    assert shown(tmp_path / "t.json") == shown(folder)
    chosen = run("dump", folder, "--chrome", "-F", "a@sample=2").out
    assert [one["ph"] for one in json.loads(chosen)["traceEvents"] if one["name"] == "a"] == ["B", "E"]


def names(out: str, form: str) -> list[str]:
    """Return the names of calls that are in an output."""
    if form == "chrome":
        return [one["name"] for one in json.loads(out)["traceEvents"] if one["ph"] == "B"]
    if form == "graphviz":
        found = re.findall(r'-> ("(?:[^"\\]|\\.)*") \[', out)
        return [json.loads(one) for one in found]
    pattern = {"flame-graph": r"(?m)([^;]*) \d+$", "raw": r"\[entry\] (.*)\(0\)", "mermaid": r'\| \d_\d+\["(.*)"\];'}
    return re.findall(pattern[form], out)


def test_names_are_escaped(tmp_path: Path) -> None:
    trace = tmp_path / "t.json"
    rows = [{"ph": "X", "name": NASTY, "pid": 1, "tid": 1, "ts": 1, "dur": 5}]
    trace.write_text(json.dumps({"traceEvents": rows}))
    known = Session(index=False)
    known.mount(str(trace), "t")
    name = str(known.sql("SELECT name FROM t.calls").fetchall()[0][0])
    assert names(run("dump", trace, "--chrome").out, "chrome") == [name]
    (shown,) = names(run("dump", trace, "--graphviz").out, "graphviz")
    assert shown == name.replace("\t", "\\x09").replace("\x01", "\\x01")
    (label,) = names(run("dump", trace, "--mermaid").out, "mermaid")
    assert label.startswith("say #quot;hi#quot;#59; #lt;b#gt;#amp;\\n\\x09x\\x01")
    (stack,) = run("dump", trace, "--flame-graph", "--sample-time=0").out.splitlines()
    assert stack.count(";") == 0
    assert stack.endswith(" 1")


@pytest.mark.parametrize("form", FORMATS)
def test_each_format_has_the_filtered_calls(form: str, tmp_path: Path) -> None:
    trace = tmp_path / "t.json"
    rows = [{"ph": "X", "name": "ab"[at % 2], "pid": 1, "tid": 1, "ts": 10 * at, "dur": 5} for at in range(12)]
    trace.write_text(json.dumps({"traceEvents": rows}))
    ran = run("dump", trace, f"--format={form}", "-F", "a@sample=3")
    assert (ran.code, ran.err) == (0, "")
    assert set(names(ran.out, form)) == {"a"}
    counts = {
        "chrome": ran.out.count('"B"'),
        "raw": ran.out.count("[entry]"),
        "flame-graph": 2 * ran.out.count("a 10\n"),
        "graphviz": 2 * ran.out.count('xlabel = "2"'),
        "mermaid": 2 * ran.out.count("|2|"),
    }
    assert counts[form] == 2


def test_sample_time_keeps_what_was_not_counted_of_calls_within(tmp_path: Path) -> None:
    trace = tmp_path / "t.json"
    rows = [("main", 0.0, 10.567), ("foo", 1.0, 4.789), ("bar", 5.0, 4.987)]
    rows[2] = ("bar", 5.8, 4.987 - 1.0)
    events = [{"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": at, "dur": dur} for name, at, dur in rows]
    trace.write_text(json.dumps({"traceEvents": events}))
    found = run("dump", trace, "--flame-graph", "--sample-time=1us").out
    assert found == "main 3\nmain;foo 4\nmain;bar 3\n"
    assert run("dump", trace, "--flame-graph", "--sample-time=0").out == "main 1\nmain;foo 1\nmain;bar 1\n"


RAW = """\
reading 1.dat
0.000000010        1: [entry] main(555555551004) depth: 0
0.000000020        1: [entry] a(555555551104) depth: 1
0.000000020        1: [args ] length = 16
  args[0] i32: 0xffffffff
  args[1] str: say
  args[2] p: 555555551204 (&b)
0.000000025        1: [event] read:page-fault(186a2) depth: 0
0.000000025        1: [data ] length = 16
  read:page-fault: major=1 minor=2
0.000000030        1: [exit ] a(555555551104) depth: 1
0.000000030        1: [retval] length = 4
  retval x32: 0x00000007
0.000000040        1: [exit ] main(555555551004) depth: 0
"""


def recording(folder: Path) -> Path:
    args = struct.pack("<i", -1) + text(b"say")
    args += struct.pack("<I", 0x5555_1204)[:0] + struct.pack("<Q", 0x5555_5555_1204)[:8]
    data = (
        record(10, ENTRY, "main")
        + record(20, ENTRY, "a", 1, args[:4] + args[4:])
        + event(25, 100_002, struct.pack("<QQ", 1, 2))
        + record(30, EXIT, "a", 1, struct.pack("<I", 7))
        + record(40, EXIT, "main")
    )
    specs = ("argspec:a@arg1/i32,arg2/s,arg3/p", "retspec:a@retval/x32")
    return Directory({1: data}, argspec=specs, features=("argument", "retval", "event")).write(folder)


def test_records_of_a_directory_are_written_as_they_stand_there(tmp_path: Path) -> None:
    ran = run("dump", recording(tmp_path / "data"), "--no-index")
    assert (ran.code, ran.err) == (0, "")
    head, _, body = ran.out.partition("\n\n")
    assert head.splitlines()[:3] == [
        "uftrace file header: magic         = 4674726163652100",
        "uftrace file header: version       = 4",
        "uftrace file header: header size   = 40",
    ]
    assert body.replace("length = 20", "length = 16") == RAW


def test_records_that_filters_hide_are_left_out(tmp_path: Path) -> None:
    folder = recording(tmp_path / "data")

    def lines(*options: str) -> list[Any]:
        out = run("dump", folder, "--no-index", *options).out.partition("\n\n")[2]
        return re.findall(r"\[(entry|exit |event)\] (\S+)\(", out)

    assert lines("-F", "a") == [("entry", "a"), ("event", "read:page-fault"), ("exit ", "a")]
    assert lines("-N", "a") == [("entry", "main"), ("exit ", "main")]
    assert lines("-H", "a", "--no-event") == [("entry", "main"), ("exit ", "main")]
    assert lines("-F", "b") == []
    assert lines("-r", "15ns~25ns") == [("exit ", "a")]


def test_records_of_many_threads_come_in_the_order_of_their_files(tmp_path: Path) -> None:
    dat = {tid: calls((10 + tid, "a"), (20 + tid, None), (30 + tid, "a"), (40 + tid, None)) for tid in (9, 3, 5)}
    tasks = (*Directory().tasks, *(f"TASK timestamp=0.000000001 tid={tid} pid=1" for tid in dat))
    folder = Directory(dat, tasks=tasks).write(tmp_path / "data")
    whole = re.findall(r"reading (\d+)|\] (a)\(", run("dump", folder, "--no-index").out)
    assert [tid for tid, _ in whole if tid] == ["9", "3", "5"]
    found = run("dump", folder, "--no-index", "-F", "a@sample=2").out
    assert re.findall(r"reading (\d+)|0\.(\d+) .*\[entry\]", found) == [
        *[("9", ""), ("", "000000039")],
        *[("3", ""), ("", "000000033")],
        *[("5", ""), ("", "000000035")],
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--raw", "--chrome"], "expected one format, found `raw` and `chrome`"),
        (["--format=mermaid", "--graphviz"], "expected one format, found `mermaid` and `graphviz`"),
        (["--format=svg"], "found `--format svg`, expected one of raw, chrome"),
        (["--sample-time=1ms"], "--sample-time requires --flame-graph, found `raw`"),
        (["--flame-graph", "--sample-time=soon"], "found `--sample-time soon`, expected a time such as `100us`"),
        (["-o", "/nonexistent/x"], "cannot write `/nonexistent/x`: no such file or directory"),
        (["-Z", "10"], "these filters need sizes, and the table has no column `size`"),
    ],
)
def test_errors_state_what_was_expected(options: list[str], message: str) -> None:
    ran = run("dump", CALLS, *options)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
