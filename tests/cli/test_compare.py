"""`dctv compare`: sides, queries and metrics, formats, what fails, and errors."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from unittest.mock import patch

import pyarrow.parquet as pq
import pytest

from tests.command_line import Ran, run

DATA = Path(__file__).parents[1] / "data"
SUMS = "SELECT name, SUM(_duration) AS total, COUNT(*) AS calls FROM t.slices GROUP BY name"
TOTALS = "SELECT name, SUM(_duration) AS total FROM t.slices GROUP BY name"
MISSING = "warning: 2 numbers are missing on one side, and not judged (--fail-above)\n"


def trace(path: Path, **lengths: float) -> Path:
    """Write a trace with a slice of each name, in us."""
    path.parent.mkdir(exist_ok=True)
    events = [{"name": name, "ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": length} for name, length in lengths.items()]
    path.write_text(json.dumps(events))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with four runs of two sides."""
    for number in range(4):
        trace(tmp_path / "old" / f"{number}.json", load=1000 + number, save=10)
        trace(tmp_path / "new" / f"{number}.json", load=1200 + number, store=20)
    return tmp_path


def compare(*words: str | Path, cwd: Path | None = None) -> Ran:
    """Run without workers: each takes half a second to start."""
    return run("compare", "--jobs", "1", *words, cwd=cwd)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_two_traces(folder: Path) -> None:
    found = compare("before=old/0.json", "after=new/0.json", SUMS, cwd=folder)
    assert (found.code, found.err) == (0, "")
    assert found.out.splitlines() == [
        "name   metric      before  after  difference  change [percent]  note",
        "-----  ----------  ------  -----  ----------  ----------------  --------------",
        "load   total [ms]       1    1.2         0.2                20",
        "store  total [ms]    NULL   0.02        NULL              NULL  only in after",
        "save   total [ms]    0.01   NULL        NULL              NULL  only in before",
        "save   calls            1   NULL        NULL              NULL  only in before",
        "store  calls         NULL      1        NULL              NULL  only in after",
        "load   calls            1      1           0                 0",
    ]
    unnamed = compare("old/0.json", "new/0.json", SUMS, "--format", "csv", "--limit", "1", cwd=folder)
    assert unnamed.err == "only the first 1 of each metric, there are 4 more differences (--limit)\n"
    assert unnamed.out.splitlines() == [
        "name,metric,unit,A,B,difference,change [percent],note",
        "load,total,ns,1000000,1200000,200000,20,",
        "save,calls,,1,,,,only in A",
    ]


def test_groups_of_runs_and_a_verdict(folder: Path) -> None:
    words = ("A=old/*", *(f"B=new/{number}.json" for number in range(4)), TOTALS, "--fail-above", "5%")
    out = folder / "pull-request.md"
    found = compare(*words, "--alpha", "0.05", "-o", out, "--github", cwd=folder)
    failure = "found 1 change for the worse by more than 5%, expected none (--fail-above)"
    line = "  total of load: 1.0015ms -> 1.2015ms, +19.97%, p = 0.0286"
    assert (found.code, found.out) == (1, "")
    assert f"error: {failure}\n{line}\n" in found.err
    assert f"::error title=dctv::{failure.replace('%', '%25')}%0A{line.replace('%', '%25')}\n" in found.err
    # It is written all the same: a pull request is to show what is worse.
    lines = out.read_text().splitlines()
    assert lines[0].startswith("| name | metric | A | B | difference | change \\[percent\\] | low \\[percent\\] |")
    assert lines[2].startswith("| load | total \\[ms\\] | 1.0015 | 1.2015 | 0.2 | 19.97 |")
    again = compare(*words, "--alpha", "0.05", "--format", "csv", cwd=folder)
    assert again.out == compare(*words, "--alpha", "0.05", "--format", "csv", "--jobs", "2", cwd=folder).out
    (load,) = (row for row in rows(again.out) if row["name"] == "load")
    assert 19 < float(load["low [percent]"]) < float(load["change [percent]"]) < float(load["high [percent]"]) < 21


@pytest.mark.parametrize(
    ("options", "code", "error"),
    [
        (["--fail-above", "20%"], 0, MISSING),
        (["--fail-above", "5", "--better", "higher"], 0, MISSING),
        (["--fail-above", "5", "--at-least", "200us"], 1, None),
        (["--fail-above", "5", "--at-least", "201us", "--quiet"], 0, ""),
        (["--fail-above", "5", "--better", "total=none"], 1, "error: found no number on both sides to judge"),
    ],
)
def test_failing_conditions(options: list[str], code: int, error: str | None, folder: Path) -> None:
    found = compare("A=old/0.json", "B=new/0.json", TOTALS, *options, cwd=folder)
    assert found.code == code
    assert found.out.count("\n") == 5
    if error is None:
        assert "  total of load: 1ms -> 1.2ms, +20.00%\n" in found.err
    else:
        assert found.err.startswith(error)


def test_a_change_from_zero_fails_without_a_percentage(folder: Path) -> None:
    sql = "SELECT COUNT(*) FILTER (WHERE name = 'store') AS stores FROM t.slices"
    found = compare("A=old/0.json", "B=new/0.json", sql, "--fail-above", "5%", "--format", "jsonl", cwd=folder)
    assert found.code == 1
    assert "  stores: 0 -> 1\n" in found.err
    written = json.loads(found.out)
    assert (written["A"], written["B"], written["difference"], written["change"], written["note"]) == (
        0,
        1,
        1,
        None,
        "0 in A",
    )


def test_several_queries_from_files(folder: Path) -> None:
    report = folder / "metrics.sql"
    report.write_text(
        "CREATE VIEW long AS SELECT * FROM t.slices WHERE _duration > :least; SELECT COUNT(*) AS n FROM long;"
    )
    words = ("A=old/0.json", "B=new/0.json", "-c", TOTALS, "-f", "metrics.sql", "--param", "least=15us")
    found = compare(*words, "--format", "csv", cwd=folder)
    first, second = found.out.split("\n\n")
    assert [row["name"] for row in rows(first)] == ["load", "store", "save"]
    assert second == "metric,unit,A,B,difference,change [percent],note\nn,,1,2,1,100,\n"
    one = compare(*words, "-o", "out.parquet", cwd=folder)
    assert (one.code, one.err.splitlines()[0]) == (2, "error: a file of format `parquet` holds one result, found 2")
    assert not (folder / "out.parquet").exists()
    kept = compare("A=old/0.json", "B=new/0.json", TOTALS, "-o", "out.parquet", "--fail-above", "5%", cwd=folder)
    assert kept.code == 1
    assert pq.read_table(folder / "out.parquet").column("change").to_pylist() == [20.0, None, None]


def test_metrics_of_the_formats() -> None:
    loader = DATA / "dftracer" / "loader"
    sides = (f"A={loader}/trace-9553b4e3b4b52371-fork.pfw.gz", f"B={loader}/trace-c1fa1376b908bca5-fork.pfw.gz")
    found = compare(*sides, "--limit", "1", "--fail-above", "5%", "--better", "time=lower", "--better", "higher")
    assert (found.code, found.out) == (2, "")
    assert found.err.startswith("error: found `time` with a better direction, which is not compared\nhint: what is com")
    found = compare(*sides, "--limit", "1", "--fail-above", "400%", "--at-least", "2us")
    titles = ["duration_quantiles", "events_by_name", "io_bandwidth", "time_by_function"]
    assert [
        line for line in found.out.splitlines() if line.endswith(("_quantiles", "_name", "_bandwidth", "_function"))
    ] == titles
    assert (found.code, "### " in found.out) == (0, False)
    assert "is empty" not in found.err
    chosen = run(
        "compare", *sides, "--metric", "io_bandwidth,time_by_function", "--format", "markdown", "--fail-above", "1%"
    )
    assert chosen.code == 1
    assert chosen.out.startswith("### io_bandwidth\n\n| direction | metric | A | B |")
    assert "\n\n### time_by_function\n\n| name |" in chosen.out
    # Of rates less is worse, bytes are neither.
    rates = compare(*sides, "--metric", "io_bandwidth", "--fail-above", "1%")
    assert rates.err.splitlines() == [
        "error: found 2 changes for the worse by more than 1%, expected none (--fail-above)",
        "  busy of read: 257us -> 280us, +8.95%",
        "  bandwidth of read: 4781.32 MB/s -> 4388.57 MB/s, -8.21%",
    ]
    alone = compare(*sides, "--metric", "io_bandwidth", "--fail-above", "1%", "--better", "bandwidth=none")
    assert "busy of read" in alone.err
    assert "bandwidth of" not in alone.err


def test_list_of_metrics() -> None:
    whole = compare("--list-metrics")
    assert whole.out.startswith("block_bandwidth      What devices moved")
    perf = DATA / "perf" / "cpuclock.data"
    few = compare("--list-metrics", perf, DATA / "perf" / "cpuclock.collapsed.txt", "--format", "csv")
    assert [row["name"] for row in rows(few.out)] == ["events_by_name", "samples_by_function"]
    assert rows(few.out)[0]["formats"] == "*"


def test_no_rows_at_all(tmp_path: Path) -> None:
    table = tmp_path / "a.csv"
    table.write_text("x,y\n1,2\n")
    found = compare(f"A={table}", f"B={table}")
    assert found.code == 2
    assert found.err.startswith(
        "error: found no rows on either side: duration_quantiles, events_by_name, time_by_funct"
    )
    assert found.err.endswith("hint: give a query of your own\n")


def test_without_scipy(folder: Path) -> None:
    with patch.dict("sys.modules", {"scipy": None, "scipy.stats": None}):
        found = compare("A=old/*", "B=new/*", TOTALS, cwd=folder)
        assert found.code == 0
        take = "p-values take scipy, which is not installed: pip install 'dctv[compare]'"
        assert found.err == f"warning: {take}\n"
        assert found.out.splitlines()[0].endswith("change [percent]  low [percent]  high [percent]  note")
        asked = compare("A=old/*", "B=new/*", TOTALS, "--fail-above", "5%", "--alpha", "0.05", cwd=folder)
        alone = compare("A=old/0.json", "B=new/0.json", TOTALS, cwd=folder)
    assert asked.code == 2
    assert asked.err == "error: --alpha requires scipy, which is not installed\nhint: pip install 'dctv[compare]'\n"
    assert (alone.code, alone.err) == (0, "")


def test_a_trace_that_cannot_be_read(folder: Path) -> None:
    (folder / "new" / "damaged.json").write_text('[{"name":')
    found = compare("A=old/0.json", "B=new/*", TOTALS, "--format", "csv", cwd=folder)
    assert (found.code, found.out) == (3, "")
    assert found.err.startswith("error: new/damaged.json: ")
    allowed = compare("A=old/0.json", "B=new/*", TOTALS, "--format", "csv", "--allow-partial", cwd=folder)
    assert allowed.code == 0
    assert allowed.err.startswith("warning: new/damaged.json: ")
    assert rows(allowed.out)[0]["B"] == "1201500"
    nothing = compare("A=old/0.json", "B=new/damaged.json", TOTALS, "--allow-partial", cwd=folder)
    assert (nothing.code, nothing.out) == (3, "")
    assert nothing.err.endswith("error: no trace of `B` could be read\n")


def test_one_trace_by_two_paths_is_read_once(folder: Path) -> None:
    words = ("A=old/0.json", "B=./old/0.json", f"B={folder}/old/1.json", TOTALS, "--checkpoint", "kept")
    found = compare(*words, "--format", "csv", cwd=folder)
    assert (found.code, found.err) == (0, "")
    assert rows(found.out)[0]["B"] == "1000500"
    again = compare(*words, "--format", "csv", cwd=folder)
    assert (again.out, again.err) == (found.out, "2 of 2 traces were done before\n")


def test_an_error_of_the_query_is_reported_with_its_place(folder: Path) -> None:
    found = compare("A=old/0.json", "B=new/0.json", "SELECT nam FROM t.slices", cwd=folder)
    assert (found.code, found.out) == (2, "")
    assert found.err.startswith("error: old/0.json, new/0.json: <query>:1:8: unknown column `nam`\n")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["SELECT 1 AS x"], 2, "error: found no side, expected two\nhint: dctv compare A=old.trace B=new.trace; "),
        (["A=old/0.json", "SELECT 1 AS x"], 2, "error: found one side, `A`, expected two\n"),
        (["A=old/0.json", "B=old/1.json", "C=old/2.json"], 2, "error: found 3 sides, `A`, `B`, `C`, expected two\n"),
        (
            ["old/0.json", "old/1.json", "old/2.json"],
            2,
            "error: found `old/0.json` without a side, expected two traces",
        ),
        (["A=old/0.json", "old/1.json"], 2, "error: found `old/1.json` without a side, expected two traces, or NAME="),
        (["A=", "B=old/1.json"], 2, "error: `A=` gives no trace for the side `A`\nhint: write NAME=TRACE\n"),
        (["A=old/0.json", "B=new/9.json"], 3, "error: no such file or folder: `new/9.json`\n"),
        (["A=old/0.json", "B=new/*.pfw"], 3, "error: no file matches `new/*.pfw`\n"),
        (["A=old/0.json", "B=new/0.json", TOTALS, "--metric", "x"], 2, "error: found both SQL and --metric"),
        (["A=old/0.json", "B=new/0.json", "--metric", "x"], 2, "error: found no metric `x`\n"),
        (["--fail-above", "-3"], 2, "error: found `--fail-above -3`, expected percent such as 5%\n"),
        (["--fail-above", "much"], 2, "error: found `--fail-above much`, expected percent such as 5%\n"),
        (["--alpha", "5"], 2, "error: found `--alpha 5`, expected a number between 0 and 1 such as 0.05\n"),
        (["--better", "more"], 2, "error: found `--better more`, expected lower, higher, none or COLUMN=higher\n"),
        (["--at-least", "much"], 2, "error: found `--at-least much`, expected a number with a unit, such as 1ms"),
        (["A=old/0.json", "B=old/1.json", "--alpha", "0.1"], 2, "error: --alpha requires --fail-above"),
        (["A=old/0.json", "B=old/1.json", "--better", "lower"], 2, "error: --better requires --fail-above"),
        (
            ["A=old/0.json", "B=old/*", "--fail-above", "5", "--alpha", "0.05"],
            2,
            "error: found 1 run and 4 runs, whose p-values are at least 1, expected enough for 0.05\n",
        ),
    ],
)
def test_wrong_arguments(words: list[str], code: int, message: str, folder: Path) -> None:
    found = compare(*words, cwd=folder)
    assert (found.code, found.out) == (code, "")
    assert found.err.startswith(message)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT name FROM t.slices", "error: found no number to compare beside the keys, but `name` STRING\n"),
        (
            "SELECT 'all' AS name, _duration FROM t.slices",
            "error: the query has several rows of `name` all for `old/0.json`\nhint: name a further column as a key",
        ),
        ("SELECT * FROM (SELECT 1 AS x) WHERE FALSE; CREATE VIEW v AS SELECT 1 AS x", ""),
        ("CREATE VIEW v AS SELECT 1 AS x", "error: found no result to compare, expected a query\n"),
    ],
)
def test_results_that_cannot_be_compared(sql: str, message: str, folder: Path) -> None:
    found = compare("A=old/0.json", "B=new/0.json", sql, cwd=folder)
    assert found.code == (2 if message else 0)
    assert found.err.startswith(message)
