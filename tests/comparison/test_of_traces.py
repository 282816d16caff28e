"""`dctv.compare`: traces of two sides, as a program compares them."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pytest

import dctv
from dctv.errors import DctvWarning, TraceError, UsageError

SUMS = "SELECT name, SUM(_duration) AS total, COUNT(*) AS calls FROM t.slices GROUP BY name"


def trace(path: Path, **lengths: float) -> Path:
    """Write a trace with a slice of each name, in us."""
    path.parent.mkdir(exist_ok=True)
    events = [{"name": name, "ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": length} for name, length in lengths.items()]
    path.write_text(json.dumps(events))
    return path


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Return a folder with five runs of two sides."""
    for number in range(5):
        trace(tmp_path / "old" / f"{number}.json", load=1000 + number, save=10)
        trace(tmp_path / "new" / f"{number}.json", load=1200 + number, store=20)
    return tmp_path


def test_one_trace_of_each_side(runs: Path) -> None:
    found = dctv.compare(runs / "old" / "0.json", str(runs / "new" / "0.json"), SUMS, labels=("before", "after"))
    assert found.metrics == ("total", "calls")
    assert str(found).splitlines() == [
        "name   metric      before  after  difference  change [percent]  note",
        "-----  ----------  ------  -----  ----------  ----------------  --------------",
        "load   total [ms]       1    1.2         0.2                20",
        "store  total [ms]    NULL   0.02        NULL              NULL  only in after",
        "save   total [ms]    0.01   NULL        NULL              NULL  only in before",
        "save   calls            1   NULL        NULL              NULL  only in before",
        "store  calls         NULL      1        NULL              NULL  only in after",
        "load   calls            1      1           0                 0",
    ]
    assert repr(found) == "<Comparison: 6 differences, traces: 1 of before and 1 of after>"
    (worse,) = found.regressions(5)
    assert (worse.key, worse.metric.name, worse.difference) == ({"name": "load"}, "total", 200_000.0)


def test_tables_for_programs(runs: Path) -> None:
    found = dctv.compare(runs / "old" / "0.json", runs / "new" / "0.json", SUMS)
    table = found.arrow()
    assert table.column_names == ["name", "metric", "unit", "A", "B", "difference", "change", "note"]
    assert table.slice(0, 1).to_pylist() == [
        {
            "name": "load",
            "metric": "total",
            "unit": "ns",
            "A": 1e6,
            "B": 1.2e6,
            "difference": 2e5,
            "change": 20.0,
            "note": None,
        }
    ]
    assert table.schema.field("change").metadata == {b"unit": b"percent"}
    assert pa.table(found).equals(table)
    assert found.pandas().equals(found.df())
    assert list(found.df()["metric"]) == ["total"] * 3 + ["calls"] * 3
    assert found.pl().rows() == found.polars().rows() == [tuple(row.values()) for row in table.to_pylist()]


def test_markdown_and_notebooks(runs: Path) -> None:
    found = dctv.compare(runs / "old" / "0.json", runs / "new" / "0.json", "SELECT 5ms AS `a|b`")
    assert found.markdown() == (
        "| metric | A | B | difference | change \\[percent\\] |\n"
        "| :--- | ---: | ---: | ---: | ---: |\n"
        "| a\\|b \\[ms\\] | 5 | 5 | 0 | 0 |\n"
    )
    assert found.markdown(limit=1) == found.markdown()
    assert '<td style="text-align: left">a|b [ms]</td>' in found._repr_html_()


def test_few_are_shown_of_many(tmp_path: Path) -> None:
    names = {f"step{number:02}": 10 + number for number in range(25)}
    old = trace(tmp_path / "old" / "0.json", **names)
    new = trace(tmp_path / "new" / "0.json", **{name: 2 * length for name, length in names.items()})
    found = dctv.compare(old, new, SUMS)
    lines = str(found).splitlines()
    assert (len(lines), len(found.rows)) == (2 + 20 + 20 + 1, 50)
    assert lines[2].split() == ["step24", "total", "[us]", "34", "68", "34", "100"]
    assert lines[-1] == "(the first 20 of each metric, 40 of 50 differences)"
    assert "<p>regular table; the first 40 of 50 rows</p>" in found._repr_html_()
    assert found.markdown().count("\n") == 52


def test_groups_of_runs(runs: Path) -> None:
    patterns = f"{runs}/old/*.json", [runs / "new" / f"{number}.json" for number in range(5)]
    found = dctv.compare(*patterns, SUMS, by="name")
    row = next(one for one in found.rows if one.key["name"] == "load" and one.metric.name == "total")
    assert list(row.runs[0]) == [1_000_000, 1_001_000, 1_002_000, 1_003_000, 1_004_000]
    assert list(row.values) == [1_002_000, 1_202_000]
    assert row.p == pytest.approx(2 / 252)
    assert found.table(limit=1).arrow.column("name").to_pylist() == ["load", "save"]
    again = dctv.compare(*patterns, SUMS, by="name")
    assert again.arrow().equals(found.arrow())


def test_parameters_and_keys(runs: Path) -> None:
    sql = "SELECT tid, SUM(_duration) AS total FROM t.slices WHERE _duration > :least GROUP BY tid"
    found = dctv.compare(
        runs / "old" / "0.json", runs / "new" / "0.json", sql, by=["tid"], params={"least": timedelta(microseconds=100)}
    )
    assert [(one.key, one.values) for one in found.rows] == [({"tid": 1}, (1e6, 1.2e6))]


def test_without_scipy_it_warns(runs: Path) -> None:
    with (
        patch.dict("sys.modules", {"scipy": None, "scipy.stats": None}),
        pytest.warns(
            DctvWarning, match=r"p-values take scipy, which is not installed: pip install 'dctv\[compare\]'"
        ) as caught,
    ):
        dctv.compare(f"{runs}/old/*", f"{runs}/new/*", SUMS)
    assert caught[0].filename == __file__


def test_wrong_arguments_are_refused(runs: Path) -> None:
    old, new = runs / "old" / "0.json", runs / "new" / "0.json"
    with pytest.raises(UsageError, match="found neither SQL nor a metric, expected one of them"):
        dctv.compare(old, new)
    with pytest.raises(UsageError, match="found both SQL and a metric"):
        dctv.compare(old, new, SUMS, metric="time_by_function")
    with pytest.raises(UsageError, match="found a side without traces"):
        dctv.compare(old, [], SUMS)
    with pytest.raises(TraceError, match="no such file or folder"):
        dctv.compare(old, runs / "nothing.json", SUMS)
    with pytest.raises(TraceError, match="no file matches"):
        dctv.compare(old, f"{runs}/new/*.trace", SUMS)
    (runs / "new" / "damaged.json").write_text("{")
    with pytest.raises(TraceError):
        dctv.compare(old, f"{runs}/new/*", SUMS)
