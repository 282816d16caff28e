"""`dctv view`: events on stdout or in a file, warnings on stderr, exit codes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.command_line import COMMAND, Ran, environment, run

DATA = Path(__file__).parents[1] / "data"
HEAD = '{"name":"%s","cat":"POSIX","pid":1,"tid":2,"ts":%d,"dur":%d,"ph":"X","args":{%s}}\n'


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "run"
    path.mkdir()
    (path / "a.pfw").write_text(HEAD % ("read", 20, 5, '"ret":1') + HEAD % ("write", 10, 2000, '"ret":2'))
    (path / "b.pfw").write_text(HEAD % ("read", 15, 7, '"note":"\\u202e\\u001b"'))
    return path


READ = '{"name":"read","cat":"POSIX","pid":1,"tid":2,"ts":20,"dur":5,"ph":"X","args":{"ret":1}}\n'
WRITE = '{"name":"write","cat":"POSIX","pid":1,"tid":2,"ts":10,"dur":2000,"ph":"X","args":{"ret":2}}\n'
NOTED = (
    '{"name":"read","cat":"POSIX","pid":1,"tid":2,"ts":15,"dur":7,"ph":"X","args":{"note":"\\u202e\\u001B"}}\n'
)  # fmt: skip


def test_all_events(trace: Path) -> None:
    assert run("view", trace) == Ran(0, WRITE + NOTED + READ, "")


def test_a_filter(trace: Path) -> None:
    assert run("view", trace, "--where", 'name == "read" and dur < 6') == Ran(0, READ, "")
    assert run("view", trace, "--where", "not (ret == 1)") == Ran(0, WRITE, "")


def test_several_files_are_one_trace(trace: Path) -> None:
    assert run("view", trace / "b.pfw", trace / "a.pfw", trace / "a.pfw") == run("view", trace)


def test_a_limit_takes_the_first_in_order_of_time(trace: Path) -> None:
    assert run("view", trace, "--limit", "2") == Ran(0, WRITE + NOTED, "")
    assert run("view", trace, "--limit", "2", "--where", 'name == "read"').out == NOTED + READ


@pytest.mark.parametrize("name", ["out.ndjson", "out.jsonl", "out.pfw", "out"])
def test_records_in_a_file(name: str, trace: Path, tmp_path: Path) -> None:
    assert run("view", trace, "-o", tmp_path / name) == Ran(0, "", "")
    assert (tmp_path / name).read_text() == WRITE + NOTED + READ
    assert run("view", tmp_path / name) == run("view", trace)


def test_other_formats_have_the_columns_of_events(trace: Path, tmp_path: Path) -> None:
    ran = run("view", trace, "--where", "ret > 0", "--format", "csv")
    assert ran == Ran(
        0,
        "_ts [ns],_duration [ns],name,category,pid,tid,args\n"
        '0,2000000,write,POSIX,1,2,"{""ret"":2}"\n10000,5000,read,POSIX,1,2,"{""ret"":1}"\n',
        "",
    )
    assert run("view", trace, "-o", tmp_path / "x.parquet").code == 0
    assert pq.read_table(tmp_path / "x.parquet").column("name").to_pylist() == ["write", "read", "read"]
    lines = run("view", trace, "--format", "jsonl", "--limit", "1").out.splitlines()
    assert [json.loads(line)["_duration"] for line in lines] == [2_000_000]


@pytest.mark.parametrize(
    "name", ["stdlib/browser.json", "stdlib/requests.jaeger.json", "v8/fib.cpuprofile", "perf/cpuclock.data"]
)
def test_a_record_has_each_key_once(name: str) -> None:
    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        assert len(dict(pairs)) == len(pairs), pairs
        return dict(pairs)

    records = [json.loads(line, object_pairs_hook=unique) for line in run("view", DATA / name).out.splitlines()]
    assert records
    assert all({"name", "ts"} <= one.keys() for one in records)


def test_nanoseconds_come_with_their_unit(tmp_path: Path) -> None:
    unit = '{"name":"CM","cat":"dftracer","pid":0,"tid":0,"ph":"M","args":{"name":"time_metric","value":"NS"}}\n'
    (tmp_path / "ns.pfw").write_text(HEAD % ("read", 10**15 + 1, 999, "") + unit)
    ran = run("view", tmp_path / "ns.pfw", "--where", "dur == 999 and dur < 1us")
    assert ran == Ran(0, unit + HEAD % ("read", 10**15 + 1, 999, ""), "")
    (tmp_path / "again.pfw").write_text(ran.out)
    assert run("view", tmp_path / "again.pfw") == ran


def test_patterns_without_matches(trace: Path) -> None:
    assert run("view", trace, "--where", "ret > 100") == Ran(0, "", "")
    warning = "warning: no event has a field `rett`, did you mean `ret`?\n"
    assert run("view", trace, "--where", "rett > 100") == Ran(0, "", warning)
    assert run("view", trace, "--where", "rett > 100", "--format", "csv") == Ran(
        0, "_ts [ns],_duration [ns],name,category,pid,tid,args\n", warning
    )


def test_a_wrong_filter(trace: Path, tmp_path: Path) -> None:
    shown = "<filter>:1:5: found `=`, expected a comparison, `in`, `not in` or `is`\n  ret = 1\n      ^\n"
    shown += "hint: equality is written `==`\n"
    assert run("view", trace, "--where", "ret = 1", "-o", tmp_path / "x.csv") == Ran(2, "", shown)
    assert not (tmp_path / "x.csv").exists()
    assert run("view", trace, "--where", "dur > 5MB") == Ran(
        2, "", "<filter>:1:7: `dur` is in `us`, found `5MB`\n  dur > 5MB\n        ^^^\n"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "error: found no TRACE"),
        (("none.pfw",), "error: no such file or folder: `none.pfw`"),
        (
            ("none.pfw", "-o", "x.doc"),
            "error: the name `x.doc` does not determine a format, expected --format or one of",
        ),
        (("none.pfw", "--limit", "0"), "error: found `--limit 0`, expected a number from 1"),
        (
            ("a.pfw", "b.txt"),
            "error: these are traces of several formats: dftracer (`a.pfw`) and ftrace-text (`b.txt`)",
        ),
    ],
)
def test_wrong_arguments(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    (tmp_path / "a.pfw").write_text(READ)
    (tmp_path / "b.txt").write_text("# tracer: nop\n x-1 [000] 1.000000: f: a=1\n")
    ran = run("view", *words, cwd=tmp_path)
    assert (ran.code in {2, 3}, ran.out) == (True, "")
    assert message in ran.err
    assert "Traceback" not in ran.err


def test_an_incompletely_read_trace(trace: Path) -> None:
    (trace / "c.pfw.gz").write_bytes(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03broken")
    assert run("view", trace, "--where", "ret == 2").code == 3
    ran = run("view", trace, "--where", "ret == 2", "--allow-partial")
    assert (ran.code, ran.out) == (0, WRITE)


def test_a_closed_pipe_ends_the_command(tmp_path: Path) -> None:
    path = tmp_path / "long.pfw"
    path.write_text("".join(HEAD % ("read", n, 1, f'"ret":{n}') for n in range(50_000)))
    words = [*COMMAND, "view", str(path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline())["ts"] == 0
        process.stdout.close()
        assert process.wait(60) == 141
        assert process.stderr.read() == b""
