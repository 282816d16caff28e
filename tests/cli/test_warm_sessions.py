"""`dctv session` and `--session`: a session answers like a separate process, and none is left running."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dctv.cli.warm.place import running
from tests.command_line import COMMAND, ROOT, Ran, environment, run, run_process

MARKS = ROOT / "tests/data/ftrace/live_marks.trace.txt.gz"
CALLS = ROOT / "tests/data/stdlib/calls.pfw"
REQUESTS = ROOT / "tests/data/stdlib/requests.jaeger.json"
SLOW = "SELECT COUNT(*) AS n FROM range(100000000000) AS t(a) WHERE hash(a) % 7 = 3"


@contextmanager
def started(folder: Path, name: str, *words: str | Path, cwd: Path | None = None) -> Iterator[None]:
    try:
        ran = run_process("session", "start", name, *words, cwd=cwd, XDG_RUNTIME_DIR=str(folder))
        assert (ran.code, ran.out) == (0, "")
        assert ran.err.endswith(f"the session `{name}` is ready: dctv query --session {name} 'SELECT ...'\n")
        yield
    finally:
        run("session", "stop", name, XDG_RUNTIME_DIR=str(folder))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("run")
    with started(made, "w", f"t={MARKS}", "--no-index"):
        yield made


def ask(folder: Path, *words: str | Path, stdin: str = "", cwd: Path | None = None, **changes: str) -> Ran:
    command, *rest = words
    place = str(folder)
    return run(command, "--session", "w", *rest, stdin=stdin, cwd=cwd, XDG_RUNTIME_DIR=place, **changes)


def begin(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    command = [*COMMAND, "query", "--session", *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, env=environment(XDG_RUNTIME_DIR=str(folder)))


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture
def in_kolkata(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Asia/Kolkata")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("in_kolkata")
@pytest.mark.parametrize(
    "words",
    [
        ["query", "SELECT name, COUNT(*) AS n FROM t.slices GROUP BY name ORDER BY n DESC, name LIMIT 3"],
        ["query", "--format", "json", "SELECT EVENT name FROM t.events LIMIT 2"],
        ["query", "CREATE VIEW v AS SELECT 1 AS x; CREATE TABLE w AS SELECT * FROM v; SELECT * FROM w"],
        ["query", "CREATE MACRO f(x) AS x + 1; SELECT f(2) AS three; DROP ALL t; SELECT * FROM t.events"],
        ["query", "SET memory_limit = '200MB'; SET span_engine = 'relational'; SELECT 1 AS x"],
        ["query", "SELECT nme FROM t.slices"],
        ["query", "SELECT 1 / 0 AS x; SELECT 1 AS x; SELEC"],
        ["query", "--on-error", "continue", "SELECT x; SELECT 2 AS x"],
        ["query", "--result", "last", "--limit", "1", "SELECT 1 AS x; SELECT * FROM range(5) AS t(a)"],
        ["query", "ASSERT 1 = 2, 'so'"],
        ["query", "--fail-on-rows", "--quiet", "SELECT 1 AS x"],
        ["query", "--param", "least=5ms", "SELECT COUNT(*) AS n FROM t.slices WHERE _duration > :least"],
        ["query", "--timeout", "300ms", SLOW],
        ["query", "--format", "nonsense", "SELECT 1"],
        ["query", "--time", "local", "SELECT TIMESTAMPTZ '2024-01-01 00:00:00+00' AS x"],
        ["query", f"o={REQUESTS}", "SELECT name FROM o.events"],
        ["query", f"MOUNT TRACE '{REQUESTS}' AS o; SELECT name FROM o.events"],
        ["query", "SHOW MOUNTS"],
        ["explain", "--sql", "SELECT COUNT(*) AS n FROM t.slices"],
        ["tables", "--like", "t.sched"],
    ],
)
def test_a_session_answers_like_a_separate_process(folder: Path, words: list[str]) -> None:
    command, *rest = words
    cold = run(command, f"t={MARKS}", "--no-index", *rest)
    for _ in range(2):  # What the first one changed is gone.
        assert ask(folder, *words) == cold


def test_it_reads_and_writes_where_the_command_is(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text("MOUNT TRACE 'c.pfw' AS c; SELECT COUNT(*) AS n FROM c.events;")
    shutil.copy(CALLS, tmp_path / "c.pfw")
    assert ask(folder, "query", "-f", "q.sql", "-o", "n.csv", cwd=tmp_path) == Ran(0, "", "")
    assert (tmp_path / "n.csv").read_text() == "n\n9\n"
    ran = ask(folder, "query", "-f", "-", "--format", "csv", stdin="SELECT 'é' AS x;")
    assert ran == Ran(0, "x\né\n", "")


def test_a_trace_that_changes_is_read_anew(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in ("a.pfw", "b.pfw"):
        shutil.copy(CALLS, tmp_path / name)
    place = tmp_path_factory.mktemp("run")
    query = ("query", "SELECT COUNT(*) AS n FROM t.events; SELECT COUNT(*) AS n FROM r.events", "--format", "csv")
    with started(place, "w", "t=a.pfw", "r=@*.pfw", "--no-index", cwd=tmp_path):
        assert ask(place, *query).out == "n\n9\n\nn\n18\n"
        before, _, _ = CALLS.read_text().rpartition('{"id"')
        (tmp_path / "a.pfw").write_text(before)
        assert ask(place, *query).out == "n\n8\n\nn\n17\n"
        shutil.copy(CALLS, tmp_path / "c.pfw")
        assert ask(place, *query).out == "n\n8\n\nn\n26\n"
        (tmp_path / "a.pfw").unlink()
        assert ask(place, *query).code == 3
        shutil.copy(CALLS, tmp_path / "a.pfw")
        assert ask(place, *query).out == "n\n9\n\nn\n27\n"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ending_a_query_keeps_the_session(folder: Path, number: int, code: int) -> None:
    process = begin(folder, "w", "--format", "csv", f"SELECT 1 AS x; {SLOW}")
    assert process.stdout is not None
    assert process.stdout.readline() == b"x\n"
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode == code
    assert ask(folder, "query", "SELECT 2 AS x", "--format", "csv") == Ran(0, "x\n2\n", "")


def test_a_killed_client_keeps_the_session(folder: Path) -> None:
    process = begin(folder, "w", "--format", "csv", f"SELECT 1 AS x; {SLOW}")
    assert process.stdout is not None
    assert process.stdout.readline() == b"x\n"
    process.kill()
    process.communicate()
    assert ask(folder, "query", "SELECT 2 AS x", "--format", "csv") == Ran(0, "x\n2\n", "")


def test_queries_wait_for_each_other(folder: Path) -> None:
    many = [begin(folder, "w", "--format", "csv", f"SELECT SUM(a) AS n FROM range({n}) AS t(a)") for n in range(2, 8)]
    assert [one.communicate()[0] for one in many] == [f"n\n{n * (n - 1) // 2}\n".encode() for n in range(2, 8)]


def test_a_session_that_is_killed(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path_factory.mktemp("run")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(place))
    with started(place, "w"):
        (about,) = running()
        process = begin(place, "w", "--format", "csv", f"SELECT 1 AS x; {SLOW}")
        assert process.stdout is not None
        process.stdout.readline()
        os.kill(about.pid, signal.SIGKILL)
        _, err = process.communicate()
        assert process.returncode == 4
        assert err.startswith(b"error: the session `w` ended before it was done")
        until(lambda: not running())
        assert ask(place, "query", "SELECT 1 AS x").err == (
            "error: no session `w` is running\nhint: `dctv session start w NAME=TRACE` starts one\n"
        )
    with started(place, "w"):
        assert ask(place, "query", "SELECT 1 AS x").code == 0


def test_a_session_of_another_version(folder: Path) -> None:
    about = folder / "dctv" / "w.session"
    description = about.read_text()
    about.write_text(json.dumps({**json.loads(description), "version": "0.0.9"}))
    ran = ask(folder, "query", "SELECT 1 AS x")
    about.write_text(description)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: the session `w` runs dctv 0.0.9, this is ")
    assert ran.err.endswith("hint: `dctv session stop w` ends it, then start it again\n")


def test_an_idle_session_ends(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path_factory.mktemp("run")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(place))
    with started(place, "w", "--idle", "1s"):
        (about,) = running()
        until(lambda: not running())
        until(lambda: not list((place / "dctv").iterdir()))
        until(lambda: not Path(f"/proc/{about.pid}").exists())


def test_lists_and_ends(folder: Path, tmp_path: Path) -> None:
    place = str(folder)
    assert run("session", "list", XDG_RUNTIME_DIR=place).out == f"w  just now  t={MARKS}\n"
    again = run_process("session", "start", "w", XDG_RUNTIME_DIR=place)
    assert again == Ran(2, "", "error: a session `w` is running\nhint: `dctv session stop w` ends it\n")
    failed = run_process("session", "start", "x", f"t={tmp_path}/nothing.json", XDG_RUNTIME_DIR=place)
    assert (failed.code, failed.out) == (3, "")
    assert sorted(path.name for path in (folder / "dctv").iterdir()) == ["w.session", "w.sock"]
    assert run("session", "stop", "x", XDG_RUNTIME_DIR=place).code == 2
    with started(folder, "x", cwd=tmp_path):
        assert "did you mean `x`?" in run("query", "--session", "xx", "SELECT 1", XDG_RUNTIME_DIR=place).err
    assert run("session", "list", XDG_RUNTIME_DIR=place).out == f"w  just now  t={MARKS}\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["query", "--session", "w", "--threads", "2", "SELECT 1"], "--threads cannot be combined with --session"),
        (
            ["query", "--session", "w", "--each", "*.json", "SELECT 1"],
            "--each cannot be combined with --session, since it starts",
        ),
        (["query", "--session", "w", "--engine", "sc://x", "SELECT 1"], "--engine cannot be combined with --session"),
        (["query", "--session", "a/b", "SELECT 1"], "found the session `a/b`, expected a name of letters, digits"),
        (["session", "start"], "found no name of a session"),
        (["session", "list", "w"], "found `w`, expected `dctv session list` alone"),
        (["session", "stop", "w", "t"], "found `t`, expected one name"),
    ],
)
def test_wrong_words(folder: Path, words: list[str], expected: str) -> None:
    ran = run(*words, XDG_RUNTIME_DIR=str(folder))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {expected}")


def test_its_folder_is_the_users_alone(tmp_path: Path) -> None:
    (tmp_path / "dctv").mkdir(mode=0o755)
    ran = run("session", "list", XDG_RUNTIME_DIR=str(tmp_path))
    assert ran.code == 2
    assert ran.err.startswith(f"error: `{tmp_path}/dctv` is not private to your user")


def test_invalid_requests_do_no_harm(folder: Path) -> None:
    import socket

    for message in (b"", b"\x05\0\0\0{}", b"\xff\xff\xff\xff", b"\x04\0\0\0null", b"GET / HTTP/1.1\r\n\r\n"):
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(str(folder / "dctv" / "w.sock"))
            one.sendall(message)
    assert ask(folder, "query", "SELECT 2 AS x", "--format", "csv") == Ran(0, "x\n2\n", "")
