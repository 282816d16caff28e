"""Dot commands that set, list and write."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dctv.console.params import value_of, written
from tests.command_line import ROOT, Ran, run

CALLS = ROOT / "tests/data/stdlib/calls.pfw"


def test_results_go_to_files(tmp_path: Path) -> None:
    script = """\
.mode csv
.once one.parquet
SELECT 5ms AS x;
.output all.json
SELECT 1 AS a;
SELECT 2 AS b;
.output
SELECT 3 AS c;
"""
    ran = run("repl", stdin=script, cwd=tmp_path)
    assert (ran.code, ran.out) == (0, "c\n3\n")
    assert pq.read_table(tmp_path / "one.parquet").column("x").to_pylist() == [5]
    text = (tmp_path / "all.json").read_text()
    assert [text.count(word) for word in ('"a"', '"b"', '"c"')] == [1, 1, 0]


def test_an_output_with_an_unknown_suffix_has_the_mode(tmp_path: Path) -> None:
    run("repl", stdin=".mode tsv\n.output x.out\nSELECT 1 AS a;\nSELECT 2 AS b;\n", cwd=tmp_path)
    assert (tmp_path / "x.out").read_text() == "a\n1\n\nb\n2\n"


def test_outputs_that_cannot_be_written(tmp_path: Path) -> None:
    ran = run("repl", stdin=".output no/x.csv\n.once no/x.csv\nSELECT 1 AS a;\n", cwd=tmp_path)
    assert ran.code == 2
    assert ran.err == (
        "error: cannot write `no/x.csv`: no such file or directory\n"
        "error: cannot write `no/x.csv`: no such file or directory\n"
    )


def test_the_file_of_once_appears_only_when_complete(tmp_path: Path) -> None:
    ran = run("repl", stdin=".once x.csv\nSELECT nowhere;\nSELECT error('no') AS x;\n", cwd=tmp_path)
    assert ran.code == 2
    assert not list(tmp_path.iterdir())


def test_maxrows_and_last() -> None:
    script = (
        ".mode csv\n.last\n.maxrows 1\nSELECT a FROM range(3) AS t(a);\n.last\n.maxrows\n.maxrows 0\n.maxrows all\n"
    )
    ran = run("repl", stdin=script)
    assert ran.out == "a\n0\n\na\n0\n1\n2\n"
    assert ran.err == (
        "error: no statement had a result yet\n"
        "only the first 1 row, there are more; `.last` shows all\n"
        "maxrows is 1\n"
        "error: found `0` for `maxrows`, expected a number from 1, or all\n"
    )


def test_settings() -> None:
    ran = run("repl", stdin=".set mode csv\n.set mdoe csv\n.set width 3\n.set timing\n.set\n")
    assert [line.split(",")[:2] for line in ran.out.splitlines()] == [
        ["name", "value"], ["mode", "csv"], ["timing", "off"], ["maxrows", "all"], ["time", "trace"], ["width", "3"],
    ]  # fmt: skip
    assert "error: unknown setting `mdoe`\nhint: did you mean `mode`?\n" in ran.err
    assert "error: found `timing`, expected a setting and its value" in ran.err


def test_the_configuration_does_not_reach_scripts(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[prompt]\nmode = "tsv"\n')
    ran = run("repl", stdin="SELECT 1 AS a, 2 AS b;", DCTV_CONFIG=str(tmp_path / "config.toml"))
    assert ran.out == "a  b\n-  -\n1  2\n"


def test_parameters() -> None:
    script = """\
.mode csv
.param limit=5ms
.param who=it's
.param 0=7
SELECT :limit AS x, :who AS y, 4ms < :limit AS z;
.param
.param clear
.param
.param x
SELECT :limit;
"""
    ran = run("repl", stdin=script)
    assert ran.out.split("\n\n") == [
        "x [ms],y,z\n5,it's,true", "name,value\nlimit,5ms\nwho,'it''s'\n0,7", "name,value\n",
    ]  # fmt: skip
    assert "error: found `x`, expected K=V\n" in ran.err
    assert "limit" in ran.err


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("5ms", "5ms"), ("-1.5 GiB", "-1.5GiB"), ("2e3us", "2000us"), ("'5ms'", "'5ms'"), ("5 apples", "'5 apples'"),
        ("12", "12"), ("1.5", "1.5"), ("True", "TRUE"), ("null", "NULL"), ("5m+3s", "'5m+3s'"), ("", "''"),
        ("-1_000", "-1000"), ("0x1f", "31"), ("-0X1_F", "-31"), ("0x10ms", "16ms"), ("0x1fB", "507"),
        ("1_000 us", "1000us"), ("1_0.5_0", "10.5"), ("1_0e3", "10000.0"), ("1e1_0s", "10000000000s"), ("5.", "5.0"),
        (".5", "0.5"), ("+5", "5"),
        ("1_", "'1_'"), ("1__0", "'1__0'"), ("_1", "'_1'"), ("0x", "'0x'"), ("0xg", "'0xg'"), ("5 ", "'5 '"),
        ("1e4000", "'1e4000'"), ("0x1f 0x2f", "'0x1f 0x2f'"), ("'0x1f'", "'0x1f'"), ("1.2.3", "'1.2.3'"),
        ("2024-01-01", "'2024-01-01'"), ("10:30", "'10:30'"),
    ],
)  # fmt: skip
def test_values_of_parameters(text: str, sql: str) -> None:
    assert written(value_of(text)) == sql


def test_parameters_of_the_command_line_have_units() -> None:
    ran = run("query", "SELECT :lim AS x, 4ms < :lim AS y, :t AS t", "--param", "lim=5000us", "--param", "t='5ms'")
    assert ran.out == "x [us]  y     t\n------  ----  ---\n  5000  true  5ms\n"


def test_lists() -> None:
    ran = run("repl", f"c={CALLS}", "--no-index", stdin=".mode csv\n.units ms\n.functions quantile_c\n.mounts\n")
    units, functions, mounts = ran.out.split("\n\n")
    assert units.startswith("unit,is\nms,0.001 s\n")
    assert functions.splitlines()[1].startswith("quantile_cont,aggregate,")
    assert mounts == f"name,format,path\nc,dftracer,{CALLS}\n"
    err = run("repl", stdin=".units nonsense\n.functions nonsense\n.mounts\n").err
    assert err == (
        "error: no unit fits `nonsense`\n"
        "error: no function fits `nonsense`\nhint: `.tables` lists those that stand in FROM\n"
        "nothing is mounted: .mount NAME=PATH mounts a trace\n"
    )


def test_a_mount_is_named_after_its_file() -> None:
    ran = run("repl", "--no-index", stdin=f".mode csv\n.mount {CALLS}\nSELECT COUNT(*) > 0 AS x FROM calls.events;\n")
    assert ran == Ran(0, "x\ntrue\n", f"`{CALLS}` is mounted as `calls`\n")


def test_null_differs_from_text() -> None:
    query = "SELECT NULL AS a, 'NULL' AS b;"
    assert run("repl", stdin=query).out == "a     b\n----  ------\nNULL  'NULL'\n"
    assert run("repl", stdin=f".mode line\n{query}").out == "a = NULL\nb = 'NULL'\n"
    assert run("repl", stdin=f".mode tsv\n{query}").out == "a\tb\n\\N\tNULL\n"


def test_the_editor_fails() -> None:
    absent = run("repl", stdin="SELECT 1 AS a;\n.edit\n", VISUAL="/no/such/editor")
    assert (
        absent.err == "error: cannot run `/no/such/editor`: no such file or directory\nhint: EDITOR names your editor\n"
    )
    assert "failed with exit code 1, nothing was run" in run("repl", stdin=".edit\n", VISUAL="false").err


def test_the_last_query_is_a_view() -> None:
    text = """SELECT a FROM range(5) AS t(a); -- five
    SELECT MAX(a) AS m FROM _;
    SELECT m + 1 AS n FROM _;
    EXPLAIN SELECT 1;
    SELECT nope;
    WITH x AS (SELECT * FROM _) SELECT n * 2 AS n FROM x;
    SELECT * FROM _ WHERE n > :least;
    .param least=11
    SELECT * FROM _ WHERE n > :least;
    SELECT COUNT(*) AS rows FROM _;"""
    ran = run("repl", stdin=".mode csv\n.param least=9\n" + text)
    results = ran.out.split("\n\n")
    assert [results[n] for n in (1, 2, 4, 5, 6, 7)] == ["m\n4", "n\n5", "n\n10", "n\n10", "n", "rows\n0\n"]


def test_the_last_query_keeps_its_parameters() -> None:
    text = """SELECT a FROM range(5) AS t(a) WHERE a > :least;
    .param least=100
    SELECT COUNT(*) AS rows FROM _;"""
    assert run("repl", stdin=".mode csv\n.param least=2\n" + text).out.endswith("rows\n2\n")


def test_last_runs_the_query_that_was_run() -> None:
    text = """SELECT a FROM range(1, 3) AS t(a);
    .param by=10
    SELECT a * :by AS a FROM _;
    .param by=1000
    .last
    .last
    SELECT a + :by AS a FROM _;
    .last
    SELECT * FROM _;"""
    results = run("repl", stdin=f".mode csv\n{text}").out.split("\n\n")
    assert results[1] == results[2] == results[3] == "a\n10\n20"
    assert results[4] == results[5] == results[6].rstrip() == "a\n1010\n1020"


def test_numbered_parameters_of_the_query_before() -> None:
    text = ".param 0=1\n.param 1=2\nSELECT ? AS a, ? AS b, $1 AS c;\n.param 0=3\nSELECT a, ? AS d FROM _;\nFROM _;"
    results = run("repl", stdin=f".mode csv\n{text}").out.split("\n\n")
    assert results[1] == results[2].rstrip() == "a,d\n1,3"


def test_the_last_query_may_be_a_pivot() -> None:
    text = "SELECT 1 AS a;\nPIVOT (VALUES ('x', 2)) AS t(k, v) ON k USING SUM(v);\nSELECT x + 1 AS y FROM _;"
    assert run("repl", stdin=f".mode csv\n{text}").out.endswith("y\n3\n")


def test_the_last_query_keeps_its_kind() -> None:
    first, later = "SELECT SPAN * FROM dctv.generate_sequential_spans(0, 20ns, 10ns);", "SELECT SPAN * FROM _;"
    text = "\n".join([".mode csv", first, "DESCRIBE _;", later, "DESCRIBE _;"])
    results = run("repl", stdin=text).out.split("\n\n")
    assert results[1] == results[3].rstrip("\n") == "column,type,unit,role\n_ts,INT64,ns,time\n_duration,INT64,ns,time"


def test_modes_of_files(tmp_path: Path) -> None:
    script = """\
.mode parquet
.once one
SELECT 5ms AS x;
SELECT 6 AS y;
.output two
SELECT 7 AS z;
SELECT 8 AS z;
.mode csv
SELECT 9 AS z;
.output
.mode arrow
.mounts
.param x=1
.param
.output three.out
SELECT 10 AS z;
.once four.csv
SELECT 11 AS z;
"""
    ran = run("repl", stdin=script, cwd=tmp_path)
    assert ran.err == (
        "results in mode `parquet` go to the file that `.output` or `.once` names\n"
        "error: a result in mode `parquet` goes to a file, and none is named\n"
        "hint: `.once rows.parquet` names one for the next result, `.output` for more; `.mode table` shows them\n"
        "results go to `two`, until `.output`\n"
        + 2
        * (
            "error: `two` has a result already, and a file of format `parquet` holds one\n"
            "hint: `.output FILE` names another file, `.output` shows results here\n"
        )
        + "results in mode `arrow` go to the file that `.output` or `.once` names\n"
        "nothing is mounted: .mount NAME=PATH mounts a trace\n"
        "results go to `three.out`, until `.output`\n"
    )
    assert ran.out == "name  value\n----  -----\nx     1\n"
    assert [pq.read_table(tmp_path / name).to_pylist() for name in ("one", "two")] == [[{"x": 5}], [{"z": 7}]]
    with pa.ipc.open_file(tmp_path / "three.out") as file:
        assert file.read_all().to_pylist() == [{"z": 10}]
    assert (tmp_path / "four.csv").read_text() == "z\n11\n"


def test_a_file_of_one_result_appears_when_complete(tmp_path: Path) -> None:
    script = ".output x.parquet\nSELECT error('no') AS x;\nSELECT 1 AS a;\nSELECT 2 AS a;\n"
    ran = run("repl", stdin=script, cwd=tmp_path)
    assert "error: `x.parquet` has a result already" in ran.err
    assert pq.read_table(tmp_path / "x.parquet").to_pylist() == [{"a": 1}]
    assert [path.name for path in tmp_path.iterdir()] == ["x.parquet"]


def test_the_last_query_is_drawn() -> None:
    spans = "SELECT SPAN comm, pid FROM t.scheduler.timeslices_p_cpu WHERE pid != 0 LIMIT 4;"
    script = f".plot\n.mode csv\n{spans}\n.plot\n.plot pid\n.plot cmm\nSELECT 1 AS a;\n.plot\n"
    trace = ROOT / "tests/data/ftrace/live_marks.trace.txt.gz"
    ran = run("repl", f"t={trace}", "--no-index", stdin=script, COLUMNS="80")
    _, drawn, numbers = ran.out.split("the last query\n")
    assert drawn.splitlines()[0] == "begins at 63 us, lasts 148.13 ms"
    assert [line.split()[:2] for line in drawn.splitlines()[2:4]] == [["cpu", "0"], ["cpu", "1"]]
    assert "[VM Periodic Tas" in drawn
    assert "29,876 to 30,602" in numbers
    assert numbers.endswith("a\n1\n")
    assert ran.err == (
        "error: no statement had a result yet\n"
        "error: the result has no column `cmm`\nhint: did you mean `comm`?\n"
        "error: a regular table has no times, expected spans or events\nhint: SELECT SPAN and SELECT EVENT keep times\n"
    )
