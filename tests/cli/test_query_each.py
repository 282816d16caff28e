"""`dctv query --each`: a report over many traces."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import time
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pyarrow.parquet as pq
import pytest

from dctv.cli.fleet import work
from dctv.cli.fleet.jobs import TraceJob, run_job
from dctv.cli.fleet.pool import run_all
from dctv.cli.fleet.stacked import Stacked, TraceResult
from dctv.cli.fleet.work import fleet_work, undisturbed
from dctv.errors import Interrupted, UsageError
from dctv.record import replace
from tests.command_line import COMMAND, environment, run

DATA = Path(__file__).parents[1] / "data"
VIEW = "t.scheduler.timeslices_p_cpu"
REPORT = f"SELECT comm, COUNT(*) AS n, SUM(_duration) IN ms AS busy FROM {VIEW} GROUP BY comm ORDER BY 1"
COUNT = "SELECT COUNT(*) AS n FROM t.events"
PATIENCE = 60


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """Return a folder of three traces of two formats."""
    folder = tmp_path / "runs"
    folder.mkdir()
    for name, path in (("a.txt", "stdlib/kernel.trace.txt"), ("b.txt", "stdlib/waits.trace.txt")):
        shutil.copy(DATA / path, folder / name)
    shutil.copy(DATA / "perfetto" / "linux_sys_deflate.pftrace", folder / "c.pftrace")
    return folder


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("workers", ["1", "2"])
def test_rows_match_each_trace(traces: Path, workers: str) -> None:
    found = run("query", "--each", f"{traces}/*", "--jobs", workers, "--format", "csv", REPORT)
    empty = "`t.scheduler.timeslices_p_cpu` is empty: it is computed from sched_switch; the trace does not have it"
    assert (found.code, found.err) == (0, f"warning: {traces}/a.txt: {empty}\n")
    expected = []
    for trace in sorted(traces.iterdir()):
        alone = run("query", f"t={trace}", "--format", "csv", REPORT)
        expected += [{"_trace": str(trace), **row} for row in rows(alone.out)]
    assert len({row["_trace"] for row in expected}) == 2
    assert rows(found.out) == expected


def test_several_results_names_and_files(traces: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.sql"
    report.write_text("SELECT COUNT(*) AS n FROM x.events WHERE _ts > :after; SELECT 'one' AS word, 5ms AS took;")
    words = ("--each", f"x={traces}/*.txt", "-f", str(report), "--param", "after=1ms", "--format", "json")
    found = run("query", *words)
    assert found.code == 0
    first, second = (json.loads(text) for text in found.out.replace("]}\n{", "]}\0{").split("\0"))
    assert [Path(row[0]).name for row in first["rows"]] == ["a.txt", "b.txt"]
    assert [column["name"] for column in second["columns"]] == ["_trace", "word", "took"]
    assert second["columns"][2]["unit"] == "ms"
    kept = tmp_path / "out.parquet"
    done = run("query", "--each", f"x={traces}/*.txt", "SELECT 5ms AS took", "-o", str(kept))
    assert (done.code, done.out) == (0, "")
    table = pq.read_table(kept)
    assert table.column_names == ["_trace", "took"]
    assert table["took"].to_pylist() == [5, 5]
    assert table.schema.field("took").metadata == {b"unit": b"ms"}


def test_one_result_of_several(traces: Path) -> None:
    words = ("query", "--each", f"{traces}/*.txt", "--format", "csv", "SELECT 1 AS a; SELECT 2 AS b")
    assert [set(row) for row in rows(run(*words, "--result", "1").out)] == [{"_trace", "a"}] * 2
    assert [row["b"] for row in rows(run(*words, "--result", "last").out)] == ["2", "2"]
    none = run(*words, "--result", "3")
    assert (none.code, none.err) == (2, "error: found 2 results, expected one to write (--result 3)\n")


def test_another_trace_stands_beside_each(traces: Path) -> None:
    sql = "SELECT (SELECT COUNT(*) FROM base.events) = (SELECT COUNT(*) FROM t.events) AS same"
    found = run("query", f"base={traces}/a.txt", "--each", f"{traces}/*.txt", sql, "--format", "csv")
    assert [row["same"] for row in rows(found.out)] == ["true", "false"]
    taken = run("query", f"t={traces}/a.txt", "--each", f"{traces}/*", sql)
    assert (taken.code, taken.err.splitlines()[0]) == (
        2,
        f"error: `t` is mounted twice, from `{traces}/a.txt` and by --each",
    )


def test_assertions_match_each_trace(traces: Path, tmp_path: Path) -> None:
    sql = "ASSERT (SELECT COUNT(*) FROM t.events) > 20, 'enough events'"
    counts = {trace.name: rows(run("query", f"t={trace}", "SELECT COUNT(*) AS n FROM t.events", "--format", "csv").out)
              for trace in traces.iterdir()}  # fmt: skip
    few = sorted(name for name, found in counts.items() if int(found[0]["n"]) <= 20)
    assert 0 < len(few) < 3
    report = tmp_path / "junit.xml"
    found = run("query", "--each", f"{traces}/*", sql, "--junit", str(report))
    assert found.code == 1
    assert all(str(traces / name) in found.err for name in few)
    assert "assertion failed: enough events" in found.err
    assert report.read_text().count("<testcase") == 3
    assert report.read_text().count("<failure") == len(few)


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("settings", ["SET rewrite = 'off';", "SET threads = 1; SET memory_limit = '1GB';"])
def test_a_report_finds_nothing_of_the_traces_before(traces: Path, workers: str, settings: str) -> None:
    for number in range(2):
        shutil.copy(traces / "b.txt", traces / f"b{number}.txt")
    sql = f"""
        MOUNT TRACE '{traces}/a.txt' AS other;
        CREATE TABLE kept AS SELECT COUNT(*) AS n FROM t.events;
        CREATE VIEW seen AS SELECT n, 1 / (n - n) AS nothing FROM kept;
        {settings}
        SELECT n, nothing, (SELECT COUNT(*) FROM other.events) AS m FROM seen"""
    found = run("query", "--each", f"{traces}/*", "--jobs", workers, "--format", "csv", sql)
    assert (found.code, found.err.count("warning: ")) == (0, 1)
    assert found.err.endswith(" and 2 more: division by zero gave NULL\n")
    expected = []
    for trace in sorted(traces.iterdir()):
        alone = run("query", f"t={trace}", "--format", "csv", sql)
        expected += [{"_trace": str(trace), **row} for row in rows(alone.out)]
    assert rows(found.out) == expected
    assert len({row["n"] for row in expected}) == 3


def test_an_error_of_one_report_leaves_the_next_ones_alone(traces: Path) -> None:
    ((count,),) = csv.reader(run("query", f"t={traces}/b.txt", "--format", "csv", COUNT).out.splitlines()[1:])
    sql = f"SELECT CAST(CASE n WHEN {count} THEN 'many' ELSE '1' END AS INT) AS i FROM ({COUNT})"
    found = run("query", "--each", f"{traces}/*", "--jobs", "1", "--format", "csv", f"CREATE VIEW v AS {sql}; FROM v")
    assert found.code == 2
    assert found.err.startswith(f"error: {traces}/b.txt: <query>:1:")
    assert [Path(row["_trace"]).name for row in rows(found.out)] == ["a.txt", "c.pftrace"]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_nothing_is_left_in_the_folder_for_large_rows(traces: Path, tmp_path: Path, workers: str) -> None:
    (tmp_path / "large").mkdir()
    words = ("--jobs", workers, "--temp-directory", str(tmp_path / "large"))
    assert run("query", "--each", f"{traces}/*", *words, REPORT).code == 0
    assert list((tmp_path / "large").iterdir()) == []


def test_unreadable_traces_are_reported_at_the_end(traces: Path) -> None:
    (traces / "d.pftrace").write_bytes(b"\x00" * 100)
    sql = "SELECT COUNT(*) AS n FROM t.events"
    found = run("query", "--each", f"{traces}/*", sql, "--format", "csv")
    assert found.code == 3
    assert [Path(row["_trace"]).name for row in rows(found.out)] == ["a.txt", "b.txt", "c.pftrace"]
    assert found.err.startswith(f"error: {traces}/d.pftrace: ")
    assert "Traceback" not in found.err
    allowed = run("query", "--each", f"{traces}/*", sql, "--format", "csv", "--allow-partial")
    assert (allowed.code, allowed.out) == (0, found.out)
    assert allowed.err.startswith(f"warning: {traces}/d.pftrace: ")


def test_a_trace_that_is_gone_fails_alone(traces: Path) -> None:
    (traces / "d.txt").symlink_to("nowhere")
    found = run("query", "--each", f"{traces}/[ad].txt", "SELECT COUNT(*) AS n FROM t.events", "--format", "csv")
    assert (found.code, [Path(row["_trace"]).name for row in rows(found.out)]) == (3, ["a.txt"])
    told = f"error: {traces}/d.txt: no such file or folder: `{traces}/d.txt`\nhint: it is a broken link\n"
    assert found.err == told


def test_an_error_of_all_traces_is_reported_once(traces: Path) -> None:
    for number in range(4):
        shutil.copy(traces / "a.txt", traces / f"more{number}.txt")
    found = run("query", "--each", f"{traces}/*.txt", "SELECT\n  nam FROM t.events")
    assert (found.code, found.out) == (2, "")
    assert found.err.count("error:") == 1
    assert found.err.startswith(f"error: {traces}/a.txt, {traces}/b.txt, {traces}/more0.txt and 3 more: <query>:2:3: ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--each", "nothing/*", "SELECT 1"), "error: found no trace that matches `nothing/*`"),
        (("--jobs", "2", "SELECT 1"), "error: --jobs requires --each"),
        (("--checkpoint", "x", "SELECT 1"), "error: --checkpoint requires --each"),
        (("--each", "*", "--on-error", "continue", "SELECT 1"), "error: --on-error continue cannot be combined with "),
        (("--each", "*", "--checkpoint", "/dev/null/x", "SELECT 1"), "error: cannot keep results in `/dev/null/x`: "),
    ],
)
def test_wrong_arguments(words: tuple[str, ...], message: str, traces: Path) -> None:
    found = run("query", *words, cwd=traces)
    assert (found.code, found.out) == (2, "")
    assert found.err.startswith(message)


def test_finished_traces_are_not_run_again(traces: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    words = ("query", "--each", f"{traces}/*", "--checkpoint", str(kept), "--format", "csv")
    sql = "SELECT COUNT(*) AS n FROM t.events"
    first = run(*words, sql)

    def times() -> dict[str, int]:
        return {str(path): path.stat().st_mtime_ns for path in kept.rglob("done.json")}

    before = times()
    second = run(*words, sql)
    assert (second.out, second.err, times()) == (first.out, "3 of 3 traces were done before\n", before)
    # A trace that has changed, or another report, is run.
    with (traces / "a.txt").open("a") as file:
        file.write("\n")
    third = run(*words, sql)
    assert (third.out, third.err) == (first.out, "2 of 3 traces were done before\n")
    other = run(*words, "SELECT COUNT(*) AS m FROM t.events")
    assert other.err == ""
    # What was begun and not finished is done anew, whatever is there of it.
    for path in list(kept.rglob("done.json")):
        path.unlink()
    for path in list(kept.rglob("0.arrows")):
        path.write_bytes(b"half")
    again = run(*words, sql)
    assert (again.out, again.err) == (first.out, "")


@pytest.mark.parametrize(
    "table",
    [
        "read_csv('{}')",
        'read_csv("{}")',
        "read_csv($${}$$)",
        "read_csv(E'{}')",
        "read_csv('file://{}')",
        "read_csv(:file)",
    ],
)
def test_a_file_that_is_named_in_any_way_and_changes_is_read_again(traces: Path, tmp_path: Path, table: str) -> None:
    file = tmp_path / "some.csv"
    words = ("query", "--each", f"{traces}/*.txt", "--checkpoint", str(tmp_path / "kept"), "--format", "csv")
    more = ("--allow-files", "--param", f"file={file}", f"SELECT k FROM {table.format(file)}")
    for value in ("1", "22"):
        file.write_text(f"k\n{value}\n")
        assert [row["k"] for row in rows(run(*words, *more).out)] == [value] * 2


@pytest.mark.parametrize("mounted", ["TRACE '{}/one'", "TRACES '{}/*/'"])
def test_a_folder_that_the_report_mounts_and_that_changes_is_read_again(
    traces: Path, tmp_path: Path, mounted: str
) -> None:
    folder = tmp_path / "some"
    (folder / "one").mkdir(parents=True)
    sql = f"MOUNT {mounted.format(folder)} AS q; SELECT COUNT(*) AS n FROM q.events"
    words = ("query", "--each", f"{traces}/*.txt", "--checkpoint", str(tmp_path / "kept"), "--format", "csv", sql)
    found = []
    for name in ("a.txt", "b.txt"):
        shutil.copy(traces / name, folder / "one" / "t.txt")
        found += [{row["n"] for row in rows(run(*words).out)}]
    assert len(found[0]) == len(found[1]) == 1
    assert found[0] != found[1]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_traces_without_files_have_errors_of_their_own(traces: Path, jobs: str) -> None:
    for number in range(4):
        (traces / f"gone{number}.txt").symlink_to(f"/nowhere/{number}")
    (traces / "loop.txt").symlink_to("loop.txt")
    (traces / "empty.txt").mkdir()
    found = run("query", "--allow-partial", "--each", f"{traces}/*.txt", "--jobs", jobs, "--format", "csv", COUNT)
    assert [row["_trace"].rpartition("/")[2] for row in rows(found.out)] == ["a.txt", "b.txt"]
    errors = found.err.splitlines()
    (looping,) = [one for one in errors if "too many levels" in one]
    assert looping.startswith(f"warning: {traces}/loop.txt: ")
    (empty,) = [one for one in errors if "is empty" in one]
    assert empty.startswith(f"warning: {traces}/empty.txt: ")
    assert all(f"gone{number}.txt" in found.err for number in range(4))


def test_a_reader_that_leaves_early_ends_it(traces: Path) -> None:
    sql = "SELECT * FROM t.events CROSS JOIN range(1000)"
    words = [*COMMAND, "query", "--each", f"{traces}/*.txt", "--format", "jsonl", sql]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.wait(PATIENCE) == 141
        assert process.stderr.read() == b""


@pytest.mark.parametrize("pattern", ["{}", "@{}*"])
def test_a_trace_beside_them_that_changes_is_read_again(traces: Path, tmp_path: Path, pattern: str) -> None:
    base = tmp_path / "base.txt"
    shutil.copy(traces / "a.txt", base)
    words = (
        "query",
        f"base={pattern.format(base)}",
        "--each",
        f"{traces}/*.txt",
        "--checkpoint",
        str(tmp_path / "kept"),
    )
    sql = "SELECT COUNT(*) AS n FROM base.events"
    first = run(*words, "--format", "csv", sql)
    assert run(*words, "--format", "csv", sql).err == "2 of 2 traces were done before\n"
    shutil.copy(traces / "b.txt", base)
    second = run(*words, "--format", "csv", sql)
    assert (second.code, second.err) == (0, "")
    assert second.out != first.out


def test_traces_beside_them_have_a_manifest(traces: Path, tmp_path: Path) -> None:
    manifest = tmp_path / "labs.csv"
    words = ("query", f"base=@{traces}/*.txt", "--manifest", f"base={manifest}", "--each", f"{traces}/*.txt")
    sql = "SELECT lab, COUNT(*) AS n FROM base.traces GROUP BY 1"
    for lab in ("A", "B"):
        manifest.write_text(f"trace,lab\na.txt,{lab}\nb.txt,{lab}\n")
        found = run(*words, "--checkpoint", str(tmp_path / "kept"), "--format", "csv", sql)
        assert (found.code, found.err) == (0, "")
        assert [(row["lab"], row["n"]) for row in rows(found.out)] == [(lab, "2")] * 2
    wrong = run("query", "--manifest", str(manifest), "--each", f"{traces}/*.txt", sql)
    assert (wrong.code, "no traces mounted as one" in wrong.err) == (2, True)


def test_a_file_that_the_report_names_and_that_changes_is_read_again(traces: Path, tmp_path: Path) -> None:
    report, beside = tmp_path / "report.sql", tmp_path / "beside.csv"
    report.write_text("MOUNT TRACE 'beside.csv' AS x; SELECT SUM(v) AS v FROM x.raw_events.beside")
    words = ("query", "--each", f"{traces}/*.txt", "-f", str(report), "--checkpoint", str(tmp_path / "kept"))
    beside.write_text("_ts,v\n1,1\n")
    assert [row["v"] for row in rows(run(*words, "--format", "csv").out)] == ["1", "1"]
    assert run(*words, "--format", "csv").err == "2 of 2 traces were done before\n"
    beside.write_text("_ts,v\n1,25\n")
    assert [row["v"] for row in rows(run(*words, "--format", "csv").out)] == ["25", "25"]


def test_an_interrupted_run_can_be_resumed(traces: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    slow = "SELECT COUNT(*) AS n FROM range(100000) AS a, range(100000) AS b WHERE a.range % 7 = b.range % 5"
    sql = f"SELECT CASE WHEN (SELECT COUNT(*) FROM t.events) > 1000 THEN ({slow}) END AS n"
    words = [*COMMAND, "query", "--each", f"{traces}/*", "--checkpoint", str(kept), "--jobs", "1", "-o", "out.csv", sql]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, env=environment(), cwd=tmp_path)
    end = time.monotonic() + PATIENCE
    while len(list(kept.glob("*/begun"))) < 3 and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (130, b"error: interrupted\n")
    assert not (tmp_path / "out.csv").exists()
    assert len(list(kept.glob("*/done.json"))) == 2


def test_strings_that_are_no_paths(traces: Path, tmp_path: Path) -> None:
    strings = ("x" * 300, "y" * 5000, "~nobody/x", "a\\0.*[", "**x/?.csv", "")
    sql = f"SELECT {', '.join(repr(one) for one in strings)}"
    found = run("query", "--each", f"{traces}/*.txt", "--checkpoint", tmp_path / "kept", "--format", "csv", sql)
    assert (found.code, found.err) == (0, "")


def test_a_report_waits_for_another_process_that_runs_it(tmp_path: Path) -> None:
    """That process removes results of traces that it reads again."""
    args, job = Namespace(checkpoint=tmp_path), TraceJob("a", "t", (), (), (), {}, "a")
    told: list[str] = []
    narrator: Any = SimpleNamespace(remark=told.append)

    def interrupted() -> None:
        raise Interrupted("interrupted")

    desk: Any = SimpleNamespace(check=interrupted)
    with undisturbed(args, [job], desk, narrator):
        with undisturbed(args, [replace(job, params=("k=5",))], desk, narrator):
            assert told == []
        with pytest.raises(Interrupted), undisturbed(args, [job], desk, narrator):
            pass
    assert told == [f"waiting for another process that runs this report with `{tmp_path}`"]
    with undisturbed(args, [job], desk, narrator):
        pass


@pytest.mark.parametrize("pattern", ["a**b", "~nobody/a*"])
def test_a_pattern_that_is_none(pattern: str) -> None:
    words = (("--each", pattern), (f"base={pattern}", "--each", __file__), (f"t={pattern}",), (f"t=@{pattern}",))
    for some in words:
        found = run("query", *some, "SELECT 1")
        assert (found.code, found.out) in {(2, ""), (3, "")}
        assert f"`{pattern}`" in found.err


@pytest.mark.parametrize(
    ("jobs", "sizes", "base", "workers"),
    [
        (None, [1, 1], 0, 0),
        (None, [1] * 8, 0, 0),
        (None, [1] * 9, 0, 4),
        (None, [9, 9], 0, 2),
        (None, [1, 1, 1], 6, 3),  # each job reads the base
        (1, [1] * 9, 0, 0),
        (1, [2] * 9, 0, 1),
        (2, [1, 1], 0, 2),
    ],
)
def test_few_small_traces_need_no_workers(
    jobs: int | None, sizes: list[int], base: int, workers: int, tmp_path: Path
) -> None:
    """Sizes are in MiB; no workers are those that are not started."""

    def made(name: str, size: int) -> str:
        path = tmp_path / name
        path.touch()
        os.truncate(path, size << 20)
        return str(path)

    traces = [made(str(number), size) for number, size in enumerate(sizes)]
    with patch.object(work, "usable_processors", lambda: 4):
        found = fleet_work(Namespace(jobs=jobs), "t", traces, [("base", made("base", base))])
    assert (found.here, found.workers) == (not workers, workers or 1)


def killed(job: TraceJob) -> None:
    """Run a job, unless its process is killed."""
    if "b.txt" in job.trace:
        Path(job.folder).mkdir(parents=True, exist_ok=True)
        (Path(job.folder) / "begun").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    run_job(job)


def test_a_killed_worker_fails_only_its_trace(traces: Path, tmp_path: Path) -> None:
    settings = {"threads": 1, "memory_limit": "500MB", "temp_directory": None, "index_dir": None, "no_index": True}
    settings |= {"index": False, "allow_files": False, "allow_partial": False, "manifest": []}
    texts = (("<query>", "SELECT COUNT(*) AS n FROM t.events", None),)
    names = sorted(str(path) for path in traces.iterdir())
    jobs = [TraceJob(name, "t", (), texts, (), settings, str(tmp_path / str(n))) for n, name in enumerate(names)]
    over: list[str] = []
    run_all(jobs, 2, lambda: None, lambda job: over.append(job.trace), killed)
    assert sorted(over) == names
    outcomes = [job.outcome() for job in jobs]
    assert [None if outcome is None else outcome["error"] for outcome in outcomes] == [
        None,
        ["error: the process that read this trace was killed: it may have needed more memory than there is", 4],
        None,
    ]


def part(tmp_path: Path, trace: str, column: tuple[str, str, str]) -> TraceResult:
    return TraceResult(trace, tmp_path / trace, [column])


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (("x", "DOUBLE", "ns"), "`x` has the type `BIGINT` in `a`, `DOUBLE` in `b`"),
        (("x", "BIGINT", "ms"), "`x` has the unit `ns` in `a`, `ms` in `b`"),
        (("x", "BIGINT", ""), "`x` has the unit `ns` in `a`, `none` in `b`"),
        (("_trace", "BIGINT", ""), "the report has a column `_trace`, which --each adds"),
    ],
)
def test_columns_that_do_not_go_together(tmp_path: Path, column: tuple[str, str, str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Stacked([part(tmp_path, "a", ("x", "BIGINT", "ns")), part(tmp_path, "b", column)])
    assert caught.value.message == message


def test_columns_of_one_name_are_refused(traces: Path) -> None:
    found = run("query", "--each", f"{traces}/*.txt", "SELECT 1 AS a, 2 AS a")
    assert (found.code, found.out) == (2, "")
    assert found.err.startswith("error: the report has several columns `a`\n")


def test_hidden_files_need_an_explicit_pattern(traces: Path) -> None:
    (traces / ".notes").write_text("no trace")
    words = ("--format", "csv", "SELECT 1 AS one")
    assert len(rows(run("query", "--each", f"{traces}/*", *words).out)) == 3
    assert run("query", "--each", f"{traces}/.*", *words).code != 0


def test_a_column_that_is_nothing_in_one_trace(traces: Path) -> None:
    sql = "SELECT CASE WHEN n > 20 THEN n END AS many, NULL AS nothing FROM (SELECT COUNT(*) AS n FROM t.events)"
    found = run("query", "--each", f"{traces}/*", sql, "--format", "csv")
    assert found.code == 0
    assert {row["nothing"] for row in rows(found.out)} == {""}
    assert {row["many"] == "" for row in rows(found.out)} == {True, False}
